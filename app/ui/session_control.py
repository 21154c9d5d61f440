"""The session as a whole: begin a new one, export it, open exported ones and compare two."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog
from shiboken6 import isValid

from app.chat.conversation import now
from app.errors import ExportError, SlipstreamError
from app.metrics.compare import compare
from app.metrics.pictures import pictures
from app.metrics.session_export import export_session, open_session
from app.ui.compared_words import totals_words
from app.ui.sessions import CompareDialog, ExportDialog, inks
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.host import Host
    from app.metrics.export import Metrics
    from app.ui.main_window import MainWindow

THIS_SESSION = tr("this session")
CANCELLED = tr("The export was cancelled.")


class SessionControl(QObject):
    """What can be done with everything that was measured."""

    begun_anew = Signal()
    _progress = Signal(float)  # from the thread that writes

    def __init__(self, window: MainWindow, host: Host) -> None:
        super().__init__(window)
        self._window, self._host = window, host
        self._tasks: set[asyncio.Task[None]] = set()
        self._export: ExportDialog | None = None
        self._stop = Event()
        self._sides: tuple[tuple[str, Metrics], ...] = ()
        self._progress.connect(self.on_progress)
        window.panel.export_requested.connect(self.export)
        window.panel.foot.compare_requested.connect(self.compare)
        window.panel.foot.session_requested.connect(self.begin_anew)

    async def close(self) -> None:
        """End an export, and wait for what is being opened."""
        self._stop.set()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def begin_anew(self) -> None:
        """Begin a session without answers; the conversation and a recorded baseline stay."""
        if not self._host.session.runs:
            self._say(tr("This session is empty as it is."))
            return
        n_runs = len(self._host.session.runs)
        self._host.session.begin_anew()
        self.begun_anew.emit()
        self._say(
            tr("A new session of measurements has begun; {n_runs:,} answers of the last one are let go.").format(
                n_runs=n_runs
            )
        )

    # --- export ---------------------------------------------------------------------------------------

    def export(self) -> None:
        """Ask how the session is to be exported."""
        if not self._host.session.runs:
            self._say(tr("Nothing has been measured yet."), tr("Ask something first."))
            return
        if self._export is not None:
            return
        dialog = self._export = ExportDialog(
            tr("This session: {totals}.").format(totals=totals_words(self._host.session.to_metrics())), self._window
        )
        dialog.folder_wanted.connect(self.ask_for_folder)
        dialog.cancelled.connect(self._stop.set)
        dialog.finished.connect(self.on_dialog_finished)
        self._stop.clear()
        dialog.open()

    def on_dialog_finished(self) -> None:
        """Let go of the dialog."""
        if self._export is not None:
            self._export.deleteLater()
            self._export = None

    def ask_for_folder(self) -> None:
        """Ask where to."""
        dialog = QFileDialog(self._export or self._window, tr("Export session metrics into a folder"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setLabelText(QFileDialog.DialogLabel.Accept, tr("Export here"))
        dialog.fileSelected.connect(self.on_folder_chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def on_folder_chosen(self, folder: str) -> None:
        """Write into a new folder inside the one that was chosen."""
        redact = self._export is None or self._export.is_redacted
        place = Path(folder) / f"slipstream-metrics-{now().astimezone():%Y%m%d-%H%M%S}"
        self._spawn(self._write(place, redact=redact))

    def on_progress(self, share: float) -> None:
        """Show how far the export has come."""
        if self._export is not None:
            self._export.show_progress(share)

    async def _write(self, folder: Path, *, redact: bool) -> None:
        metrics = self._host.session.to_metrics(with_paths=not redact)
        self.on_progress(0.0)
        try:
            written = await asyncio.to_thread(
                export_session, metrics, folder, redact=redact, on_progress=self._on_written
            )
        except SlipstreamError as fault:
            self._window.notice.say("info" if fault.message == CANCELLED else "error", fault.message, fault.hint)
        else:
            names = ", ".join(path.name for path in written)
            show = partial(QDesktopServices.openUrl, QUrl.fromLocalFile(str(folder)))
            self._window.notice.say(
                "info",
                tr("Exported {names} to {folder}.").format(names=names, folder=folder),
                action=(tr("Show"), show),
            )
        finally:
            if self._export is not None:
                self._export.accept()

    def _on_written(self, share: float) -> None:
        """Hear from the writing thread how far it has come, and tell it to stop if that is wanted."""
        if self._stop.is_set():
            raise ExportError(CANCELLED)
        self._progress.emit(share)

    # --- comparing ------------------------------------------------------------------------------------

    def compare(self) -> None:
        """Ask for an exported session, and put this one beside it."""
        dialog = CompareDialog(self._window)
        self._sides = ((THIS_SESSION, self._host.session.to_metrics()),) * 2
        dialog.open_wanted.connect(partial(self.ask_for_session, dialog))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        self._spawn(self._show(dialog))

    def ask_for_session(self, dialog: CompareDialog, side: int) -> None:
        """Ask for the ``metrics.json`` of an exported session."""
        asking = QFileDialog(dialog, tr("Open an exported session"))
        asking.setFileMode(QFileDialog.FileMode.ExistingFile)
        asking.setNameFilters([tr("Exported sessions (*.json)"), tr("All files (*)")])
        asking.fileSelected.connect(lambda path: self.on_session_chosen(dialog, side, path))
        asking.finished.connect(asking.deleteLater)
        asking.open()

    def on_session_chosen(self, dialog: CompareDialog, side: int, path: str) -> None:
        """Show that session on that side."""
        self._spawn(self._open(dialog, side, Path(path)))

    async def _open(self, dialog: CompareDialog, side: int, path: Path) -> None:
        try:
            found = await asyncio.to_thread(open_session, path)
        except SlipstreamError as fault:
            self._window.notice.say("error", fault.message, fault.hint)
            return
        name = path.parent.name if path.name == "metrics.json" else path.stem
        self._sides = tuple((name, found) if number == side else one for number, one in enumerate(self._sides))
        await self._show(dialog)

    async def _show(self, dialog: CompareDialog) -> None:
        sides = (name_a, a), (name_b, b) = self._sides
        colours = inks()
        found = await asyncio.to_thread(compare, a, b, (name_a, name_b))
        drawings = await asyncio.to_thread(lambda: (pictures(a, colours), pictures(b, colours)))
        is_newest = sides is self._sides  # else what was opened meanwhile shows itself
        if is_newest and isValid(dialog) and dialog.isVisible():
            dialog.show_comparison(found, (totals_words(a), totals_words(b)), drawings)

    def _say(self, words: str, hint: str = "") -> None:
        self._window.notice.say("info", words, hint, expires_s=8)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
