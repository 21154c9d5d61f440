"""From traces to the few points that a chart of so many pixels can show.

Two points a pixel are all that can be seen; drawing more is what makes charts slow. Curves of several answers are one
array with a NaN between them, so that however many answers there are, a chart has the same few line items.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from app.ui.trace import Trace

Values = npt.NDArray[np.float64]
Curve = tuple[Values, Values]

_CROWDED = 4
"""From so many points a pixel on, the lowest and the highest are drawn; fewer are averaged."""

NOTHING: Curve = (np.empty(0), np.empty(0))


def assemble(
    traces: Iterable[Trace], pick: Callable[[Trace, slice], Values], stretch: tuple[float, float], n_px: int
) -> Curve:
    """Join a column of these traces within a stretch, a NaN behind each, and thin it to ``n_px`` pixels."""
    parts_x: list[Values] = []
    parts_y: list[Values] = []
    first_s, last_s = stretch
    for trace in traces:
        if not trace.at_s or trace.ends_s < first_s or trace.starts_s > last_s:
            continue
        within = slice(max(0, bisect_left(trace.at_s, first_s) - 1), bisect_right(trace.at_s, last_s) + 1)
        x = np.array(trace.at_s[within])
        if not len(x):
            continue
        x, y = thin(x, pick(trace, within), stretch, n_px)
        parts_x += [x, x[-1:]]
        parts_y += [y, np.array([np.nan])]
    return (np.concatenate(parts_x), np.concatenate(parts_y)) if parts_x else NOTHING


def column(name: str) -> Callable[[Trace, slice], Values]:
    """Return what picks a column of a trace."""

    def pick(trace: Trace, within: slice) -> Values:
        return np.array(getattr(trace, name)[within])

    return pick


def thin(x: Values, y: Values, stretch: tuple[float, float], n_px: int) -> Curve:
    """Return at most two points a pixel; ``x`` ascends. NaN stays where a pixel has nothing else."""
    if len(x) <= 1.5 * n_px or n_px < 1:
        return x, y
    first, last = stretch
    pixel = np.floor((x - first) * (n_px / max(last - first, 1e-9))).astype(np.int64)
    starts = np.flatnonzero(np.diff(pixel, prepend=pixel[0] - 1))
    if len(x) < _CROWDED * len(starts):
        known = ~np.isnan(y)
        counts = np.add.reduceat(known.astype(np.float64), starts)
        sums = np.add.reduceat(np.where(known, y, 0.0), starts)
        means = np.divide(sums, counts, out=np.full(len(starts), np.nan), where=counts > 0)
        ends = np.append(starts[1:], len(x)) - 1
        return (x[starts] + x[ends]) / 2, means
    low, high = np.fmin.reduceat(y, starts), np.fmax.reduceat(y, starts)
    thinned = np.empty(2 * len(starts))
    thinned[0::2], thinned[1::2] = low, high
    return np.repeat(x[starts], 2), thinned


def straighten(curve: Curve) -> Curve:
    """Leave out the points inside of level stretches: a draft length is level for long, and dashes are slow."""
    x, y = curve
    if len(x) < 3:
        return curve
    same = (y[1:] == y[:-1]) | (np.isnan(y[1:]) & np.isnan(y[:-1]))
    kept = np.ones(len(x), dtype=bool)
    kept[1:-1] = ~(same[1:] & same[:-1])
    return x[kept], y[kept]


def grounded(curve: Curve) -> Curve:
    """Go down to zero behind each answer and up from it before the next, so that an area below has upright ends."""
    x, y = curve
    ends = np.flatnonzero(np.isnan(y[:-1])) + 1
    return np.insert(x, ends, x[ends]), np.insert(np.nan_to_num(y), ends, 0.0)


def nice_top(value: float, before: float) -> float:
    """Return a round number above ``value``; ``before`` is kept while it fits, so that the axis stands still."""
    if before * 0.4 < value <= before:
        return before
    value = max(value, 1e-6) * 1.05
    power = 10.0 ** np.floor(np.log10(value))
    return float(next((power * step for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if power * step >= value), power * 10))
