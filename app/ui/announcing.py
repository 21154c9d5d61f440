"""Tells screen readers what happens where the keyboard is not: answers that begin and end, and notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.answering import Answering
    from app.ui.main_window import MainWindow

_Politeness = QAccessible.AnnouncementPoliteness


class Announcer(QObject):
    """Watches the window; what it announces goes to the system's screen reader, if one listens."""

    announced = Signal(str, bool)  # the words, and whether they may break in on others

    def __init__(self, window: MainWindow, answering: Answering) -> None:
        super().__init__(window)
        self._window, self._answering = window, answering
        window.notice.told.connect(self.on_notice)
        answering.begun.connect(lambda: self.say(tr("The model is answering.")))
        answering.ended.connect(self.on_ended)

    def on_notice(self, kind: str, words: str) -> None:
        """Announce a notice; one of trouble at once."""
        self.say(words, is_urgent=kind != "info")

    def on_ended(self) -> None:
        """Announce that an answer has ended, and how."""
        self.say(tr("The answer broke off.") if self._answering.is_broken_off else tr("The answer is complete."))

    def say(self, words: str, *, is_urgent: bool = False) -> None:
        """Announce something."""
        self.announced.emit(words, is_urgent)
        if QAccessible.isActive():
            event = QAccessibleAnnouncementEvent(self._window, words)
            event.setPoliteness(_Politeness.Assertive if is_urgent else _Politeness.Polite)
            QAccessible.updateAccessibility(event)
