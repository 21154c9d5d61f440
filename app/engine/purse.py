"""How much of an answer's time speculation may cost: the bound on the loss, whatever the text does.

What may be lost grows with how likely it is that it comes back, so that the *expected* loss is the same small share of
an answer: a bet that fails one time in ten may cost ten times as much as what is lost for sure. "Conservative bandits":
Wu, Shariff, Lattimore, Szepesvári 2016, arXiv 1602.04282.
"""

from __future__ import annotations

from dataclasses import dataclass

EXPECTED_LOSS = 0.003
"""Share of an answer's time that drafts in vain may cost in the mean, and as much again that catching up may."""

MOST = 0.1
"""Share of an answer's time that either may cost, however sure it is to come back."""

STAKED = 1 / 3
"""Share of what an answer has taken so far that catching up may take: it may end with the next word."""

COMES_BACK = 3
"""How many times catching up should come back in what is left of an answer."""

LOOKS = 0.01
"""Share more that looking may cost: catching up with a few tokens to hear what would have been drafted."""


BLIND_LOSS = 0.006
"""The first of these where nothing but trying tells whether it pays."""

CARRIED = 0.02
"""Share of an answer's time that is added to the first of these of what earlier answers could have lost and did not:
catching up with a text to see what drafts are worth is more than one answer may buy."""

WON = 4.0
"""How much of what an answer won is added, too, in times of what it could have lost: more would let one that loses
behind each one that wins lose every time, nothing would let a pair that pays stop for want of a first word."""

_LAST = 0.2
"""How much of how long answers usually take is the last one's word."""

OWED = 0.05
"""Share of an answer's time that is remembered of what was lost beyond that; nothing is carried until it is saved."""


def share(chance: float, expected_loss: float = EXPECTED_LOSS, most: float = MOST) -> float:
    """Return which share of an answer's time may be lost on something that pays with this chance."""
    return min(most, expected_loss / max(1e-9, 1.0 - chance))


@dataclass(slots=True)
class Purse:
    """What an answer has spent on speculation, and what it may.

    Attributes:
        expected_loss: share of the time that may be lost in the mean.
        debt_s: what speculation has cost this answer against plain decoding.
        invested_s: what catching up has cost of that, looks apart.
        looked_s: what looks have cost.
        looked_up_s: what looking up copies has cost, in steps in which no model was asked.
        answer_s: how long the answer has taken so far, at plain speed.
        usual_s: how long the last answers have taken.
        carried_s: what earlier answers could have lost and did not; below 0 what they lost beyond that.
    """

    expected_loss: float = BLIND_LOSS
    debt_s: float = 0.0
    invested_s: float = 0.0
    looked_s: float = 0.0
    looked_up_s: float = 0.0
    answer_s: float = 0.0
    carried_s: float = 0.0
    usual_s: float = 0.0

    def begin(self, expected_s: float, *, is_blind: bool) -> None:
        """Take note of how long the answer is expected to take, and whether nothing but trying tells what pays."""
        self.expected_loss = BLIND_LOSS if is_blind else EXPECTED_LOSS
        at_most_s = max(expected_s, self.usual_s)  # a short answer between long ones forgets nothing
        self.carried_s = max(-OWED * at_most_s, min(self.carried_s, CARRIED * at_most_s))

    def next(self) -> Purse:
        """Return the next answer's."""
        lost_s = max(-WON * self.expected_loss * self.answer_s, self.debt_s - self.looked_s - self.looked_up_s)
        usual_s = self.usual_s + _LAST * (self.answer_s - self.usual_s) if self.usual_s else self.answer_s
        return Purse(carried_s=self.carried_s + self.expected_loss * self.answer_s - lost_s, usual_s=usual_s)

    def _share(self, chance: float, expected_s: float, most: float = MOST) -> float:
        carried = self.carried_s / expected_s if expected_s > 0 else 0.0
        return share(chance, self.expected_loss + max(0.0, min(CARRIED, carried)), most)

    def bears(self, more_s: float, expected_s: float, chance: float, most: float = MOST) -> bool:
        """Tell whether an answer of ``expected_s`` could bear that nothing comes of a step that costs so much more."""
        # What catching up, looking and looking up took is spent: whether to go on does not depend on it.
        at_stake_s = self.debt_s - self.invested_s - self.looked_s - self.looked_up_s + more_s
        return at_stake_s <= self._share(chance, expected_s, most) * expected_s

    def bears_a_look(self, more_s: float, expected_s: float) -> bool:
        """Tell the same of a look."""
        return self.looked_s + more_s <= LOOKS * expected_s

    def to_invest_s(self, expected_s: float, chance: float) -> float:
        """Return what is left for catching up."""
        return max(0.0, self._share(chance, expected_s) * expected_s - max(self.invested_s, self.debt_s))
