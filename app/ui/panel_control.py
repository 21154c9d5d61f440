"""The session's measurements: between the host's log on one side and the speed panel on the other."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.host import Host
from app.protocol import Step
from app.ui.chart_control import ChartControl
from app.ui.garbage import what_came_stays
from app.ui.standing import standing
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.answering import Answering
    from app.ui.baseline_control import BaselineControl
    from app.ui.choices import Choices
    from app.ui.engine_control import EngineControl
    from app.ui.main_window import MainWindow

_NOW = tr("now")

_EARLY_S, _LATE_MS = 0.1, 250
"""What is due so soon is shown with the text that has come: each time that the window wakes costs the engine a core.
Where nothing comes, it is shown so much later by itself."""


class PanelControl(QObject):
    """Shows what is measured: of the person's questions, and of a baseline that is being recorded."""

    def __init__(
        self, window: MainWindow, host: Host, engine: EngineControl, answering: Answering, choices: Choices
    ) -> None:
        super().__init__(window)
        self._window, self._host = window, host
        self._answering, self._choices = answering, choices
        self._panel = window.panel
        self._charts = ChartControl(window, host.session)
        self._baselines: BaselineControl | None = None
        self._is_plain: bool | None = None  # of the answer that has been asked for and said nothing yet
        self._show = QTimer(self, singleShot=True)
        self._show.timeout.connect(self.on_show_due)
        self._shown_s = self._next_s = 0.0
        self._unsubscribe = host.session.subscribe(self.refresh)
        answering.began.connect(self.on_began)
        answering.stepped.connect(self.on_steps)
        answering.ended.connect(self.on_ended)
        engine.loaded_changed.connect(self.refresh)
        self._panel.switch_off_requested.connect(self.on_switch_off)
        window.pair_bar.speculation_toggled.connect(lambda _is_on: self.refresh())  # what is offered depends on it
        self.refresh()

    def install_charts(self) -> None:
        """Load pyqtgraph and draw; the window has been painted by now."""
        self._charts.install()
        what_came_stays()
        self.refresh()

    def follow(self, baselines: BaselineControl) -> None:
        """Show what is measured for a baseline, too."""
        self._baselines = baselines
        baselines.began.connect(self.on_began)
        baselines.stepped.connect(self.on_steps)
        baselines.ended.connect(self.on_ended)
        baselines.changed.connect(self._enable)

    async def close(self) -> None:
        """Show nothing any more."""
        self._unsubscribe()
        self._show.stop()

    # --- measuring ------------------------------------------------------------------------------------

    def on_began(self, is_drafting: bool) -> None:
        """Make ready for a curve; it begins with the first word, as another program's answer may still come before."""
        loaded = self._host.state.loaded
        self._charts.leave_cores(loaded.n_threads if loaded is not None else 0)
        self._panel.hold(is_held=True)
        self._charts.end()
        self._is_plain = not is_drafting
        self._enable()

    def on_steps(self, steps: tuple[Step, ...]) -> None:
        """Add steps to the curve; they show with the next tick."""
        if self._is_plain is not None:
            is_lossy = not self._is_plain and self._choices.settings.lenient > 0
            self._charts.begin(is_plain=self._is_plain, is_lossy=is_lossy)
            self._is_plain = None
            self._shown_s = monotonic()  # the first steps make no curve yet
        self._charts.add(*steps)
        if not self._charts.is_live or not self._panel.isVisible():
            return
        if not self._show.isActive():
            self._next_s = self._shown_s + self._charts.next_ms() / 1000
            self._show.start(max(0, round(1000 * (self._next_s - monotonic()))) + _LATE_MS)
        if monotonic() >= self._next_s - _EARLY_S:
            self.on_show_due()

    def on_show_due(self) -> None:
        """Show the speed of now."""
        self._show.stop()
        self._shown_s = monotonic()
        if self._panel.isVisible() and (tps := self._charts.tps) is not None:
            self._panel.show_speed(tps, _NOW)
        self._charts.mark_stale()

    def on_ended(self) -> None:
        """Show the figures of the whole answer."""
        self._charts.end()
        self._is_plain = None
        self._show.stop()
        self._panel.hold(is_held=False)
        self.refresh()

    def refresh(self) -> None:
        """Show everything that is known now."""
        session = self._host.session
        runs = session.runs
        if not self._charts.is_live:
            is_of_last = bool(runs) and not self._answering.is_remote  # of a server's answer no speed was measured
            self._panel.show_speed(runs[-1].decode_tps if is_of_last else None, tr("last answer") if runs else "")
        self._panel.show_standing(standing(session, is_on=self._choices.settings.speculation))
        self._charts.refresh()
        self._enable()

    def on_switch_off(self) -> None:
        """Switch speculation off, as the panel offered; the verdict stays, the offer goes."""
        if self._choices.settings.speculation:
            self._window.pair_bar.toggle_speculation()
        self.refresh()

    def _enable(self) -> None:
        is_recording = self._baselines is not None and self._baselines.is_recording
        is_free = self._host.state.loaded is not None and not self._answering.is_busy and not is_recording
        self._panel.enable_actions(can_record=is_free, can_export=bool(self._host.session.runs))
