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
from typing import Literal, NamedTuple

EDGES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.995)
"""Where one class of probabilities ends and the next begins."""

CENTRES = (0.12, 0.28, 0.42, 0.58, 0.73, 0.85, 0.925, 0.965, 0.985, 0.995)

DRAWN_CENTRES = (0.35, 0.47, 0.54, 0.6, 0.73, 0.85, 0.92, 0.965, 0.985, 0.995)
"""What words of each class are worth where target and drafter draw with the same noise: even an improbable one is often
the target's, too, since it was the noise that chose it (Qwen2.5-Coder 1.5B and 0.5B at temperature 0.8, 2,048 words:
0.38, 0.51, 0.58, 0.59, 0.77, …). Who believed less would never verify such a word, and never learn it."""

OTHER_EDGES = (0.0003, 0.001, 0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.35)
"""The same for the second-best words of a place, of which most are improbable: one of 0.02 is no match for one of 0.15,
and only these differences tell whether a branch is worth more than another word of the chain."""

OTHER_CENTRES = (0.0002, 0.0006, 0.002, 0.0045, 0.009, 0.018, 0.035, 0.07, 0.14, 0.27, 0.42)
_STRENGTH = 8.0
"""Weight, in judged tokens, of the drafter's own word."""

_POOLED = 3.0
"""Weight, in kept or missed tokens, of the centres together."""

_MEMORY = 400.0
"""Most judged tokens that a class remembers; older ones fade."""


@dataclass(slots=True)
class Calibration:
    """Judged and kept tokens by the probability that the drafter gave them.

    Attributes:
        edges: where one class ends and the next begins.
        centres: what the words of each class are worth before anything was seen.
        pools: what the classes share while little was seen of one: how many words are "kept" or "missed" of as many as
            the centres tell; of rare ones that is known long before a class of them has its own word.
    """

    edges: Sequence[float] = EDGES
    centres: Sequence[float] = CENTRES
    pools: Literal["", "kept", "missed"] = ""
    judged: list[float] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.judged = self.judged or [0.0] * len(self.centres)
        self.kept = self.kept or [0.0] * len(self.centres)

    def share(self, probability: float) -> float:
        """Return how many of the words of this probability are kept, 0 to 1."""
        at = bisect_right(self.edges, probability)
        return (self.kept[at] + _STRENGTH * self._usual(self.centres[at])) / (self.judged[at] + _STRENGTH)

    def _usual(self, centre: float) -> float:
        """Return what is expected of a class by its centre, and by how far the centres have been right."""
        if not self.pools:
            return centre
        n_kept, n_judged = sum(self.kept), sum(self.judged)
        told = sum(judged * c for judged, c in zip(self.judged, self.centres, strict=True))
        if self.pools == "kept":
            odds = (n_kept + _POOLED) / (told + _POOLED)
        else:
            odds = (n_judged - told + _POOLED) / (n_judged - n_kept + _POOLED)
        return centre * odds / (centre * odds + 1 - centre)

    def observe(self, probability: float, is_kept: bool) -> None:
        """Learn from a word that the target ruled on."""
        at = bisect_right(self.edges, probability)
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


class OfTrees(NamedTuple):
    """What is known of the nodes of token trees.

    Attributes:
        best: of the best child of a node: two models that nearly agree take it far oftener than its probability says.
        others: of its siblings.
        following: how often the best child of a node is the target's choice, by the probability of the node itself: a
            place that comes after a sure word is mostly a sure one, too.
    """

    best: Calibration
    others: Calibration
    following: Calibration


def of_drawn_words() -> Calibration:
    """Return what words drawn with the target's noise begin with."""
    return Calibration(centres=DRAWN_CENTRES)


def of_best_children() -> Calibration:
    """Return what the best of siblings, and what follows a node, begin with."""
    return Calibration(pools="missed")


def of_other_children() -> Calibration:
    """Return what the others begin with."""
    return Calibration(OTHER_EDGES, OTHER_CENTRES, "kept")
