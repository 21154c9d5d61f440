"""How often a drafter's word is kept, given the probability that it gave it itself.

A draft model knows quite well when it guesses: of words that it gave 0.3, about 0.3 are kept, of those over 0.9 nearly
all, in code as in prose. So the place decides more than the text, and a draft can end where the next word is unlikely
to be worth its cost (Mamou et al. 2024, "Dynamic speculation lookahead", arXiv 2405.04304). How probability and share
go together is learned for each pair; a probability is worth its own value until then.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

EDGES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.995)
"""Where one class of probabilities ends and the next begins."""

_CENTRES = (0.12, 0.28, 0.42, 0.58, 0.73, 0.85, 0.925, 0.965, 0.985, 0.995)
_USUAL = 0.8
"""Share of words that are kept before anything was seen."""

_STRENGTH = 8.0
"""Weight, in judged tokens, of the drafter's own word."""

_MEMORY = 400.0
"""Most judged tokens that a class remembers; older ones fade."""


@dataclass(slots=True)
class Calibration:
    """Judged and kept tokens by the probability that the drafter gave them."""

    judged: list[float] = field(default_factory=lambda: [0.0] * len(_CENTRES))
    kept: list[float] = field(default_factory=lambda: [0.0] * len(_CENTRES))

    def share(self, probability: float) -> float:
        """Return how many of the words of this probability are kept, 0 to 1."""
        at = bisect_right(EDGES, probability)
        return (self.kept[at] + _STRENGTH * _CENTRES[at]) / (self.judged[at] + _STRENGTH)

    @property
    def usual(self) -> float:
        """How many words are kept, whatever their probability."""
        return (sum(self.kept) + _STRENGTH * _USUAL) / (sum(self.judged) + _STRENGTH)

    def observe(self, probability: float, is_kept: bool) -> None:
        """Learn from a word that the target ruled on."""
        at = bisect_right(EDGES, probability)
        if self.judged[at] >= _MEMORY:
            share = (_MEMORY - 1) / self.judged[at]
            self.judged[at], self.kept[at] = share * self.judged[at], share * self.kept[at]
        self.judged[at] += 1
        self.kept[at] += is_kept

    def recall(self, judged: Sequence[float], kept: Sequence[float]) -> None:
        """Begin with what was learned before, if it has as many classes as today."""
        pairs = list(zip(judged, kept, strict=False))
        if len(judged) == len(kept) == len(self.judged) and all(0 <= k <= j <= _MEMORY for j, k in pairs):
            self.judged, self.kept = list(judged), list(kept)
