"""How likely draft tokens are to be kept, by drafter and position, learned as the text goes.

A draft's token i is judged only if all before it were kept, so alpha at a position is kept ÷ judged there.
Old evidence fades: the text changes. A new answer begins with a fraction of what the earlier ones
taught, so that its own first steps weigh more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

N_POSITIONS = 8
"""Positions from this one on share their evidence."""

_FADE = 0.97
_POSITION_STRENGTH = 4.0
"""Weight, in judged tokens, of the drafter's alpha in that of a position."""

_CARRIED = 12.0
"""Most evidence, in judged tokens, that an answer inherits."""

_PRIOR_STRENGTH = 3.0


@dataclass(slots=True)
class Acceptance:
    """Evidence about one kind of draft.

    Attributes:
        prior: alpha before anything was seen.
    """

    prior: float
    judged: list[float] = field(default_factory=lambda: [0.0] * N_POSITIONS)
    kept: list[float] = field(default_factory=lambda: [0.0] * N_POSITIONS)

    def observe(self, n_judged: int, n_kept: int) -> None:
        """Learn from a step: its first ``n_kept`` draft tokens were kept, ``n_judged`` were ruled on."""
        for i in range(N_POSITIONS):
            self.judged[i] *= _FADE
            self.kept[i] *= _FADE
        for i in range(n_judged):
            at = min(i, N_POSITIONS - 1)
            self.judged[at] += 1
            self.kept[at] += i < n_kept

    def alpha(self) -> float:
        """Return the share of judged tokens that is kept, over all positions."""
        return (sum(self.kept) + _PRIOR_STRENGTH * self.prior) / (sum(self.judged) + _PRIOR_STRENGTH)

    def n_evidence(self) -> float:
        """Return how many judged tokens are remembered."""
        return sum(self.judged)

    def expected_tokens(self, n_draft_max: int) -> list[float]:
        """Return the expected tokens of a step by draft length, 0 to ``n_draft_max``."""
        overall = self.alpha()
        expected, reach = [1.0], 1.0
        for i in range(n_draft_max):
            at = min(i, N_POSITIONS - 1)
            reach *= (self.kept[at] + _POSITION_STRENGTH * overall) / (self.judged[at] + _POSITION_STRENGTH)
            expected.append(expected[-1] + reach)
        return expected

    def carried(self) -> Acceptance:
        """Return what the next answer begins with: the same shares, with little weight."""
        total = sum(self.judged)
        share = min(1.0, _CARRIED / total) if total else 0.0
        return Acceptance(self.prior, [share * x for x in self.judged], [share * x for x in self.kept])
