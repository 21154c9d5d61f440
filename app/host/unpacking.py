"""Unpacks a runtime's zip: nothing of it outside the folder, no links, no flood."""

from __future__ import annotations

import lzma
import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from app.engine.runtime_files import has_llama
from app.errors import LoadError, UsageError

MOST_BYTES = 4 << 30
"""A runtime with every backend takes some hundred megabytes; a zip can claim any size."""

MOST_FILES = 5000
_PIECE_BYTES = 1 << 20
_HINT = "Get it again from where it comes from."


def unpack(source: Path, folder: Path) -> Path:
    """Unpack a zip into a new folder; return the folder inside that holds the llama library, else the folder itself.

    Raises:
        UsageError: it is no zip.
        LoadError: it would write elsewhere, holds links, is damaged or too large. Nothing of it is left then.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _check(source, members)
            folder.mkdir(parents=True)
            left = MOST_BYTES
            for member in members:
                left = _write(archive, member, folder, left)
    except zipfile.BadZipFile as fault:
        shutil.rmtree(folder, ignore_errors=True)
        raise UsageError(f"{source.name} is not a zip, or damaged: {fault}", _HINT) from fault
    except (OSError, RuntimeError, EOFError, zlib.error, lzma.LZMAError) as fault:  # a full disk, a password, damage
        shutil.rmtree(folder, ignore_errors=True)
        raise LoadError(f"{source.name} cannot be unpacked: {fault}", _HINT) from fault
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    inside = [folder, *(path for path in sorted(folder.rglob("*")) if path.is_dir())]
    return next((place for place in inside if has_llama(place)), folder)


def _check(source: Path, members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MOST_FILES:
        raise LoadError(f"{source.name} holds {len(members)} files: that is no runtime.", _HINT)
    for member in members:
        # As the archive has it: Windows takes a backslash for a slash, and a colon for a drive or a hidden stream.
        name = PurePosixPath(member.orig_filename.replace("\\", "/"))
        if name.is_absolute() or ".." in name.parts or ":" in str(name) or "\0" in str(name):
            raise LoadError(f"{source.name} would write outside of its folder ({member.orig_filename!r}).", _HINT)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise LoadError(f"{source.name} holds a link ({member.filename}).", "Add the unpacked folder instead.")


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, left: int) -> int:
    """Write one file, however long it claims to be; return how many bytes may still come."""
    path = folder / PurePosixPath(member.filename.replace("\\", "/"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as packed, path.open("xb") as file:
        while piece := packed.read(_PIECE_BYTES):
            left -= len(piece)
            if left < 0:
                raise LoadError(f"{archive.filename} is larger than {MOST_BYTES >> 30} GiB unpacked.", _HINT)
            file.write(piece)
    return left
