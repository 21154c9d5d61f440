"""Copies of large files that are whole or not there: synced, read back and compared before they get their name."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from app.errors import DiskFullError, DownloadError
from app.models.transfer import NO_ROOM

BLOCK_BYTES = 4 << 20

_NO_LINKS = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EACCES, errno.EINVAL}

OnBytes = Callable[[int], None]
"""Called with the bytes of each block that was copied or compared; may raise to stop."""


def copy_whole(source: Path, part: Path, on_bytes: OnBytes) -> None:
    """Copy a file to a new name, and compare what is on the disk; whatever goes wrong, nothing stays there.

    Each byte is told to ``on_bytes`` twice: when it was written, and when it was compared.

    Raises:
        DownloadError: it cannot be read or written, or changed meanwhile.
    """
    try:
        before = source.stat()
        digest = _copy(source, part, on_bytes)
        _check_copy(source, part, before, is_right=_hash(part, on_bytes) == digest)
        os.utime(part, ns=(before.st_atime_ns, before.st_mtime_ns))
    except OSError as fault:
        part.unlink(missing_ok=True)
        raise cannot_copy(source, fault) from fault
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def put(part: Path, place: Path) -> None:
    """Give a file its name, in one step, and never in place of another file.

    Raises:
        FileExistsError: the name is taken.
        OSError: it cannot be done.
    """
    if not link(part, place):
        if place.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place))
        part.rename(place)
        return
    part.unlink()


def link(source: Path, place: Path) -> bool:
    """Give a file, not a link, a second name on its disk; tell whether the two are on one, and it knows such links.

    Raises:
        FileExistsError: the name is taken.
        OSError: it cannot be done.
    """
    try:
        os.link(source, place)
    except OSError as fault:
        if fault.errno in _NO_LINKS:
            return False
        raise
    return True


def is_same(one: Path, other: Path, on_bytes: OnBytes) -> bool:
    """Compare two files byte by byte.

    Raises:
        OSError: one cannot be read.
    """
    if one.samefile(other):
        return True
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb", buffering=0) as first, other.open("rb", buffering=0) as second:
        while block := first.read(BLOCK_BYTES):
            if second.read(len(block)) != block:
                return False
            on_bytes(len(block))
    return True


def cannot_copy(source: Path, fault: OSError) -> DownloadError:
    """Put in words why a file could not be copied."""
    if fault.errno in NO_ROOM:
        return DiskFullError(f"There is no room for {source.name}.", "Make room, then try again: nothing was changed.")
    where = f" ({fault.filename})" if fault.filename else ""
    return DownloadError(
        f"{source.name} cannot be copied: {fault.strerror or fault}{where}.", "Check the permissions and the disks."
    )


def _check_copy(source: Path, part: Path, before: os.stat_result, *, is_right: bool) -> None:
    after = source.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise DownloadError(f"{source.name} changed while it was copied.", "Wait until it is whole, then try again.")
    if not is_right or part.stat().st_size != after.st_size:
        raise DownloadError(f"The copy of {source.name} is not what was read.", "Is the disk in order? Try again.")


def _copy(source: Path, part: Path, on_bytes: OnBytes) -> str:
    running = hashlib.sha256()
    with source.open("rb", buffering=0) as reading, part.open("wb", buffering=0) as out:
        while block := reading.read(BLOCK_BYTES):
            running.update(block)
            rest = memoryview(block)
            while rest:
                rest = rest[out.write(rest) :]
            on_bytes(len(block))
        os.fsync(out.fileno())
    return running.hexdigest()


def _hash(path: Path, on_bytes: OnBytes) -> str:
    running = hashlib.sha256()
    with path.open("rb", buffering=0) as reading:
        while block := reading.read(BLOCK_BYTES):
            running.update(block)
            on_bytes(len(block))
    return running.hexdigest()
