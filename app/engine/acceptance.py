"""How likely draft tokens are to be kept, by drafter, learned as the text goes.

A draft's token i is judged only if all before it were kept, so alpha at a position is kept ÷ judged there. What an
answer's alpha may be is held as weights over a grid of values. An answer begins with what earlier ones had (a beta
distribution by moments: Casella 1985, "An introduction to empirical Bayes data analysis") and a small chance that it
is unlike them all: so ordinary ill luck moves little, and a few drafts in vain in a row move much. Within an answer
old evidence fades: the text changes.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

N_POSITIONS = 8
"""Positions from this one on share their evidence."""

N_ANSWERS = 32
"""Answers that are remembered."""

_GRID = tuple((i + 0.5) / 20 for i in range(20))
_LOGS = tuple((math.log(a), math.log1p(-a)) for a in _GRID)
_FADE = 0.97
_POSITION_STRENGTH = 12.0
"""Weight, in judged tokens, of the drafter's alpha in that of a position."""

_UNLIKE = 0.05
"""Chance that an answer is unlike the earlier ones: then any alpha is as likely as any other."""

_PRIOR_ANSWERS = 2
_PRIOR_VARIANCE = 0.03
"""Variance of answers' alpha before any were seen, and how many answers the first beliefs are worth."""

_STRENGTH = (2.0, 24.0)
"""Least and most weight of what is usual, in judged tokens."""


@dataclass(slots=True)
class Positions:
    """Judged and kept tokens by position in the draft, over answers; the oldest fade."""

    judged: list[float] = field(default_factory=lambda: [0.0] * N_POSITIONS)
    kept: list[float] = field(default_factory=lambda: [0.0] * N_POSITIONS)

    def observe(self, n_judged: int, n_kept: int) -> None:
        """Take in a step."""
        for i in range(n_judged):
            at = min(i, N_POSITIONS - 1)
            self.judged[at] += 1
            self.kept[at] += i < n_kept

    def fade(self, share: float) -> None:
        """Let all weigh less."""
        self.judged = [share * n for n in self.judged]
        self.kept = [share * n for n in self.kept]

    def shape(self, n: int) -> list[float]:
        """Return alpha at each of ``n`` positions relative to that over all."""
        overall = (sum(self.kept) + 1.0) / (sum(self.judged) + 1.0)
        shares = [
            (kept + _POSITION_STRENGTH * overall) / (judged + _POSITION_STRENGTH) / overall
            for kept, judged in zip(self.kept, self.judged, strict=True)
        ]
        return [shares[min(i, N_POSITIONS - 1)] for i in range(n)]


@dataclass(slots=True)
class Acceptance:
    """Evidence about one kind of draft in one answer.

    Attributes:
        prior: weights of the values that alpha may have.
        positions: what is known by position, shared with other answers.
        n_judged, n_kept: all that was seen in this answer.
    """

    prior: Sequence[float]
    positions: Positions = field(default_factory=Positions)
    n_judged: int = 0
    n_kept: int = 0
    _kept: float = 0.0
    _missed: float = 0.0
    _weights: list[float] = field(default_factory=list)

    def observe(self, n_judged: int, n_kept: int) -> None:
        """Learn from a step: its first ``n_kept`` draft tokens were kept, ``n_judged`` were ruled on."""
        self.positions.observe(n_judged, n_kept)
        self.overhear(n_judged, n_kept)

    def overhear(self, n_judged: int, n_kept: int) -> None:
        """Learn the same from a draft that was not verified: of its first token mostly, so nothing by position."""
        self.n_judged += n_judged
        self.n_kept += n_kept
        self.fade()
        self._kept += n_kept
        self._missed += n_judged - n_kept

    def lesson(self) -> tuple[tuple[int, int], ...]:
        """Return (judged, kept) of the whole answer, if anything was judged."""
        return ((self.n_judged, self.n_kept),) if self.n_judged else ()

    def fade(self) -> None:
        """Let what was seen weigh less: the text has gone on."""
        self._kept *= _FADE
        self._missed *= _FADE
        self._weights = []

    def weights(self) -> list[float]:
        """Return how likely each value of the grid is."""
        if not self._weights:
            logs = [self._kept * hit + self._missed * miss for hit, miss in _LOGS]
            highest = max(logs)
            raw = [w * math.exp(log - highest) for w, log in zip(self.prior, logs, strict=True)]
            total = sum(raw)
            self._weights = [w / total for w in raw]
        return self._weights

    def alpha(self) -> float:
        """Return the expected share of judged tokens that is kept, over all positions."""
        return sum(w * a for w, a in zip(self.weights(), _GRID, strict=True))

    def expected_tokens(self, n_draft_max: int) -> list[float]:
        """Return the expected tokens of a step by draft length, 0 to ``n_draft_max``."""
        reach, expected = self.weights(), [1.0]
        for share in self.positions.shape(n_draft_max):
            reach = [w * min(1.0, a * share) for w, a in zip(reach, _GRID, strict=True)]
            expected.append(expected[-1] + sum(reach))
        return expected

    def chance(self, n_draft: int, n_tokens: float) -> float:
        """Return how likely it is that steps of ``n_draft`` yield at least ``n_tokens`` in the mean."""
        shape, likely = self.positions.shape(n_draft), 0.0
        for w, a in zip(self.weights(), _GRID, strict=True):
            reach, tokens = 1.0, 1.0
            for share in shape:
                reach *= min(1.0, a * share)
                tokens += reach
            likely += w * (tokens >= n_tokens)
        return likely


@dataclass(slots=True)
class Usual:
    """What the answers so far had of one kind of draft.

    Attributes:
        prior: alpha before any answer.
        answers: (judged, kept) of each of the last answers.
    """

    prior: float
    answers: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=N_ANSWERS))
    positions: Positions = field(default_factory=Positions)

    def add(self, acceptance: Acceptance) -> None:
        """Take in an answer."""
        if lesson := acceptance.lesson():
            self.answers.extend(lesson)
            self.positions.fade(0.9)

    def begin(self) -> Acceptance:
        """Return what an answer begins with."""
        seen = list(self.answers)
        # An answer counts as itself, long or short: what the next one is like is asked.
        mean = (_PRIOR_ANSWERS * self.prior + sum(kept / judged for judged, kept in seen)) / (
            _PRIOR_ANSWERS + len(seen)
        )
        spread = _PRIOR_ANSWERS * _PRIOR_VARIANCE
        for judged, kept in seen:
            spread += max(0.0, (kept / judged - mean) ** 2 - mean * (1 - mean) / judged)
        variance = spread / (_PRIOR_ANSWERS + len(seen))
        strength = min(_STRENGTH[1], max(_STRENGTH[0], mean * (1 - mean) / variance - 1))
        return Acceptance(_beta(mean, strength), self.positions)


def _beta(mean: float, strength: float) -> list[float]:
    """Return the weights of a beta distribution, with some for any other value."""
    raw = [a ** (strength * mean - 1) * (1 - a) ** (strength * (1 - mean) - 1) for a in _GRID]
    total = sum(raw)
    return [(1 - _UNLIKE) * w / total + _UNLIKE / len(_GRID) for w in raw]


def cumulated(shares: Sequence[float]) -> list[float]:
    """Return the expected tokens of a step by draft length, 0 to all."""
    expected, reach = [1.0], 1.0
    for share in shares:
        reach *= share
        expected.append(expected[-1] + reach)
    return expected
