"""Garbage collection on the window's thread only.

Python collects cycles on whatever thread happens to allocate; here that may be the one that reads the engine's events,
or an executor's. A cycle that holds a Qt object would be destroyed there, and Qt objects must die on their own thread
("Timers cannot be stopped from another thread", then a crash). So automatic collection is off while the window runs,
and a timer on its thread does what it would have done.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

EVERY_MS = 500
_OLD_EVERY = 40
"""Turns between two collections of everything."""


class WindowGarbage(QObject):
    """Collects on this thread from :meth:`start` to :meth:`stop`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turns = 0
        self._has_frozen = False
        self._timer = QTimer(self, interval=EVERY_MS)
        self._timer.timeout.connect(self.collect)

    def start(self) -> None:
        """Take over; what exists by now is here to stay and is not looked at again."""
        gc.disable()
        self._has_frozen = gc.get_freeze_count() == 0  # else somebody around us sees to that
        if self._has_frozen:
            gc.freeze()
        self._timer.start()

    def stop(self) -> None:
        """Collect everything, and give collecting back to Python."""
        self._timer.stop()
        if self._has_frozen:
            gc.unfreeze()
        gc.collect()
        gc.enable()

    def collect(self) -> None:
        """Collect what is young if there is much of it, and everything now and then."""
        self._turns += 1
        if self._turns % _OLD_EVERY == 0:
            gc.collect()
        elif gc.get_count()[0] > gc.get_threshold()[0]:
            gc.collect(1)
