"""Whole lines out of a pipe, as many at a time as have arrived."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader

from app.protocol import MAX_LINE_BYTES

_READ_BYTES = 64 * 1024


def gathered(pipe: BufferedReader, longest_bytes: int = MAX_LINE_BYTES) -> Iterator[list[bytes]]:
    """Yield the lines that are there, at least one each time, waiting only when there is none.

    A line that grows longer than ``longest_bytes`` comes in pieces, and what follows the last line's end comes last.
    """
    parts: list[bytes] = []
    n_bytes = 0
    while data := pipe.read1(_READ_BYTES):
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = b"".join((*parts, whole[0]))
            parts, n_bytes = [], 0
            yield whole
        if rest:
            parts.append(rest)
            n_bytes += len(rest)
        if n_bytes >= longest_bytes:
            yield [b"".join(parts)]
            parts, n_bytes = [], 0
    if parts:
        yield [b"".join(parts)]
