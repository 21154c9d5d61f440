"""The session's measurements: between the host's log on one side and the speed panel on the other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from app.chat.conversation import now
from app.errors import SlipstreamError
from app.host import AnswerEvent, Host
from app.metrics.session_export import export_session
from app.protocol import Chunk, Speculation, Started, Step
from app.ui.chart_control import ChartControl
from app.ui.figures import standing
from app.ui.recording import Recording

if TYPE_CHECKING:
    from app.ui.answering import Answering
    from app.ui.choices import Choices
    from app.ui.engine_control import EngineControl
    from app.ui.main_window import MainWindow

logger = logging.getLogger(__name__)

_SHOW_EVERY_MS = 100
_RECORD_SEED = 1


class PanelControl(QObject):
    """Shows what is measured, records baselines, exports."""

    def __init__(
        self, window: MainWindow, host: Host, engine: EngineControl, answering: Answering, choices: Choices
    ) -> None:
        super().__init__(window)
        self._window, self._host, self._engine = window, host, engine
        self._answering, self._choices = answering, choices
        self._panel = window.panel
        self._charts = ChartControl(window, host.session)
        self._tasks: set[asyncio.Task[None]] = set()
        self._recording: asyncio.Task[None] | None = None
        self._show = QTimer(self, singleShot=True, interval=_SHOW_EVERY_MS)
        self._show.timeout.connect(self.on_show_due)
        self._unsubscribe = host.session.subscribe(self.refresh)
        answering.began.connect(self.on_began)
        answering.stepped.connect(self.on_step)
        answering.ended.connect(self.on_ended)
        answering.refusal = self.refusal
        engine.loaded_changed.connect(self.refresh)
        self._panel.record_requested.connect(self.record)
        self._panel.cancel_requested.connect(self.cancel_recording)
        self._panel.export_requested.connect(self.export)
        self._panel.switch_off_requested.connect(self.on_switch_off)
        self.refresh()

    def install_charts(self) -> None:
        """Load pyqtgraph and draw; the window has been painted by now."""
        self._charts.install()
        self.refresh()

    async def close(self) -> None:
        """Stop a recording and wait for an export."""
        self._unsubscribe()
        self._show.stop()
        self.cancel_recording()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def refusal(self) -> str:
        """Why no question can be asked now, "" if one can."""
        return "A baseline is being recorded. Cancel it, or wait." if self._is_recording else ""

    @property
    def _is_recording(self) -> bool:
        return self._recording is not None and not self._recording.done()

    # --- measuring ------------------------------------------------------------------------------------

    def on_began(self, is_drafting: bool) -> None:
        """Begin a curve."""
        self._charts.begin(is_plain=not is_drafting)
        self._enable()

    def on_step(self, step: Step) -> None:
        """Add a step to the curve; it shows with the next tick."""
        self._charts.add(step)
        if self._charts.is_live and not self._show.isActive():
            self._show.start()

    def on_show_due(self) -> None:
        """Show the speed of now."""
        if self._panel.isVisible() and self._charts.tps is not None:
            self._panel.show_speed(self._charts.tps, "now")
        self._charts.mark_stale()

    def on_ended(self) -> None:
        """Show the figures of the whole answer."""
        self._charts.end()
        self._show.stop()
        self.refresh()

    def refresh(self) -> None:
        """Show everything that is known now."""
        session = self._host.session
        runs = session.runs
        if not self._charts.is_live and runs:
            self._panel.show_speed(runs[-1].decode_tps, "last answer")
        self._panel.show_standing(standing(session, is_on=self._choices.settings.speculation))
        self._charts.refresh()
        self._enable()

    def on_switch_off(self) -> None:
        """Switch speculation off, as the panel offered; the verdict stays, the offer goes."""
        if self._choices.settings.speculation:
            self._window.pair_bar.toggle_speculation()
        self.refresh()

    def _enable(self) -> None:
        is_free = self._host.state.loaded is not None and not self._answering.is_busy and not self._is_recording
        self._panel.enable_actions(can_record=is_free, can_export=bool(self._host.session.runs))

    # --- recording ------------------------------------------------------------------------------------

    def record(self) -> None:
        """Record a baseline, unless something else runs."""
        if not self._is_recording and not self._answering.is_busy and self._host.state.loaded is not None:
            self._recording = self._spawn(self._record())

    def cancel_recording(self) -> None:
        """Stop recording; what was loaded is loaded again."""
        if self._recording is not None:
            self._recording.cancel()

    async def _record(self) -> None:
        way = Speculation(types=self._choices.kinds, draft_tokens=self._choices.settings.draft_tokens)
        recording = Recording(self._host, self._choices.sampling(_RECORD_SEED), way, self._on_recorded_event)
        words = ""
        self._panel.show_recording(0.0, "Preparing to record…")
        self._enable()
        try:
            async with aclosing(recording.run(self._choices.pair())) as steps:
                async for progress in steps:
                    self._panel.show_recording(progress.fraction, progress.words)
            if recording.baseline is not None:
                self._host.session.baseline = recording.baseline
                self._host.session.baselines.save(recording.baseline)
        except asyncio.CancelledError:
            words = "The recording was cancelled."
        except SlipstreamError as fault:
            logger.info("recording failed: %s", fault.message)
            words = f"The recording failed. {fault.message} {fault.hint}"
        finally:
            self._charts.end()
            self._recording = None
            self._panel.show_recording(None, words)
            self._engine.note_engagement(None)
            self.refresh()

    def _on_recorded_event(self, event: AnswerEvent, way: Speculation) -> None:
        if isinstance(event, Started):
            self.on_began(is_drafting=bool(way.types))
        elif isinstance(event, Chunk):
            self.on_step(event.step)

    # --- exporting ------------------------------------------------------------------------------------

    def export(self) -> None:
        """Ask for a folder, then write the session's metrics into it."""
        if not self._host.session.runs:
            self._window.notice.say("info", "Nothing has been measured yet.", "Ask something first.", expires_s=8)
            return
        dialog = QFileDialog(self._window, "Export session metrics into a folder")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setLabelText(QFileDialog.DialogLabel.Accept, "Export here")
        dialog.fileSelected.connect(self.on_folder_chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def on_folder_chosen(self, folder: str) -> None:
        """Write into a new folder inside the one that was chosen."""
        self._spawn(self._export(Path(folder) / f"slipstream-metrics-{now().astimezone():%Y%m%d-%H%M%S}"))

    async def _export(self, folder: Path) -> None:
        try:
            written = await asyncio.to_thread(export_session, self._host.session.to_metrics(), folder)
        except SlipstreamError as fault:
            self._window.notice.say("error", fault.message, fault.hint)
        else:
            names = ", ".join(path.name for path in written)
            self._window.notice.say("info", f"Exported {names} to {folder}.")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
