"""The connection to the chat database, and its faults in words."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from app.errors import StoreError

BUSY_MS = 250
_NO_ROOM_BYTES = 256 * 1024
_DAMAGED = ("malformed", "not a database", "corrupt", "disk image")


class Database:
    """One connection in autocommit mode. Not thread-safe: one database, one thread."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self.path = path

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection; raise what goes wrong as a :class:`StoreError`."""
        try:
            yield self.connection
        except sqlite3.Error as fault:
            raise explain(fault, self.path, "read") from fault
        except UnicodeDecodeError as fault:
            raise self._unreadable(fault, "read") from fault

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection in a transaction, which is undone when the block raises; blocks may nest."""
        if self.connection.in_transaction:
            yield self.connection
            return
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                self._undo()
                raise
        except sqlite3.Error as fault:
            raise explain(fault, self.path, "write") from fault
        except UnicodeDecodeError as fault:
            raise self._unreadable(fault, "write") from fault

    def _unreadable(self, fault: UnicodeDecodeError, verb: str) -> StoreError:
        return explain(malformed(fault), self.path, verb)

    def _undo(self) -> None:
        if self.connection.in_transaction:  # else SQLite has done so itself
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def connect(path: Path, *, is_handed_on: bool = False) -> sqlite3.Connection:
    """Connect to a database, made if missing, with our settings; in autocommit mode.

    Args:
        path: the file.
        is_handed_on: whether another thread uses the connection from here on, instead of this one.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    db = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=not is_handed_on)
    try:
        db.row_factory = sqlite3.Row
        db.text_factory = _text  # a broken character costs that character, not the conversation
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA secure_delete = ON")  # an erased chat is erased
    except BaseException:
        db.close()
        raise
    return db


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def malformed(what: object) -> sqlite3.DatabaseError:
    """Return the fault for damage that SQLite does not find, or finds words for that are no text themselves."""
    return sqlite3.DatabaseError(f"database disk image is malformed: {what}")


def is_damage(fault: BaseException | None) -> bool:
    """Whether a fault tells of a damaged file, not of one that cannot be reached."""
    return isinstance(fault, sqlite3.DatabaseError) and any(word in str(fault) for word in _DAMAGED)


def is_full(path: Path) -> bool:
    """Whether the disk of a file has no room: SQLite calls that an I/O error where it is its log that has none."""
    try:
        return shutil.disk_usage(path.parent).free < _NO_ROOM_BYTES
    except OSError:
        return False


def explain(fault: Exception, path: Path, verb: str) -> StoreError:
    """Put a database error in words, with what to do."""
    text = str(fault)
    if "locked" in text or "busy" in text:
        hint = "Another program is using the file. Close it; what is on the screen will be saved with the next try."
    elif "full" in text or ("I/O" in text and is_full(path)):
        hint = "The disk is full. Free some space; what is on the screen stays there and is saved with the next try."
    elif is_damage(fault):
        hint = "The file is damaged. It will be repaired at the next start; export what is on the screen first."
    elif "readonly" in text or "read-only" in text or "unable to open" in text:
        hint = "Check that the folder exists and that you may write to it."
    elif "too big" in text:
        hint = "One message can be as long as 900 MB. Export what is on the screen, and ask for less at once."
    else:
        hint = "What is on the screen stays there. Check the disk, then try again."
    return StoreError(f"Cannot {verb} the chat database {path}: {text}.", hint)


def now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


def time_out(moment: datetime) -> str:
    """Write a moment so that text sorts as time does."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def time_in(text: str) -> datetime:
    """Read a moment; one that damage or another program has spoilt is the beginning of time."""
    try:
        moment = datetime.fromisoformat(text)
    except (ValueError, TypeError):
        return datetime.fromtimestamp(0, UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
