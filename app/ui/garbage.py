"""Garbage collection on the window's thread only.

Python collects cycles on whatever thread happens to allocate; here that may be the one that reads the engine's events,
or an executor's. A cycle that holds a Qt object would be destroyed there, and Qt objects must die on their own thread
("Timers cannot be stopped from another thread", then a crash: the timer fires for what is no longer there).

So automatic collection is off for as long as there is the application, not only while a window runs: the loop of a
window that was closed is such a cycle, with timers that have not fired, and threads of that window may still be at work
while the next one starts. A timer on the window's thread does what Python would have done.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, QTimer

EVERY_MS = 500
_OLD_EVERY = 40
"""Turns between two collections of everything."""


class WindowGarbage(QObject):
    """Collects on this thread from :meth:`start` to :meth:`stop`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turns = 0
        self._timer = QTimer(self, interval=EVERY_MS)
        self._timer.timeout.connect(self.collect)

    def start(self) -> None:
        """Take over."""
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Collect everything, and give collecting back to Python."""
        self._timer.stop()
        gc.collect()
        gc.enable()

    def collect(self) -> None:
        """Collect what is young if there is much of it, and everything now and then."""
        self._turns += 1
        if self._turns % _OLD_EVERY == 0:
            gc.collect()
        elif gc.get_count()[0] > gc.get_threshold()[0]:
            gc.collect(1)


class _Staying:
    """What no collection looks through, to the end of the program."""

    is_ours = False


_staying = _Staying()


@contextmanager
def what_is_there_stays() -> Iterator[None]:
    """Let no collection look through what exists by now; at the end everything is looked through."""
    is_ours = _staying.is_ours = gc.get_freeze_count() == 0  # else somebody around us sees to that
    if is_ours:
        gc.freeze()
    try:
        yield
    finally:
        _staying.is_ours = False
        if is_ours:
            gc.unfreeze()
        gc.collect()


def what_came_stays() -> None:
    """The same for what was imported since: to look through a large package takes tens of milliseconds each time.

    Measured with the charts and the server loaded, on two busy cores: 45 to 60 ms of this thread each time, twice that
    by the clock.
    """
    if _staying.is_ours:
        gc.collect()  # what is garbage by now would stay, too
        gc.freeze()
