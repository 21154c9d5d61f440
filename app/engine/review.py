"""What a draft model would have said of text that came while nobody asked it: evidence without a bet.

A paused drafter lags behind the text. When it catches up, the rows after the tokens that it takes in are its words at
those places, and the target's are known: so dozens of places tell whether drafting would pay here for the price of a
catch-up, where a draft to try it out tells of one and costs a pass of more rows if nothing comes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.engine.costs import Costs

MOST_REVIEWED = 24
"""Rows that are looked at most; each takes memory for its logits."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the text: how probable the drafter held its own word, and whether that is the text's."""

    probability: float
    is_kept: bool


def plain_steps_at_best(places: Sequence[Place], costs: Costs, name: str, n_max: int) -> float | None:
    """Return what the best fixed length would have taken for successive places, in plain steps; None if unknown."""
    plain_s = costs.verify_s(1)
    if not plain_s:
        return None
    times_s = [_fixed_s(places, costs, name, length) for length in range(1, n_max + 1)]
    return min((time_s / plain_s for time_s in times_s if time_s is not None), default=None)


def _fixed_s(places: Sequence[Place], costs: Costs, name: str, length: int) -> float | None:
    """Return the seconds at one length; a step at the end counts for the tokens that the text still has."""
    verify_s = costs.verify_s(length + 1)
    if verify_s is None:
        return None
    step_s, at, n_steps = verify_s + costs.draft_s(name, length), 0, 0.0
    while at < len(places):
        n_kept = 0
        while n_kept < length and at + n_kept < len(places) and places[at + n_kept].is_kept:
            n_kept += 1
        is_cut = at + n_kept == len(places) and n_kept < length
        n_steps += n_kept / (length + 1) if is_cut else 1.0
        at += n_kept + 1
    return n_steps * step_s
