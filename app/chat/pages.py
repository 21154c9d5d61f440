"""The rows that a damaged SQLite file still holds, read from its pages without asking SQLite.

A table's rows lie in *leaf pages*; what leads to them (inner pages, the schema, the header) may be spoilt while they
are whole. So every page is looked at by itself, with the newest version of it that the write-ahead log holds. Format:
https://www.sqlite.org/fileformat2.html, sections 1.6 (pages), 2.1 (records), 4 (log).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

Value = int | float | str | bytes | None

_LEAF = 0x0D
_LEAF_HEADER = 8
_FILE_HEADER = 100
_LOG_HEADER, _FRAME_HEADER = 32, 24
_MAX_ROW_BYTES = 1 << 30
_FIXED_SIZES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}


class Pages:
    """The pages of a database file and its log."""

    def __init__(self, file: BinaryIO, log: BinaryIO | None) -> None:
        self._file, self._log = file, log
        self.size = _page_size(file)
        self._logged: dict[int, int] = {}
        n_logged = 0
        if log is not None:
            n_logged = self._read_log(log)
        file.seek(0, 2)
        self.n_pages = max(file.tell() // self.size, n_logged)

    def __getitem__(self, number: int) -> bytes:
        """Return a page, counted from 1; short or empty where the file ends."""
        if self._log is not None and number in self._logged:
            self._log.seek(self._logged[number])
            return self._log.read(self.size)
        self._file.seek((number - 1) * self.size)
        return self._file.read(self.size)

    def _read_log(self, log: BinaryIO) -> int:
        """Find the newest committed version of each page; return how many pages the database has then."""
        header = log.read(_LOG_HEADER)
        if len(header) < _LOG_HEADER or int.from_bytes(header[:4], "big") >> 1 != 0x377F0682 >> 1:
            return 0
        if int.from_bytes(header[8:12], "big") not in (self.size, 1 if self.size == 1 << 16 else -1):
            return 0
        salts, waiting, n_pages, at = header[16:24], dict[int, int](), 0, _LOG_HEADER
        while len(frame := log.read(_FRAME_HEADER)) == _FRAME_HEADER and frame[8:16] == salts:
            number, n_after_commit = struct.unpack(">II", frame[:8])
            waiting[number] = at + _FRAME_HEADER
            at += _FRAME_HEADER + self.size
            log.seek(at)
            if n_after_commit:
                self._logged.update(waiting)
                waiting.clear()
                n_pages = n_after_commit
        return n_pages


def rows(path: Path) -> Iterator[tuple[int, tuple[Value, ...]]]:
    """Yield id and values of every row that can be read, of whatever table, page by page.

    Raises:
        OSError: the file cannot be read.
    """
    log_path = path.with_name(path.name + "-wal")
    with path.open("rb") as file:
        log = log_path.open("rb") if log_path.exists() else None
        try:
            pages = Pages(file, log)
            for number in range(1, pages.n_pages + 1):
                yield from _rows_of_page(pages, number)
        finally:
            if log is not None:
                log.close()


def _page_size(file: BinaryIO) -> int:
    """Return the page size; SQLite's default where the header is spoilt."""
    header = file.read(_FILE_HEADER)
    size = int.from_bytes(header[16:18], "big") if header.startswith(b"SQLite format 3\0") else 4096
    size = 1 << 16 if size == 1 else size
    return size if 512 <= size <= 1 << 16 and size & (size - 1) == 0 else 4096


def _rows_of_page(pages: Pages, number: int) -> Iterator[tuple[int, tuple[Value, ...]]]:
    page = pages[number]
    begin = _FILE_HEADER if number == 1 else 0
    if len(page) < begin + _LEAF_HEADER or page[begin] != _LEAF:
        return
    n_cells = int.from_bytes(page[begin + 3 : begin + 5], "big")
    first = begin + _LEAF_HEADER
    if first + 2 * n_cells > len(page):
        return
    for cell in range(n_cells):
        at = int.from_bytes(page[first + 2 * cell : first + 2 * cell + 2], "big")
        try:
            yield _row(pages, page, at)
        except (ValueError, IndexError, struct.error, UnicodeDecodeError):
            continue  # this row is spoilt; the next may not be


def _row(pages: Pages, page: bytes, at: int) -> tuple[int, tuple[Value, ...]]:
    n_bytes, at = _varint(page, at)
    row_id, at = _varint(page, at)
    if not 0 < n_bytes <= min(_MAX_ROW_BYTES, pages.n_pages * pages.size):
        raise ValueError(n_bytes)
    return row_id, _record(_payload(pages, page, at, n_bytes))


def _payload(pages: Pages, page: bytes, at: int, n_bytes: int) -> bytes:
    """Return the bytes of a row: those on its page, and those on its chain of further pages."""
    usable = pages.size  # no database of ours reserves bytes at the end of pages
    most = usable - 35
    if n_bytes <= most:
        return _exactly(page[at : at + n_bytes], n_bytes)
    least = (usable - 12) * 32 // 255 - 23
    here = least + (n_bytes - least) % (usable - 4)
    here = here if here <= most else least
    parts, missing = [page[at : at + here]], n_bytes - here
    following = int.from_bytes(_exactly(page[at + here : at + here + 4], 4), "big")
    while missing > 0:
        if not 1 < following <= pages.n_pages:
            raise ValueError(following)
        more = pages[following]
        following = int.from_bytes(_exactly(more[:4], 4), "big")
        parts.append(more[4 : 4 + missing])
        missing -= usable - 4
    return _exactly(b"".join(parts), n_bytes)


def _record(payload: bytes) -> tuple[Value, ...]:
    n_header, at = _varint(payload, 0)
    if not at <= n_header <= len(payload):
        raise ValueError(n_header)
    kinds, values, place = [], list[Value](), n_header
    while at < n_header:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    for kind in kinds:
        n_bytes = _FIXED_SIZES[kind] if kind in _FIXED_SIZES else (kind - 12) // 2
        if kind in (10, 11):
            raise ValueError(kind)
        values.append(_value(kind, _exactly(payload[place : place + n_bytes], n_bytes)))
        place += n_bytes
    return tuple(values)


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind == 7:
        return float(struct.unpack(">d", data)[0])
    if kind < 7:
        return int.from_bytes(data, "big", signed=True)
    return data if kind % 2 == 0 else data.decode("utf-8")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of 1 to 9 bytes; return it and where the next thing begins."""
    value = 0
    for n in range(8):
        byte = data[at + n]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    return value << 8 | data[at + 8], at + 9


def _exactly(data: bytes, n_bytes: int) -> bytes:
    if len(data) != n_bytes:
        raise ValueError(f"{len(data)} of {n_bytes} bytes")
    return data
