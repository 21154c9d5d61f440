"""What the charts draw: for each answer, speed and acceptance over a sliding window, on one time axis.

The axis counts seconds of answering since the session began, pauses between answers left out. Live charts and
pictures of an export go through the same class, so they show the same curve.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.metrics.stats import LIVE_WINDOW_S, LiveRate

if TYPE_CHECKING:
    from app.metrics.values import Run
    from app.protocol import Step

GAP_S = 0.6
"""Empty space between two answers on the axis."""

MAX_TRACES = 200
_POINT_EVERY_S = 0.05


@dataclass(frozen=True, slots=True)
class Band:
    """The baseline as drawn: median and 95 % interval, tokens per second."""

    median: float
    low: float
    high: float


@dataclass(slots=True)
class Trace:
    """The curves of one answer; ``at_s`` are places on the session's axis, ``acceptance`` is 0 to 1."""

    is_plain: bool
    starts_s: float
    at_s: list[float] = field(default_factory=list)
    tps: list[float] = field(default_factory=list)
    acceptance_at_s: list[float] = field(default_factory=list)
    acceptance: list[float] = field(default_factory=list)

    @property
    def ends_s(self) -> float:
        """Where the answer ends on the axis, so far."""
        return self.at_s[-1] if self.at_s else self.starts_s


class LiveTrace:
    """Makes the trace of one answer, step by step."""

    def __init__(self, *, is_plain: bool, starts_s: float) -> None:
        self.trace = Trace(is_plain, starts_s)
        self._rate = LiveRate()
        self._recent: deque[Step] = deque()
        self._first_s: float | None = None
        self._last_s = 0.0
        self._proposed = self._accepted = 0

    @property
    def tps(self) -> float | None:
        """Decode speed over the last two seconds."""
        return self._rate.tps

    @property
    def acceptance(self) -> float | None:
        """Accepted ÷ proposed over the last two seconds; ``None`` when nothing was proposed."""
        return self._accepted / self._proposed if self._proposed else None

    def add(self, step: Step) -> None:
        """Take one more step."""
        tps = self._rate.add(step)
        if self._first_s is None:
            self._first_s = step.t_s
        self._roll(step)
        if tps is None or step.t_s - self._last_s < _POINT_EVERY_S:
            return
        self._last_s = step.t_s
        at_s = self.trace.starts_s + step.t_s - self._first_s
        self.trace.at_s.append(at_s)
        self.trace.tps.append(tps)
        if self._proposed:
            self.trace.acceptance_at_s.append(at_s)
            self.trace.acceptance.append(self._accepted / self._proposed)

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

    @property
    def ends_s(self) -> float:
        """Where the last trace ends."""
        return self.traces[-1].ends_s if self.traces else 0.0

    def begin(self, *, is_plain: bool) -> LiveTrace:
        """Begin the trace of an answer behind those that are there."""
        live = LiveTrace(is_plain=is_plain, starts_s=self.ends_s + GAP_S if self.traces else 0.0)
        self.traces.append(live.trace)
        return live

    @classmethod
    def of_runs(cls, runs: Iterable[Run]) -> Timeline:
        """Make the timeline of finished answers."""
        timeline = cls()
        for run in runs:
            if len(run.steps) > 1:
                live = timeline.begin(is_plain=run.spec_type == "none" or not run.engaged)
                for step in run.steps:
                    live.add(step)
        return timeline
