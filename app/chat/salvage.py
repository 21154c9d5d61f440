"""Saving what can be read of a damaged chat database.

Rows are told by their shape, whatever table SQLite would have found them in. What hung on a row that is lost is hung
on the nearest one that is not: a person reads a conversation with a gap, not none.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from app.chat.conversation import counted
from app.chat.database import now, time_out
from app.chat.drafts import NEW_DRAFT, NEW_FILES
from app.chat.pages import Value, rows
from app.chat.progress import Look, no_look

_ROLES = ("system", "user", "assistant")
_STATES = ("complete", "streaming", "interrupted")
_LOST_TITLE = "Recovered conversation"
_DIGEST = re.compile("[0-9a-f]{32}")

Row = tuple[Value, ...]

CONVERSATION = ("title", "created_at", "updated_at", "leaf_id", "draft", "deleted_at", "is_named", "pinned_at",
                "folder_id", "settings")  # fmt: skip
MESSAGE = ("conversation_id", "parent_id", "role", "text", "state", "created_at", "stats", "chosen_id", "reasoning",
           "reasoning_s", "model", "attachments")  # fmt: skip
FOLDER = ("name", "position", "is_open")
PRESET = ("name", "settings", "updated_at")
DRAFT_PART = ("conversation_id", "kind", "value")
DRAFT_FILE = ("conversation_id", "digest", "name", "text")


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What was saved; ``n_mended`` messages hang on another than before, or in a conversation that had to be made."""

    n_conversations: int
    n_messages: int
    n_mended: int

    def words(self) -> str:
        """Say it."""
        if not self.n_messages and not self.n_conversations:
            return "Nothing in it could be read."
        what = f"{counted(self.n_conversations, 'conversation')} with {counted(self.n_messages, 'message')}"
        gaps = f" Something before {self.n_mended} of the messages is missing." if self.n_mended else ""
        return f"{what} could be read.{gaps}"


@dataclass(slots=True)
class _Found:
    """Rows by id; of two versions of a row the later page's counts."""

    conversations: dict[int, Row] = field(default_factory=dict)
    messages: dict[int, Row] = field(default_factory=dict)
    folders: dict[int, Row] = field(default_factory=dict)
    presets: dict[int, Row] = field(default_factory=dict)
    tokens: dict[int, bytes] = field(default_factory=dict)
    draft_parts: dict[tuple[Value, Value], Value] = field(default_factory=dict)
    chosen: dict[int, int] = field(default_factory=dict)
    draft_files: dict[tuple[Value, Value], Row] = field(default_factory=dict)
    kept: dict[Value, Value] = field(default_factory=dict)


def salvage(damaged: Path, db: sqlite3.Connection, look: Look = no_look) -> Salvaged:
    """Write what can be read of a damaged database into an empty one; ``look`` is called for each row.

    Raises:
        OSError: the damaged file cannot be read at all.
        sqlite3.Error: the new one cannot be written.
    """
    found = _Found()
    for row_id, values in rows(damaged):
        look()
        _sort(found, row_id, values)
    lost = {_int(values[1]) for values in found.messages.values()} - set(found.conversations)
    messages, n_moved = _mended(found.messages)
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute("PRAGMA defer_foreign_keys = ON")
        _insert(db, "folder", FOLDER, ((n, v[1:]) for n, v in found.folders.items()))
        for n, values in found.presets.items():
            db.execute(
                "INSERT OR IGNORE INTO preset(id, name, settings, updated_at) VALUES (?, ?, ?, ?)", (n, *values[1:4])
            )
        _insert(db, "conversation", CONVERSATION, _conversations(found, lost, messages))
        _insert(db, "message", MESSAGE, ((n, v[1:]) for n, v in _looked_at(messages, look)))
        chosen = {n: values[8] for n, values in messages.items()} | found.chosen  # from before it had a table
        pairs = [pair for pair in chosen.items() if pair[0] in messages and pair[1] in messages]
        db.executemany("INSERT INTO chosen(message_id, child_id) VALUES (?, ?)", pairs)
        tokens = [(n, data) for n, data in found.tokens.items() if n in messages]
        db.executemany("INSERT INTO message_tokens(message_id, data) VALUES (?, ?)", tokens)
        parts = [(*key, value) for key, value in found.draft_parts.items() if key[0] in found.conversations]
        db.executemany("INSERT INTO draft_part(conversation_id, kind, value) VALUES (?, ?, ?)", parts)
        files = [values for values in found.draft_files.values() if values[0] in (None, *found.conversations)]
        db.executemany("INSERT INTO draft_file(conversation_id, digest, name, text) VALUES (?, ?, ?, ?)", files)
        db.executemany("INSERT OR REPLACE INTO kept(name, value) VALUES (?, ?)", list(found.kept.items()))
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    n_orphans = sum(1 for values in messages.values() if values[1] in lost)
    return Salvaged(len(found.conversations) + len(lost), len(messages), max(n_moved, n_orphans))


def _sort(found: _Found, row_id: int, values: Row) -> None:
    """Put a row where it belongs, by its shape; rows of other tables are left."""
    if _is_message(values):
        found.messages[row_id] = _filled(values, 1 + len(MESSAGE), {9: "", 11: ""})
    elif _is_conversation(values):
        found.conversations[row_id] = _filled(values, 1 + len(CONVERSATION), {7: 0})
    elif len(values) == 4:
        _sort_four(found, row_id, values)
    elif len(values) == 3 and isinstance(values[0], int) and values[1] in ("files", "edit"):
        if isinstance(values[2], str):
            found.draft_parts[values[0], values[1]] = values[2]
    elif len(values) == 2 and values[0] in (NEW_DRAFT, NEW_FILES) and isinstance(values[1], str):
        found.kept[values[0]] = values[1]
    elif len(values) == 2 and values[0] is None and isinstance(values[1], int):
        found.chosen[row_id] = values[1]
    elif len(values) == 2 and values[0] is None and isinstance(values[1], bytes) and values[1][:1] == b"\x78":
        found.tokens[row_id] = values[1]


def _sort_four(found: _Found, row_id: int, values: Row) -> None:
    """Put a row of four values where it belongs: a folder, a preset, a file that is not sent."""
    _, name, content, last = values
    if not isinstance(name, str):
        return
    if values[0] is None and isinstance(content, int) and last in (0, 1):
        found.folders[row_id] = values
    elif values[0] is None and isinstance(content, str) and content.startswith("{") and _is_moment(last):
        found.presets[row_id] = values
    elif isinstance(content, str) and isinstance(last, str) and _DIGEST.fullmatch(name):
        found.draft_files[values[0], name] = values


def _is_message(values: Row) -> bool:
    return (
        len(values) >= 8
        and values[0] is None
        and isinstance(values[1], int)
        and (values[2] is None or isinstance(values[2], int))
        and values[3] in _ROLES
        and isinstance(values[4], str)
        and values[5] in _STATES
        and _is_moment(values[6])
    )


def _is_conversation(values: Row) -> bool:
    return (
        len(values) >= 7
        and values[0] is None
        and isinstance(values[1], str)
        and _is_moment(values[2])
        and _is_moment(values[3])
        and (values[4] is None or isinstance(values[4], int))
        and isinstance(values[5], str)
    )


def _is_moment(value: Value) -> bool:
    if not isinstance(value, str):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _filled(values: Row, length: int, defaults: dict[int, Value]) -> Row:
    """Fill a row from before an upgrade up with what the new columns begin with."""
    values = values[:length]
    return (*values, *(defaults.get(n) for n in range(len(values), length)))


def _mended(messages: dict[int, Row]) -> tuple[dict[int, Row], int]:
    """Hang messages whose parent is lost on the one before them in their conversation; return how many."""
    mended: dict[int, Row] = {}
    last: dict[Value, int] = {}
    n_moved = 0
    for row_id in sorted(messages):
        values = messages[row_id]
        parent = values[2]
        if parent is not None and parent not in mended:
            n_moved += 1
            values = (*values[:2], last.get(values[1]), *values[3:])
        mended[row_id] = values
        last[values[1]] = row_id
    return mended, n_moved


def _conversations(found: _Found, lost: set[int], messages: dict[int, Row]) -> Iterator[tuple[int, Row]]:
    """Yield the conversations, those whose row is lost too, each with an end that exists."""
    last: dict[Value, int] = {}
    for row_id in sorted(messages):
        last[messages[row_id][1]] = row_id
    for row_id, values in found.conversations.items():
        leaf = values[4] if values[4] in messages else last.get(row_id)
        folder = values[9] if values[9] in found.folders else None
        yield row_id, (*values[1:4], leaf, *values[5:9], folder, *values[10:])
    moment = time_out(now())
    for row_id in lost:
        yield row_id, (_LOST_TITLE, moment, moment, last.get(row_id), "", None, 0, None, None, None)


def _looked_at(found: dict[int, Row], look: Look) -> Iterator[tuple[int, Row]]:
    for one in found.items():
        look()
        yield one


def _insert(db: sqlite3.Connection, table: str, columns: tuple[str, ...], found: Iterator[tuple[int, Row]]) -> None:
    marks = ", ".join("?" * (1 + len(columns)))
    statement = f"INSERT INTO {table}(id, {', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - names of ours
    db.executemany(statement, ((row_id, *values) for row_id, values in found))


def _int(value: Value) -> int:
    return value if isinstance(value, int) else 0
