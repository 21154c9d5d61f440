"""What a person types into the search field, and where it occurs in a text.

``words`` all have to occur in one message, in any order and also as parts of words; a ``"phrase in quotes"`` as it
stands; ``begin*`` at the beginning of a word. Capitals do not matter. Everything else is taken literally.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

SEPARATORS = (
    " \n\t\r\u00a0\u3000!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~\u2018\u201c\u201e\u2013\u2014\u2026\u3002\uff0c\uff08"
)
"""What a word begins behind."""

_TERM = re.compile(r'"([^"]*)"|(\S+)')
_SNIPPET_BEFORE = 24
_SNIPPET_LENGTH = 120
_MAX_TERMS = 16
"""More words than this cost time and find nothing that these do not."""
_MAX_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that has to occur; ``is_beginning``: at the beginning of a word."""

    text: str
    is_beginning: bool = False

    def pattern(self) -> re.Pattern[str]:
        """Match it in a text."""
        literal = r"\s+".join(re.escape(part) for part in self.text.split())
        behind = rf"(?<![^{re.escape(SEPARATORS)}])" if self.is_beginning else ""
        return re.compile(behind + literal, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Snippet:
    """The neighbourhood of a hit on one line, with start and end of what was searched for."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def terms_of(query: str) -> tuple[Term, ...]:
    """Read a query. A quote that is not closed yet (somebody is typing) is as good as closed."""
    query = query.encode("utf-8", "replace").decode()
    if query.count('"') % 2:
        place = query.rfind('"')
        before, after = query[:place], query[place + 1 :]
        query = f'{before} "{after}"' if (not before or before[-1].isspace()) and after.strip() else f"{before} {after}"
    found: list[Term] = []
    for phrase, word in _TERM.findall(query.replace("\0", " ")):
        text = " ".join(phrase.split())[:_MAX_LENGTH] if phrase else word[:_MAX_LENGTH]
        if is_beginning := len(text) > 1 and text.endswith("*") and not phrase:
            text = text.rstrip("*")
        if text:
            found.append(Term(text, is_beginning))
    return tuple(dict.fromkeys(found))[:_MAX_TERMS]


def snippet_of(text: str, terms: tuple[Term, ...]) -> Snippet:
    """Cut the neighbourhood of the first term that occurs in ``text``, and mark all terms in it."""
    return snippet_where_found((text,), terms) or _around(text, 0, [term.pattern() for term in terms])


def snippet_where_found(texts: Iterable[str], terms: tuple[Term, ...]) -> Snippet | None:
    """Do that in the first of these texts in which a term occurs; those after it are not asked for."""
    patterns = [term.pattern() for term in terms]
    for text in texts:
        hits = [hit.start() for pattern in patterns if (hit := pattern.search(text))]
        if hits:
            return _around(text, min(hits), patterns)
    return None


def _around(text: str, start: int, patterns: list[re.Pattern[str]]) -> Snippet:
    # Runs of blanks shrink to one: cut generously, then flatten.
    begin = max(0, start - 8 * _SNIPPET_BEFORE)
    before = " ".join(text[begin:start].split(" "))
    before = " ".join(before.split()) + (" " if before[-1:].isspace() and before.strip() else "")
    is_cut = begin > 0 or len(before) > _SNIPPET_BEFORE
    if len(before) > _SNIPPET_BEFORE:
        before = before[-_SNIPPET_BEFORE:]
        before = before[before.find(" ") + 1 :] if " " in before.rstrip() else before
    after = " ".join(text[start : start + 8 * _SNIPPET_LENGTH].split())
    room = _SNIPPET_LENGTH - len(before)
    goes_on = len(after) > room or start + 8 * _SNIPPET_LENGTH < len(text)
    shown = ("…" if is_cut else "") + before + after[:room].rstrip() + ("…" if goes_on else "")
    return Snippet(shown, _marks(shown, patterns))


def _marks(shown: str, patterns: list[re.Pattern[str]]) -> tuple[tuple[int, int], ...]:
    """Find all terms in a line; what overlaps is one mark."""
    spans = sorted(hit.span() for pattern in patterns for hit in pattern.finditer(shown) if hit.end() > hit.start())
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
