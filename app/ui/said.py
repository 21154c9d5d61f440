"""What the layers below the window say, in the language of the person.

Errors with their hints, notices and reasons arrive as finished English sentences. Each is looked for among those
that it may be (:mod:`app.ui.said_texts`), and said in translation with its own facts in their places; facts that are
sentences themselves are looked for in turn. What is not known stays as it came. Logs and exports keep the English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.errors import SlipstreamError
from app.ui.said_texts import TEXTS

_PLACE = re.compile(r"\{(\w+)\}")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?…]) (?=[A-Z“])")
_LONGEST = 8000
"""Longer texts are no sentences of ours."""
_DEEPEST = 6


class _Sentence(NamedTuple):
    """A text taken apart: what stands between the places, their names, and its translation."""

    parts: tuple[str, ...]
    names: tuple[str, ...]
    translation: str

    def facts_in(self, words: str) -> dict[str, str] | None:
        """Return what stands in the places if the words are this sentence, each as short as can be."""
        first, *middle = self.parts
        if not words.startswith(first):
            return None
        if not middle:
            return {} if len(words) == len(first) else None
        last, at, found = middle.pop(), len(first), list[str]()
        end = len(words) - len(last)
        if end <= at or not words.endswith(last):
            return None
        for part in middle:
            next_at = words.find(part, at + 1, end)
            if next_at < 0:
                return None
            found.append(words[at:next_at])
            at = next_at + len(part)
        return dict(zip(self.names, (*found, words[at:end]), strict=True)) if at < end else None


@lru_cache(maxsize=1)
def _sentences() -> tuple[_Sentence, ...]:
    """Return the texts with their translations, those with the most words of their own first; none in English."""
    translations = [QCoreApplication.translate("", text) for text in TEXTS]
    if translations == list(TEXTS):
        return ()
    pieces = zip(map(_PLACE.split, TEXTS), translations, strict=True)
    known = [_Sentence(tuple(parts[::2]), tuple(parts[1::2]), words) for parts, words in pieces]
    return tuple(sorted(known, key=lambda one: -sum(map(len, one.parts))))


@lru_cache(maxsize=512)
def said(words: str) -> str:
    """Return what a layer below says, in the language that was chosen."""
    return _said(words, 0)


def _said(words: str, depth: int) -> str:
    if not _sentences() or not words or len(words) > _LONGEST or depth > _DEEPEST:
        return words
    for sentence in _sentences():
        facts = sentence.facts_in(words)
        if facts is not None:
            return sentence.translation.format(**{name: _said(fact, depth + 1) for name, fact in facts.items()})
    several = _BETWEEN_SENTENCES.split(words)
    return " ".join(_said(one, depth + 1) for one in several) if len(several) > 1 else words


def fault_words(fault: SlipstreamError) -> str:
    """What went wrong, and what to do next."""
    return f"{said(fault.message)} {said(fault.hint)}".strip()


def said_each(reasons: Iterable[str]) -> str:
    """Several reasons or causes, one behind the other."""
    return "; ".join(map(said, reasons))


def forget() -> None:
    """Read the texts anew, in another language."""
    _sentences.cache_clear()
    said.cache_clear()
