"""Notes what went wrong and nobody caught, and how the engine died; shows a report of it when that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.chat.conversation import now
from app.errors import SlipstreamError
from app.host.background import beside
from app.host.doctor_page import DoctorPage
from app.ui.actions import WindowAction
from app.ui.crash_report import Fault, death_of, fault_of, report
from app.ui.latest import Latest
from app.ui.said import said
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.host import Host, HostState
    from app.ui.crash_dialog import CrashDialog
    from app.ui.main_window import MainWindow

REPORT = "program.report"
MOST_FAULTS = 5

_COLLECTING = tr("The facts about this machine are being collected…")


class CrashControl(QObject):
    """Keeps the last faults as long as the program runs.

    Attributes:
        make_page: makes the page about this machine; another one in tests.
    """

    def __init__(self, window: MainWindow, host: Host) -> None:
        super().__init__(window)
        self._window = window
        self.faults: list[Fault] = []
        self.dialog: CrashDialog | None = None
        self.make_page = DoctorPage
        self._page = ""
        self._making: DoctorPage | None = None
        self._work = Latest()
        window.fault_happened.connect(self.on_fault)
        self._unsubscribe = host.subscribe(self.on_host_state)
        window.action_list.add(
            WindowAction(REPORT, tr("Report a problem…"), self.open, "program", also=tr("crash bug doctor feedback"))
        )

    async def close(self) -> None:
        """Stop collecting, and close the dialog."""
        self._unsubscribe()
        if self._making is not None:
            self._making.stop()
        await self._work.close()
        if self.dialog is not None:
            self.dialog.close()

    def note(self, fault: Fault) -> None:
        """Keep a fault for the report."""
        self.faults = [*self.faults, fault][-MOST_FAULTS:]
        self.refresh()

    def on_host_state(self, state: HostState) -> None:
        """Note the death of an engine."""
        is_noted = bool(self.faults) and self.faults[-1].words == death_of(state.detail, self.faults[-1].at).words
        if state.phase == "died" and not is_noted:
            self.note(death_of(state.detail, now()))

    def on_fault(self, raised: object) -> None:
        """Note an exception that nobody caught."""
        if isinstance(raised, BaseException):
            self.note(fault_of(raised, now()))

    # --- the report -----------------------------------------------------------------------------------

    def open(self) -> None:
        """Show what would be copied; the facts about the machine come when they are collected."""
        from app.ui.crash_dialog import CrashDialog

        if self.dialog is not None:
            return
        dialog = self.dialog = CrashDialog(self._window)
        dialog.words_wanted.connect(self.refresh)
        dialog.finished.connect(self.on_finished)
        self.refresh()
        dialog.open()
        if not self._page:
            self._work.run(self._collect())

    def on_finished(self) -> None:
        """Let go of the dialog, and of a page that nobody will see."""
        if self._making is not None:
            self._making.stop()
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    async def _collect(self) -> None:
        making = self._making = self.make_page()
        try:
            self._page = await beside(making.make, "doctor")
        except SlipstreamError as fault:
            self.refresh(state=said(fault.message))
        else:
            self.refresh(state="")
        finally:
            self._making = None

    def refresh(self, *_: object, state: str | None = None) -> None:
        """Show the report as it is now."""
        if self.dialog is not None:
            text = report(self.faults, self._page, with_words=self.dialog.with_words.isChecked())
            self.dialog.show_report(text, state if state is not None else "" if self._page else _COLLECTING)
