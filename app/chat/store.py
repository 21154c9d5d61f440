"""The chat database: everything said is on disk as it is said.

One SQLite file in WAL mode. A question is written before the engine sees it; an answer is a row from its first
moment (``streaming``), rewritten as it grows (:data:`SAVE_EVERY_S`) and closed at its end. What a crash leaves
``streaming`` the next start shows as ``interrupted``. Deleting hides; :meth:`ChatStore.purge` erases.

WAL with ``synchronous=NORMAL`` commits without waiting for the disk: a killed program loses nothing, a power
failure at most the last moments, and neither damages the file.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Self

import msgspec

from app.chat.conversation import UNTITLED, AnswerStats, Conversation, ConversationHead, Message, MessageState, now
from app.chat.schema import MIGRATIONS, migrate, version_of
from app.chat.search import find_heads
from app.errors import StoreError
from app.paths import data_dir
from app.protocol import Role

logger = logging.getLogger(__name__)

SAVE_EVERY_S = 1.5
"""How often a growing answer is written; the promise is 2 s, screen to disk."""

_BUSY_MS = 250
_DAMAGED = ("malformed", "not a database", "corrupt", "disk image")


def store_path() -> Path:
    """Path of the chat database."""
    return data_dir() / "chats.db"


class ChatStore:
    """Conversations on disk. Not thread-safe: one store, one thread.

    Attributes:
        damage: what was wrong with the file that was set aside at opening, if any.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open the database at ``path``, making or migrating it as needed; a damaged one is set aside.

        Raises:
            StoreError: the file cannot be opened, or a newer version of the program made it.
        """
        self.path = path or store_path()
        self.damage: StoreError | None = None
        try:
            self._db = _open(self.path)
        except StoreError as fault:
            if not isinstance(fault.__cause__, sqlite3.DatabaseError) or not _is_damage(fault.__cause__):
                raise
            self.damage = _set_aside(self.path, fault.__cause__)
            self._db = _open(self.path)

    @classmethod
    def in_memory(cls) -> Self:
        """Make a store that lasts as long as the program: the last resort when the disk refuses."""
        return cls(Path(":memory:"))

    @property
    def is_on_disk(self) -> bool:
        """Whether what is stored outlives the program."""
        return str(self.path) != ":memory:"

    def close(self) -> None:
        """Close the file; the store cannot be used any more."""
        self._db.close()

    # --- conversations --------------------------------------------------------------------------------

    def create(self, title: str = UNTITLED) -> Conversation:
        """Make an empty conversation."""
        at = now()
        with self._writing() as db:
            row = db.execute(
                "INSERT INTO conversation(title, created_at, updated_at) VALUES (?, ?, ?)", (title, _out(at), _out(at))
            )
        return Conversation(id=int(row.lastrowid or 0), title=title, created_at=at, updated_at=at)

    def heads(self, query: str = "", limit: int = 500) -> tuple[ConversationHead, ...]:
        """List conversations, newest first; with a query those whose title or messages hold all its words."""
        with self._reading() as db:
            return find_heads(db, query, limit)

    def load(self, conversation_id: int) -> Conversation:
        """Read a conversation with the messages of its current path.

        Raises:
            StoreError: it does not exist, or cannot be read.
        """
        with self._reading() as db:
            head = db.execute("SELECT * FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
            if head is None:
                raise StoreError(f"Conversation {conversation_id} does not exist.", "It may have been deleted.")
            rows = db.execute(
                "WITH RECURSIVE path(id, parent_id, depth) AS ("
                "  SELECT id, parent_id, 0 FROM message WHERE id = ?"
                "  UNION ALL SELECT m.id, m.parent_id, depth + 1 FROM message m JOIN path ON m.id = path.parent_id)"
                " SELECT message.* FROM path JOIN message USING (id) ORDER BY depth DESC",
                (head["leaf_id"],),
            ).fetchall()
        return Conversation(
            id=head["id"],
            title=head["title"],
            created_at=_in(head["created_at"]),
            updated_at=_in(head["updated_at"]),
            messages=tuple(_message(row) for row in rows),
        )

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        with self._writing() as db:
            db.execute("UPDATE conversation SET title = ? WHERE id = ?", (title.strip() or UNTITLED, conversation_id))

    def delete(self, conversation_id: int) -> None:
        """Hide a conversation; :meth:`undelete` brings it back until :meth:`purge`."""
        with self._writing() as db:
            db.execute("UPDATE conversation SET deleted_at = ? WHERE id = ?", (_out(now()), conversation_id))

    def undelete(self, conversation_id: int) -> None:
        """Bring a deleted conversation back."""
        with self._writing() as db:
            db.execute("UPDATE conversation SET deleted_at = NULL WHERE id = ?", (conversation_id,))

    def purge(self) -> int:
        """Erase the deleted conversations for good; return how many."""
        with self._writing() as db:
            return db.execute("DELETE FROM conversation WHERE deleted_at IS NOT NULL").rowcount

    def draft(self, conversation_id: int) -> str:
        """Return what was typed but not sent."""
        with self._reading() as db:
            row = db.execute("SELECT draft FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
        return str(row["draft"]) if row else ""

    def save_draft(self, conversation_id: int, text: str) -> None:
        """Keep what was typed but not sent."""
        with self._writing() as db:
            db.execute("UPDATE conversation SET draft = ? WHERE id = ?", (text, conversation_id))

    # --- messages -------------------------------------------------------------------------------------

    def append(
        self,
        conversation_id: int,
        role: Role,
        text: str,
        state: MessageState = "complete",
        stats: AnswerStats | None = None,
    ) -> Message:
        """Add a message after the last one of the current path."""
        at = now()
        with self._writing() as db:
            leaf = db.execute("SELECT leaf_id FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
            if leaf is None:
                raise StoreError(f"Conversation {conversation_id} does not exist.", "Start a new one.")
            row = db.execute(
                "INSERT INTO message(conversation_id, parent_id, role, text, state, created_at, stats)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (conversation_id, leaf["leaf_id"], role, text, state, _out(at), _stats_out(stats)),
            )
            db.execute(
                "UPDATE conversation SET leaf_id = ?, updated_at = ? WHERE id = ?",
                (row.lastrowid, _out(at), conversation_id),
            )
        return Message(
            id=int(row.lastrowid or 0),
            parent_id=leaf["leaf_id"],
            role=role,
            text=text,
            state=state,
            created_at=at,
            stats=stats,
        )

    def update(self, message_id: int, text: str, state: MessageState, stats: AnswerStats | None = None) -> None:
        """Write a message anew: as it grows, and once at its end."""
        with self._writing() as db:
            db.execute(
                "UPDATE message SET text = ?, state = ?, stats = ? WHERE id = ?",
                (text, state, _stats_out(stats), message_id),
            )

    def remove_message(self, message_id: int) -> None:
        """Take back the last message of a conversation: the path ends at its parent again."""
        with self._writing() as db:
            db.execute(
                "UPDATE conversation SET leaf_id = (SELECT parent_id FROM message WHERE id = ?) WHERE leaf_id = ?",
                (message_id, message_id),
            )
            db.execute("DELETE FROM message WHERE id = ?", (message_id,))

    def recover(self) -> int:
        """Mark what a crash left unfinished as interrupted; return how many messages.

        Call it once at start, when no other window can be writing.
        """
        with self._writing() as db:
            return db.execute("UPDATE message SET state = 'interrupted' WHERE state = 'streaming'").rowcount

    # --- errors ---------------------------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            yield self._db
        except sqlite3.Error as fault:
            raise _explain(fault, self.path, "read") from fault

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error as fault:
            raise _explain(fault, self.path, "write") from fault


def _open(path: Path) -> sqlite3.Connection:
    """Connect, check, migrate."""
    db: sqlite3.Connection | None = None
    try:
        db = sqlite3.connect(path, timeout=_BUSY_MS / 1000, isolation_level=None)
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA secure_delete = ON")  # an erased chat is erased
        _check(db, path)
        migrate(db)
    except sqlite3.Error as fault:
        if db is not None:
            db.close()
        raise _explain(fault, path, "open") from fault
    except BaseException:
        if db is not None:
            db.close()
        raise
    return db


def _check(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a database from the future and a damaged one."""
    found = version_of(db)
    if found > len(MIGRATIONS):
        raise StoreError(
            f"{path} was made by a newer version of Slipstream (format {found}, this one knows {len(MIGRATIONS)}).",
            "Start the newer version. The file was not touched.",
        )
    problem = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if problem != "ok":
        raise sqlite3.DatabaseError(f"database disk image is malformed: {problem}")


def _is_damage(fault: sqlite3.Error) -> bool:
    return any(word in str(fault) for word in _DAMAGED)


def _set_aside(path: Path, fault: sqlite3.Error) -> StoreError:
    """Rename a damaged database and its companions; nothing is deleted."""
    stamp = now().strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    for suffix in ("", "-wal", "-shm"):
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            companion.replace(aside.with_name(aside.name + suffix))
    logger.warning("The chat database was damaged (%s); kept as %s", fault, aside)
    return StoreError(
        f"The chat database was damaged ({fault}). It was kept as {aside.name}, and a new one was started.",
        f"Keep {aside}: SQLite's .recover command can often read the chats in it.",
    )


def _explain(fault: sqlite3.Error, path: Path, verb: str) -> StoreError:
    """Put a database error in words, with what to do."""
    text = str(fault)
    if "locked" in text or "busy" in text:
        hint = "Another program is using the file. Close it; what is on the screen will be saved with the next try."
    elif "full" in text:
        hint = "The disk is full. Free some space; what is on the screen stays there and is saved with the next try."
    elif _is_damage(fault):
        hint = "The file is damaged. It will be set aside at the next start; export what is on the screen first."
    elif "readonly" in text or "read-only" in text or "unable to open" in text:
        hint = "Check that the folder exists and that you may write to it."
    else:
        hint = "What is on the screen stays there. Check the disk, then try again."
    return StoreError(f"Cannot {verb} the chat database {path}: {text}.", hint)


def _message(row: sqlite3.Row) -> Message:
    return Message(
        id=row["id"],
        parent_id=row["parent_id"],
        role=row["role"],
        text=row["text"],
        state=row["state"],
        created_at=_in(row["created_at"]),
        stats=_stats_in(row["stats"]),
    )


def _stats_out(stats: AnswerStats | None) -> str | None:
    return msgspec.json.encode(stats).decode() if stats is not None else None


def _stats_in(text: str | None) -> AnswerStats | None:
    """Read stats; figures that a newer version wrote in another shape are left out, never the message."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=AnswerStats)
    except msgspec.MsgspecError:
        return None


def _out(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")


def _in(text: str) -> datetime:
    return datetime.fromisoformat(text)
