"""Files that a person names: opened only where they are files, and read only so far.

A pipe would be waited for without end, a device read without end: a drop or a click must not begin that.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_PIECE_BYTES = 1 << 20


class NoFileError(OSError):
    """It is a pipe or a device: one of the faults that a file which cannot be read has, with a reason of its own."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(errno.EINVAL, "it is a pipe or a device, not a file", str(path))


def open_named(path: Path) -> BinaryIO:
    """Open a file for reading.

    Raises:
        NoFileError: it is no file.
        OSError: it cannot be opened.
        ValueError: its name holds a zero byte.
    """
    _refuse(path.stat().st_mode, path)  # some devices do something as soon as they are opened
    return open(path, "rb", opener=_open_at_once)


def read_named(path: Path, most_bytes: int) -> bytes:
    """Read a file; of one that is longer than that one byte more than so many, by which it is known.

    Raises:
        NoFileError: it is no file.
        OSError: it cannot be read.
        ValueError: its name holds a zero byte.
    """
    with open_named(path) as file:
        return _read(file, most_bytes)


def read_or_hear(path: Path, most_bytes: int) -> bytes:
    """Read a file as :func:`read_named` does, or what comes out of a pipe: for a terminal, where Ctrl+C ends the wait.

    Raises:
        OSError: it cannot be read.
        ValueError: its name holds a zero byte.
    """
    with path.open("rb") as file:
        return _read(file, most_bytes)


def _read(file: BinaryIO, most_bytes: int) -> bytes:
    n_said = min(os.fstat(file.fileno()).st_size, most_bytes)
    data = file.read(n_said + 1)
    while n_said < len(data) <= most_bytes:  # it grows meanwhile, or says no size: a pipe, a file of the system's
        more = file.read(min(_PIECE_BYTES, most_bytes + 1 - len(data)))
        if not more:
            break
        data += more
    return data


def _open_at_once(name: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe, which may have taken the file's place in this moment."""
    handle = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        _refuse(os.fstat(handle).st_mode, name)
    except OSError:
        os.close(handle)
        raise
    return handle


def _refuse(mode: int, path: str | Path) -> None:
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # what a folder is, opening says
        raise NoFileError(path)
