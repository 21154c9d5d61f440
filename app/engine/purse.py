"""How much of an answer's time drafts in vain may cost: the bound on the loss, whatever the text does.

"Conservative bandits": Wu, Shariff, Lattimore, Szepesvári 2016, arXiv 1602.04282.
"""

from __future__ import annotations

from dataclasses import dataclass

ALLOWANCE, NEW_ALLOWANCE = 0.006, 0.015
"""Share of an answer's expected time that drafts in vain may cost, and as much again that catching up may where it is
not yet likely to come back; the higher one in the first :data:`N_NEW` answers of a pair, which are to learn."""

N_NEW = 3

LOOKS = 0.01
"""Share more that looking may cost: catching up with a few tokens to hear what would have been drafted."""

SURE, SURE_ALLOWANCE = 0.85, 0.01
"""Share more that something may cost which pays with at least so high a chance."""

CREDIT_SHARE, CREDIT_MAX = 0.5, 0.03
"""How much of the savings an answer may draw on, and at most which share of its time, for what is sure to pay."""


@dataclass(slots=True)
class Purse:
    """What an answer has spent on speculation, and what it may.

    Attributes:
        allowance: share of the answer's time that may be lost.
        credit_s: what earlier answers have saved.
        debt_s: what speculation has cost this answer against plain decoding.
        invested_s: what catching up has cost of that, looks apart.
        looked_s: what looks have cost.
    """

    allowance: float = NEW_ALLOWANCE
    credit_s: float = 0.0
    debt_s: float = 0.0
    invested_s: float = 0.0
    looked_s: float = 0.0

    def bears(self, more_s: float, expected_s: float, chance: float) -> bool:
        """Tell whether an answer of ``expected_s`` could bear that nothing comes of a step that costs so much more."""
        # What catching up and looking took, within what they may, is spent: whether to go on does not depend on it.
        # So savings may be drawn on twice: to take in a prompt, and to draft on it.
        bearable_s = self.allowance * expected_s + self._credit_s(expected_s, chance)
        spent_s = min(self.invested_s, bearable_s) + min(self.looked_s, LOOKS * expected_s)
        return self.debt_s - spent_s + more_s <= bearable_s + _if_sure_s(expected_s, chance)

    def bears_a_look(self, more_s: float, expected_s: float) -> bool:
        """Tell the same of a look."""
        return self.looked_s + more_s <= LOOKS * expected_s

    def bears_to_catch_up(self, more_s: float, expected_s: float, chance: float) -> bool:
        """Tell the same of catching up to try again."""
        return self.invested_s + more_s <= self.allowance * expected_s + self._extra_s(expected_s, chance)

    def to_invest_s(self, expected_s: float, chance: float = 0.0) -> float:
        """Return what is left for catching up."""
        own_s = max(0.0, self.allowance * expected_s - max(0.0, self.debt_s))
        return own_s + self._extra_s(expected_s, chance)

    def _extra_s(self, expected_s: float, chance: float) -> float:
        """Return what something that pays with this chance may cost more."""
        return self._credit_s(expected_s, chance) + _if_sure_s(expected_s, chance)

    def _credit_s(self, expected_s: float, chance: float) -> float:
        """Return what may be drawn on earlier savings for something that pays with this chance."""
        trust = min(1.0, max(0.0, (chance - 0.5) / 0.3))
        return trust * min(CREDIT_SHARE * self.credit_s, CREDIT_MAX * expected_s)


def _if_sure_s(expected_s: float, chance: float) -> float:
    return SURE_ALLOWANCE * expected_s if chance >= SURE else 0.0
