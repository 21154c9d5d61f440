"""The tables of the chat database, as steps from one version to the next.

A step is a function that is applied once and never edited; ``PRAGMA user_version`` counts them. A new shape is
a new step at the end of :data:`MIGRATIONS`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

_FIRST_TABLES = """
CREATE TABLE conversation (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    title       TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL,
    leaf_id     INTEGER REFERENCES message(id) ON DELETE SET NULL,
    draft       TEXT NOT NULL DEFAULT '',
    deleted_at  TEXT
);
CREATE INDEX conversation_by_time ON conversation(updated_at DESC);

CREATE TABLE message (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id  INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
    parent_id        INTEGER REFERENCES message(id) ON DELETE CASCADE,
    role             TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
    text             TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('complete', 'streaming', 'interrupted')),
    created_at       TEXT NOT NULL,
    stats            TEXT
);
CREATE INDEX message_by_conversation ON message(conversation_id);
CREATE INDEX message_by_parent ON message(parent_id);
CREATE INDEX message_unfinished ON message(state) WHERE state = 'streaming';
"""

# Trigrams find any part of a word, and scripts without spaces. A streaming message is rewritten every second or
# two; it enters the index when it ends.
_FIRST_INDEX = """
CREATE VIRTUAL TABLE message_text USING fts5(text, content='message', content_rowid='id', tokenize='trigram');
CREATE TRIGGER message_indexed AFTER INSERT ON message WHEN new.state <> 'streaming' BEGIN
    INSERT INTO message_text(rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER message_unindexed AFTER DELETE ON message WHEN old.state <> 'streaming' BEGIN
    INSERT INTO message_text(message_text, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER message_left_index AFTER UPDATE OF text, state ON message WHEN old.state <> 'streaming' BEGIN
    INSERT INTO message_text(message_text, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER message_reindexed AFTER UPDATE OF text, state ON message WHEN new.state <> 'streaming' BEGIN
    INSERT INTO message_text(rowid, text) VALUES (new.id, new.text);
END;
"""


def _statements(script: str) -> list[str]:
    """Cut a script into statements; ``executescript`` would commit the transaction around it."""
    found, current = [], ""
    for line in script.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            found.append(current)
            current = ""
    return found


def _first(db: sqlite3.Connection) -> None:
    """Conversations, messages as a tree, and the full text of what was said."""
    for statement in _statements(_FIRST_TABLES) + _statements(_FIRST_INDEX):
        db.execute(statement)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_first,)


def version_of(db: sqlite3.Connection) -> int:
    """Return how many steps a database has behind it."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite3.Connection, steps: tuple[Callable[[sqlite3.Connection], None], ...] = MIGRATIONS) -> None:
    """Bring a database (in autocommit mode) to the newest version; a step and its number are one transaction."""
    for number in range(version_of(db), len(steps)):
        db.execute("BEGIN IMMEDIATE")
        try:
            steps[number](db)
            db.execute(f"PRAGMA user_version = {number + 1}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
