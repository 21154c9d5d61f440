"""What else goes on while something is measured: other programs' load, battery, power mode, heat.

A :class:`Watch` compares a reading at the start with one at the end. Where the readings come from is a seam: psutil
and what the system offers beside it.
"""

from __future__ import annotations

import contextlib
import sys
import time
from dataclasses import dataclass
from typing import Protocol

from app.metrics.power import SystemPower

BUSY_SHARE = 0.15
"""Other programs that keep this share of all cores busy are worth a note."""

HOT_C = 90.0
SLOW_SHARE = 0.7
"""A processor that works at less than this share of its highest clock is held back by heat or power."""

_SAVING = frozenset({"best power efficiency", "low-power", "powersave", "quiet", "cool"})


@dataclass(frozen=True, slots=True)
class Reading:
    """One look; ``None`` and "" where the system does not tell.

    ``busy_s`` and ``own_s`` are processor seconds so far, of everything and of this program with its processes.
    """

    at_s: float
    busy_s: float
    own_s: float
    n_cores: int
    on_battery: bool | None = None
    power_mode: str = ""
    hottest_c: float | None = None
    clock_share: float | None = None


class Source(Protocol):
    """Where readings come from."""

    def read(self) -> Reading:
        """Look now; takes some milliseconds."""


class SystemSource:
    """This machine."""

    def __init__(self) -> None:
        self._own = OwnTime()

    def read(self) -> Reading:
        """Look now."""
        import psutil  # not before the first window is painted

        times = psutil.cpu_times()
        idle_s = times.idle + getattr(times, "iowait", 0.0)
        power = SystemPower().read()
        return Reading(
            at_s=time.monotonic(),
            busy_s=sum(times) - idle_s - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0),
            own_s=self._own.read(),
            n_cores=psutil.cpu_count() or 1,
            on_battery=power.on_battery,
            power_mode=power.power_mode,
            hottest_c=_hottest_c(),
            clock_share=_clock_share(),
        )


class Watch:
    """What went on between its making and :meth:`notes`."""

    def __init__(self, source: Source | None = None) -> None:
        self._source = source or SystemSource()
        self.first = self._source.read()
        self.last = self.first

    def notes(self) -> tuple[str, ...]:
        """Look again, and say in words what may have disturbed a measurement."""
        first, last = self.first, self._source.read()
        self.last = last
        said = []
        cores = last.n_cores
        spent_s = (last.at_s - first.at_s) * cores
        others_s = (last.busy_s - first.busy_s) - (last.own_s - first.own_s)
        if spent_s > 0 and others_s / spent_s > BUSY_SHARE:
            said.append(f"other programs kept {min(1.0, others_s / spent_s):.0%} of the processor busy")
        if None not in (first.on_battery, last.on_battery) and last.on_battery != first.on_battery:
            said.append(f"the power supply changed to {'battery' if last.on_battery else 'mains'}")
        elif last.on_battery:
            said.append("on battery")
        if first.power_mode and last.power_mode and last.power_mode != first.power_mode:
            said.append(f"the power mode changed from {first.power_mode} to {last.power_mode}")
        elif last.power_mode in _SAVING:
            said.append(f"power mode: {last.power_mode}")
        if last.hottest_c is not None and last.hottest_c >= HOT_C:
            said.append(f"the processor was at {last.hottest_c:.0f} °C")
        if last.clock_share is not None and last.clock_share < SLOW_SHARE:
            said.append(f"the processor ran at {last.clock_share:.0%} of its highest clock")
        return tuple(said)


class OwnTime:
    """Processor seconds of this program with its processes, of those that have ended, too.

    ``has_ended_ones``: whether the system counts the time of an ended process to its parent. Where it does not, what a
    process had at the last look stays counted.
    """

    def __init__(self, *, has_ended_ones: bool = sys.platform == "linux") -> None:
        self._has_ended_ones = has_ended_ones
        self._seen_s: dict[tuple[int, float], float] = {}  # by number and start: numbers are given again

    def read(self) -> float:
        """Look now."""
        import psutil

        me, now_s = psutil.Process(), {}
        for process in (*me.children(recursive=True), me):  # itself last: one that ends now is counted, maybe twice
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                ended_s = times.children_user + times.children_system if self._has_ended_ones else 0.0
                now_s[process.pid, process.create_time()] = float(times.user + times.system + ended_s)
        self._seen_s = now_s if self._has_ended_ones else self._seen_s | now_s
        return sum(self._seen_s.values())


def _hottest_c() -> float | None:
    import psutil

    read = getattr(psutil, "sensors_temperatures", None)  # not on every system
    with contextlib.suppress(OSError):
        return max((part.current for parts in read().values() for part in parts), default=None) if read else None
    return None


def _clock_share() -> float | None:
    import psutil

    clock = None
    with contextlib.suppress(OSError, RuntimeError):
        clock = psutil.cpu_freq()
    return clock.current / clock.max if clock is not None and clock.max else None
