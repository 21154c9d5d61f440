"""The end of deleted conversations: erased for good, one at a time, so that other writers never wait long."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from app.chat.database import Database, connect, explain, now, time_out

PAUSE_S = 0.02
"""Between two conversations, for whoever else wants to write."""


class Erasing:
    """One round of erasing, on a connection of its own; for a thread of its own.

    Args:
        path: the chat database.
        older_than_s: erase what was deleted at least so long ago.
        only: erase these, where they are deleted, however long ago that was; none given means all that are old enough.
    """

    def __init__(self, path: Path, *, older_than_s: float = 0.0, only: tuple[int, ...] = ()) -> None:
        self._path = path
        self._older_than_s = older_than_s
        self.only = only
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End the round after the conversation that is being erased."""
        self._stopped.set()

    def run(self) -> int:
        """Erase; return how many conversations.

        Raises:
            StoreError: the database refuses; what was erased before that is erased.
        """
        try:
            connection = connect(self._path)
        except sqlite3.Error as fault:
            raise explain(fault, self._path, "open") from fault
        with closing(connection):
            database = Database(connection, self._path)
            n_erased = 0
            for conversation_id in self._found(database):
                if self._stopped.wait(PAUSE_S):
                    break
                with database.writing() as db:
                    row = db.execute(
                        "DELETE FROM conversation WHERE id = ? AND deleted_at IS NOT NULL", (conversation_id,)
                    )
                    n_erased += row.rowcount
            return n_erased

    def _found(self, database: Database) -> list[int]:
        if self.only:
            return list(self.only)
        before = time_out(now() - timedelta(seconds=self._older_than_s))
        with database.reading() as db:
            return [int(row[0]) for row in db.execute("SELECT id FROM conversation WHERE deleted_at <= ?", (before,))]
