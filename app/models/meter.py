"""How fast bytes come, how long the rest takes, and whether none come at all."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW_S = 6.0
"""Bandwidth is that of the last seconds: long enough to be calm, short enough to follow."""

STALL_S = 20.0
"""After so long without a byte a person is told."""


class Meter:
    """Takes the count of received bytes now and then; the clock is given so that it can be tested."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque([(clock(), 0)])
        self._last_byte_s = clock()

    def count(self, n_received_bytes: int) -> None:
        """Note how many bytes have come in all."""
        now_s = self._clock()
        if n_received_bytes > self._seen[-1][1]:
            self._last_byte_s = now_s
        self._seen.append((now_s, n_received_bytes))
        while len(self._seen) > 2 and self._seen[1][0] <= now_s - WINDOW_S:
            self._seen.popleft()

    @property
    def rate_bytes_s(self) -> float:
        """Bytes a second over the window."""
        (began_s, before), (now_s, after) = self._seen[0], self._seen[-1]
        return (after - before) / (now_s - began_s) if now_s > began_s else 0.0

    def eta_s(self, n_left_bytes: int) -> float | None:
        """Seconds until the rest is there at this pace; None while nobody can tell."""
        rate = self.rate_bytes_s
        return n_left_bytes / rate if rate > 0 else None

    @property
    def silence_s(self) -> float:
        """Seconds since the last byte."""
        return self._clock() - self._last_byte_s
