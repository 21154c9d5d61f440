"""Finding a phrase by some of its letters: how well they fit, and which letters they are.

Each word of what is typed has to be found; where a word begins counts most, then first letters, then whole pieces, then
letters in order. Case and accents make no difference.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

_WORD_START, _INITIALS, _INSIDE, _SCATTERED = 1000, 800, 600, 100
_MOST_SPREAD = 2
"""Letters that are not meant, for each that is."""
_LEAST_SCATTERED = 3
"""Fewer letters than this, far apart, are in every phrase."""


class Fit(NamedTuple):
    """How well a phrase fits, higher is better, and the places of the letters that were found."""

    score: float
    places: tuple[int, ...]


def fit(typed: str, phrase: str) -> Fit | None:
    """Return how well ``phrase`` fits what was typed; None if a word of that is not in it."""
    plain = _plain(phrase)
    score, places = 0.0, set[int]()
    for word in _plain(typed).split():
        found = _fit_word(word, plain)
        if found is None:
            return None
        score += found.score
        places.update(found.places)
    return Fit(score - len(phrase) / 100, tuple(sorted(places)))


def _fit_word(word: str, phrase: str) -> Fit | None:
    starts = [at for at, letter in enumerate(phrase) if letter.isalnum() and (at == 0 or not phrase[at - 1].isalnum())]
    for at in starts:
        if phrase.startswith(word, at):
            return Fit(_WORD_START - at, tuple(range(at, at + len(word))))
    if initials := _in_order(word, phrase, starts):
        return Fit(_INITIALS - initials[0], initials)
    if (at := phrase.find(word)) >= 0:
        return Fit(_INSIDE - at, tuple(range(at, at + len(word))))
    if len(word) >= _LEAST_SCATTERED:
        ways = [
            _in_order(word, phrase, range(at, len(phrase))) for at, letter in enumerate(phrase) if letter == word[0]
        ]
        best = min((way for way in ways if way), key=_spread, default=())
        if best and _spread(best) <= _MOST_SPREAD * len(word):
            return Fit(_SCATTERED - _spread(best), best)
    return None


def _spread(places: tuple[int, ...]) -> int:
    """Return how many letters are between those that were found."""
    return places[-1] - places[0] + 1 - len(places)


def _in_order(word: str, phrase: str, where: list[int] | range) -> tuple[int, ...]:
    """Return the places of a word's letters, one after the other, among some places of a phrase."""
    places, left = [], iter(where)
    for letter in word:
        at = next((place for place in left if phrase[place] == letter), None)
        if at is None:
            return ()
        places.append(at)
    return tuple(places)


def _plain(text: str) -> str:
    """Return a text without case and accents, letter for letter."""
    return "".join(unicodedata.normalize("NFD", letter)[0].lower()[:1] or letter for letter in text)
