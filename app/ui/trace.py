"""What the charts draw: for each answer, speed, acceptance and draft length on one time axis, and its tallies.

The axis counts seconds of answering since the session began, pauses between answers left out. Live charts and
pictures of an export go through the same class, so they show the same curve. A trace does not grow without end: what is
old is thinned, so that an hour of steps takes as much memory as a minute.
"""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from app.metrics.stats import LIVE_WINDOW_S, LiveRate
from app.metrics.values import is_lossy
from app.ui.tally import ContextTally, PositionTally

if TYPE_CHECKING:
    from app.metrics.values import Run
    from app.protocol import Step

GAP_S = 0.6
"""Empty space between two answers on the axis."""

MAX_TRACES = 200
MAX_POINTS = 4096
"""Points of an answer that is being written; the newest :data:`FRESH_POINTS` are never thinned."""

FRESH_POINTS = 1536
KEPT_POINTS = 1024
"""Points of an answer that has ended."""

DRAFTERS: Final = ("ngram", "draft-simple", "draft-mtp", "tree")
"""Who drafted, by its code in a trace; -1 is nobody so far."""

NOBODY: Final = -1.0
SETTLE_S = 0.4
SETTLE_STEPS = 8
"""Before either, a window is so short that one lucky draft is a spike."""

_POINT_EVERY_S = 0.05


@dataclass(frozen=True, slots=True)
class Band:
    """The baseline as drawn: median and 95 % interval, tokens per second.

    ``is_beside_draft``: it is of answers with the draft model in memory.
    """

    median: float
    low: float
    high: float
    is_beside_draft: bool = False


def _column() -> array[float]:
    return array("d")


@dataclass(slots=True)
class Trace:
    """The curves of one answer, a point every 50 ms at most; all columns are equally long.

    Attributes:
        at_s: places on the session's axis.
        tps: decode speed over the last two seconds.
        acceptance: accepted ÷ proposed over the last two seconds, 0 to 1; NaN when nothing was proposed.
        limit: the draft length limit, 0 while the controller pauses.
        proposed: draft tokens of a step, the mean of those since the last point.
        drafter: who drafted last, as an index of :data:`DRAFTERS`.
        draft_s, verify_s: times of a step, the mean of those since the last point.
        rows, emitted, depth: rows of a pass, tokens that it gave, and how deep its token tree was; the same means.
        is_lossy: acceptance was lenient.
        run_id, number: which answer of the session it is, once it is a run.
        drafters: all who drafted so far.
        spacing_s: seconds between old points.
    """

    is_plain: bool
    starts_s: float
    at_s: array[float] = field(default_factory=_column)
    tps: array[float] = field(default_factory=_column)
    acceptance: array[float] = field(default_factory=_column)
    limit: array[float] = field(default_factory=_column)
    proposed: array[float] = field(default_factory=_column)
    drafter: array[float] = field(default_factory=_column)
    draft_s: array[float] = field(default_factory=_column)
    verify_s: array[float] = field(default_factory=_column)
    rows: array[float] = field(default_factory=_column)
    emitted: array[float] = field(default_factory=_column)
    depth: array[float] = field(default_factory=_column)
    drafters: set[int] = field(default_factory=set)
    run_id: str = ""
    number: int = 0
    positions: PositionTally = field(default_factory=PositionTally)
    context: ContextTally = field(default_factory=ContextTally)
    spacing_s: float = _POINT_EVERY_S
    is_lossy: bool = False

    @property
    def ends_s(self) -> float:
        """Where the answer ends on the axis, so far."""
        return self.at_s[-1] if self.at_s else self.starts_s

    def thin(self, n_fresh: int, n_most: int) -> None:
        """Keep the newest points, and of those before at most ``n_most``, as evenly over time as they come."""
        n_old = max(0, len(self.at_s) - n_fresh)
        if n_old <= n_most:
            return
        span_s = self.at_s[n_old - 1] - self.at_s[0]
        while span_s / self.spacing_s > n_most - 1:
            self.spacing_s *= 2
        cells = [math.floor(at_s / self.spacing_s) for at_s in self.at_s[:n_old]]
        ends = [n for n in range(1, n_old) if cells[n] != cells[n - 1]] + [n_old]
        for name in ("at_s", "limit", "drafter"):
            values = getattr(self, name)
            setattr(self, name, array("d", (values[end - 1] for end in ends)) + values[n_old:])
        for name in ("tps", "acceptance", "proposed", "draft_s", "verify_s", "rows", "emitted", "depth"):
            values = getattr(self, name)
            means = (_mean(values[start:end]) for start, end in pairwise([0, *ends]))
            setattr(self, name, array("d", means) + values[n_old:])


def _mean(values: array[float]) -> float:
    """Mean of the values that are known, NaN if none is."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


class LiveTrace:
    """Makes the trace of one answer, step by step."""

    def __init__(self, *, is_plain: bool, starts_s: float, is_lossy: bool = False) -> None:
        self.trace = Trace(is_plain, starts_s, is_lossy=is_lossy)
        self._rate = LiveRate()
        self._recent: deque[Step] = deque()
        self._first_s: float | None = None
        self._last_s = 0.0
        self._proposed = self._accepted = 0
        self._drafter = NOBODY
        self._draft_s = self._verify_s = 0.0
        self._n_steps = self._n_all = self._n_drafted = 0
        self._n_rows = self._n_emitted = self._n_deep = 0

    @property
    def tps(self) -> float | None:
        """Decode speed over the last two seconds; ``None`` until the window says something."""
        return self._rate.tps if self._is_settled else None

    @property
    def _is_settled(self) -> bool:
        span_s = self._recent[-1].t_s - (self._first_s or 0.0) if self._recent else 0.0
        return self._n_all > SETTLE_STEPS or span_s >= SETTLE_S

    @property
    def acceptance(self) -> float | None:
        """Accepted ÷ proposed over the last two seconds; ``None`` when nothing was proposed."""
        return self._accepted / self._proposed if self._proposed else None

    def add(self, step: Step) -> None:
        """Take one more step."""
        self._rate.add(step)
        self._n_all += 1
        self.trace.positions.add(step)
        self.trace.context.add(step)
        if self._first_s is None:
            self._first_s = step.t_s
        self._roll(step)
        if step.drafter in DRAFTERS:
            self._drafter = float(DRAFTERS.index(step.drafter))
            self.trace.drafters.add(int(self._drafter))
        self._draft_s += step.draft_s
        self._verify_s += step.verify_s
        self._n_drafted += step.proposed
        self._n_steps += 1
        self._n_rows += step.n_rows
        self._n_emitted += step.emitted
        self._n_deep += step.depth
        if step.t_s - self._last_s >= _POINT_EVERY_S and (tps := self.tps) is not None:
            self._add_point(self.trace, tps, step)

    def _add_point(self, trace: Trace, tps: float, step: Step) -> None:
        self._last_s = step.t_s
        trace.at_s.append(trace.starts_s + step.t_s - (self._first_s or 0.0))
        trace.tps.append(tps)
        trace.acceptance.append(self._accepted / self._proposed if self._proposed else math.nan)
        trace.limit.append(step.limit)
        trace.proposed.append(self._n_drafted / self._n_steps)
        trace.drafter.append(self._drafter)
        trace.draft_s.append(self._draft_s / self._n_steps)
        trace.verify_s.append(self._verify_s / self._n_steps)
        trace.rows.append(self._n_rows / self._n_steps)
        trace.emitted.append(self._n_emitted / self._n_steps)
        trace.depth.append(self._n_deep / self._n_steps)
        self._draft_s = self._verify_s = 0.0
        self._n_steps = self._n_drafted = self._n_rows = self._n_emitted = self._n_deep = 0
        if len(trace.at_s) >= MAX_POINTS:
            trace.thin(FRESH_POINTS, KEPT_POINTS)

    def finish(self) -> Trace:
        """End the answer: keep what a chart of the session needs."""
        self.trace.thin(0, KEPT_POINTS)
        return self.trace

    def _roll(self, step: Step) -> None:
        self._recent.append(step)
        self._proposed += step.proposed
        self._accepted += step.accepted
        while self._recent[0].t_s < step.t_s - LIVE_WINDOW_S:
            old = self._recent.popleft()
            self._proposed -= old.proposed
            self._accepted -= old.accepted


class Timeline:
    """The traces of a session, oldest first; the oldest of very many are let go."""

    def __init__(self) -> None:
        self.traces: deque[Trace] = deque(maxlen=MAX_TRACES)
        self.version = 0

    @property
    def ends_s(self) -> float:
        """Where the last trace ends."""
        return self.traces[-1].ends_s if self.traces else 0.0

    def begin(self, *, is_plain: bool, is_lossy: bool = False) -> LiveTrace:
        """Begin the trace of an answer behind those that are there."""
        starts_s = self.ends_s + GAP_S if self.traces else 0.0
        live = LiveTrace(is_plain=is_plain, starts_s=starts_s, is_lossy=is_lossy)
        self.traces.append(live.trace)
        self.version += 1
        return live

    def add_run(self, run: Run, number: int) -> None:
        """Add the trace of a finished answer."""
        if len(run.steps) > 1:
            live = self.begin(is_plain=run.spec_type == "none" or not run.engaged, is_lossy=is_lossy(run))
            for step in run.steps:
                live.add(step)
            live.trace.run_id, live.trace.number = run.id, number
            live.finish()

    def drop(self, trace: Trace) -> None:
        """Take the newest trace out, if it is this one."""
        if self.traces and self.traces[-1] is trace:
            self.traces.pop()
            self.version += 1

    def at(self, at_s: float) -> Trace | None:
        """Return the answer at a place on the axis, or the one before it."""
        found = None
        for trace in self.traces:
            if trace.at_s and trace.starts_s <= at_s:
                found = trace
        return found

    @classmethod
    def of_runs(cls, runs: Iterable[Run]) -> Timeline:
        """Make the timeline of finished answers."""
        timeline = cls()
        for number, run in enumerate(runs, start=1):
            timeline.add_run(run, number)
        return timeline
