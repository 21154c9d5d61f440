"""How long something took on a machine that others use, too: a limit is for the program, not for its neighbours."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

_LEAST_SHARE = 0.1
"""So much of the time by the clock counts however busy the machine is: what hangs fails everywhere."""


class FairWatch:
    """Runs from its making; leaves out what this thread, or others of the machine, waited for a processor."""

    def __init__(self) -> None:
        self._began_s, self._waits_s = time.monotonic(), _waits_s()

    @property
    def took_s(self) -> float:
        """Seconds so far that are the program's own."""
        took_s = time.monotonic() - self._began_s
        waited_s = max(now_s - before_s for now_s, before_s in zip(_waits_s(), self._waits_s, strict=True))
        return max(took_s - waited_s, _LEAST_SHARE * took_s)


def _waits_s() -> tuple[float, float]:
    """Return how long this thread, and how long any task, was ready to run and did not; 0 where nobody counts it."""
    own_s = others_s = 0.0
    with suppress(OSError, ValueError, IndexError):
        own_s = int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    with suppress(OSError, ValueError, IndexError):
        others_s = int(Path("/proc/pressure/cpu").read_text().splitlines()[0].rpartition("total=")[2]) / 1e6
    return own_s, others_s
