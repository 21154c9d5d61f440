"""What a person has begun and not sent, beside the words: the files of a message, and a message that is being changed.

They are kept apart from the conversation's own row, which is written anew with every pause in typing.
"""

from __future__ import annotations

import msgspec

from app.chat.conversation import Attachment
from app.chat.database import Database
from app.chat.rows import json_in, json_out

NEW_DRAFT = "draft of a new conversation"
NEW_FILES = "files of a new conversation"
"""Where is kept, by name, what belongs to the conversation that has not begun yet."""


class OpenEdit(msgspec.Struct, frozen=True):
    """A message that is being changed, and what it says so far."""

    message_id: int
    text: str


class Drafts:
    """What is not sent, by conversation; ``None`` is the one that has not begun yet."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def files(self, conversation_id: int | None) -> tuple[Attachment, ...]:
        """Return the files that go with the message."""
        if conversation_id is None:
            with self._database.reading() as db:
                row = db.execute("SELECT value FROM kept WHERE name = ?", (NEW_FILES,)).fetchone()
            value = row["value"] if row else None
        else:
            value = self._part(conversation_id, "files")
        return json_in(value, tuple[Attachment, ...]) or ()

    def save_files(self, conversation_id: int | None, files: tuple[Attachment, ...]) -> None:
        """Keep the files that go with the message."""
        value = json_out(files) if files else None
        if conversation_id is not None:
            self._save_part(conversation_id, "files", value)
            return
        with self._database.writing() as db:
            db.execute("DELETE FROM kept WHERE name = ?", (NEW_FILES,))
            if value is not None:
                db.execute("INSERT INTO kept(name, value) VALUES (?, ?)", (NEW_FILES, value))

    def edit(self, conversation_id: int) -> OpenEdit | None:
        """Return the change that is under way, if one is."""
        return json_in(self._part(conversation_id, "edit"), OpenEdit)

    def save_edit(self, conversation_id: int, edit: OpenEdit | None) -> None:
        """Keep the change that is under way, or that there is none any more."""
        self._save_part(conversation_id, "edit", json_out(edit))

    def _part(self, conversation_id: int, kind: str) -> str | None:
        with self._database.reading() as db:
            row = db.execute(
                "SELECT value FROM draft_part WHERE conversation_id = ? AND kind = ?", (conversation_id, kind)
            ).fetchone()
        return str(row["value"]) if row else None

    def _save_part(self, conversation_id: int, kind: str, value: str | None) -> None:
        with self._database.writing() as db:
            db.execute("DELETE FROM draft_part WHERE conversation_id = ? AND kind = ?", (conversation_id, kind))
            if value is not None:  # nothing is kept of a conversation that has been erased meanwhile
                db.execute(
                    "INSERT INTO draft_part(conversation_id, kind, value)"
                    " SELECT id, ?, ? FROM conversation WHERE id = ?",
                    (kind, value, conversation_id),
                )
