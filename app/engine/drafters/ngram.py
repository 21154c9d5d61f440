"""Draft by looking back: what followed the last few tokens when they last stood in the text?

No second model, works with any target. It pays where text repeats itself: edits of code, quotations,
summaries. Prompt lookup: Saxena 2023; the same idea is llama.cpp's ``ngram-simple``.

An index maps every run of :data:`N_MIN` tokens to the places where it ended most recently. Of those
places the one whose text before it agrees longest with the text before now is continued; a longer
agreement makes a better draft.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.draft_length import Ask
from app.protocol import MAX_DRAFT_TOKENS, SpecType

N_MIN = 3
"""Shortest run that is looked up. Two tokens agree by chance too often for what a verified row costs."""

N_MAX = 24
"""An agreement longer than this is as good as one of this length."""

N_PLACES = 8
"""Most recent places that are kept for a run; bounds the memory and the search."""

_Run = tuple[int, ...]


class NgramDrafter:
    """Drafts from the prompt and the output so far."""

    name: SpecType = "ngram"

    def __init__(self, draft_min: int = 0) -> None:
        """Make an empty drafter.

        Args:
            draft_min: drafts shorter than this are not used.
        """
        self._draft_min = draft_min
        self._tokens: list[int] = []
        self._places: dict[_Run, list[int]] = {}
        self.kind = "ngram"

    def n_behind(self, tokens: Sequence[int]) -> int:
        """Return 0: the index is as long as the text."""
        del tokens
        return 0

    def begin(self, tokens: Sequence[int]) -> None:
        """Index the prompt, from nothing."""
        self._tokens, self._places = [], {}
        self.accept(tokens)

    def accept(self, tokens: Sequence[int]) -> None:
        """Index what is new. A run is indexed once a token follows it, so no place is its own continuation."""
        first_new = max(len(self._tokens), N_MIN)
        self._tokens.extend(tokens[len(self._tokens) :])
        for end in range(first_new, len(self._tokens)):
            places = self._places.setdefault(tuple(self._tokens[end - N_MIN : end]), [])
            places.append(end)
            del places[:-N_PLACES]

    def draft(self, tokens: Sequence[int], ask: Ask) -> list[int]:
        """Return what followed the place that agrees longest with the end of the text."""
        best_end, best_length = 0, 0
        for end in reversed(self._places.get(tuple(tokens[-N_MIN:]), ())):
            length = self._agreement(tokens, end)
            if length > best_length:
                best_end, best_length = end, length
            if length >= N_MAX:
                break
        if not best_length:
            return []
        self.kind = f"ngram:{1 << (best_length.bit_length() - 1)}"
        draft = self._continue(tokens, best_end, min(ask.limit, MAX_DRAFT_TOKENS))
        return draft if len(draft) >= self._draft_min else []

    def _agreement(self, tokens: Sequence[int], end: int) -> int:
        """Return how many tokens before ``end`` equal those at the end of the text, at most N_MAX."""
        length, n = N_MIN, len(tokens)
        while length < min(N_MAX, end) and tokens[end - length - 1] == tokens[n - length - 1]:
            length += 1
        return length

    @staticmethod
    def _continue(tokens: Sequence[int], end: int, limit: int) -> list[int]:
        """Copy from a place; where the copy reaches the end of the text it goes on with itself (a period)."""
        period = len(tokens) - end
        return [tokens[end + i % period] for i in range(limit)]

    def close(self) -> None:
        """Forget everything."""
        self._tokens, self._places = [], {}
