"""Draft by looking back: what followed the last few tokens when they last stood in the text?

No second model, works with any target. It pays where text repeats itself: edits of code, quotations,
summaries. Prompt lookup: Saxena 2023; the same idea is llama.cpp's ``ngram-simple``. Three things are added:

- Of the places where the last :data:`N_MIN` tokens stood, the one whose text before it agrees longest with the text
  before now is copied. A short agreement gets a part of the draft length only (:data:`SURE`), and where equally
  good places go on differently the draft ends.
- A copy that the target leaves, because it edits what it copies, is taken up again where the text comes back to it:
  one equal token shortly after the spot is enough there, where it would be chance elsewhere.
- The index holds the last :data:`N_INDEXED` places, whatever the length of the text.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Iterator, Sequence

from app.engine.draft_length import Ask
from app.protocol import MAX_DRAFT_TOKENS, SpecType

N_MIN = 2
"""Shortest run that is looked up. A single token agrees by chance, but where a copy was just left."""

N_MAX = 32
"""An agreement longer than this is as good as one of this length."""

N_PLACES = 32
"""Most recent places of a run that are compared; bounds the search."""

N_INDEXED = 1 << 16
"""Most recent places that are known; a power of two. Bounds the memory, to half a megabyte."""

SURE = 8
"""Agreement from which a draft gets all of the length that is asked for; a shorter one gets its share of it."""

REACH = 16
"""How far behind the spot where a copy was left it is looked for again."""

PATIENCE = 8
"""How many tokens after that."""

LENGTHS = (2, 4, 8, 16, 32)
"""Agreements in whose name acceptance is learned: those between two share the lower one's."""


class _Index:
    """From a run to the places where it ended, the latest first: hash chains in two rings of fixed size."""

    def __init__(self) -> None:
        self._latest = array("i", bytes(4 * N_INDEXED))
        self._before = array("i", bytes(4 * N_INDEXED))
        self._n = 0

    def grow(self, tokens: Sequence[int]) -> None:
        """Add what is new. A run is added once a token follows it, so no place is its own continuation."""
        mask, latest, before = N_INDEXED - 1, self._latest, self._before
        for end in range(max(self._n, N_MIN, len(tokens) - N_INDEXED), len(tokens)):
            slot = hash(tuple(tokens[end - N_MIN : end])) & mask
            before[end & mask] = latest[slot]
            latest[slot] = end
        self._n = len(tokens)

    def places(self, tokens: Sequence[int]) -> Iterator[int]:
        """Yield where the last run of the text ended before; some are chance, for runs may share a chain."""
        mask, oldest = N_INDEXED - 1, max(1, self._n - N_INDEXED)
        place = self._latest[hash(tuple(tokens[-N_MIN:])) & mask]
        while place >= oldest:
            yield place
            place = self._before[place & mask]


class NgramDrafter:
    """Drafts from the prompt and the output so far."""

    name: SpecType = "ngram"

    def __init__(self, draft_min: int = 0) -> None:
        """Make an empty drafter.

        Args:
            draft_min: drafts shorter than this are not used.
        """
        self._draft_min = draft_min
        self.kind = "ngram"
        self._forget()

    def _forget(self) -> None:
        self._index = _Index()
        self._n_seen = 0
        self._source = 0  # place whose token is expected next; 0 is none
        self._n_copied = 0
        self._left = 0  # place where the last copy was left
        self._n_since = 0

    def n_behind(self, tokens: Sequence[int]) -> int:
        """Return 0: the index is as long as the text."""
        del tokens
        return 0

    def begin(self, tokens: Sequence[int]) -> None:
        """Index the prompt, from nothing."""
        self._forget()
        self.accept(tokens)

    def accept(self, tokens: Sequence[int]) -> None:
        """Follow the copy, and index what is new."""
        for at in range(self._n_seen, len(tokens)):
            self._follow(tokens, tokens[at])
        self._n_seen = len(tokens)
        self._index.grow(tokens)

    def _follow(self, tokens: Sequence[int], token: int) -> None:
        """Move on in the copy, or note where it was left. A copy taken up in vain was left where it was before."""
        if self._source and tokens[self._source] == token:
            self._source += 1
            self._n_copied += 1
            return
        if self._source and (self._n_copied or not self._left):
            self._left, self._n_since = self._source, 0
        self._source = self._n_copied = 0
        self._n_since += 1
        if self._n_since > PATIENCE:
            self._left = 0

    def draft(self, tokens: Sequence[int], ask: Ask) -> list[int]:
        """Return what followed the place that agrees longest with the end of the text."""
        self.accept(tokens)
        if len(tokens) <= N_MIN:
            return []
        agreement, places = self._longest(tokens)
        if places:
            self._left = 0
        else:
            agreement, places = self._taken_up(tokens)
        if not places:
            return []
        self.kind = f"ngram:{max((n for n in LENGTHS if n <= agreement), default=LENGTHS[0])}"
        self._source, self._n_copied = places[0], 0
        limit = math.ceil(min(ask.limit, MAX_DRAFT_TOKENS) * min(1.0, agreement / SURE))
        draft = _unanimous([_continued(tokens, place, limit) for place in places])
        return draft if len(draft) >= self._draft_min else []

    def _longest(self, tokens: Sequence[int]) -> tuple[int, list[int]]:
        """Return the longest agreement and the places that have it; none below N_MIN.

        The copy that goes on comes first, then the latest: in a long text it would not be among those compared.
        """
        longest, found = N_MIN, []
        followed = [self._source] if self._n_copied else []
        for i, place in enumerate(itertools.chain(followed, self._index.places(tokens))):
            agreement = _agreement(tokens, place)
            if agreement > longest:
                longest, found = agreement, [place]
            elif agreement == longest and place not in found:
                found.append(place)
            if agreement == N_MAX or i + 1 == N_PLACES:
                break
        return longest, found

    def _taken_up(self, tokens: Sequence[int]) -> tuple[int, list[int]]:
        """Return the place behind the spot where the copy was left that agrees longest, or else stands nearest."""
        if not self._left:
            return 0, []
        expected = self._left + self._n_since
        last = min(self._left + REACH, len(tokens) - 1)
        found = [place for place in range(self._left + 1, last + 1) if tokens[place - 1] == tokens[-1]]
        if not found:
            return 0, []
        agreement, _nearness, place = max((_agreement(tokens, p), -abs(p - expected), p) for p in found)
        return agreement, [place]

    def close(self) -> None:
        """Forget everything."""
        self._forget()


def _agreement(tokens: Sequence[int], place: int) -> int:
    """Return how many tokens before ``place`` equal those at the end of the text, at most N_MAX."""
    length, n = 0, len(tokens)
    most = min(N_MAX, place)
    while length < most and tokens[place - length - 1] == tokens[n - length - 1]:
        length += 1
    return length


def _continued(tokens: Sequence[int], place: int, limit: int) -> list[int]:
    """Copy from a place; where the copy reaches the end of the text it goes on with itself (a period)."""
    draft = list(tokens[place : place + limit])
    period = len(draft)
    while len(draft) < limit:
        draft.append(draft[len(draft) - period])
    return draft


def _unanimous(drafts: list[list[int]]) -> list[int]:
    """Return the first draft as far as all others say the same, but one token of it at least."""
    n = len(drafts[0])
    for other in drafts[1:]:
        while n > 1 and other[:n] != drafts[0][:n]:
            n -= 1
    return drafts[0][:n]
