"""What slows an answer down beside its own work: memory that is paged, a memory bus that drafter and target share.

Both are told from what was measured, never from a difference that they would explain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from app.metrics import stats
from app.metrics.values import Run
from app.protocol import Step

FAULT_S = 1e-4
"""What a page fault that waits for the disk takes at the least: the reading of some pages from a fast SSD."""

PAGE_BYTES = 4096
LEAST_SHARE = 0.05
"""Paging that takes a smaller share of the time, or of the weights in each pass, is not worth a word."""

RESIDENT_SHARE = 0.9
"""With less of the weights than this in memory they are not all there; some of a file is never read."""

AT_WORK = 0.05
"""A drafter that takes this share of a pass's time works; an n-gram look-up does not."""

SLOWED = 1.1
"""Passes that are slowed down by less are within their noise."""

LEAST_PASSES = 5

_GB = 1e9


def paging(run: Run) -> str:
    """Say that the weights were not in memory while an answer was decoded; "" if they were, or nobody knows.

    What was in memory is known of the whole process only, in which weights are but the most.
    """
    told, steps = run.surroundings, run.steps[1:]
    if told is None or run.conditions is None or not steps:
        return ""
    weights, resident = run.conditions.target_bytes, told.resident_bytes
    is_short = resident is not None and run.conditions.device == "CPU" and resident < RESIDENT_SHARE * weights
    if told.n_major_faults is not None:
        took_s = math.fsum(step.verify_s + step.draft_s for step in steps)
        if told.n_major_faults * FAULT_S < LEAST_SHARE * took_s:
            return ""
        n = f"{told.n_major_faults:,}"
        if is_short and resident is not None:
            return (
                f"memory paging: {n} page faults waited for the disk, the engine's process had {resident / _GB:.1f} GB "
                f"in memory for weights of {weights / _GB:.1f} GB"
            )
        return f"memory paging: {n} page faults waited for the disk"
    if not is_short or told.n_faults is None or resident is None:
        return ""
    if told.n_faults * PAGE_BYTES < LEAST_SHARE * weights * len(steps):
        return ""
    return (
        f"memory paging: the engine's process had only {resident / _GB:.1f} GB in memory for weights of "
        f"{weights / _GB:.1f} GB, {told.n_faults:,} page faults brought back the rest"
    )


def is_at_work(step: Step) -> bool:
    """Whether a drafter worked before this pass, whatever came of it."""
    return step.verify_s > 0 and step.draft_s >= AT_WORK * step.verify_s


def shared_bus(steps: Sequence[Step], alone: Iterable[Step]) -> str:
    """Say that passes after drafting took longer than passes over as many rows without it; "" if they did not.

    Draft and verification follow each other on one thread; what they share is the way to memory and what the caches
    hold. ``alone`` are steps of plain answers. Where an answer itself has passes with its drafter at rest, it is held
    against these: a machine that is slower altogether is no shared bus.

    Passes of plain answers have one row, those of a fixed draft length k have k + 1: they have no count in common, and
    nothing is said of them here. Where a cost curve was measured, as by ``bench``, it is the other half
    (:func:`app.metrics.prediction.cause`).
    """
    beside = _by_rows(step for step in steps if is_at_work(step))
    resting = _by_rows(step for step in steps if not is_at_work(step))
    costs = {n: stats.median(times) for n, times in _by_rows(alone).items() if len(times) >= LEAST_PASSES}
    costs |= {n: stats.median(times) for n, times in resting.items() if len(times) >= LEAST_PASSES}
    ratio = _slowed(beside, costs)
    if ratio is None or ratio < SLOWED:
        return ""
    return f"bus shared: passes after drafting took {ratio:.2f} × the same passes without it"


def _by_rows(steps: Iterable[Step]) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for step in steps:
        if step.verify_s > 0:
            found.setdefault(step.n_rows, []).append(step.verify_s)
    return found


def _slowed(beside: Mapping[int, list[float]], costs: Mapping[int, float]) -> float | None:
    """Return by what factor passes are dearer than what theirs cost alone; None without enough of both."""
    both = [n for n, times in beside.items() if n in costs and len(times) >= LEAST_PASSES]
    if not both:
        return None
    expected_s = sum(costs[n] * len(beside[n]) for n in both)
    return sum(stats.median(beside[n]) * len(beside[n]) for n in both) / expected_s
