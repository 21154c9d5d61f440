"""Finding conversations by the words in them.

Words of three letters or more go through the trigram index, which also finds parts of words; shorter ones
(most Chinese words have two characters) are compared directly.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime

from app.chat.conversation import ConversationHead

_INDEXED_LENGTH = 3
_SNIPPET_BEFORE = 24
_SNIPPET_LENGTH = 90

_COUNT = "(SELECT count(*) FROM message WHERE conversation_id = c.id)"


def find_heads(db: sqlite3.Connection, query: str, limit: int) -> tuple[ConversationHead, ...]:
    """List conversations, newest first; with words, those whose title or one of whose messages holds them all."""
    words = query.split()
    if not words:
        rows = db.execute(
            f"SELECT c.id, c.title, c.updated_at, {_COUNT} AS n, NULL AS hit FROM conversation c"  # noqa: S608
            " WHERE deleted_at IS NULL ORDER BY updated_at DESC, c.id DESC LIMIT ?",
            (limit,),
        )
        return tuple(_head(row, words) for row in rows)
    in_text, text_values = _condition(words)
    in_title = " AND ".join("c.title LIKE ? ESCAPE '\\'" for _ in words)
    rows = db.execute(
        f"WITH hits AS (SELECT conversation_id, max(id) AS message_id FROM message WHERE {in_text}"  # noqa: S608
        " GROUP BY conversation_id)"
        f" SELECT c.id, c.title, c.updated_at, {_COUNT} AS n,"
        " (SELECT text FROM message WHERE id = hits.message_id) AS hit"
        " FROM conversation c LEFT JOIN hits ON hits.conversation_id = c.id"
        f" WHERE deleted_at IS NULL AND (hits.message_id IS NOT NULL OR ({in_title}))"
        " ORDER BY updated_at DESC, c.id DESC LIMIT ?",
        (*text_values, *(_like(word) for word in words), limit),
    )
    return tuple(_head(row, words) for row in rows)


def _condition(words: list[str]) -> tuple[str, list[str]]:
    """Return a condition on ``message`` that all words occur in it, and its values."""
    indexed = [word for word in words if len(word) >= _INDEXED_LENGTH]
    short = [word for word in words if len(word) < _INDEXED_LENGTH]
    terms, values = [], []
    if indexed:
        terms.append("id IN (SELECT rowid FROM message_text WHERE message_text MATCH ?)")
        values.append(" AND ".join('"' + word.replace('"', '""') + '"' for word in indexed))
    for word in short:
        terms.append("text LIKE ? ESCAPE '\\'")
        values.append(_like(word))
    return " AND ".join(terms), values


def _like(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _head(row: sqlite3.Row, words: list[str]) -> ConversationHead:
    return ConversationHead(
        id=row["id"],
        title=row["title"],
        updated_at=datetime.fromisoformat(row["updated_at"]),
        n_messages=row["n"],
        snippet=snippet(row["hit"], words) if row["hit"] is not None else "",
    )


def snippet(text: str, words: list[str]) -> str:
    """Cut the neighbourhood of the first word that occurs in ``text``, on one line."""
    flat = " ".join(text.split())
    folded = flat.casefold()
    places = [place for word in words if (place := folded.find(word.casefold())) >= 0]
    start = max(0, min(places, default=0) - _SNIPPET_BEFORE)
    if start:
        start = flat.find(" ", start, start + _SNIPPET_BEFORE) + 1 or start
    end = start + _SNIPPET_LENGTH
    return ("…" if start else "") + flat[start:end].strip() + ("…" if end < len(flat) else "")
