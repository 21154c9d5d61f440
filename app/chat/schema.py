"""The tables of the chat database, as steps from one version to the next.

A step is a function that is applied once, and what it makes is never edited; ``PRAGMA user_version`` counts them. A new
shape is a new step at the end of :data:`MIGRATIONS`. A step is told whom to tell how far it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from app.chat.progress import Progress, no_progress, part_of

Step = Callable[[sqlite3.Connection, Progress], None]

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


def _first(db: sqlite3.Connection, _note: Progress) -> None:
    """Conversations, messages as a tree, and the full text of what was said."""
    for statement in _statements(_FIRST_TABLES) + _statements(_FIRST_INDEX):
        db.execute(statement)


def _index_all(db: sqlite3.Connection, note: Progress) -> None:
    """Put all messages into the index, which is empty, as ``message_words`` has them."""
    n_all = db.execute("SELECT count(*) FROM message WHERE state <> 'streaming'").fetchone()[0]
    rows = db.execute("SELECT id, CAST(text AS BLOB) FROM message_words ORDER BY id")
    for n_done, (number, words) in enumerate(rows, 1):
        db.execute(_INDEX_ONE, (number, words))
        note(n_done, n_all)


# Row by row: an INSERT from a SELECT makes the index write out what it has gathered. As bytes: what is no text stays
# what it is on its way.
_INDEX_ONE = "INSERT INTO message_text(rowid, text) VALUES (?, CAST(? AS TEXT))"
_UNINDEX_ONE = "INSERT INTO message_text(message_text, rowid, text) VALUES ('delete', ?, CAST(? AS TEXT))"


_SECOND_TABLES = """
CREATE TABLE folder (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    name      TEXT NOT NULL,
    position  INTEGER NOT NULL DEFAULT 0,
    is_open   INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE preset (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL UNIQUE COLLATE NOCASE,
    settings    TEXT NOT NULL,
    updated_at  TEXT NOT NULL
);
CREATE TABLE message_tokens (
    message_id  INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
    data        BLOB NOT NULL
);
CREATE TABLE kept (
    name   TEXT PRIMARY KEY,
    value  TEXT NOT NULL
);
ALTER TABLE conversation ADD COLUMN is_named INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN pinned_at TEXT;
ALTER TABLE conversation ADD COLUMN folder_id INTEGER REFERENCES folder(id) ON DELETE SET NULL;
ALTER TABLE conversation ADD COLUMN settings TEXT;
CREATE INDEX conversation_by_folder ON conversation(folder_id);
ALTER TABLE message ADD COLUMN chosen_id INTEGER;
ALTER TABLE message ADD COLUMN reasoning TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN reasoning_s REAL;
ALTER TABLE message ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN attachments TEXT;
CREATE INDEX message_tree ON message(conversation_id, parent_id);
DROP INDEX message_by_conversation;
DROP TRIGGER message_indexed;
DROP TRIGGER message_unindexed;
DROP TRIGGER message_left_index;
DROP TRIGGER message_reindexed;
DROP TABLE message_text;
"""

# Two line ends behind each text make its last characters the beginning of a trigram, too: so words of one or two
# characters (most Chinese ones) are found through the trigrams that begin with them. A megabyte of one message is
# enough to be found by: indexing more would hold the window up.
_SECOND_INDEX = """
CREATE VIEW message_words AS
    SELECT id, substr(text, 1, 1000000) || char(10, 10) AS text FROM message WHERE state <> 'streaming';
CREATE VIRTUAL TABLE message_text
    USING fts5(text, content='message_words', content_rowid='id', tokenize='trigram');
CREATE VIRTUAL TABLE message_trigram USING fts5vocab(message_text, row);
CREATE TRIGGER message_indexed AFTER INSERT ON message WHEN new.state <> 'streaming' BEGIN
    INSERT INTO message_text(rowid, text) VALUES (new.id, substr(new.text, 1, 1000000) || char(10, 10));
END;
CREATE TRIGGER message_unindexed AFTER DELETE ON message WHEN old.state <> 'streaming' BEGIN
    INSERT INTO message_text(message_text, rowid, text)
        VALUES ('delete', old.id, substr(old.text, 1, 1000000) || char(10, 10));
END;
CREATE TRIGGER message_left_index AFTER UPDATE OF text, state ON message WHEN old.state <> 'streaming' BEGIN
    INSERT INTO message_text(message_text, rowid, text)
        VALUES ('delete', old.id, substr(old.text, 1, 1000000) || char(10, 10));
END;
CREATE TRIGGER message_reindexed AFTER UPDATE OF text, state ON message WHEN new.state <> 'streaming' BEGIN
    INSERT INTO message_text(rowid, text) VALUES (new.id, substr(new.text, 1, 1000000) || char(10, 10));
END;
"""


def _second(db: sqlite3.Connection, note: Progress) -> None:
    """Branches, folders, pins, presets, settings and facts of their own; short words through the index."""
    for statement in _statements(_SECOND_TABLES) + _statements(_SECOND_INDEX):
        db.execute(statement)
    db.execute(
        "UPDATE message SET chosen_id = (SELECT max(child.id) FROM message child WHERE child.parent_id = message.id)"
    )
    _index_all(db, note)


# A line end before each text as well: the first word, too, then begins behind something that is no letter.
_THIRD_INDEX = """
DROP TRIGGER message_indexed;
DROP TRIGGER message_unindexed;
DROP TRIGGER message_left_index;
DROP TRIGGER message_reindexed;
DROP VIEW message_words;
CREATE VIEW message_words AS
    SELECT id, char(10) || substr(text, 1, 1000000) || char(10, 10) AS text FROM message WHERE state <> 'streaming';
CREATE TRIGGER message_indexed AFTER INSERT ON message WHEN new.state <> 'streaming' BEGIN
    INSERT INTO message_text(rowid, text) VALUES (new.id, char(10) || substr(new.text, 1, 1000000) || char(10, 10));
END;
CREATE TRIGGER message_unindexed AFTER DELETE ON message WHEN old.state <> 'streaming' BEGIN
    INSERT INTO message_text(message_text, rowid, text)
        VALUES ('delete', old.id, char(10) || substr(old.text, 1, 1000000) || char(10, 10));
END;
CREATE TRIGGER message_left_index AFTER UPDATE OF text, state ON message WHEN old.state <> 'streaming' BEGIN
    INSERT INTO message_text(message_text, rowid, text)
        VALUES ('delete', old.id, char(10) || substr(old.text, 1, 1000000) || char(10, 10));
END;
CREATE TRIGGER message_reindexed AFTER UPDATE OF text, state ON message WHEN new.state <> 'streaming' BEGIN
    INSERT INTO message_text(rowid, text) VALUES (new.id, char(10) || substr(new.text, 1, 1000000) || char(10, 10));
END;
INSERT INTO message_text(message_text) VALUES ('delete-all');
"""


def _third(db: sqlite3.Connection, note: Progress) -> None:
    """Beginnings of words through the index."""
    for statement in _statements(_THIRD_INDEX):
        db.execute(statement)
    _index_all(db, note)


def _fourth(db: sqlite3.Connection, _note: Progress) -> None:
    """Files that go with a message that is not sent, and changes of messages that are under way."""
    db.execute(
        "CREATE TABLE draft_part (conversation_id INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,"
        " kind TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (conversation_id, kind))"
    )


_UNESCAPED = (
    (r"'\\'", "char(1)"),
    (r"""'\"'""", "char(2)"),
    ("""'[{"name":"'""", "char(10)"),
    ("""'"},{"name":"'""", "char(10)"),
    ("""'","text":"'""", "char(10)"),
    ("""'"}]'""", "''"),
    (r"'\n'", "char(10)"),
    (r"'\t'", "char(9)"),
    (r"'\r'", "''"),
    ("char(2)", "char(34)"),
    ("char(1)", "char(92)"),
)
"""What is put in place of what, in this order, to make the names and texts of files of the JSON that holds them."""


def _words(row: str) -> str:
    """Return in SQL what a message is found by: what was said, what was thought before it, and its files.

    The index reads it where no table may be made of JSON, so that is read by replacing.
    """
    files = f"substr({row}.attachments, 1, 1200000)"
    for there, instead in _UNESCAPED:
        files = f"replace({files}, {there}, {instead})"
    said = f"{row}.text || iif({row}.reasoning = '', '', char(10) || {row}.reasoning) || coalesce({files}, '')"
    return f"char(10) || substr({said}, 1, 1000000) || char(10, 10)"


_FIFTH_INDEX = f"""
CREATE TABLE draft_file (
    conversation_id  INTEGER REFERENCES conversation(id) ON DELETE CASCADE,
    digest           TEXT NOT NULL,
    name             TEXT NOT NULL,
    text             TEXT NOT NULL
);
CREATE INDEX draft_file_by_conversation ON draft_file(conversation_id, digest);
CREATE TABLE chosen (
    message_id  INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
    child_id    INTEGER NOT NULL
);
INSERT INTO chosen(message_id, child_id) SELECT id, chosen_id FROM message WHERE chosen_id IS NOT NULL;
DROP TRIGGER message_indexed;
DROP TRIGGER message_unindexed;
DROP TRIGGER message_left_index;
DROP TRIGGER message_reindexed;
DROP VIEW message_words;
CREATE VIEW message_words AS SELECT id, {_words("message")} AS text FROM message WHERE state <> 'streaming';
CREATE TRIGGER message_indexed AFTER INSERT ON message WHEN new.state <> 'streaming' BEGIN
    INSERT INTO message_text(rowid, text) VALUES (new.id, {_words("new")});
END;
CREATE TRIGGER message_unindexed AFTER DELETE ON message WHEN old.state <> 'streaming' BEGIN
    INSERT INTO message_text(message_text, rowid, text) VALUES ('delete', old.id, {_words("old")});
END;
CREATE TRIGGER message_left_index AFTER UPDATE OF text, state, reasoning, attachments ON message
WHEN old.state <> 'streaming' BEGIN
    INSERT INTO message_text(message_text, rowid, text) VALUES ('delete', old.id, {_words("old")});
END;
CREATE TRIGGER message_reindexed AFTER UPDATE OF text, state, reasoning, attachments ON message
WHEN new.state <> 'streaming' BEGIN
    INSERT INTO message_text(rowid, text) VALUES (new.id, {_words("new")});
END;
"""  # noqa: S608 - names of ours

_FIFTH_CHANGED = "FROM message WHERE state <> 'streaming' AND (reasoning <> '' OR attachments IS NOT NULL)"


def _fifth(db: sqlite3.Connection, note: Progress) -> None:
    """Thoughts and files through the index; a row for each file that goes with what is not sent.

    Which child was read last has a table of its own, or a message with megabytes of files would be written anew with
    each answer to it. ``message.chosen_id`` stays, for nobody.
    """
    for statement in _statements(_FIFTH_INDEX):
        db.execute(statement)
    n_all = db.execute(f"SELECT count(*) {_FIFTH_CHANGED}").fetchone()[0]
    rows = db.execute(
        "SELECT id, CAST(char(10) || substr(text, 1, 1000000) || char(10, 10) AS BLOB),"
        f" CAST({_words('message')} AS BLOB) {_FIFTH_CHANGED} ORDER BY id"
    )
    for n_done, (number, was, words) in enumerate(rows, 1):
        db.execute(_UNINDEX_ONE, (number, was))
        db.execute(_INDEX_ONE, (number, words))
        note(n_done, n_all)


MIGRATIONS: tuple[Step, ...] = (_first, _second, _third, _fourth, _fifth)


def version_of(db: sqlite3.Connection) -> int:
    """Return how many steps a database has behind it."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _is_due(db: sqlite3.Connection, number: int) -> bool:
    """Whether a step is to be done; if not, another process has just done it.

    Raises:
        sqlite3.OperationalError: steps before it, which had been done, are not.
    """
    found = version_of(db)
    if found < number:
        raise sqlite3.OperationalError("another process put an older database in its place")
    return found == number


def migrate(
    db: sqlite3.Connection, steps: tuple[Step, ...] = MIGRATIONS, note: Progress = no_progress, *, n_before: int = 0
) -> None:
    """Bring a database (in autocommit mode) to the newest version; a step and its number are one transaction.

    Args:
        db: the database.
        steps: all steps there are, those that it has behind it included.
        note: is told how far that is; what it raises ends it, with the step that was under way undone.
        n_before: how many parts as long as a step have been done before.

    Raises:
        sqlite3.Error: a step failed, or found less than the steps before it had left.
    """
    first = version_of(db)
    for number in range(first, len(steps)):
        part = part_of(note, n_before + number - first, n_before + len(steps) - first)
        db.execute("BEGIN IMMEDIATE")
        try:
            if _is_due(db, number):
                steps[number](db, part)
                part(1, 1)
                db.execute(f"PRAGMA user_version = {number + 1}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
