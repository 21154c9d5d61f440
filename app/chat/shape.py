"""Whether a database that SQLite takes for whole has our tables; the test of its pages does not look at names."""

from __future__ import annotations

import sqlite3

from app.chat.database import malformed
from app.chat.salvage import CONVERSATION, DRAFT_FILE, DRAFT_PART, FOLDER, MESSAGE, PRESET
from app.chat.schema import MIGRATIONS, version_of

_TABLES = {
    "conversation": ("id", *CONVERSATION),
    "message": ("id", *MESSAGE),
    "folder": ("id", *FOLDER),
    "preset": ("id", *PRESET),
    "message_tokens": ("message_id", "data"),
    "message_text": ("text",),
    "draft_part": DRAFT_PART,
    "draft_file": DRAFT_FILE,
    "chosen": ("message_id", "child_id"),
}


def refuse_misshapen(db: sqlite3.Connection) -> None:
    """Refuse a database with tables and no version, and one of the newest version that lacks a table or a column.

    Raises:
        sqlite3.DatabaseError: it counts as damaged then.
    """
    db.execute("BEGIN")  # one moment of the file: another process may just be making its tables
    try:
        version = version_of(db)
        tables = {str(row[0]) for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        db.execute("ROLLBACK")
    if version == 0 and tables:
        raise malformed("its version is lost" if tables & _TABLES.keys() else "it has the tables of another program")
    if version != len(MIGRATIONS):
        return
    for table, columns in _TABLES.items():
        try:
            db.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 0")  # noqa: S608 - names of ours
        except sqlite3.OperationalError as fault:
            if "no such" in str(fault):
                raise malformed(fault) from fault
            raise
