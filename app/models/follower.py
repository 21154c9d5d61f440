"""Hashes a file while it is being written, in a thread that reads behind the writer.

It reads from the file and not from the writer's memory. So the bytes of an earlier run are hashed while new ones
arrive, a slow hash does not slow the line, and what is checked is what is in the file. On the way it has what is
written put onto the disk, so that little is left to do at the end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Self

from app.errors import DownloadError
from app.models.remote import RemoteFile, make_hash

BLOCK_BYTES = 1 << 20
SYNC_EVERY_BYTES = 64 << 20


class Follower:
    """The hash of a growing file; a context manager that ends its thread.

    Now and then it calls ``sync`` with a number of bytes that are to be on the disk for sure.
    """

    def __init__(self, path: Path, file: RemoteFile, sync: Callable[[int], None]) -> None:
        self._path = path
        self._sync = sync
        self._n_bytes = file.n_bytes
        self._hash = make_hash(file)
        self._written = 0
        self._changed = threading.Condition()
        self._closing = False
        self._fault: OSError | None = None
        self._thread = threading.Thread(target=self._follow, name=f"hash {file.name}", daemon=True)
        self.n_hashed_bytes = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def advance(self, n_bytes: int) -> None:
        """Say how many bytes the file has now."""
        if n_bytes - self._written >= BLOCK_BYTES or n_bytes >= self._n_bytes:
            with self._changed:
                self._written = n_bytes
                self._changed.notify()

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end of the file; tell whether it was reached."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def value(self) -> str:
        """Return the hash, once the end was reached.

        Raises:
            DownloadError: the file could not be read.
        """
        if self._fault is not None:
            raise DownloadError(
                f"{self._path} cannot be read: {self._fault.strerror}.", "Is the disk it is on still there?"
            ) from self._fault
        return self._hash.hexdigest()

    def _follow(self) -> None:
        try:
            with FileIO(self._path) as source:
                self._read(source)
        except OSError as fault:
            self._fault = fault

    def _read(self, source: FileIO) -> None:
        n_synced = 0
        block = memoryview(bytearray(BLOCK_BYTES))
        while self.n_hashed_bytes < self._n_bytes:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or self._written > self.n_hashed_bytes)
                if self._closing:
                    return
                n_ready = self._written - self.n_hashed_bytes
            n_read = source.readinto(block[: min(n_ready, BLOCK_BYTES)])
            if not n_read:
                raise OSError(0, "it became shorter")
            self._hash.update(block[:n_read])
            self.n_hashed_bytes += n_read
            if self.n_hashed_bytes - n_synced >= SYNC_EVERY_BYTES:
                n_synced = self.n_hashed_bytes
                with suppress(OSError):  # the last sync, before the rename, is the one that has to succeed
                    self._sync(n_synced)
