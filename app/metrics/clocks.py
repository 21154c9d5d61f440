"""Noticing that the machine slept, or that somebody set its clock, while an answer was measured.

Engine times are monotonic, so a clock that is set does not move them; but whether a monotonic clock goes on while the
machine sleeps differs from system to system, and after it wakes nothing is as before. Such answers are marked.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

TOLERATED_S = 1.0
"""Clocks drift, and a time server corrects them in smaller steps than this."""


def elapsed_s() -> float:
    """Seconds on a clock that nobody sets and that goes on while the machine sleeps."""
    if sys.platform == "win32":
        return time.monotonic()
    return time.clock_gettime(time.CLOCK_BOOTTIME if sys.platform == "linux" else time.CLOCK_MONOTONIC)


def awake_s() -> float:
    """Seconds on a clock that nobody sets and that stands still while the machine sleeps."""
    if sys.platform == "win32":
        import ctypes

        ticks = ctypes.c_ulonglong()  # of 100 ns
        ctypes.windll.kernel32.QueryUnbiasedInterruptTime(ctypes.byref(ticks))
        return ticks.value / 1e7
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_UPTIME_RAW)
    return time.monotonic()


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks of a machine."""

    wall_s: Callable[[], float] = time.time
    elapsed_s: Callable[[], float] = elapsed_s
    awake_s: Callable[[], float] = awake_s


class ClockWatch:
    """Looks at the clocks now, and compares when asked."""

    def __init__(self, clocks: Clocks | None = None) -> None:
        self._clocks = clocks or Clocks()
        self._from = self._look()

    def fault(self) -> str:
        """Say what became of the clocks since, "" if nothing did."""
        wall_s, elapsed, awake = (now - before for now, before in zip(self._look(), self._from, strict=True))
        if elapsed - awake > TOLERATED_S:
            return f"the computer slept for {elapsed - awake:.0f} s meanwhile"
        if abs(wall_s - elapsed) > TOLERATED_S:
            return f"the computer's clock was set by {wall_s - elapsed:+.0f} s meanwhile"
        return ""

    def _look(self) -> tuple[float, float, float]:
        return self._clocks.wall_s(), self._clocks.elapsed_s(), self._clocks.awake_s()
