"""Alternatives: edit, regenerate, continue, switch. Nothing here writes over what was said.

Each answer or edit is a new message beside the old one; the conversation remembers its end (``leaf_id``), each message
the child that was read last (the table ``chosen``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import structs

from app.chat.conversation import Attachment, Message
from app.chat.database import Database, now, time_out
from app.chat.rows import MESSAGE_COLUMNS, message_of, message_values
from app.chat.tree import MessageTree
from app.errors import StoreError

_COLUMNS = ", ".join(MESSAGE_COLUMNS)
_MARKS = ", ".join("?" * len(MESSAGE_COLUMNS))


def read_tree(db: sqlite3.Connection, conversation_id: int) -> MessageTree:
    """Read who follows whom in a conversation, without a word of what was said."""
    rows = db.execute(
        "SELECT id, parent_id, child_id FROM message LEFT JOIN chosen ON message_id = id"
        " WHERE conversation_id = ? ORDER BY id",
        (conversation_id,),
    ).fetchall()
    return MessageTree({row[0]: row[1] for row in rows}, {row[0]: row[2] for row in rows})


def insert_message(db: sqlite3.Connection, conversation_id: int, parent_id: int | None, message: Message) -> Message:
    """Add a message below ``parent_id`` and go there; return it with its id."""
    row = db.execute(
        f"INSERT INTO message(conversation_id, parent_id, {_COLUMNS}) VALUES (?, ?, {_MARKS})",  # noqa: S608
        (conversation_id, parent_id, *message_values(message)),
    )
    if parent_id is not None:
        choose(db, [(row.lastrowid or 0, parent_id)])
    db.execute(
        "UPDATE conversation SET leaf_id = ?, updated_at = max(updated_at, ?) WHERE id = ?",
        (row.lastrowid, time_out(message.created_at), conversation_id),
    )
    return structs.replace(message, id=int(row.lastrowid or 0), parent_id=parent_id)


def choose(db: sqlite3.Connection, steps: Iterable[tuple[int, int]]) -> None:
    """Note which child was read last: pairs of a child and its parent."""
    db.executemany("INSERT OR REPLACE INTO chosen(child_id, message_id) VALUES (?, ?)", steps)


class Branches:
    """The alternatives in the conversations of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tree(self, conversation_id: int) -> MessageTree:
        """Return who follows whom in a conversation."""
        with self._database.reading() as db:
            return read_tree(db, conversation_id)

    def message(self, message_id: int) -> Message:
        """Read one message.

        Raises:
            StoreError: it does not exist.
        """
        with self._database.reading() as db:
            return message_of(_row(db, message_id))

    def add_beside(self, message_id: int, message: Message) -> Message:
        """Add an alternative to a message and go there: another answer, or another question.

        Args:
            message_id: the message that gets an alternative; it stays as it is, with all that follows it.
            message: the alternative; its ``id`` and ``parent_id`` are given here.
        """
        with self._database.writing() as db:
            row = _row(db, message_id)
            return insert_message(db, row["conversation_id"], row["parent_id"], message)

    def edit(
        self,
        message_id: int,
        text: str,
        attachments: Sequence[Attachment] | None = None,
        *,
        keep_following: bool = False,
    ) -> Message:
        """Say something else in a message's place, as an alternative, and go there.

        Args:
            message_id: the message to edit; it stays.
            text: the new text.
            attachments: the new files; ``None`` keeps the old ones.
            keep_following: repeat below the new message what follows the old one on the current path.
        """
        with self._database.writing() as db:
            row = _row(db, message_id)
            old = message_of(row)
            files = old.attachments if attachments is None else tuple(attachments)
            # Figures and thoughts belong to what the model said, not to what a person makes of it.
            new = Message(role=old.role, text=text, created_at=now(), attachments=files, model=old.model)
            edited = insert_message(db, row["conversation_id"], row["parent_id"], new)
            if keep_following:
                tree = read_tree(db, row["conversation_id"])
                below = tree.path(tree.leaf_below(message_id))
                copy_path(db, row["conversation_id"], edited.id, below[below.index(message_id) + 1 :])
            return edited

    def resume(self, message_id: int) -> Message:
        """Let an answer grow on: in its place if nothing follows it, else as an alternative that begins as it does."""
        with self._database.writing() as db:
            row = _row(db, message_id)
            old = structs.replace(message_of(row), state="streaming")
            if db.execute("SELECT 1 FROM message WHERE parent_id = ? LIMIT 1", (message_id,)).fetchone():
                again = structs.replace(old, created_at=now())
                return insert_message(db, row["conversation_id"], row["parent_id"], again)
            db.execute("UPDATE message SET state = 'streaming' WHERE id = ?", (message_id,))
            self.switch(message_id)
            return old

    def switch(self, message_id: int) -> int:
        """Go to the branch that a message is on; return the message at the end of it.

        Serves the arrows between alternatives and the jump to a search hit alike.
        """
        with self._database.writing() as db:
            conversation_id = _row(db, message_id)["conversation_id"]
            tree = read_tree(db, conversation_id)
            way = tree.path(message_id)
            steps = [(child, parent) for parent, child in pairwise(way)]
            choose(db, [(child, parent) for child, parent in steps if tree.chosen.get(parent) != child])
            leaf = tree.leaf_below(message_id)
            db.execute("UPDATE conversation SET leaf_id = ? WHERE id = ?", (leaf, conversation_id))
            return leaf

    def remove(self, message_id: int) -> None:
        """Take back a message that nothing follows, such as an answer without a word; go to its nearest alternative.

        Raises:
            StoreError: something follows it.
        """
        with self._database.writing() as db:
            row = db.execute("SELECT * FROM message WHERE id = ?", (message_id,)).fetchone()
            if row is None:
                return
            tree = read_tree(db, row["conversation_id"])
            if tree.children(message_id):
                raise StoreError(
                    f"Message {message_id} has messages below it and cannot be taken back.",
                    "Edit it, or switch to an alternative.",
                )
            others = [other for other in tree.alternatives(message_id) if other != message_id]
            nearest = min(others, key=lambda other: abs(other - message_id), default=None)
            if nearest is None:
                db.execute("DELETE FROM chosen WHERE message_id = ?", (row["parent_id"],))
            elif row["parent_id"] is not None and tree.chosen.get(row["parent_id"]) == message_id:
                choose(db, [(nearest, row["parent_id"])])
            leaf = tree.leaf_below(nearest) if nearest is not None else row["parent_id"]
            db.execute("UPDATE conversation SET leaf_id = ? WHERE leaf_id = ?", (leaf, message_id))
            db.execute("DELETE FROM message WHERE id = ?", (message_id,))


def copy_path(db: sqlite3.Connection, conversation_id: int, parent_id: int | None, ids: Iterable[int]) -> None:
    """Repeat messages, each below the one before it, and go to the last."""
    for message_id in ids:
        copied = message_of(_row(db, message_id))
        if copied.state == "streaming":  # its stream goes on elsewhere
            copied = structs.replace(copied, state="interrupted")
        made = insert_message(db, conversation_id, parent_id, copied)
        copy_tokens(db, message_id, made.id)
        parent_id = made.id


def copy_tokens(db: sqlite3.Connection, source_id: int, target_id: int) -> None:
    """Repeat the token colours of a message."""
    db.execute(
        "INSERT INTO message_tokens(message_id, data) SELECT ?, data FROM message_tokens WHERE message_id = ?",
        (target_id, source_id),
    )


def _row(db: sqlite3.Connection, message_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute("SELECT * FROM message WHERE id = ?", (message_id,)).fetchone()
    if row is None:
        raise StoreError(f"Message {message_id} does not exist.", "Its conversation may have been deleted.")
    return row
