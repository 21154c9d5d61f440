"""Tells whether a shared library is as long as its own header says, before the system maps what is not there.

A copy or a download that broke off leaves a file that Linux maps all the same; the first look at a page behind its end
is a bus error, which ends the process and names nobody.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from app.engine.byte_cursor import size_in_words
from app.engine.runtime_files import code_files
from app.errors import LoadError

HINT = "It was not copied or downloaded to its end: get this runtime again, or choose another one."

_ELF64_LITTLE = b"\x7fELF\x02\x01"
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_LOAD = 1
_PART = 1 << 20


def require_whole(path: Path) -> None:
    """Refuse a library that ends before its segments do; one of another format is for its loader to judge.

    Raises:
        LoadError: it is too short; says by how much.
    """
    try:
        n_bytes, need = path.stat().st_size, _n_needed(path)
    except (OSError, ValueError):
        return  # that it is gone, cannot be read or is nonsense is what its loader says best
    if n_bytes < need:
        raise LoadError(f"{path} ends after {size_in_words(n_bytes)} of {size_in_words(need)}.", HINT)


def require_whole_with_needed(path: Path) -> None:
    """Refuse a library that was cut off, or that needs one of its own folder that was; others there do not matter.

    Raises:
        LoadError: one is too short; says which, and by how much.
    """
    beside, waiting = {file.name: file for file in code_files(path.parent)}, [path]
    while waiting:
        library = waiting.pop()
        require_whole(library)
        beside.pop(library.name, None)
        try:
            needed = _named_in(library, beside)
        except OSError:
            continue
        waiting += [beside.pop(name) for name in needed]


def _named_in(path: Path, names: Iterable[str]) -> list[str]:
    """Return which names stand in a file as strings of their own; a part at a time, since one may have a gigabyte."""
    waiting = {name: b"\0" + os.fsencode(name) + b"\0" for name in names}
    n_overlap, found, end = max(map(len, waiting.values()), default=1) - 1, [], b""
    with path.open("rb") as file:
        while waiting and (part := file.read(_PART)):
            part = end + part
            here = [name for name, string in waiting.items() if string in part]
            found += here
            for name in here:
                del waiting[name]
            end = part[-n_overlap:]
    return found


def _n_needed(path: Path) -> int:
    """Return how many bytes are mapped of a file, or its header needs; 0 where that is not known."""
    with path.open("rb") as file:
        head = file.read(_HEADER.size)
        if not head.startswith(_ELF64_LITTLE[: len(head)]):
            return 0
        if len(head) < _HEADER.size:
            return _HEADER.size
        _kind, _machine, _version, _entry, at, _sections, _flags, _size, each, n, *_rest = _HEADER.unpack(head)
        if each != _SEGMENT.size:
            return 0
        file.seek(at)
        table = file.read(n * each)
    if len(table) < n * each:
        return int(at + n * each)
    segments = [_SEGMENT.unpack_from(table, i * each) for i in range(n)]
    ends: list[int] = [offset + size for kind, _f, offset, _v, _p, size, _m, _a in segments if kind == _LOAD]
    return max(ends, default=0)
