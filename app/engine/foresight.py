"""How well a drafter is going to do, told by how sure the target is of its own words.

What the target finds easy, its drafter finds easy, too: of Qwen2.5-Coder 1.5B's words that were 0.95 likely on average
(JSON) its 0.5B draft model says 0.95, of those that were 0.62 likely (prose) 0.6. So the rows that decoding computes
anyway tell after a few tokens what catching up and drafting would otherwise have to be paid for to find out. How the
two go together is learned for each pair; until then a word is taken to be drafted as often as it is likely.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from app.engine.calibration import Calibration

RECENT = 24
"""Words of late that tell what comes."""

FEWEST = 5
"""Words from which on they tell something: the first ones of an answer are often unlike the rest."""

_ENOUGH = 16
_KEPT = 64
_STRENGTH = 140.0
"""Steps that what they tell is worth, of a pair that is well known (answers' speed-ups are about 0.1 off)."""

_BELIEVED, _LEARNED = 20.0, 64.0
"""Words that the first belief is worth, and how many make it half of a well known pair's."""

KNOWN = 64
"""Words from which on it is known how well a drafter does where the target is so sure: nobody has to look any more."""

CHEAP = 1.0
"""Catching up that takes no more plain steps than this does not wait for it."""


@dataclass(slots=True)
class Foresight:
    """The probabilities of the target's most likely words, the newest last."""

    peaks: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def sees(self, probability: float) -> None:
        """Take in how probable the target held its most likely word."""
        self.peaks.append(probability)

    @property
    def is_blind(self) -> bool:
        """Whether too few words were seen."""
        return len(self.peaks) < FEWEST

    def last(self, n: int) -> list[float]:
        """Return the newest ``n``, as far as they are known."""
        return list(self.peaks)[-n:] if n > 0 else []

    def alpha(self, ease: Calibration) -> float:
        """Return which share of the next words is likely to be kept; not while it is blind."""
        recent = self.last(RECENT)
        return sum(map(ease.share, recent)) / len(recent)

    def strength(self, ease: Calibration) -> float:
        """Return how many steps that is worth."""
        known = _BELIEVED + sum(ease.judged)
        return _STRENGTH * min(1.0, len(self.peaks) / _ENOUGH) * known / (known + _LEARNED)
