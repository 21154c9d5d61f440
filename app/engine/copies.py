"""How much of a copied draft to verify: it cost nothing to draft, so only the rows count."""

from __future__ import annotations

from collections.abc import Callable

from app.engine.acceptance import Acceptance
from app.engine.costs import Costs

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
