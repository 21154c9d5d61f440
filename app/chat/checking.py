"""The test of the whole database file, in a thread of its own and for a bounded time before the window goes on."""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from app.chat.database import is_damage
from app.errors import StoreError

logger = logging.getLogger(__name__)

PATIENCE_S, LEAST_PATIENCE_S = 0.25, 0.05
LARGE_BYTES = 256 << 20
"""What is larger is not checked within that time: 1.3 GB/s where all of it is in memory already, far less else."""


def patience_s(n_bytes: int) -> float:
    """How long opening a file of this size waits for the result: no longer than it may help."""
    return LEAST_PATIENCE_S if n_bytes > LARGE_BYTES else PATIENCE_S


class FileCheck:
    """``PRAGMA quick_check`` on a connection of its own. :attr:`problem` is what it found so far.

    A check that is not done when the program ends leaves no mark; one that found damage late leaves a file beside the
    database, and the next opening waits for its own check to the end.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None
        self._is_stopped = threading.Event()
        self.problem = ""
        self._thread = threading.Thread(target=self._run, name="chat database check", daemon=True)
        if path is not None:
            self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether the result is there."""
        return not self._thread.is_alive()

    def wait(self, timeout_s: float | None) -> str:
        """Wait for the result at most so long; return the problem that was found, "" if none (so far)."""
        if self._path is not None:
            self._thread.join(timeout_s)
        return self.problem

    def damage(self) -> StoreError | None:
        """Return what is to be said about what was found so far, if anything; for a window that looks now and then."""
        if not self.problem:
            return None
        return StoreError(
            f"The chat database {self._path} is damaged ({self.problem}).",
            "It will be repaired at the next start, and kept beside. Export what is on the screen first.",
        )

    def stop(self) -> None:
        """End the check."""
        self._is_stopped.set()
        if self._path is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            with closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=rw", uri=True)) as db:  # type: ignore[union-attr]  # started with a path only
                db.set_progress_handler(self._is_stopped.is_set, 10_000)
                found = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
        except sqlite3.Error as fault:
            found = str(fault) if is_damage(fault) else "ok"  # stopped, locked: not this thread's to judge
        except UnicodeDecodeError as fault:
            found = str(fault)  # SQLite's words quote a broken schema
        if found != "ok":
            self.problem = found
            self._remember()

    def _remember(self) -> None:
        if self._path is None:
            return
        try:
            suspicion_of(self._path).touch()
        except OSError as fault:
            logger.info("the damage cannot be noted: %s", fault)


def suspicion_of(path: Path) -> Path:
    """Path of the file that says that damage was found after the database had been opened."""
    return path.with_name(f"{path.name}.check")
