"""A file on the hub as a source of bytes for the header reader: a few megabytes are fetched, not the file."""

from __future__ import annotations

import threading
import time

from app.engine.parts import PART
from app.errors import NetworkError
from app.models.hub_faults import PassingError
from app.models.hub_http import Access, open_range
from app.models.patience import Patience
from app.models.remote import RemoteFile

FIRST_FETCH_BYTES = 1 << 20
FIRST_FETCH_OF_PART_BYTES = 256 << 10
"""The vocabulary is in the first part of a split model; the others tell of some tensors only."""
LARGEST_FETCH_BYTES = 4 << 20
MAX_KEPT_BYTES = 64 << 20
LEAST_RATE_BYTES_S = 32 << 10
"""A header is waited for as long as an answer may take, and longer only while it comes at this rate."""


class RemoteSource:
    """Reads ranges; keeps what it has of the beginning, where the header is, and fetches ahead in growing steps."""

    def __init__(self, access: Access, file: RemoteFile, patience: Patience) -> None:
        self._access = access
        self._file = file
        self._patience = patience
        self._beginning = bytearray()
        self._lock = threading.Lock()
        part = PART.search(file.name.removesuffix(".gguf"))
        self._step = FIRST_FETCH_BYTES if part is None or int(part[1]) == 1 else FIRST_FETCH_OF_PART_BYTES
        self.n_fetched_bytes = 0
        self._waited_s = 0.0

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return self._file.name

    @property
    def n_bytes(self) -> int:
        """Length of the whole file."""
        return self._file.n_bytes

    def read(self, offset: int, n_bytes: int) -> bytes:
        """Return the bytes from ``offset`` on, fewer only at the end of the file.

        Raises:
            SlipstreamError: the hub does not give them.
        """
        end = min(offset + n_bytes, self.n_bytes)
        if offset >= end:
            return b""
        with self._lock:
            if offset > len(self._beginning) + LARGEST_FETCH_BYTES or end > MAX_KEPT_BYTES:
                return self._fetch(offset, end)
            if end > len(self._beginning):
                known = len(self._beginning)
                self._beginning += self._fetch(known, min(max(end, known + self._step), self.n_bytes))
                self._step = min(2 * self._step, LARGEST_FETCH_BYTES)
            return bytes(self._beginning[offset:end])

    def _fetch(self, first: int, end: int) -> bytes:
        got = bytearray()
        n_failures = 0
        began_s = time.monotonic() - self._waited_s
        while len(got) < end - first:
            before = len(got)
            try:
                self._append(got, first + before, end, began_s)
                broken = PassingError(NetworkError("The connection to the hub ended early.", "Try again later."))
            except PassingError as passing:
                broken = passing
            n_failures = 0 if len(got) > before else n_failures + 1
            if len(got) < end - first:
                self._wait(broken, n_failures, began_s)
        self._waited_s = time.monotonic() - began_s
        return bytes(got)

    def _wait(self, broken: PassingError, n_failures: int, began_s: float) -> None:
        """Wait for the next try, unless there were enough, or that would take longer than somebody waits."""
        delay_s = self._patience.delay_s(n_failures, broken.asked_s)
        is_too_long = time.monotonic() + delay_s - began_s > self._longest_s
        if n_failures >= self._patience.n_tries or is_too_long:
            raise broken.fault from None
        time.sleep(delay_s)

    @property
    def _longest_s(self) -> float:
        return self._patience.answer_s + self.n_fetched_bytes / LEAST_RATE_BYTES_S

    def _append(self, got: bytearray, first: int, end: int, began_s: float) -> None:
        with open_range(self._access, self._file, first, end - 1) as reply:
            skip = first - reply.first
            for block in reply.blocks:
                self.n_fetched_bytes += len(block)
                self._check_pace(time.monotonic() - began_s)
                kept = block[skip:] if skip else block
                skip -= len(block) - len(kept)
                got += kept[: end - first]
                first += len(kept)
                if first >= end:
                    return

    def _check_pace(self, waited_s: float) -> None:
        if waited_s > self._longest_s:
            raise NetworkError(
                f"The hub sends the header of {self.name} too slowly to be read.",
                "Try again later; pulling the file takes longer, but goes on after any break.",
            )
