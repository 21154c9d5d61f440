"""How much of a copied draft to verify: it cost nothing to draft, so only the rows count."""

from __future__ import annotations

import math
from collections.abc import Callable

from app.engine.acceptance import Acceptance
from app.engine.costs import Costs
from app.engine.purse import Purse

VERY_SURE = 0.85
"""Chance from which a copied draft is not weighed against the purse: what agrees on many tokens goes on agreeing."""

_LEAST_WORTH = 0.02
"""Tokens that a copy must be expected to bring more than the time would otherwise."""


def best_copy(
    n_draft: int, acceptance: Acceptance, costs: Costs, rate: float, bears: Callable[[float, float], bool]
) -> int:
    """Return the length with the highest worth, 0 if none is worth anything.

    Args:
        n_draft: tokens of the copy.
        acceptance: of copies whose place agrees with the text for as long.
        costs: what passes cost.
        rate: tokens that a second brings otherwise.
        bears: tells whether the answer bears that nothing comes of a pass of so many seconds, given its chance to pay.
    """
    expected, best, value = acceptance.expected_tokens(n_draft), 0, _LEAST_WORTH
    for k in range(1, n_draft + 1):
        verify_s = costs.verify_s(k + 1)
        if verify_s is None or (worth := expected[k] - rate * verify_s) <= value:
            continue
        chance = acceptance.chance(k, rate * verify_s)
        if chance >= VERY_SURE or bears(verify_s, chance):
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
    if not best_copy(n_draft, acceptance, costs.as_at_first(), rate, lambda *_: True):
        return 0
    purse.looked_s += max(0.0, more_s)
    return 1
