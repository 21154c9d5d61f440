"""Finding messages and conversations by the words in them, newest first.

Terms of three characters and more go through the trigram index. Shorter ones (most Chinese words have two characters)
go through all trigrams that begin with them; when those are very many, the term is so common that comparing the newest
messages one by one finds enough of them at once. :mod:`app.chat.query` has the query's language.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice

from app.chat.conversation import Attachment, ConversationHead
from app.chat.database import time_in
from app.chat.query import SEPARATORS, Snippet, Term, snippet_of, snippet_where_found, terms_of
from app.chat.rows import json_in
from app.protocol import Role

_INDEXED_LENGTH = 3
_MOST_TRIGRAMS = 150
_MOST_BEGINNINGS = 5000
_MOST_AT_ONCE = 1000
_INDEXED_FILES_CHARS = 1_200_000
"""So much of the JSON with a message's files goes into the index; see :mod:`app.chat.schema`."""
_MOST_LOOKED_AT = 20_000
"""Hits looked at to find enough conversations: of a word that is everywhere, the newest are enough."""

_COMPARED = (
    "(m.text LIKE ? ESCAPE '\\' OR m.reasoning LIKE ? ESCAPE '\\' OR (m.attachments IS NOT NULL"
    " AND (SELECT text FROM message_words WHERE id = m.id) LIKE ? ESCAPE '\\'))"
)

_HEAD = (
    "c.id, c.title, c.updated_at, c.pinned_at, c.folder_id, c.deleted_at,"
    " (SELECT count(*) FROM message WHERE conversation_id = c.id) AS n"
)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A message that holds all terms; ``marks`` are start and end of the terms in ``snippet``."""

    message_id: int
    conversation_id: int
    title: str
    role: Role
    created_at: datetime
    snippet: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class HeadsPage:
    """Some of the conversations that were searched for; ``next_id`` is above the message where the next page begins.

    0: only titles are left; ``None``: there is no more. ``seen`` are the conversations of this page and of those before
    it.
    """

    heads: tuple[ConversationHead, ...]
    next_id: int | None = None
    seen: frozenset[int] = frozenset()


def find_heads(
    db: sqlite3.Connection, query: str, limit: int, *, is_deleted: bool = False
) -> tuple[ConversationHead, ...]:
    """List conversations; with terms, those whose title or one of whose messages holds them all, newest hit first."""
    terms = terms_of(query)
    if not terms:
        return _listed(db, limit, is_deleted=is_deleted)
    page = find_heads_page(db, terms, _step(limit))
    heads = [*page.heads]
    while page.next_id is not None and (limit < 0 or len(heads) < limit):
        page = find_heads_page(db, terms, _step(limit - len(heads) if limit >= 0 else limit), page)
        heads += page.heads
    return tuple(sorted(heads, key=lambda head: (head.updated_at, head.id), reverse=True))


def newest_heads_page(db: sqlite3.Connection, limit: int, before: HeadsPage | None = None) -> HeadsPage:
    """List conversations, the pinned and then the newest first; after a page, those of the next one."""
    known = before.seen if before is not None else frozenset()
    found = _listed(db, limit + 1, offset=len(known))
    heads = tuple(head for head in found[:limit] if head.id not in known)
    return HeadsPage(heads, 0 if len(found) > limit else None, known | {head.id for head in found[:limit]})


def _listed(
    db: sqlite3.Connection, limit: int, *, offset: int = 0, is_deleted: bool = False
) -> tuple[ConversationHead, ...]:
    order = "c.deleted_at DESC" if is_deleted else "c.pinned_at IS NULL, c.updated_at DESC"
    rows = db.execute(
        f"SELECT {_HEAD} FROM conversation c"  # noqa: S608
        f" WHERE deleted_at IS {'NOT ' if is_deleted else ''}NULL ORDER BY {order}, c.id DESC LIMIT ? OFFSET ?",
        (limit, offset),
    )
    return tuple(_head(row) for row in rows)


def _step(limit: int) -> int:
    """Return how many of so many conversations are to be looked for at once; a negative limit is none."""
    return min(limit, _MOST_AT_ONCE) if limit >= 0 else _MOST_AT_ONCE


def find_heads_page(
    db: sqlite3.Connection, terms: tuple[Term, ...], limit: int, before: HeadsPage | None = None
) -> HeadsPage:
    """Find conversations whose title or one of whose messages holds all terms; after a page, those of the next one."""
    known = before.seen if before is not None else frozenset()
    found: dict[int, int | None] = {}
    titled = list(islice((n for n in _titled(db, terms) if n not in known), limit + 1))
    found |= dict.fromkeys(titled[:limit])
    next_id: int | None = None
    n_bare = len(found)
    for n_seen, hit in enumerate(_hits(db, terms, before.next_id if before is not None else None)):
        number = hit["conversation_id"]
        if number not in known and found.get(number) is None:
            if number in found:
                n_bare -= 1
            elif len(found) >= limit:
                next_id = next_id or hit["id"] + 1  # with it begins the next page
                number = None
            if number is not None:
                found[number] = hit["id"]
        if n_seen >= _MOST_LOOKED_AT:
            next_id = next_id or hit["id"]
            break
        if next_id is not None and not n_bare:
            break
    if next_id is None and len(titled) > limit:
        next_id = 0
    heads = [_found_head(db, conversation_id, message_id, terms) for conversation_id, message_id in found.items()]
    ordered = tuple(sorted(heads, key=lambda head: (head.updated_at, head.id), reverse=True))
    return HeadsPage(ordered, next_id, known | found.keys())


def find_messages(
    db: sqlite3.Connection,
    query: str,
    *,
    limit: int,
    before_id: int | None = None,
    conversation_id: int | None = None,
) -> tuple[SearchHit, ...]:
    """Find messages that hold all terms, newest first."""
    terms = terms_of(query)
    found: list[SearchHit] = []
    if not terms or limit < 1:
        return ()
    for hit in _hits(db, terms, before_id, conversation_id):
        row = db.execute(
            "SELECT m.id, m.role, m.created_at, m.text, m.reasoning, c.title"
            " FROM message m JOIN conversation c ON c.id = m.conversation_id WHERE m.id = ?",
            (hit["id"],),
        ).fetchone()
        snippet = _snippet(db, row, terms)
        at = time_in(row["created_at"])
        found.append(
            SearchHit(hit["id"], hit["conversation_id"], row["title"], row["role"], at, snippet.text, snippet.marks)
        )
        if len(found) == limit:
            break
    return tuple(found)


def _hits(
    db: sqlite3.Connection, terms: tuple[Term, ...], before_id: int | None = None, conversation_id: int | None = None
) -> Iterator[sqlite3.Row]:
    """Yield id and conversation of the messages that hold all terms, newest first, as they are found."""
    plan = _plan(db, terms)
    if plan is None:
        return
    match, compared = plan
    conditions, values = ["c.deleted_at IS NULL", "m.state <> 'streaming'"], list[object]()
    if match:
        source = "message_text t JOIN message m ON m.id = t.rowid"
        conditions.append("t.message_text MATCH ?")
        values.append(match)
        order = "t.rowid"
    else:
        source, order = "message m", "m.id"
    if before_id is not None:
        conditions.append(f"{order} < ?")
        values.append(before_id)
    if conversation_id is not None:
        conditions.append("m.conversation_id = ?")
        values.append(conversation_id)
    for term in compared:
        conditions.append(_COMPARED)
        values += [_like(term.text)] * _COMPARED.count("?")
    # CROSS JOIN keeps the order of the tables: the planner would sort all hits otherwise.
    rows = db.execute(
        f"SELECT m.id, m.conversation_id FROM {source} CROSS JOIN conversation c ON c.id = m.conversation_id"  # noqa: S608
        f" WHERE {' AND '.join(conditions)} ORDER BY {order} DESC",
        values,
    )
    yield from rows


def _plan(db: sqlite3.Connection, terms: tuple[Term, ...]) -> tuple[str, list[Term]] | None:
    """Return what the index is asked, and the terms that texts are compared with; ``None`` if a term is nowhere."""
    parts: list[str] = []
    compared: list[Term] = []
    for term in terms:
        if term.is_beginning:
            parts.append(_any_of(_beginnings(db, term.text)))
        elif len(term.text) >= _INDEXED_LENGTH:
            parts.append(_quoted(term.text))
        elif (trigrams := _trigrams_of(db, term.text)) is not None:
            if not trigrams:
                return None
            parts.append(_any_of(trigrams))
        else:
            compared.append(term)
    return " AND ".join(parts), compared


def _beginnings(db: sqlite3.Connection, text: str) -> list[str]:
    """Return what a text has to hold one of so that a word in it begins so: the beginning behind each separator.

    One letter has no trigram behind a separator of its own; then it is all those that begin with both.
    """
    behind = [separator + text for separator in SEPARATORS]
    if len(text) > 1:
        return behind
    found = [trigram for beginning in behind for trigram in _trigrams_of(db, beginning, _MOST_BEGINNINGS) or ()]
    return found or behind


def _any_of(texts: list[str]) -> str:
    return "(" + " OR ".join(map(_quoted, texts)) + ")"


def _trigrams_of(db: sqlite3.Connection, text: str, most: int = _MOST_TRIGRAMS) -> list[str] | None:
    """Return the trigrams that begin with a short term; ``None`` if they are too many."""
    if len(text) == 1 and text.isascii() and text.isalnum():
        return None  # as common as anything can be
    found: list[str] = []
    for folded in dict.fromkeys((text, text.lower(), _folded(text))):
        rows = db.execute(
            "SELECT term FROM message_trigram WHERE term >= ? AND term < ? LIMIT ?",
            (folded, folded + "\U0010ffff", most + 1),
        )
        found += [row["term"] for row in rows]
    return found if len(found) <= most else None


def _folded(text: str) -> str:
    """Return a text as the index folds it, letter by letter: the sign for micro becomes the Greek letter."""
    return "".join(letter.casefold() if len(letter.casefold()) == 1 else letter for letter in text.lower())


def _titled(db: sqlite3.Connection, terms: tuple[Term, ...]) -> Iterator[int]:
    """Yield the conversations whose title holds all terms, newest first."""
    condition = " AND ".join("title LIKE ? ESCAPE '\\'" for _ in terms)
    rows = db.execute(
        f"SELECT id, title FROM conversation WHERE deleted_at IS NULL AND {condition}"  # noqa: S608
        " ORDER BY updated_at DESC, id DESC",
        tuple(_like(term.text) for term in terms),
    )
    for row in rows:
        if all(term.pattern().search(row["title"]) for term in terms if term.is_beginning):
            yield row["id"]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _like(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _found_head(
    db: sqlite3.Connection, conversation_id: int, message_id: int | None, terms: tuple[Term, ...]
) -> ConversationHead:
    row = db.execute(f"SELECT {_HEAD} FROM conversation c WHERE id = ?", (conversation_id,)).fetchone()  # noqa: S608
    if message_id is None:
        return _head(row)
    said = db.execute("SELECT id, text, reasoning FROM message WHERE id = ?", (message_id,)).fetchone()
    return _head(row, _snippet(db, said, terms), message_id)


def _snippet(db: sqlite3.Connection, row: sqlite3.Row, terms: tuple[Term, ...]) -> Snippet:
    """Cut it from what was said; where nothing of it is there, from what was thought, or from a file."""
    texts = chain((row["text"], row["reasoning"]), _files(db, row["id"]))
    return snippet_where_found(texts, terms) or snippet_of(row["text"], terms)


def _files(db: sqlite3.Connection, message_id: int) -> Iterator[str]:
    """Yield names and texts of a message's files as far as the index has them; nothing is read before the first."""
    row = db.execute(
        "SELECT substr(attachments, 1, ?) AS files FROM message WHERE id = ?", (_INDEXED_FILES_CHARS, message_id)
    ).fetchone()
    for file in json_in(row["files"], tuple[Attachment, ...]) or _begun(row["files"] or ""):
        yield f"{file.name}: {file.text}"


def _begun(cut: str) -> tuple[Attachment, ...]:
    """Read files from JSON that is cut off: in a text, in a sign that is written as several there, or between two."""
    between = '"},{"name":"'
    ends = chain((cut[: len(cut) - n] for n in range(len(between))), (cut.rpartition(between)[0],))
    found = (json_in(end + '"}]', tuple[Attachment, ...]) for end in ends)
    return next((files for files in found if files), ())


def _head(row: sqlite3.Row, snippet: Snippet | None = None, message_id: int | None = None) -> ConversationHead:
    return ConversationHead(
        id=row["id"],
        title=row["title"],
        updated_at=time_in(row["updated_at"]),
        n_messages=row["n"],
        snippet=snippet.text if snippet else "",
        marks=snippet.marks if snippet else (),
        message_id=message_id,
        is_pinned=row["pinned_at"] is not None,
        folder_id=row["folder_id"],
        deleted_at=time_in(row["deleted_at"]) if row["deleted_at"] else None,
    )
