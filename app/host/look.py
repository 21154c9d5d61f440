"""A look for what somebody waits for: bounded in time, ended by a person at any time; what was found stays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

LOOK_S = 45.0
"""How long a person waits for what the hub may have."""

_WAKE_S = 0.1


class Look(Generic[T]):
    """One look; any thread may read it.

    Attributes:
        found: what there is so far; only ever gets more.
        is_whole: whether everything that was to be looked at was.
    """

    def __init__(self, limit_s: float = LOOK_S) -> None:
        self.found: list[T] = []
        self.is_whole = False
        self._limit_s = limit_s
        self._began_s = time.monotonic()
        self._is_stopped = threading.Event()

    @property
    def fraction(self) -> float:
        """How much of the time is over, from 0 to 1."""
        return min(1.0, (time.monotonic() - self._began_s) / self._limit_s)

    @property
    def is_stopped(self) -> bool:
        """Whether somebody has ended it."""
        return self._is_stopped.is_set()

    @property
    def is_over(self) -> bool:
        """Whether nothing more should be asked for: it was stopped, or the time is over."""
        return self.is_stopped or self.fraction >= 1.0

    def stop(self) -> None:
        """End it; what was found stays."""
        self._is_stopped.set()

    def run(self, work: Callable[[], None]) -> None:
        """Do what fills ``found``; blocks until it is done or the look is over, then leaves it to end by itself.

        Raises:
            Exception: what ``work`` raised.
        """
        faults: list[BaseException] = []
        self._began_s = time.monotonic()

        def do() -> None:
            try:
                work()
            except BaseException as fault:  # raised again below
                faults.append(fault)

        thread = threading.Thread(target=do, name="look", daemon=True)
        thread.start()
        while thread.is_alive() and not self.is_over:
            thread.join(_WAKE_S)
        if faults:
            raise faults[0]
        self.is_whole = not thread.is_alive() and not self.is_over
