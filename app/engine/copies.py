"""How much of a copied draft to verify: it cost nothing to draft, so only the rows count.

And how much of a text copies bring: a model's drafts can only have the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from app.engine.acceptance import Acceptance
from app.engine.costs import Costs
from app.engine.purse import Purse

_MOST = 0.02
"""Share of an answer's time that copies may cost, however likely one is to pay: what agreed on many tokens until an
edit came may be edited again soon."""

_SURE = 0.98
"""Chance from which a copy is not weighed against the purse at all."""

_LEAST_WORTH = 0.02
"""Tokens that a copy must be expected to bring more than the time would otherwise."""

_MEMORIES_TOKENS, _UNKNOWN = (32.0, 128.0), 8.0
"""How far back it is looked for what share of a text copies bring, and how many other tokens it begins with."""


@dataclass(slots=True)
class CopiedShare:
    """What share of the last tokens came as kept copies: the next answer is often of the same kind.

    Of the last few and of more of them the smaller share counts: copies pause, and where they end that is soon seen.
    """

    _seen: list[tuple[float, float]] = field(default_factory=lambda: [(_UNKNOWN, 0.0) for _ in _MEMORIES_TOKENS])

    def observe(self, n_emitted: int, n_copied: int) -> None:
        """Take in a step's tokens, and how many of them were a copy's."""
        for i, memory_tokens in enumerate(_MEMORIES_TOKENS):
            kept, (n, n_of_copies) = math.exp(-n_emitted / memory_tokens), self._seen[i]
            self._seen[i] = kept * n + n_emitted, kept * n_of_copies + n_copied

    def begin_answer(self) -> None:
        """Let what the last tokens were say less: an answer often begins with words of its own."""
        (n, n_of_copies), *longer = self._seen
        self._seen = [(n, n_of_copies / 2), *longer]

    def n_others(self, n_tokens: float) -> float:
        """Return how many of the tokens to come are likely to be no copies."""
        return n_tokens * (1 - min(n_of_copies / n for n, n_of_copies in self._seen))


def best_copy(
    n_draft: int, acceptance: Acceptance, costs: Costs, rate: float, purse: Purse | None, answer_s: float
) -> int:
    """Return the length with the highest worth, 0 if none is worth anything.

    Args:
        n_draft: tokens of the copy.
        acceptance: of copies whose place agrees with the text for as long.
        costs: what passes cost.
        rate: tokens that a second brings otherwise.
        purse: what the answer can bear that nothing comes of; None is anything.
        answer_s: how long the answer would take at plain speed.
    """
    expected, best, value = acceptance.expected_tokens(n_draft), 0, _LEAST_WORTH
    for k in range(1, n_draft + 1):
        verify_s = costs.verify_s(k + 1)
        if verify_s is None or (worth := expected[k] - rate * verify_s) <= value:
            continue
        chance, more_s = acceptance.chance(k, rate * verify_s), verify_s - (costs.verify_s(1) or 0.0)
        if purse is None or chance >= _SURE or purse.bears(more_s, answer_s, chance, _MOST):
            best, value = k, worth
    return best


def tried_copy(n_draft: int, acceptance: Acceptance, costs: Costs, rate: float, purse: Purse, answer_s: float) -> int:
    """Return how much of a copy to verify to see what rows cost now: one token, where more would pay at load's costs.

    0 if an answer of ``answer_s`` cannot bear it, else it is paid for. Without it a time in which rows are dear would
    end copies for good: only what is used is learned anew.
    """
    more_s = (costs.verify_s(2) or math.inf) - (costs.verify_s(1) or 0.0)
    if not purse.bears_a_look(more_s, answer_s):
        return 0
    if not best_copy(n_draft, acceptance, costs.as_at_first(), rate, None, answer_s):
        return 0
    purse.looked_s += max(0.0, more_s)
    return 1
