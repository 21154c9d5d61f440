"""Unpacks a runtime's zip or tar.gz: nothing of it outside the folder, no links that lead away, no flood."""

from __future__ import annotations

import gzip
import lzma
import re
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from app.engine.runtime_files import has_llama
from app.errors import LoadError, UsageError
from app.models.disk_room import check_room

MOST_BYTES = 4 << 30
"""A runtime with every backend takes some hundred megabytes; an archive can claim any size."""

MOST_FILES, MOST_FOLDERS = 5000, 32
_PIECE_BYTES = 1 << 20
_LONGEST_HEADER_BYTES = 4 << 20
_ODD_NAME = re.compile(r"^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)|[. ]$|[\x00-\x1f\ud800-\udfff]", re.IGNORECASE)
"""Devices of Windows, names that it shortens, and what is no text: no library is called so."""

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
        DiskFullError: there is no room for it.
    """
    kind = "tar.gz" if source.name.lower().endswith((".tar.gz", ".tgz")) else "zip"
    try:
        _Unpacking(source, folder).run(is_tar=kind == "tar.gz")
    except (zipfile.BadZipFile, tarfile.TarError, ValueError, LookupError, struct.error) as fault:  # so do odd headers
        shutil.rmtree(folder, ignore_errors=True)
        raise UsageError(f"{source.name} is not a {kind}, or damaged: {fault}", _HINT) from fault
    except FileExistsError as fault:
        shutil.rmtree(folder, ignore_errors=True)
        raise LoadError(f"{source.name} holds two files of one name ({Path(fault.filename).name}).", _HINT) from fault
    except (OSError, RuntimeError, EOFError, zlib.error, lzma.LZMAError) as fault:  # a full disk, a password, damage
        shutil.rmtree(folder, ignore_errors=True)
        why = fault.strerror if isinstance(fault, OSError) and fault.strerror else fault
        raise LoadError(f"{source.name} cannot be unpacked: {why}", _HINT) from fault
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    inside = [folder, *(path for path in sorted(folder.rglob("*")) if path.is_dir())]
    return next((place for place in inside if has_llama(place)), folder)


class _Gzip(gzip.GzipFile):
    """A stream of which nobody gets very much at once: a header of a tar may claim to have any length."""

    def read(self, size: int | None = -1) -> bytes:
        """Read some.

        Raises:
            tarfile.ReadError: that would be too much.
        """
        if size is None or not 0 <= size <= _LONGEST_HEADER_BYTES:
            raise tarfile.ReadError(f"a header of {size} bytes")
        return super().read(size)


class _Unpacking:
    """One archive on its way into a folder."""

    def __init__(self, source: Path, folder: Path) -> None:
        self._source, self._folder = source, folder
        self._n_bytes, self._left = 0, MOST_BYTES

    def run(self, *, is_tar: bool) -> None:
        """Check every name and how much there is, then write every file."""
        if is_tar:
            self._look_at_tar()
            self._make_folder()
            self._write_tar()
            return
        with zipfile.ZipFile(self._source) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            self._check_number(len(members))
            for member in members:
                self._check(member.orig_filename)
                if stat.S_ISLNK(member.external_attr >> 16):
                    raise self._holds_a_link(member.filename)
                self._count(member.file_size)
            self._make_folder()
            for member in members:
                with archive.open(member) as packed:
                    self._write(packed, member.filename)

    def _look_at_tar(self) -> None:
        """Read all of a tar once; a link counts if it leads to a file beside it, as those to a library's version."""
        with _Gzip(self._source) as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            for member in self._members(archive):
                self._count(member.size)
                if member.issym() and PurePosixPath(member.linkname).name == member.linkname != "..":
                    self._check(member.linkname)
                elif not member.isreg() and not member.isdir():
                    raise self._holds_a_link(member.name)
                self._check(member.name)
            n_left = MOST_BYTES
            while rest := stream.read(_PIECE_BYTES):  # to its end, where the check sum is
                n_left -= len(rest)
                if n_left < 0:
                    raise self._is_too_large()

    def _members(self, archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
        for number, member in enumerate(archive, 1):
            self._check_number(number)
            if member.size < 0:  # the next member would be one before it, without end
                raise tarfile.ReadError(f"a file of {member.size} bytes")
            yield member

    def _make_folder(self) -> None:
        """Make the folder, now that it is known how much will be in there."""
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        check_room(self._folder.parent, self._n_bytes, 0)
        self._folder.mkdir()

    def _write_tar(self) -> None:
        links: list[tuple[Path, str]] = []
        with _Gzip(self._source) as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            for member in self._members(archive):
                packed = archive.extractfile(member) if member.isreg() else None
                if packed is not None:
                    with packed:
                        self._write(packed, member.name)
                elif member.issym():
                    self._check(member.linkname)
                    links.append((self._place(member.name), member.linkname))
        for path, name in links:  # last, so that nothing is written through one
            path.symlink_to(name)
        for path, name in links:
            if not path.is_file():
                raise self._holds_a_link(f"{path.name} to {name}")

    def _check_number(self, n_files: int) -> None:
        if n_files > MOST_FILES:
            raise LoadError(f"{self._source.name} holds more than {MOST_FILES} files: that is no runtime.", _HINT)

    def _count(self, n_bytes: int) -> None:
        """Count what the archive says that it will be: nothing is written of one that is too large."""
        self._n_bytes += n_bytes
        if self._n_bytes > MOST_BYTES:
            raise self._is_too_large()

    def _check(self, given: str) -> None:
        # As the archive has it: Windows takes a backslash for a slash, and a colon for a drive or a hidden stream.
        name = PurePosixPath(given.replace("\\", "/"))
        if name.is_absolute() or ".." in name.parts or ":" in str(name) or "\0" in str(name):
            raise LoadError(f"{self._source.name} would write outside of its folder ({given!r}).", _HINT)
        if len(name.parts) > MOST_FOLDERS:
            raise LoadError(f"{self._source.name} holds {len(name.parts)} folders in each other.", _HINT)
        if any(_ODD_NAME.search(part) for part in name.parts):
            raise LoadError(f"{self._source.name} holds a name that no file can have everywhere ({given!r}).", _HINT)

    def _place(self, name: str) -> Path:
        self._check(name)  # once more: the archive may be another one by now
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
