"""How often to draw while an answer runs, so that drawing does not slow down what it shows.

Where the engine computes with every core, whatever the window does is taken from it: all its threads wait for the one
that lost its core. So drawing there gets a small share of the time, and each drawing waits until the last one has been
paid for. Where cores are to spare, it is as often as there is anything new to see.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from app.ui.motion import is_reduced

SHARE = 0.004
"""Share of one core's time that drawing may take from an engine that has all cores."""

SPARE_SHARE = 0.1
"""The same where the engine leaves a core to the window."""

CALM_MS = 600
"""Least wait where the person wants little motion: text comes in pieces, charts move on in steps."""

_SMOOTHING = 0.3


class Pace:
    """Meters what drawings cost this thread, in processor time, and says how long to wait before the next."""

    def __init__(self, least_ms: int, most_ms: int) -> None:
        """Keep the wait within these limits; the least is what the eye, or a pixel, can tell apart."""
        self.least_ms, self.most_ms = least_ms, most_ms
        self._share = SPARE_SHARE
        self._cost_s = 0.0
        self._open_s = 0.0

    def leave_cores(self, n_threads: int) -> None:
        """Take in with how many threads the engine computes; 0 for none."""
        self._share = SPARE_SHARE if n_threads < (psutil.cpu_count(logical=False) or 1) else SHARE

    @property
    def cost_s(self) -> float:
        """What a drawing costs, smoothed; 0 before the first."""
        return self._cost_s or self._open_s

    @contextmanager
    def metered(self) -> Iterator[None]:
        """Count what is done in here to the present drawing; parts of one may be far apart (compute, then paint)."""
        begun_s = time.thread_time()
        try:
            yield
        finally:
            self._open_s += time.thread_time() - begun_s

    def next_ms(self) -> int:
        """End a drawing; return how long to wait before the next one."""
        if self._open_s:
            before_s = self._cost_s or self._open_s
            self._cost_s = before_s + _SMOOTHING * (self._open_s - before_s)
            self._open_s = 0.0
        wait_ms = round(min(self.most_ms, max(self.least_ms, 1000 * self._cost_s / self._share)))
        return max(wait_ms, CALM_MS) if is_reduced() else wait_ms
