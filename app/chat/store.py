"""The chat database: everything said is on disk as it is said.

One SQLite file in WAL mode. A question is written before the engine sees it; an answer is a row from its first
moment (``streaming``), rewritten as it grows (:data:`SAVE_EVERY_S`) and closed at its end. What a crash leaves
``streaming`` the next start shows as ``interrupted``. Deleting hides; :meth:`ChatStore.purge` erases.

WAL with ``synchronous=NORMAL`` commits without waiting for the disk: a killed program loses nothing, a power
failure at most the last moments, and neither damages the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Self

from app.chat.branches import Branches, choose, copy_path, copy_tokens, insert_message, read_tree
from app.chat.chat_settings import ConversationSettings
from app.chat.checking import FileCheck
from app.chat.conversation import UNTITLED, AnswerStats, Conversation, ConversationHead, Message, MessageState
from app.chat.database import Database, connect, explain, now, time_in, time_out
from app.chat.drafts import NEW_DRAFT, Drafts
from app.chat.opening import Opened, open_database
from app.chat.query import terms_of
from app.chat.rows import json_out, message_of, message_values, settings_in, storable
from app.chat.search import HeadsPage, SearchHit, find_heads, find_heads_page, find_messages, newest_heads_page
from app.chat.shelving import Folders, Presets
from app.chat.token_marks import StoredToken, pack_tokens, unpack_tokens
from app.chat.upgrading import How
from app.errors import StoreError
from app.paths import data_dir
from app.protocol import Role

SAVE_EVERY_S = 1.5
"""How often a growing answer is written; the promise is 2 s, screen to disk."""

KEEP_DELETED_S = 30 * 24 * 3600.0
"""How long a deleted conversation can be brought back, if whoever purges follows this."""


def store_path() -> Path:
    """Path of the chat database."""
    return data_dir() / "chats.db"


class ChatStore:
    """Conversations on disk. Not thread-safe: one store, one thread.

    Attributes:
        path: the file.
        damage: what was wrong with the file that was repaired or set aside at opening, and what was saved, if any.
        notice: something else to say about the opening (an upgrade that kept a copy, a folder that cannot be written).
        check: the test of the whole file, which goes on in a thread of its own when the file is large.
        branches: alternatives of messages: edit, regenerate, continue, switch.
        folders: folders of conversations.
        presets: named settings.
        drafts: files and open edits of what is not sent.
    """

    def __init__(self, path: Path | None = None, how: How | None = None) -> None:
        """Open the database at ``path``, making, upgrading or repairing it as needed.

        A damaged file is kept beside the repaired one, an older one is copied before it is upgraded, and one in a
        folder that cannot be written is read into memory (:attr:`is_on_disk` is then false).

        Args:
            path: the file; usually :func:`store_path`.
            how: who is told how far an upgrade is, and whether the store goes to another thread then.

        Raises:
            StoreError: the file cannot be opened, or a newer version of the program made it.
        """
        self._take(open_database(path or store_path(), how or How()))

    @classmethod
    def in_memory(cls, why: StoreError | None = None, how: How | None = None) -> Self:
        """Make a store that lasts as long as the program: the last resort when the disk refuses.

        Args:
            why: what is to be said about that, as :attr:`notice`.
            how: whether it goes to another thread.
        """
        made = cls(Path(":memory:"), how)
        made.notice = why
        return made

    def _take(self, opened: Opened) -> None:
        self.path, self.damage, self.notice, self.check = opened.path, opened.damage, opened.notice, opened.check
        self._is_on_disk = opened.is_on_disk
        self._db = Database(opened.connection, opened.path)
        self.branches = Branches(self._db)
        self.folders = Folders(self._db)
        self.presets = Presets(self._db)
        self.drafts = Drafts(self._db)

    def beside(self) -> ChatStore:
        """Open the same file once more, untested, for work in a thread of its own; to be closed there.

        Raises:
            StoreError: it cannot be opened.
        """
        other = object.__new__(ChatStore)
        try:
            other._take(Opened(connect(self.path), self.path, FileCheck(None)))
        except sqlite3.Error as fault:
            raise explain(fault, self.path, "open") from fault
        return other

    @property
    def is_on_disk(self) -> bool:
        """Whether what is stored outlives the program."""
        return self._is_on_disk

    def close(self) -> None:
        """Close the file; the store cannot be used any more."""
        self.check.stop()
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Do several things as one: all or, when the block raises, none. Each alone needs no such block."""
        with self._db.writing() as db:
            yield db

    def integrity(self) -> str:
        """Test the whole file, however long that takes; return "ok" or what is wrong."""
        with self._db.reading() as db:
            return str(db.execute("PRAGMA integrity_check(1)").fetchone()[0])

    # --- conversations --------------------------------------------------------------------------------

    def create(
        self, title: str = UNTITLED, *, settings: ConversationSettings | None = None, folder_id: int | None = None
    ) -> Conversation:
        """Make an empty conversation."""
        at, title = now(), storable(title)
        chosen = settings or ConversationSettings()
        with self._db.writing() as db:
            row = db.execute(
                "INSERT INTO conversation(title, created_at, updated_at, settings, folder_id) VALUES (?, ?, ?, ?, ?)",
                (title, time_out(at), time_out(at), json_out(chosen), folder_id),
            )
        return Conversation(
            id=int(row.lastrowid or 0), title=title, created_at=at, updated_at=at, settings=chosen, folder_id=folder_id
        )

    def heads(self, query: str = "", limit: int = 500) -> tuple[ConversationHead, ...]:
        """List conversations, the pinned and then the newest first.

        With a query: those whose title or one of whose messages holds all its words, the newest first
        (:mod:`app.chat.query` has the query's language). A negative limit is none.
        """
        with self._db.reading() as db:
            return find_heads(db, query, limit)

    def heads_page(self, query: str, limit: int, before: HeadsPage | None = None) -> HeadsPage:
        """List the first conversations that :meth:`heads` finds for a query, or those behind a page of them."""
        with self._db.reading() as db:
            if terms := terms_of(query):
                return find_heads_page(db, terms, limit, before)
            return newest_heads_page(db, limit, before)

    def search(
        self, query: str, *, limit: int = 50, before_id: int | None = None, conversation_id: int | None = None
    ) -> tuple[SearchHit, ...]:
        """Find messages, newest first; go to one with ``branches.switch(hit.message_id)``.

        Args:
            query: words, "phrases", beginnings*.
            limit: how many at most.
            before_id: go on below this message id: the last of the page before.
            conversation_id: look in this conversation only.
        """
        with self._db.reading() as db:
            return find_messages(db, query, limit=limit, before_id=before_id, conversation_id=conversation_id)

    def load(self, conversation_id: int) -> Conversation:
        """Read a conversation with the messages of its current path and their alternatives.

        Raises:
            StoreError: it does not exist, or cannot be read.
        """
        with self._db.reading() as db:
            head = db.execute("SELECT * FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
            if head is None:
                raise StoreError(f"Conversation {conversation_id} does not exist.", "It may have been deleted.")
            tree = read_tree(db, conversation_id)
            path = tree.path(head["leaf_id"])
            rows = db.execute(
                "WITH RECURSIVE path(id, parent_id, depth) AS ("
                "  SELECT id, parent_id, 0 FROM message WHERE id = ?"
                "  UNION ALL SELECT m.id, m.parent_id, depth + 1 FROM message m JOIN path ON m.id = path.parent_id"
                "  LIMIT ?)"  # a ring of parents in a damaged file has an end, too
                " SELECT message.* FROM path JOIN message USING (id) ORDER BY depth DESC",
                (head["leaf_id"], len(path)),
            ).fetchall()
        return Conversation(
            id=head["id"],
            title=head["title"],
            created_at=time_in(head["created_at"]),
            updated_at=time_in(head["updated_at"]),
            messages=tuple(message_of(row) for row in rows),
            alternatives=tree.alternatives_of(path),
            is_named=bool(head["is_named"]),
            is_pinned=head["pinned_at"] is not None,
            folder_id=head["folder_id"],
            settings=settings_in(head["settings"]),
        )

    def all_messages(self, conversation_id: int) -> tuple[Message, ...]:
        """Read every message of a conversation, those of all branches, in the order in which they were made."""
        with self._db.reading() as db:
            rows = db.execute("SELECT * FROM message WHERE conversation_id = ? ORDER BY id", (conversation_id,))
            return tuple(message_of(row) for row in rows)

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation the title that a person chose; an empty one lets it be titled automatically again."""
        title = " ".join(storable(title).split())
        with self._db.writing() as db:
            db.execute(
                "UPDATE conversation SET title = ?, is_named = ? WHERE id = ?",
                (title or UNTITLED, bool(title), conversation_id),
            )

    def suggest_title(self, conversation_id: int, title: str) -> bool:
        """Title a conversation automatically, unless a person has; return whether it has this title now."""
        with self._db.writing() as db:
            row = db.execute(
                "UPDATE conversation SET title = ? WHERE id = ? AND NOT is_named",
                (storable(title) or UNTITLED, conversation_id),
            )
            return row.rowcount > 0

    def pin(self, conversation_id: int, *, is_pinned: bool) -> None:
        """Keep a conversation at the top of the list, or not any more."""
        with self._db.writing() as db:
            at = time_out(now()) if is_pinned else None
            db.execute("UPDATE conversation SET pinned_at = ? WHERE id = ?", (at, conversation_id))

    def move(self, conversation_ids: Sequence[int], folder_id: int | None) -> None:
        """Put conversations into a folder; ``None`` takes them out of any."""
        with self._db.writing() as db:
            values = [(folder_id, conversation_id) for conversation_id in conversation_ids]
            db.executemany("UPDATE conversation SET folder_id = ? WHERE id = ?", values)

    def settings(self, conversation_id: int) -> ConversationSettings:
        """Return what a conversation sets for itself."""
        with self._db.reading() as db:
            row = db.execute("SELECT settings FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
        return settings_in(row["settings"] if row else None)

    def save_settings(self, conversation_id: int, settings: ConversationSettings) -> None:
        """Keep what a conversation sets for itself."""
        with self._db.writing() as db:
            db.execute("UPDATE conversation SET settings = ? WHERE id = ?", (json_out(settings), conversation_id))

    def duplicate(self, conversation_id: int, title: str | None = None) -> Conversation:
        """Repeat a conversation with all its branches, settings and place."""
        with self._db.writing() as db:
            old = self.load(conversation_id)
            made = self.create(title or f"{old.title} (copy)", settings=old.settings, folder_id=old.folder_id)
            tree, chosen = read_tree(db, conversation_id), self.load(conversation_id).messages
            ids: dict[int | None, int] = {}
            for message in self.all_messages(conversation_id):
                parent = ids.get(message.parent_id)
                ids[message.id] = insert_message(db, made.id, parent, message).id
                copy_tokens(db, message.id, ids[message.id])
            db.execute(
                "UPDATE message SET state = 'interrupted' WHERE conversation_id = ? AND state = 'streaming'", (made.id,)
            )
            pairs = [(ids[child], ids[parent]) for parent, child in tree.chosen.items() if child in ids]
            choose(db, pairs)
            if chosen:
                db.execute("UPDATE conversation SET leaf_id = ? WHERE id = ?", (ids[chosen[-1].id], made.id))
        return self.load(made.id)

    def fork(self, message_id: int, title: str | None = None) -> Conversation:
        """Begin a conversation of its own with what was said up to a message, on the branch that it is on."""
        with self._db.writing() as db:
            row = db.execute("SELECT conversation_id FROM message WHERE id = ?", (message_id,)).fetchone()
            if row is None:
                raise StoreError(f"Message {message_id} does not exist.", "Its conversation may have been deleted.")
            old = self.load(row["conversation_id"])
            made = self.create(title or f"{old.title} (branch)", settings=old.settings, folder_id=old.folder_id)
            copy_path(db, made.id, None, read_tree(db, old.id).path(message_id))
        return self.load(made.id)

    def delete(self, conversation_id: int) -> None:
        """Hide a conversation; :meth:`undelete` brings it back until :meth:`purge`."""
        with self._db.writing() as db:
            db.execute("UPDATE conversation SET deleted_at = ? WHERE id = ?", (time_out(now()), conversation_id))

    def undelete(self, conversation_id: int) -> None:
        """Bring a deleted conversation back."""
        with self._db.writing() as db:
            db.execute("UPDATE conversation SET deleted_at = NULL WHERE id = ?", (conversation_id,))

    def deleted(self) -> tuple[ConversationHead, ...]:
        """List the conversations that can be brought back, the last deleted first."""
        with self._db.reading() as db:
            return find_heads(db, "", -1, is_deleted=True)

    def erase(self, conversation_ids: Sequence[int]) -> None:
        """Erase deleted conversations for good."""
        with self._db.writing() as db:
            values = [(conversation_id,) for conversation_id in conversation_ids]
            db.executemany("DELETE FROM conversation WHERE id = ? AND deleted_at IS NOT NULL", values)

    def purge(self, older_than_s: float = 0.0) -> int:
        """Erase for good the conversations that were deleted at least so long ago; return how many."""
        before = time_out(now() - timedelta(seconds=older_than_s))
        with self._db.writing() as db:
            return db.execute("DELETE FROM conversation WHERE deleted_at <= ?", (before,)).rowcount

    def draft(self, conversation_id: int | None) -> str:
        """Return what was typed but not sent; ``None`` is the conversation that has not begun yet."""
        with self._db.reading() as db:
            if conversation_id is None:
                row = db.execute("SELECT value FROM kept WHERE name = ?", (NEW_DRAFT,)).fetchone()
            else:
                row = db.execute("SELECT draft FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
        return str(row[0]) if row else ""

    def save_draft(self, conversation_id: int | None, text: str) -> None:
        """Keep what was typed but not sent; ``None`` is the conversation that has not begun yet."""
        text = storable(text)
        with self._db.writing() as db:
            if conversation_id is None:
                db.execute("INSERT OR REPLACE INTO kept(name, value) VALUES (?, ?)", (NEW_DRAFT, text))
            else:
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
        return self.add(conversation_id, Message(role=role, text=text, state=state, stats=stats, created_at=now()))

    def add(self, conversation_id: int, message: Message) -> Message:
        """Add a message with all its facts after the last one of the current path; return it with its id."""
        with self._db.writing() as db:
            leaf = db.execute("SELECT leaf_id FROM conversation WHERE id = ?", (conversation_id,)).fetchone()
            if leaf is None:
                raise StoreError(f"Conversation {conversation_id} does not exist.", "Start a new one.")
            return insert_message(db, conversation_id, leaf["leaf_id"], message)

    def update(self, message_id: int, text: str, state: MessageState, stats: AnswerStats | None = None) -> None:
        """Write a message anew: as it grows, and once at its end."""
        with self._db.writing() as db:
            db.execute(
                "UPDATE message SET text = ?, state = ?, stats = ? WHERE id = ?",
                (storable(text), state, json_out(stats), message_id),
            )

    def save(self, message: Message) -> None:
        """Write a message anew with all its facts (reasoning, model, files); its place stays."""
        with self._db.writing() as db:
            db.execute(
                "UPDATE message SET role = ?, text = ?, state = ?, created_at = ?, stats = ?, reasoning = ?,"
                " reasoning_s = ?, model = ?, attachments = ? WHERE id = ?",
                (*message_values(message), message.id),
            )

    def remove_message(self, message_id: int) -> None:
        """Take back a message that nothing follows: the path ends at its alternative, else at its parent."""
        self.branches.remove(message_id)

    def save_tokens(self, message_id: int, tokens: Sequence[StoredToken]) -> None:
        """Keep which tokens an answer came with."""
        with self._db.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO message_tokens(message_id, data) VALUES (?, ?)",
                (message_id, pack_tokens(tokens)),
            )

    def tokens(self, message_id: int) -> tuple[StoredToken, ...]:
        """Return which tokens an answer came with, if that was kept."""
        with self._db.reading() as db:
            row = db.execute("SELECT data FROM message_tokens WHERE message_id = ?", (message_id,)).fetchone()
        return unpack_tokens(row["data"]) if row else ()

    def recover(self) -> int:
        """Mark what a crash left unfinished as interrupted; return how many messages.

        Call it once at start, when no other window can be writing.
        """
        with self._db.writing() as db:
            return db.execute("UPDATE message SET state = 'interrupted' WHERE state = 'streaming'").rowcount
