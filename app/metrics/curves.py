"""Curves of whole sessions, thinned to what a picture can show; each point is the exact figure at its moment.

The axis counts seconds of answering since the session began, with a gap between answers. Speed and acceptance at a
moment are over the window before it, as the live charts show them (:class:`app.metrics.stats.LiveRate`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from app.metrics.export import columns_of
from app.metrics.stats import LIVE_WINDOW_S
from app.metrics.values import Run, is_plain
from app.protocol import Step

GAP_S = 0.6
"""Empty space between two answers on the axis."""

MOST_POINTS = 3000
"""More than this no picture of a session shows."""

LEAST_OF_A_RUN = 2

LEAST_WINDOW_S = 0.5
"""An answer's first moments are a few steps that jump; over less than this only a whole answer is a point."""

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """An answer on the session's axis; ``acceptance`` is empty where nothing was proposed."""

    run_id: str
    is_drafted: bool
    is_excluded: bool
    speed: Points
    acceptance: Points


def curves(runs: Sequence[Run], most_points: int = MOST_POINTS) -> tuple[Curve, ...]:
    """Return a curve for each answer of at least two steps; points are shared out by the length of the answers."""
    drawn = [run for run in runs if len(run.steps) > 1]
    total_s = sum(_span_s(run.steps) for run in drawn) or 1.0
    found, start_s = [], 0.0
    for run in drawn:
        span_s = _span_s(run.steps)
        n_points = max(LEAST_OF_A_RUN, round(most_points * span_s / total_s))
        found.append(_curve(run, start_s, n_points))
        start_s += span_s + GAP_S
    return tuple(found)


def _span_s(steps: Sequence[Step]) -> float:
    return max(0.0, steps[-1].t_s - steps[0].t_s)


def _curve(run: Run, start_s: float, n_points: int) -> Curve:
    columns = columns_of(run.steps)
    t_s = columns.t_s
    emitted, proposed, accepted = (
        list(accumulate(column)) for column in (columns.emitted, columns.proposed, columns.accepted)
    )
    speed, acceptance = [], []
    last = len(t_s) - 1
    n_points = min(n_points, last)
    for point in range(1, n_points + 1):
        i = round(point * last / n_points)
        before = max(0, bisect_right(t_s, t_s[i] - LIVE_WINDOW_S, 0, i) - 1)
        at_s, window_s = start_s + t_s[i] - t_s[0], t_s[i] - t_s[before]
        if (window_s < LEAST_WINDOW_S and i < last) or window_s <= 0:
            continue
        speed.append((at_s, (emitted[i] - emitted[before]) / window_s))
        if proposed[i] > proposed[before]:
            share = (accepted[i] - accepted[before]) / (proposed[i] - proposed[before])
            acceptance.append((at_s, share))
    return Curve(run.id, not is_plain(run) and run.engaged, bool(run.excluded), tuple(speed), tuple(acceptance))
