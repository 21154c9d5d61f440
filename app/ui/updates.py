"""Looking for a newer version: never unless it was allowed or asked for, never more than a page is offered."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QMessageBox

from app import __version__
from app.chat.visible import visible
from app.errors import NetworkError, SlipstreamError
from app.host import updates
from app.ui.latest import Latest
from app.ui.tr import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.host.updates import Announcement, Feed
    from app.ui.choices import Choices
    from app.ui.main_window import MainWindow

AFTER_MS = 20_000
"""How long after the start a check that was allowed is made: nobody waits for it."""

logger = logging.getLogger(__name__)


class UpdatesQuestion(QMessageBox):
    """Asks before anybody is asked anything, and whether to ask by itself from now on."""

    def __init__(self, parent: MainWindow, where: str, *, is_allowed: bool) -> None:
        super().__init__(QMessageBox.Icon.Question, "Slipstream", tr("Look for a newer version?"), parent=parent)
        self.setInformativeText(
            tr(
                "{where} is asked which version is the newest. Nothing about you or this machine goes there "
                "besides your network address. Nothing is downloaded or installed."
            ).format(where=where)
        )
        self.daily = QCheckBox(tr("Look &once a day from now on"))
        self.daily.setChecked(is_allowed)
        self.setCheckBox(self.daily)
        self.look = self.addButton(tr("Look now"), QMessageBox.ButtonRole.AcceptRole)
        self.setDefaultButton(self.look)
        self.setEscapeButton(self.addButton(QMessageBox.StandardButton.Cancel))


class UpdatesControl(QObject):
    """Looks when that is allowed, and says what was found. Without an address in the bundle, there is nothing to do."""

    def __init__(self, window: MainWindow, choices: Choices, where: Feed | None = None) -> None:
        super().__init__(window)
        self._window, self._choices = window, choices
        self._where = where or updates.feed()
        self._asking = Latest()
        self._timer = QTimer(self, singleShot=True, interval=AFTER_MS)
        self._timer.timeout.connect(self.on_time)

    def start(self) -> None:
        """Look a while after the start, if that was allowed."""
        if self._where is not None and self._choices.settings.look_for_updates:
            self._timer.start()

    async def close(self) -> None:
        """Ask no more."""
        self._timer.stop()
        await self._asking.close()

    def on_time(self) -> None:
        """Look, unless that was done today; what goes wrong is for the log only."""
        if self._where is not None and self._choices.settings.look_for_updates and updates.is_due():
            self._asking.run(self._ask(self._where, self._log))

    def open(self) -> None:
        """Ask whether to look."""
        if self._where is None:
            self._window.notice.say(
                "info",
                tr("This copy does not know where newer versions are announced."),
                tr("Look where you have got it from."),
                expires_s=12,
            )
            return
        host = QUrl(self._where.feed).host()
        question = UpdatesQuestion(self._window, host, is_allowed=self._choices.settings.look_for_updates)
        question.finished.connect(partial(self.on_answer, question))
        question.open()

    def on_answer(self, question: UpdatesQuestion, _result: int) -> None:
        """Look, and remember whether to do so by itself; *Cancel* changes nothing."""
        if question.clickedButton() is question.look and self._where is not None:
            self._choices.change(look_for_updates=question.daily.isChecked())
            self._asking.run(self._ask(self._where, self._tell))
        question.deleteLater()

    async def _ask(self, where: Feed, on_fault: Callable[[SlipstreamError], None]) -> None:
        try:
            found = await asyncio.to_thread(updates.ask, where)
        except SlipstreamError as fault:
            on_fault(fault)
            return
        await asyncio.to_thread(updates.note_asked)
        if updates.is_newer(found, __version__):
            self._offer(found)
        elif on_fault == self._tell:
            words = tr("This is the newest version, {own}.").format(own=__version__)
            self._window.notice.say("info", words, expires_s=8)

    def _offer(self, found: Announcement) -> None:
        words = tr("Slipstream {version} is there; this is {own}.").format(version=found.version, own=__version__)
        show = partial(QDesktopServices.openUrl, QUrl(found.page))
        self._window.notice.say("info", words, visible(found.notes), action=(tr("Open its page"), show))

    def _tell(self, fault: SlipstreamError) -> None:
        self._window.notice.say("warning" if isinstance(fault, NetworkError) else "error", fault.message, fault.hint)

    def _log(self, fault: SlipstreamError) -> None:
        logger.info("looking for a newer version: %s", fault.message)
