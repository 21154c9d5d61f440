"""One writer at a time of a file that several programs read, change and write back: windows, commands, servers.

Who only reads needs nothing: the file is replaced as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import SettingsError
from app.models.file_lock import FileLock

WAIT_S = 10.0
"""A change takes milliseconds; who holds the lock longer hangs, and the lock goes with the process."""

_LOOK_S = 0.01


@contextmanager
def one_writer(path: Path, wait_s: float = WAIT_S) -> Iterator[None]:
    """Let no other program, and no other thread, change a file meanwhile.

    Raises:
        SettingsError: another one does so for too long, or the folder cannot be written.
    """
    lock, until_s = FileLock(path.with_name(f"{path.name}.lock")), time.monotonic() + wait_s
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while not lock.acquire():
            if time.monotonic() > until_s:
                raise SettingsError(f"Another program is changing {path}.", "Wait until it is done, or end it.")
            time.sleep(_LOOK_S)
    except OSError as fault:
        raise SettingsError(f"Cannot write {path}: {fault.strerror}", "Check the permissions of its folder.") from fault
    try:
        yield
    finally:
        lock.release()
