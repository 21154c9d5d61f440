"""A place in a file, read through a window: on disk, or anywhere that can return a range of bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO, Literal, NoReturn, Protocol

from app.errors import ModelFileError

ByteOrder = Literal["little", "big"]

WINDOW_BYTES = 256 << 10

# What a file may claim before we stop believing it.
MAX_HEADER_BYTES = 256 << 20
MAX_KEPT_BYTES = 64 << 20
MAX_STRINGS = 8_000_000

AGAIN = "The download is not complete: delete the file and download it again."
DAMAGED = "The file is damaged or not a model: download it again, from its first publisher if you can."


class ByteSource(Protocol):
    """Where the bytes come from."""

    @property
    def name(self) -> str:
        """What to call it in a message."""

    @property
    def n_bytes(self) -> int:
        """Length of the whole file."""

    def read(self, offset: int, n_bytes: int) -> bytes:
        """Return the bytes from ``offset`` on, fewer only at the end of the file."""


@dataclass(frozen=True, slots=True)
class FileSource:
    """An open file."""

    name: str
    n_bytes: int
    file: BinaryIO

    def read(self, offset: int, n_bytes: int) -> bytes:
        """Return the bytes from ``offset`` on, fewer only at the end of the file."""
        self.file.seek(offset)
        return self.file.read(n_bytes)


class Cursor:
    """A place in the source and a window of bytes around it."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._window = b""
        self._start = 0  # of the window in the file
        self._at = 0  # in the window; may lie beyond its end
        self._n_kept_bytes = 0
        self._n_strings = 0
        self.order: ByteOrder = "little"

    @property
    def name(self) -> str:
        """What to call the file."""
        return self._source.name

    @property
    def position(self) -> int:
        """Offset in the file."""
        return self._start + self._at

    def fail(self, what: str) -> NoReturn:
        """Give up on a damaged file."""
        raise ModelFileError(f"{self.name} {what}.", DAMAGED)

    def _fill(self, n_bytes: int) -> None:
        """Move the window so that it begins here and holds ``n_bytes``."""
        self.skip(0)
        self._start, self._at = self.position, 0
        if self._start + n_bytes > self._source.n_bytes:
            self._fail_at_end()
        self._window = self._source.read(self._start, max(n_bytes, WINDOW_BYTES))
        if len(self._window) < n_bytes:
            self._fail_at_end()

    def _fail_at_end(self) -> NoReturn:
        raise ModelFileError(f"{self.name} ends inside its header.", AGAIN)

    def take(self, n_bytes: int) -> bytes:
        """Return the next bytes; the caller has bounded ``n_bytes``."""
        if self._at + n_bytes > len(self._window):
            self._fill(n_bytes)
        self._at += n_bytes
        return self._window[self._at - n_bytes : self._at]

    def skip(self, n_bytes: int) -> None:
        """Step over bytes without reading them."""
        self._at += n_bytes
        if self.position > self._source.n_bytes:
            self._fail_at_end()
        if self.position > MAX_HEADER_BYTES:
            self.fail(f"claims a header of more than {size_in_words(MAX_HEADER_BYTES)}")

    def integer(self, n_bytes: int) -> int:
        """Return the next unsigned number."""
        return int.from_bytes(self.take(n_bytes), self.order)

    def text(self, max_bytes: int) -> str:
        """Return the next string, bytes that are not UTF-8 replaced."""
        n_bytes = self.integer(8)
        if n_bytes > max_bytes:
            self.fail(f"claims a text of {size_in_words(n_bytes)} in its header")
        self.keep(n_bytes)
        return self.take(n_bytes).decode(errors="replace")

    def keep(self, n_bytes: int) -> None:
        """Count bytes that stay in memory."""
        self._n_kept_bytes += n_bytes
        if self._n_kept_bytes > MAX_KEPT_BYTES:
            self.fail("has too much text in its header")

    def skip_texts(self, n: int) -> None:
        """Step over strings; this is most of the work in a header, so it keeps to local names."""
        self._n_strings += n
        if self._n_strings > MAX_STRINGS:
            self.fail(f"claims {self._n_strings} strings in its header")
        window, at, order = self._window, self._at, self.order
        end = len(window) - 8
        for _ in range(n):
            if at > end:
                self._at = at
                self._fill(8)
                window, at = self._window, 0
                end = len(window) - 8
            at += 8 + int.from_bytes(window[at : at + 8], order)
        self._at = at
        self.skip(0)


def size_in_words(n_bytes: int) -> str:
    """Write a number of bytes for a person."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes} bytes"
