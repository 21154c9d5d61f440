"""Which characters of an answer came from which token, and from whom.

Kept only for answers whose tokens are to be looked at. What is shown is not what was generated: Markdown loses its
marks when it is rendered. :func:`align` finds the shown characters again in the text, word by word.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from app.protocol import LOSSY, Chunk

TokenKind = Literal["accepted", "corrected", "plain"]

_WORD = re.compile(r"\S+")
_WORD_REACH = 600
"""Characters between two shown words at most: the address of a link, the marks of a table."""
_MARK_REACH = 16
"""Characters of marks inside of a shown word at most."""
_ADDRESS = re.compile(r"[*_`~]*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
"""The rest of a link behind its words."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of an answer.

    ``start`` is its first character in the text, ``step`` counts from 0 (the token after the prompt), ``position``
    from 1 within the step; ``n_proposed`` draft tokens were sent to the target in that step by ``drafter``, whose name
    ends in ``lossy`` where acceptance was lenient.
    """

    start: int
    kind: TokenKind
    step: int
    position: int
    n_proposed: int
    drafter: str
    probability: float


class TokenTrace:
    """The tokens of an answer that is on its way or complete.

    Args:
        tokens: those that are known already, of an answer from the database or one that goes on.
        n_chars: characters of the answer before the next token.
        is_lossy: whether acceptance is lenient.
    """

    def __init__(self, tokens: Iterable[Token] = (), n_chars: int = 0, *, is_lossy: bool = False) -> None:
        self.tokens = list(tokens)
        self._suffix = f",{LOSSY}" if is_lossy else ""
        self._starts = [token.start for token in self.tokens]
        self._n_steps = self.tokens[-1].step + 1 if self.tokens else 0
        self._n_chars = n_chars

    def add(self, chunk: Chunk) -> None:
        """Take the tokens of the next chunk."""
        step, kept = chunk.step, chunk.step.accepted
        drafter = step.drafter + self._suffix if step.drafter else ""
        for i, (detail, is_drafted) in enumerate(zip(chunk.details, chunk.drafted, strict=True)):
            kind: TokenKind = "accepted" if is_drafted else "corrected" if i == kept < step.judged else "plain"
            token = Token(self._n_chars, kind, self._n_steps, i + 1, step.proposed, drafter, detail.probability)
            self.tokens.append(token)
            self._starts.append(token.start)
            self._n_chars += detail.n_chars
        self._n_steps += 1

    def at(self, place: int) -> int | None:
        """Return the number of the token that a character of the text came with; None before the first."""
        # Tokens without characters share their start with the next: the last of them is the one that shows.
        n = bisect_right(self._starts, place) - 1
        return n if n >= 0 else None

    def counts(self) -> Counter[TokenKind]:
        """How many tokens there are of each kind."""
        return Counter(token.kind for token in self.tokens)


def align(text: str, shown: str, start: int = 0) -> tuple[array[int], int]:
    """Find the characters of what is shown in the text that it was made from, from ``start`` on.

    Returns:
        For each shown character its place in the text, −1 where there is none (it was not generated), and where the
        next part goes on. Places never go backwards.
    """
    places, at = array("q", [-1]) * len(shown), start
    for word in _WORD.finditer(shown):
        at = _behind_address(text, at)
        found = _find_word(text, word[0], at)
        inside = range(found, found + len(word[0])) if found >= 0 else _find_letters(text, word[0], at)
        for i, place in enumerate(inside):
            places[word.start() + i] = place
        if inside:
            at = inside[-1] + 1
    _fill_blanks(text, shown, places)
    return places, at


def runs(trace: TokenTrace, places: array[int]) -> Iterator[tuple[int, int, TokenKind]]:
    """Yield start, end and kind of what is shown in one piece and came with tokens of one kind."""
    begin = 0
    before: TokenKind | None = None
    for i, place in enumerate(places):
        number = trace.at(place) if place >= 0 else None
        kind: TokenKind | None = trace.tokens[number].kind if number is not None else None
        if kind != before:
            if before is not None:
                yield begin, i, before
            begin, before = i, kind
    if before is not None:
        yield begin, len(places), before


def _behind_address(text: str, at: int) -> int:
    address = _ADDRESS.match(text, at)
    return address.end() if address else at


def _find_word(text: str, word: str, at: int) -> int:
    """Find a word as a whole: not the ``a`` inside of ``and``."""
    end = at + _WORD_REACH + len(word)
    found = text.find(word, at, end)
    while found >= 0:
        after = found + len(word)
        joined_before = found > at and text[found - 1].isalnum() and word[0].isalnum()
        joined_after = after < len(text) and text[after].isalnum() and word[-1].isalnum()
        if not joined_before and not joined_after:
            return found
        found = text.find(word, found + 1, end)
    return -1


def _find_letters(text: str, word: str, at: int) -> list[int]:
    """Find a word that marks are inside of (``foo**bar**``), letter by letter; nothing unless all of it is there."""
    found: list[int] = []
    for letter in word:
        at = _behind_address(text, at)
        place = text.find(letter, at, at + _MARK_REACH)
        if place < 0:
            return []
        found.append(place)
        at = place + 1
    return found


def _fill_blanks(text: str, shown: str, places: array[int]) -> None:
    """Give blanks to the token of the word behind them, which they usually came with."""
    for i in range(len(shown) - 2, -1, -1):
        after = places[i + 1]
        if places[i] < 0 and after > 0 and shown[i].isspace():
            places[i] = after - 1 if text[after - 1].isspace() else after
