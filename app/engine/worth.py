"""What asking a drafter has been worth: tokens gained against the time it took, in plain steps.

One number tells whether it pays, whatever the reason: the speed-up of the steps in which it was asked, drafts that
were not used and catching up from step to step included. An answer begins with what earlier answers had: the more they
differed, the less that counts (empirical Bayes, see :mod:`app.engine.acceptance`).
"""

from __future__ import annotations

import math
import operator
from collections import deque
from collections.abc import Sized
from dataclasses import dataclass, field

N_ANSWERS = 32
"""Answers that are remembered."""

_FIRST_ANSWERS = 1.0
_FIRST_SPREAD = 0.35
"""Answers that the first expectation, from costs alone, is worth, and the standard deviation that it assumes."""

_OLDER = 0.8
"""What an answer says about the next, of what the one after it says: what people ask for comes in runs."""

_STEPS = 8.0, 24.0
"""Least and most steps that the expectation of an answer is worth."""

_TOLD = 32.0
"""Steps that were asked for from which on what is foreseen counts half."""

_FEWEST_TOLD, _MOST_ERROR = 4, 2.0

_FADE, _LEAST = 0.97, 1e-6
_SPREAD = 1.0
"""Standard deviation of what one step gains, in plain steps (seen: 0.9 to 1.3)."""


@dataclass(slots=True)
class Worth:
    """The speed-up in one answer.

    Attributes:
        usual, strength: what is expected before anything was seen, and how many steps that is worth.
        foreseen, foreseen_strength: what the text so far lets expect, and how many steps that is worth.
        bias: what earlier answers were worth, of what had been foreseen.
        n_steps: steps in which it was asked.
        n_tokens, n_plain_steps: what they yielded, and how many steps of plain decoding their time is worth.
    """

    usual: float
    strength: float = _STEPS[0]
    foreseen: float = 1.0
    foreseen_strength: float = 0.0
    bias: float = 1.0
    n_steps: int = 0
    n_tokens: float = 0.0
    n_plain_steps: float = 0.0
    _steps: float = 0.0
    _tokens: float = 0.0
    _plain: float = 0.0
    _n_foretold: int = 0
    _foretold: float = 0.0
    _told: tuple[float, float] = (0.0, 0.0)
    _usual_share: float = 1.0

    def expect(self, speedup: float, strength: float) -> None:
        """Take in what the text so far lets expect; the more steps have told themselves, the less that counts."""
        self.foreseen, self.foreseen_strength = self.bias * speedup, strength / (1 + self._steps / _TOLD)

    def observe(self, n_tokens: int, n_plain_steps: float) -> None:
        """Learn from a step that yielded ``n_tokens`` in the time of ``n_plain_steps``."""
        self.n_steps += 1
        self.n_tokens += n_tokens
        self.n_plain_steps += n_plain_steps
        if self.foreseen_strength:
            self._n_foretold += 1
            self._foretold += math.log(self.foreseen / self.bias)
            self._told = (self._told[0] + n_tokens, self._told[1] + n_plain_steps)
        self._usual_share *= _FADE
        self._steps = _FADE * self._steps + 1
        self._tokens = _FADE * self._tokens + n_tokens
        self._plain = _FADE * self._plain + n_plain_steps

    def review(self, n_tokens: int, n_plain_steps: float) -> None:
        """Learn from ``n_tokens`` of the text that it was not asked for, and what asking would have taken."""
        faded = _FADE**n_tokens
        self.n_steps += 1
        self.n_tokens += n_tokens
        self.n_plain_steps += n_plain_steps
        self._usual_share *= faded
        self._steps = faded * self._steps + n_plain_steps
        self._tokens = faded * self._tokens + n_tokens
        self._plain = faded * self._plain + n_plain_steps

    def lesson(self) -> tuple[float, ...]:
        """Return what the whole answer says about the next: nothing if it was never asked."""
        if not self.n_steps:
            return ()
        return ((_STEPS[0] * self.usual + self.n_tokens) / (_STEPS[0] + self.n_plain_steps),)

    def error(self) -> tuple[float, ...]:
        """Return what the answer was worth, of what was foreseen: nothing if nothing was."""
        n = self._n_foretold
        n_tokens, n_plain_steps = self._told
        if n < _FEWEST_TOLD or not n_plain_steps:
            return ()
        told = math.log(n_tokens / n_plain_steps) - self._foretold / n
        return (math.exp(max(-_MOST_ERROR, min(_MOST_ERROR, told)) * n / (n + _STEPS[0])),)

    def seen(self) -> float:
        """Return the speed-up by what was seen, here and in earlier answers."""
        n = self._usual_steps()
        return (n * self.usual + self._tokens) / (n + self._plain)

    def speedup(self) -> float:
        """Return the expected speed-up of a step in which it is asked."""
        n, expected = self._expectation()
        return (n * expected + self._tokens) / (n + self._plain)

    def chance(self, least: float = 1.0) -> float:
        """Return how likely it is that asking brings more than ``least`` times plain speed."""
        n, expected = self._expectation()
        surplus = n * (expected - least) + self._tokens - least * self._plain
        return 0.5 * math.erfc(-surplus / (_SPREAD * math.sqrt(2 * (n + self._steps))))

    def _usual_steps(self) -> float:
        """Return how many steps the usual is worth: it fades with what was seen, or it would outweigh that for ever."""
        return self.strength * max(_LEAST, self._usual_share)

    def _expectation(self) -> tuple[float, float]:
        """Return how many steps what is expected is worth, and what that is: both tell of the same, so none adds up."""
        n, more = self._usual_steps(), self.foreseen_strength
        return max(n, more), (n * self.usual + more * self.foreseen) / (n + more)


@dataclass(slots=True)
class UsualWorth:
    """The speed-ups that the last answers had, and what they were of what was foreseen."""

    answers: deque[float] = field(default_factory=lambda: deque(maxlen=N_ANSWERS))
    errors: deque[float] = field(default_factory=lambda: deque(maxlen=N_ANSWERS))

    def add(self, worth: Worth) -> None:
        """Take in an answer; one with few steps says little and counts as partly usual."""
        self.answers.extend(worth.lesson())
        self.errors.extend(worth.error())

    def begin(self, expected: float) -> Worth:
        """Return what an answer begins with, where ``expected`` is the speed-up by costs and a common alpha."""
        shares = weights(self.answers)
        n = _FIRST_ANSWERS + sum(shares)
        mean = (_FIRST_ANSWERS * expected + sum(map(operator.mul, shares, self.answers))) / n
        squares = sum(w * (answer - mean) ** 2 for w, answer in zip(shares, self.answers, strict=True))
        variance = (_FIRST_ANSWERS * _FIRST_SPREAD**2 + squares) / n
        return Worth(mean, min(_STEPS[1], max(_STEPS[0], _SPREAD**2 / variance)), bias=self._bias())

    def _bias(self) -> float:
        shares = weights(self.errors)
        return math.exp(sum(map(operator.mul, shares, map(math.log, self.errors))) / (_FIRST_ANSWERS + sum(shares)))


def weights(answers: Sized) -> list[float]:
    """Return how much each of some answers counts, the newest last."""
    return [_OLDER**age for age in reversed(range(len(answers)))]
