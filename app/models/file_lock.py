"""A lock between processes that the operating system ends with the process, however that ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock:
    """A lock by the name of a file, which is there only while somebody holds it (or ended without a goodbye)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Take the lock if nobody has it; tell whether that went well.

        Raises:
            OSError: the folder is not there or cannot be written.
        """
        try:
            while self._handle is None:
                self._handle = self._try()
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Give it back, if it is held."""
        if self._handle is not None:
            with suppress(OSError):  # on Windows an open file stays until it is closed
                self._path.unlink()
            os.close(self._handle)
            self._handle = None

    def is_taken(self) -> bool:
        """Tell whether somebody holds it, in this process or another."""
        if not self._path.exists():
            return False
        probe = FileLock(self._path)
        if not probe.acquire():
            return True
        probe.release()
        return False

    def _try(self) -> int | None:
        """Return the locked handle; None if the file was taken away between its opening and its locking."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        is_ours = False
        try:
            try:
                _lock(handle)
            except PermissionError as fault:  # what Windows says of a lock that is held
                raise BlockingIOError(fault.errno, fault.strerror) from fault
            with suppress(FileNotFoundError):
                is_ours = os.path.samestat(os.fstat(handle), self._path.stat())
        finally:
            if not is_ours:
                os.close(handle)
        return handle if is_ours else None
