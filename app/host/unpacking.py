"""Unpacks a runtime's zip or tar.gz: nothing of it outside the folder, no links that lead away, no flood."""

from __future__ import annotations

import gzip
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from app.engine.runtime_files import has_llama
from app.errors import LoadError, UsageError

MOST_BYTES = 4 << 30
"""A runtime with every backend takes some hundred megabytes; an archive can claim any size."""

MOST_FILES = 5000
_PIECE_BYTES = 1 << 20
_HINT = "Get it again from where it comes from."
_SUFFIXES = (".tar.gz", ".tgz", ".zip")


def is_packed(path: Path) -> bool:
    """Whether a file is taken for an archive, by its name."""
    return path.name.lower().endswith(_SUFFIXES)


def stem(path: Path) -> str:
    """Return an archive's name without its ending."""
    ending = next((suffix for suffix in _SUFFIXES if path.name.lower().endswith(suffix)), "")
    return path.name[: len(path.name) - len(ending)]


def unpack(source: Path, folder: Path) -> Path:
    """Unpack an archive into a new folder; return the folder inside that holds the llama library, else the folder.

    Raises:
        UsageError: it is no zip or tar.gz.
        LoadError: it would write elsewhere, holds links that lead away, is damaged or too large. Nothing of it is left.
    """
    kind = "tar.gz" if source.name.lower().endswith((".tar.gz", ".tgz")) else "zip"
    try:
        _Unpacking(source, folder).run(is_tar=kind == "tar.gz")
    except (zipfile.BadZipFile, tarfile.TarError) as fault:
        shutil.rmtree(folder, ignore_errors=True)
        raise UsageError(f"{source.name} is not a {kind}, or damaged: {fault}", _HINT) from fault
    except (OSError, RuntimeError, EOFError, zlib.error, lzma.LZMAError) as fault:  # a full disk, a password, damage
        shutil.rmtree(folder, ignore_errors=True)
        raise LoadError(f"{source.name} cannot be unpacked: {fault}", _HINT) from fault
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    inside = [folder, *(path for path in sorted(folder.rglob("*")) if path.is_dir())]
    return next((place for place in inside if has_llama(place)), folder)


class _Unpacking:
    """One archive on its way into a folder."""

    def __init__(self, source: Path, folder: Path) -> None:
        self._source, self._folder, self._left = source, folder, MOST_BYTES

    def run(self, *, is_tar: bool) -> None:
        """Check every name, then write every file."""
        if is_tar:
            self._check(list(self._names_of_tar()))
            self._folder.mkdir(parents=True)
            self._write_tar()
            return
        with zipfile.ZipFile(self._source) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            self._check([member.orig_filename for member in members])
            for member in members:
                if stat.S_ISLNK(member.external_attr >> 16):
                    raise self._holds_a_link(member.filename)
            self._folder.mkdir(parents=True)
            for member in members:
                with archive.open(member) as packed:
                    self._write(packed, member.filename)

    def _names_of_tar(self) -> Iterator[str]:
        """Yield the names in a tar; a link counts if it leads to a file beside it, as those to a library's version."""
        left = MOST_BYTES
        with gzip.open(self._source) as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            for member in archive:
                left -= member.size
                if left < 0:
                    raise self._is_too_large()
                if member.issym() and PurePosixPath(member.linkname).name == member.linkname != "..":
                    yield member.linkname
                elif not member.isreg() and not member.isdir():
                    raise self._holds_a_link(member.name)
                yield member.name
            while rest := stream.read(_PIECE_BYTES):  # to its end, where the check sum is
                left -= len(rest)
                if left < 0:
                    raise self._is_too_large()

    def _write_tar(self) -> None:
        links: list[tuple[Path, str]] = []
        with tarfile.open(self._source, "r:gz") as archive:
            for member in archive:
                packed = archive.extractfile(member) if member.isreg() else None
                if packed is not None:
                    with packed:
                        self._write(packed, member.name)
                elif member.issym():
                    links.append((self._place(member.name), member.linkname))
        for path, name in links:  # last, so that nothing is written through one
            path.symlink_to(name)
        for path, name in links:
            if not path.is_file():
                raise self._holds_a_link(f"{path.name} to {name}")

    def _check(self, names: list[str]) -> None:
        if len(names) > MOST_FILES:
            raise LoadError(f"{self._source.name} holds {len(names)} files: that is no runtime.", _HINT)
        for given in names:
            # As the archive has it: Windows takes a backslash for a slash, and a colon for a drive or a hidden stream.
            name = PurePosixPath(given.replace("\\", "/"))
            if name.is_absolute() or ".." in name.parts or ":" in str(name) or "\0" in str(name):
                raise LoadError(f"{self._source.name} would write outside of its folder ({given!r}).", _HINT)

    def _place(self, name: str) -> Path:
        path = self._folder / PurePosixPath(name.replace("\\", "/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _write(self, packed: IO[bytes], name: str) -> None:
        """Write one file, however long it claims to be."""
        with self._place(name).open("xb") as file:
            while piece := packed.read(_PIECE_BYTES):
                self._left -= len(piece)
                if self._left < 0:
                    raise self._is_too_large()
                file.write(piece)

    def _is_too_large(self) -> LoadError:
        return LoadError(f"{self._source.name} is larger than {MOST_BYTES >> 30} GiB unpacked.", _HINT)

    def _holds_a_link(self, name: str) -> LoadError:
        return LoadError(f"{self._source.name} holds a link ({name}).", "Add the unpacked folder instead.")
