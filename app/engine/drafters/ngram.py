"""Draft by looking back: what followed the last few tokens when they last stood in the text?

No second model, works with any target. It pays where text repeats itself: edits of code, quotations,
summaries. Prompt lookup: Saxena 2023; the same idea is llama.cpp's ``ngram-simple``. Added are:

- Of the places where the last :data:`N_MIN` tokens stood, the one whose text before it agrees longest with the text
  before now is copied. A short agreement gets a part of the draft length only (:data:`SURE`), and where equally
  good places go on differently the draft ends.
- A copy that the target leaves, because it edits what it copies, is taken up again where the text comes back to it:
  one equal token shortly after the spot is enough there, where it would be chance elsewhere. What was put in place
  of what is remembered, and done alike from then on: a name that is changed once is changed everywhere.
- The index holds the last :data:`N_INDEXED` places, whatever the length of the text.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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

N_EDITS = 16
"""Replacements that are remembered, the latest ones."""

EDIT_MAX = 4
"""Longest replacement, before and after, in tokens."""

LENGTHS = (2, 4, 8, 16, 32, 64, 128)
"""Agreements in whose name acceptance is learned: those between two share the lower one's. Those beyond
:data:`N_MAX` are of a copy that has gone on for so long."""


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


@dataclass(frozen=True, slots=True)
class _Edit:
    """What was put in place of what; neither is empty."""

    old: tuple[int, ...]
    new: tuple[int, ...]


class _Edits:
    """The latest replacements, by the first token that is replaced."""

    def __init__(self) -> None:
        self._known: dict[int, _Edit] = {}

    def at(self, tokens: Sequence[int], place: int, end: int) -> _Edit | None:
        """Return the replacement for what stands at a place, before ``end``."""
        edit = self._known.get(tokens[place])
        if edit is None or place + len(edit.old) > end:
            return None
        return edit if tuple(tokens[place : place + len(edit.old)]) == edit.old else None

    def learn(self, old: Sequence[int], new: Sequence[int]) -> None:
        """Remember a replacement, if it is one and not too long."""
        if 0 < len(old) <= EDIT_MAX and 0 < len(new) <= EDIT_MAX:
            self._known.pop(old[0], None)
            self._known[old[0]] = _Edit(tuple(old), tuple(new))
            if len(self._known) > N_EDITS:
                del self._known[next(iter(self._known))]

    def drop(self, edit: _Edit) -> None:
        """Forget a replacement."""
        self._known.pop(edit.old[0], None)

    def copy(self, tokens: Sequence[int], place: int, limit: int) -> list[int]:
        """Copy from a place, edited; where the copy reaches the end of the text it goes on with itself (a period)."""
        draft: list[int] = []
        n = len(tokens)
        while len(draft) < limit:
            if place >= n:
                draft.append(draft[place - n])
                place += 1
            elif (edit := self.at(tokens, place, n)) is not None:
                draft.extend(edit.new)
                place += len(edit.old)
            else:
                draft.append(tokens[place])
                place += 1
        return draft[:limit]


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
        self._index, self._edits = _Index(), _Edits()
        self._n_seen = 0
        self._source = 0  # place that the copy has come to; 0 is none
        self._due: list[int] = []  # what is expected yet for the tokens there, of which there are _n_due
        self._n_due = self._n_into = 0  # _n_into of it has come already
        self._n_copied = 0
        self._left = 0  # place where the last copy was left
        self._n_since = 0

    def n_behind(self, tokens: Sequence[int]) -> int:
        """Return 0: the index is as long as the text."""
        del tokens
        return 0

    def n_unseen(self, tokens: Sequence[int]) -> int:
        """Return 0: what is too old for the index cannot be had again."""
        del tokens
        return 0

    def process(self, tokens: Sequence[int]) -> None:
        """Do nothing: it is indexed at once."""

    def begin(self, tokens: Sequence[int]) -> None:
        """Index the prompt, from nothing."""
        self._forget()
        self.accept(tokens)

    def accept(self, tokens: Sequence[int]) -> None:
        """Follow the copy, and index what is new."""
        for at in range(self._n_seen, len(tokens)):
            self._follow(tokens, at)
        self._n_seen = len(tokens)
        self._index.grow(tokens)

    def _follow(self, tokens: Sequence[int], at: int) -> None:
        """Move on in the copy, or note where it was left. A copy taken up in vain was left where it was before."""
        if 0 < self._source < at and self._goes_on(tokens, at):
            self._n_copied += 1
            return
        if self._source and (self._n_copied or not self._left):
            self._left, self._n_since = self._source, self._n_into
        self._source = self._n_copied = self._n_into = 0
        self._due = []
        self._n_since += 1
        if self._n_since > PATIENCE:
            self._left = 0

    def _goes_on(self, tokens: Sequence[int], at: int) -> bool:
        """Tell whether the copy goes on with the token at ``at``, and step over it if so."""
        if not self._due:
            edit = self._edits.at(tokens, self._source, at)
            if edit is not None and tokens[at] == edit.old[0] != edit.new[0]:
                self._edits.drop(edit)  # here the old word stays
                edit = None
            self._due = list(edit.new) if edit else [tokens[self._source]]
            self._n_due, self._n_into = len(edit.old) if edit else 1, 0
        if self._due[0] != tokens[at]:
            return False
        del self._due[0]
        self._n_into += 1
        if not self._due:
            self._source += self._n_due
            self._n_into = 0
        return True

    def draft(self, tokens: Sequence[int], ask: Ask) -> list[int]:
        """Return what followed the place that agrees longest with the end of the text."""
        self.accept(tokens)
        if len(tokens) <= N_MIN:
            return []
        agreement, places = self._longest(tokens)
        follows = self._n_copied >= agreement
        if follows:  # across its edits
            agreement = self._n_copied
        else:
            if not places:
                agreement, places = self._taken_up(tokens)
            if not places:
                return []
            self._take(tokens, places[0], agreement)
        limit = math.ceil(min(ask.limit, MAX_DRAFT_TOKENS) * min(1.0, agreement / SURE))
        if follows:
            skipped = self._n_due if self._due else 0
            draft = [*self._due, *self._edits.copy(tokens, self._source + skipped, limit)][:limit]
        else:
            draft = _unanimous([self._edits.copy(tokens, place, limit) for place in places])
        self.kind = f"ngram:{max((n for n in LENGTHS if n <= agreement), default=LENGTHS[0])}"
        return draft if len(draft) >= self._draft_min else []

    def _take(self, tokens: Sequence[int], place: int, agreement: int) -> None:
        """Copy from a place from now on; if a copy was left shortly before it, learn what was edited there."""
        if 0 < self._left < place <= self._left + REACH:
            n = min(agreement, self._n_since, place - self._left)
            edited = tokens[len(tokens) - self._n_since : len(tokens) - n]
            self._edits.learn(tokens[self._left : place - n], edited)
        if agreement >= N_MIN:
            self._left = 0
        if place != self._source or self._due:
            self._source, self._n_copied, self._due, self._n_into = place, 0, [], 0

    def _longest(self, tokens: Sequence[int]) -> tuple[int, list[int]]:
        """Return the longest agreement and the places that have it; none below N_MIN.

        The copy that goes on comes first, then the latest: in a long text it would not be among those compared.
        """
        longest, found = N_MIN, []
        followed = [self._source] if self._n_copied and not self._due else []
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


def _unanimous(drafts: list[list[int]]) -> list[int]:
    """Return the first draft as far as all others say the same, but one token of it at least."""
    n = len(drafts[0])
    for other in drafts[1:]:
        while n > 1 and other[:n] != drafts[0][:n]:
            n -= 1
    return drafts[0][:n]
