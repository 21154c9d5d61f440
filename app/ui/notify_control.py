"""Says on the desktop that a long answer has ended while the window was in the background.

It names the conversation and never what was said in it. Where the desktop has no place for such messages, the window's
entry in the task bar asks for attention.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from app.errors import StoreError
from app.ui import motion
from app.ui.desktop_message import by_bus
from app.ui.latest import Latest
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.answering import Answering
    from app.ui.chats import Chats
    from app.ui.choices import Choices
    from app.ui.main_window import MainWindow

LONG_S = 10.0
"""Whoever waits longer than this for an answer may have gone on to something else."""

_SHOWN_MS = 10_000
_MAX_TITLE = 80


def is_in_front() -> bool:
    """Whether a window of this program has the keyboard."""
    return QGuiApplication.applicationState() is Qt.ApplicationState.ApplicationActive


class NotifyControl(QObject):
    """Watches answers.

    Attributes:
        clock_s, is_seen, show: what time it is, whether anybody looks, and how to say it; others in tests.
    """

    def __init__(self, window: MainWindow, chats: Chats, answering: Answering, choices: Choices) -> None:
        super().__init__(window)
        self._window, self._chats, self._choices = window, chats, choices
        self.clock_s: Callable[[], float] = time.monotonic
        self.is_seen: Callable[[], bool] = is_in_front
        self.show: Callable[[str, str], None] = self.show_on_desktop
        self._begun_s: float | None = None
        self._conversation_id = 0
        self._tray: QSystemTrayIcon | None = None
        self._sending = Latest()
        answering.began.connect(lambda _drafts: self.on_began())
        answering.ended.connect(self.on_ended)

    async def close(self) -> None:
        """Take the icon away."""
        await self._sending.close()
        self._drop_tray()

    def on_began(self) -> None:
        """Note when an answer begins, and to which conversation."""
        current = self._chats.current
        self._begun_s, self._conversation_id = self.clock_s(), current.id if current is not None else 0

    def on_ended(self) -> None:
        """Say that it has ended, if it took long and nobody looks."""
        begun_s, self._begun_s = self._begun_s, None
        if begun_s is None or not self._choices.settings.notify or self.is_seen():
            return
        if self.clock_s() - begun_s > LONG_S:
            self.show(tr("An answer has ended"), self._title())

    def _title(self) -> str:
        title, current = "", self._chats.current
        if current is not None and current.id == self._conversation_id:
            title = current.title
        elif self._conversation_id:
            with suppress(StoreError):
                title = self._chats.store.load(self._conversation_id).title
        return " ".join(title.split())[:_MAX_TITLE]

    def show_on_desktop(self, words: str, title: str) -> None:
        """Show a message of the desktop, or else ask for attention in the task bar."""
        if not motion.is_reduced():
            QApplication.alert(self._window, 0)
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            self._show_in_tray(words, title)
        else:
            self._sending.run(by_bus(words, title))

    def _show_in_tray(self, words: str, title: str) -> None:
        if self._tray is None:
            tray = self._tray = QSystemTrayIcon(self._window.windowIcon(), self)
            tray.setToolTip("Slipstream")
            tray.messageClicked.connect(self.on_clicked)
            tray.activated.connect(self.on_clicked)
            QGuiApplication.instance().applicationStateChanged.connect(self.on_state)  # type: ignore[union-attr]
        self._tray.show()
        self._tray.showMessage(words, title, self._window.windowIcon(), _SHOWN_MS)

    def on_clicked(self, *_: object) -> None:
        """Go to the window."""
        self._window.come_to_front()

    def on_state(self, state: Qt.ApplicationState) -> None:
        """Take the icon away once somebody looks."""
        if state is Qt.ApplicationState.ApplicationActive:
            self._drop_tray()

    def _drop_tray(self) -> None:
        if self._tray is not None:
            QGuiApplication.instance().applicationStateChanged.disconnect(self.on_state)  # type: ignore[union-attr]
            self._tray.hide()
            self._tray.deleteLater()
            self._tray = None
