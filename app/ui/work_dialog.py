"""Long work that a person waits for: what is done, how far it is, and a button that stops it with nothing half done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.models.transfer import StoppedError
from app.ui.theme import GRID
from app.ui.tr import tr

LONG_S = 1.0
"""How long work goes on without a dialog that does not say how far it is, or nearly ends."""

_SOON_S = 0.4
"""A dialog does not come before this, and not for less than this as far as is known: it would only flash."""

_LOOK_MS = 100
_WIDTH_PX = 420


class Work:
    """How far work on another thread is; :meth:`note` is called there."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self.clock_s: Callable[[], float] = time.monotonic
        self.began_s = self.clock_s()
        self.fraction = 0.0
        self.has_begun = False
        self.is_waiting = False

    def stop(self) -> None:
        """Ask it to stop at its next step."""
        self._stop.set()

    @property
    def is_long(self) -> bool:
        """Whether it goes on for so long that a person should see what is done."""
        took_s = self.clock_s() - self.began_s
        left_s = took_s * (1 / self.fraction - 1) if self.fraction else LONG_S
        return took_s > LONG_S or (self.has_begun and min(took_s, left_s) > _SOON_S)

    @property
    def is_stopped(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def note(self, n_done: int, n_all: int) -> None:
        """Take in how much of how much is done.

        Raises:
            StoppedError: somebody asked to stop.
        """
        self.has_begun, self.is_waiting = True, False
        self.fraction = n_done / n_all if n_all else 1.0
        self.look()

    def wait(self, _for_whom: object) -> None:
        """Go on waiting for another program, if nobody asked to stop.

        Raises:
            StoppedError: somebody did.
        """
        self.is_waiting = True
        self.look()

    def look(self) -> None:
        """Go on, if nobody asked to stop: for work that cannot say how far it is.

        Raises:
            StoppedError: somebody did.
        """
        if self._stop.is_set():
            raise StoppedError


class WorkDialog(QDialog):
    """Shows how far some work is."""

    stop_requested = Signal()

    def __init__(self, parent: QWidget | None, words: str, work: Work) -> None:
        super().__init__(parent)
        self.setWindowTitle("Slipstream")
        self.setMinimumWidth(_WIDTH_PX)
        self._work, self._is_to_come = work, False
        self.words = QLabel(words, wordWrap=True)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName(words)
        self.cancel = QPushButton(tr("Cancel"))
        self.cancel.clicked.connect(self.reject)
        self._look = QTimer(self, interval=_LOOK_MS)
        self._look.timeout.connect(self.on_look)
        self._look.start()
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self.progress, 1)
        row.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addWidget(self.words)
        column.addLayout(row)

    def open_when_long(self) -> None:
        """Come once the work turns out to take long."""
        self._is_to_come = True

    def on_look(self) -> None:
        """Show how far it is."""
        if self._is_to_come and self._work.is_long:
            self._is_to_come = False
            self.open()
        self.progress.setValue(round(100 * self._work.fraction))

    def say(self, words: str) -> None:
        """Say what is done now."""
        if words == self.words.text():  # a screen reader would begin anew
            return
        self.words.setText(words)
        self.progress.setAccessibleName(words)

    def reject(self) -> None:
        """Stop the work; the dialog goes when it has ended."""
        self._work.stop()
        self.cancel.setEnabled(False)
        self.words.setText(tr("Stopping…"))

    def end(self) -> None:
        """Go: the work has ended."""
        self._look.stop()
        super().reject()
        self.deleteLater()
