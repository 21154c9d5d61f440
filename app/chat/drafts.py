"""What a person has begun and not sent, beside the words: the files of a message, and a message that is being changed.

They are kept apart from the conversation's own row, which is written anew with every pause in typing. A file has a row
of its own, told by a digest of it; the list of a conversation's files holds these digests in their order. So a file
that joins others is all that is written then, in a transaction of its own: other writers never wait long.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b

import msgspec

from app.chat.conversation import Attachment
from app.chat.database import Database
from app.chat.rows import json_in, json_out, storable
from app.errors import StoreError

NEW_DRAFT = "draft of a new conversation"
NEW_FILES = "files of a new conversation"
"""Where is kept, by name, what belongs to the conversation that has not begun yet."""

_DIGEST_BYTES = 16


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
        value = self._list(conversation_id)
        digests = json_in(value, tuple[str, ...])
        if digests is None:  # from before each had a row
            return json_in(value, tuple[Attachment, ...]) or ()
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT digest, name, text FROM draft_file WHERE conversation_id IS ?", (conversation_id,)
            )
            there = {row["digest"]: Attachment(name=row["name"], text=row["text"]) for row in rows}
        return tuple(there[digest] for digest in digests if digest in there)

    def has_files(self, conversation_id: int | None, files: Sequence[Attachment]) -> bool:
        """Whether these files and no others are kept, in this order."""
        kept = json_in(self._list(conversation_id), tuple[str, ...])
        if not files or not kept:
            return not files and not self._list(conversation_id)
        return len(kept) == len(files) and list(kept) == [digest_of(file) for file in files]

    def save_files(self, conversation_id: int | None, files: Sequence[Attachment]) -> None:
        """Keep the files that go with the message."""
        digests = [digest_of(file) for file in files]
        with self._database.reading() as db:
            there = {row["digest"] for row in _rows(db, conversation_id)}
        for digest, file in zip(digests, files, strict=True):
            if digest not in there:
                self._add(conversation_id, digest, file)
                there.add(digest)
        self._save_list(conversation_id, json_out(digests) if digests else None)
        with suppress(StoreError):  # these are kept, whatever becomes of those before
            self.sweep(conversation_id)

    def forget_files(self, conversation_id: int | None) -> None:
        """Keep no files any more; what they took is given back by :meth:`sweep`, or when other files are saved."""
        self._save_list(conversation_id, None)

    def sweep(self, conversation_id: int | None) -> None:
        """Give back what files take that are not kept any more, one by one."""
        listed = set(json_in(self._list(conversation_id), tuple[str, ...]) or ())
        with self._database.reading() as db:
            left = [row["rowid"] for row in _rows(db, conversation_id) if row["digest"] not in listed]
        for row_id in left:
            with self._database.writing() as db:
                db.execute("DELETE FROM draft_file WHERE rowid = ?", (row_id,))

    def _add(self, conversation_id: int | None, digest: str, file: Attachment) -> None:
        with self._database.writing() as db:  # nothing is kept of a conversation that has been erased meanwhile
            db.execute(
                "INSERT INTO draft_file(conversation_id, digest, name, text)"
                " SELECT ?1, ?2, ?3, ?4 WHERE ?1 IS NULL OR EXISTS (SELECT 1 FROM conversation WHERE id = ?1)",
                (conversation_id, digest, storable(file.name), storable(file.text)),
            )

    def edit(self, conversation_id: int) -> OpenEdit | None:
        """Return the change that is under way, if one is."""
        return json_in(self._part(conversation_id, "edit"), OpenEdit)

    def save_edit(self, conversation_id: int, edit: OpenEdit | None) -> None:
        """Keep the change that is under way, or that there is none any more."""
        self._save_part(conversation_id, "edit", json_out(edit))

    def _list(self, conversation_id: int | None) -> str | None:
        """Read which files are kept."""
        if conversation_id is not None:
            return self._part(conversation_id, "files")
        with self._database.reading() as db:
            row = db.execute("SELECT value FROM kept WHERE name = ?", (NEW_FILES,)).fetchone()
        return str(row["value"]) if row else None

    def _save_list(self, conversation_id: int | None, value: str | None) -> None:
        if conversation_id is not None:
            self._save_part(conversation_id, "files", value)
            return
        with self._database.writing() as db:
            db.execute("DELETE FROM kept WHERE name = ?", (NEW_FILES,))
            if value is not None:
                db.execute("INSERT INTO kept(name, value) VALUES (?, ?)", (NEW_FILES, value))

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


def digest_of(file: Attachment) -> str:
    """Tell a file by its name and text."""
    digest = blake2b(storable(file.name).encode(), digest_size=_DIGEST_BYTES)
    digest.update(b"\0")
    digest.update(storable(file.text).encode())
    return digest.hexdigest()


def _rows(db: sqlite3.Connection, conversation_id: int | None) -> list[sqlite3.Row]:
    return db.execute("SELECT rowid, digest FROM draft_file WHERE conversation_id IS ?", (conversation_id,)).fetchall()
