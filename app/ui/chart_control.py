"""What the charts and the list of answers show: the traces of this session, which are selected, pictures of them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app.errors import SlipstreamError, import_hint
from app.ui.figures import answer_title, band_of, comparison_words, facts_of
from app.ui.tr import tr
from app.ui.trace import MAX_TRACES, LiveTrace, Timeline

if TYPE_CHECKING:
    from app.metrics.recorder import SessionLog
    from app.metrics.values import Run
    from app.protocol import Step
    from app.ui.main_window import MainWindow

logger = logging.getLogger(__name__)

_NO_CHARTS_MS = 200
_MOST_WAITING = 512
"""So many steps are not taken in before somebody looks; to take them in at one go takes some milliseconds."""


class ChartControl(QObject):
    """Turns steps and runs into traces, and the person's selection into what is shown."""

    def __init__(self, window: MainWindow, session: SessionLog) -> None:
        super().__init__(window)
        self._window, self._panel, self._session = window, window.panel, session
        self._timeline = Timeline()
        self._live: LiveTrace | None = None
        self._waiting: list[Step] = []
        self._n_runs = 0
        self._newest = ""
        self._titles: list[tuple[str, str]] = []
        self._selected: tuple[str, ...] = ()
        self._panel.selection_changed.connect(self.on_selected)

    @property
    def timeline(self) -> Timeline:
        """The traces of this session."""
        return self._timeline

    @property
    def tps(self) -> float | None:
        """Decode speed of the answer that runs, over the last two seconds."""
        self._take_in()
        return self._live.tps if self._live is not None else None

    @property
    def is_live(self) -> bool:
        """Whether an answer runs."""
        return self._live is not None

    def install(self) -> None:
        """Load pyqtgraph and draw, or say why not; the window has been painted by now."""
        try:
            from app.ui.charts import SpeedCharts
        except ImportError as fault:
            logger.warning("no charts: %s", fault)
            words = tr("The charts cannot be shown: {fault}. {hint}")
            self._panel.do_without_charts(words.format(fault=fault, hint=import_hint(fault)))
            return
        charts = SpeedCharts()
        charts.show_timeline(self._timeline, is_following=True)
        charts.copy_requested.connect(self.on_copy)
        charts.save_requested.connect(self.on_save)
        self._panel.install_charts(charts)

    # --- measuring ------------------------------------------------------------------------------------

    def begin(self, *, is_plain: bool, is_lossy: bool = False) -> None:
        """Begin a curve."""
        self.end()
        self._live = self._timeline.begin(is_plain=is_plain, is_lossy=is_lossy)
        self._panel.show_charts(has_data=True)

    def add(self, *steps: Step) -> None:
        """Add steps to the curve; they are taken in when it is drawn, many at one go."""
        if self._live is not None:
            self._waiting += steps
            if len(self._waiting) >= _MOST_WAITING:
                self._take_in()

    def _take_in(self) -> None:
        waiting, self._waiting = self._waiting, []
        if self._live is not None:
            for step in waiting:
                self._live.add(step)

    def end(self) -> None:
        """The answer has ended."""
        self._take_in()
        if self._live is not None:
            if not self._live.finish().run_id:  # the curve of its run is there already, or will be
                self._timeline.drop(self._live.trace)
            self._live = None

    def leave_cores(self, n_threads: int) -> None:
        """Take in with how many threads the engine computes: drawing is to leave it what it needs."""
        if self._panel.charts is not None:
            self._panel.charts.pace.leave_cores(n_threads)

    def next_ms(self) -> int:
        """Return how long to wait before what has come is drawn: less often where it would slow down the engine."""
        charts = self._panel.charts
        return charts.pace.next_ms() if charts is not None else _NO_CHARTS_MS

    def mark_stale(self) -> None:
        """Draw what has come, if anybody can see it."""
        self._take_in()
        if self._panel.charts is not None:
            self._panel.charts.mark_stale()

    # --- showing --------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the runs of the session as they are now."""
        self._take_in()
        runs = self._session.runs
        if len(runs) < self._n_runs or (self._n_runs and runs[self._n_runs - 1].id != self._newest):
            self._begin_anew()
        for number, run in enumerate(runs[self._n_runs :], start=self._n_runs + 1):
            self._take(run, number)
        self._n_runs, self._newest = len(runs), runs[-1].id if runs else ""
        self._titles = self._titles[-MAX_TRACES:]
        self._panel.show_answers(self._titles)
        self._show_selected()
        if self._panel.charts is not None:
            band = band_of(self._session.current_baseline())
            self._panel.charts.show_band(band)
            self._panel.charts.note_change()
            self._panel.show_charts(has_data=bool(self._timeline.traces or band))

    def _take(self, run: Run, number: int) -> None:
        """Give the curve that is there the run's name; a run that was not watched gets its curve now."""
        self._titles.append((run.id, answer_title(run, number)))
        if self._live is not None and not self._live.trace.run_id:
            self._live.trace.run_id, self._live.trace.number = run.id, number
        else:
            self._timeline.add_run(run, number)

    def _begin_anew(self) -> None:
        """Another session: its axis starts at zero."""
        live, self._timeline = self._live, Timeline()
        self._n_runs, self._titles = 0, []
        if live is not None:
            self._live = self._timeline.begin(is_plain=live.trace.is_plain, is_lossy=live.trace.is_lossy)
        if self._panel.charts is not None:
            self._panel.charts.show_timeline(self._timeline, is_following=True)

    def on_selected(self, ids: tuple[str, ...]) -> None:
        """Let the selected answers stand out."""
        self._selected = ids
        self._show_selected()
        if self._panel.charts is not None:
            self._panel.charts.show_selected(ids)

    def _show_selected(self) -> None:
        """Show the figures of the selected answer, or of the newest; of two, what they are against each other."""
        runs = self._session.runs
        chosen = [(n, run) for n, run in enumerate(runs, start=1) if run.id in self._selected]
        shown = chosen[-1][1] if chosen else runs[-1] if runs else None
        self._panel.show_facts(facts_of(shown) if shown is not None else ())
        self._panel.show_comparison(comparison_words(chosen))

    # --- pictures -------------------------------------------------------------------------------------

    def on_copy(self) -> None:
        """Put a picture of the charts on the clipboard."""
        from app.ui.chart_picture import copy_picture

        if self._panel.charts is not None:
            copy_picture(self._panel.charts.page.stack)
            self._window.notice.say("info", tr("The charts are on the clipboard."), expires_s=5)

    def on_save(self) -> None:
        """Ask where to save a picture of the charts."""
        from app.ui.chart_picture import KINDS

        dialog = QFileDialog(self._window, tr("Save a picture of the charts"), "", KINDS)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile("slipstream-charts.png")
        dialog.fileSelected.connect(lambda name: self.save(Path(name), dialog.selectedNameFilter()))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def save(self, path: Path, kind: str = "") -> None:
        """Write a picture of the charts that are shown; say where it is, or why it could not be written."""
        from app.ui.chart_picture import save_picture

        if self._panel.charts is None:
            return
        if kind.startswith("SVG") and path.suffix.lower() != ".svg":
            path = path.with_suffix(".svg")
        try:
            written = save_picture(self._panel.charts.page.stack, path)
        except SlipstreamError as fault:
            self._window.notice.say("error", fault.message, fault.hint)
        else:
            self._window.notice.say("info", tr("Saved {written}.").format(written=written), expires_s=8)
