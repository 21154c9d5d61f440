"""The charts of the panel: which page of them is shown, which stretch of time, and the values below the pointer.

They are redrawn when they are told to, which :attr:`SpeedCharts.pace` says how often to do, and never while hidden.
Nobody imports this module before the window is painted: pyqtgraph comes with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.ui.chart_pages import Page, Scene
from app.ui.chart_plot import NUDGE, ZOOM
from app.ui.chart_range import TimeRange
from app.ui.chart_tallies import ContextPage, PositionPage
from app.ui.chart_time import StepsPage, TimePage
from app.ui.font_size import font_bus
from app.ui.pace import Pace
from app.ui.theme import GRID, IconButton, follow, named, number_font
from app.ui.tr import tr
from app.ui.trace import Band, Timeline

REDRAW_MS = 200
"""A minute on the width of the panel: the curve takes longer to grow by a pixel."""

TALLY_MS = 500
"""Pages of what has added up change slowly."""

LONGEST_MS = 1000

_PAGES: tuple[Callable[[], Page], ...] = (TimePage, StepsPage, PositionPage, ContextPage)
_NAMES = (TimePage.name, StepsPage.name, PositionPage.name, ContextPage.name)
_HINT = tr("Point at a chart for values, or use ← →.")


def is_calm() -> bool:
    """Whether the person wants less motion: animations are switched off in the system."""
    return not QApplication.isEffectEnabled(Qt.UIEffect.UI_General)


class SpeedCharts(QWidget):
    """The pages, what to choose between them, and the values at the cursor."""

    copy_requested = Signal()
    save_requested = Signal()

    def __init__(self, parent: QWidget | None = None, *, is_picture: bool = False) -> None:
        """Make the charts; a picture of a session has no controls and shows all of it."""
        super().__init__(parent)
        self._scene = Scene()
        self._range = TimeRange(is_calm=is_calm())
        self._pages: dict[int, Page] = {}
        self._cursor: float | None = None
        self._place = QStackedLayout()
        self._choice = QComboBox()
        self._live = QToolButton()
        self._live.setText(tr("Live"))
        self._live.setCheckable(True)
        self._live.setAutoRaise(True)
        self._more = IconButton("more", tr("Zoom, copy, save"))
        self._menu = QMenu(self)
        self._values = named(QLabel(_HINT, wordWrap=True), "muted")
        self.pace = Pace(REDRAW_MS, LONGEST_MS)
        self._is_stale = True
        self._is_due = False
        self._controls = QWidget()
        self._build()
        self._fill()
        if is_picture:
            self._range.whole()
            self._controls.hide()
            self._values.hide()
        self.show_page(0)
        follow(self._restyle)
        font_bus().changed.connect(self._restyle)

    def _build(self) -> None:
        row = QHBoxLayout(self._controls)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID // 2)
        row.addWidget(self._choice, 1)
        row.addWidget(self._live)
        row.addWidget(self._more)
        self._values.setFont(number_font(-1.0))
        self._values.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._values.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._place.setContentsMargins(0, 0, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self._controls)
        column.addLayout(self._place, 1)
        column.addWidget(self._values)

    def _fill(self) -> None:
        self._choice.addItems(_NAMES)
        self._choice.setAccessibleName(tr("Charts"))
        self._choice.setToolTip(tr("Which charts are shown"))
        self._choice.setMinimumContentsLength(8)
        self._choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._choice.activated.connect(self.show_page)
        self._live.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._live.setToolTip(tr("Follow what happens now: the last minute"))
        self._live.setAccessibleDescription(tr("Follow what happens now"))
        self._live.clicked.connect(lambda on: self.on_asked("follow" if on else "stay"))
        self._more.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._more.clicked.connect(lambda: self._menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft())))
        for words, then in (
            (tr("Zoom in"), lambda: self.on_zoomed(1 / ZOOM**2, None)),
            (tr("Zoom out"), lambda: self.on_zoomed(ZOOM**2, None)),
            (tr("Whole session"), lambda: self.on_asked("whole")),
            (tr("Follow live"), lambda: self.on_asked("follow")),
        ):
            self._menu.addAction(words).triggered.connect(lambda _on=False, then=then: then())
        self._menu.addSeparator()
        self._menu.addAction(tr("Copy as picture")).triggered.connect(self.copy_requested)
        self._menu.addAction(tr("Save picture…")).triggered.connect(self.save_requested)

    # --- content --------------------------------------------------------------------------------------

    @property
    def page(self) -> Page:
        """The page that is shown."""
        return self._pages[self._choice.currentIndex()]

    @property
    def time_range(self) -> TimeRange:
        """The stretch of time that is shown."""
        return self._range

    @property
    def values(self) -> str:
        """What is said about the place below the cursor."""
        return str(self._values.text())

    def show_page(self, number: int) -> None:
        """Show these charts; they are made when they are first wanted."""
        if number not in self._pages:
            page = self._pages[number] = _PAGES[number]()
            self._place.addWidget(page.stack)
            page.stack.pointed.connect(self.on_pointed)
            page.stack.nudged.connect(self.on_nudged)
            page.stack.zoomed.connect(self.on_zoomed)
            page.stack.panned.connect(self.on_panned)
            page.stack.asked.connect(self.on_asked)
            page.stack.meter(self.pace)
            page.stack.restyle()
        self._choice.setCurrentIndex(number)
        page = self.page
        self._place.setCurrentWidget(page.stack)
        self.pace.least_ms = REDRAW_MS if page.is_over_time else TALLY_MS
        self.on_pointed(None)
        self._show_state()
        self._describe()
        self.mark_stale()

    def show_timeline(self, timeline: Timeline, *, is_following: bool) -> None:
        """Draw this timeline: its last minute, or all of it."""
        self._scene = replace(self._scene, timeline=timeline)
        if is_following:
            self._range.follow()
        else:
            self._range.whole()
        self.note_change()

    def show_band(self, band: Band | None) -> None:
        """Draw the baseline, or take it away."""
        if band != self._scene.band:
            self._scene = replace(self._scene, band=band)
            self.note_change()

    def show_selected(self, run_ids: tuple[str, ...]) -> None:
        """Let these answers stand out, and show the time they took; none: follow what happens now."""
        if run_ids == self._scene.selected:
            return
        self._scene = replace(self._scene, selected=run_ids)
        if chosen := self._scene.chosen():
            self._range.show(chosen[0].starts_s - 0.5, max(trace.ends_s for trace in chosen) + 0.5)
        elif not run_ids:
            self._range.follow()
        self.note_change()

    def note_change(self) -> None:
        """Something other than the steps of the answer that runs has changed."""
        self._show_state()
        self._describe()
        self.mark_stale()

    def mark_stale(self) -> None:
        """Redraw when what is going on now is done, if anybody can see it."""
        self._is_stale = True
        if self.isVisible() and not self._is_due:
            self._is_due = True
            QTimer.singleShot(0, self, self._draw_if_stale)

    def redraw(self) -> None:
        """Draw what there is now."""
        self._is_stale = False
        with self.pace.metered():
            self._scene = replace(self._scene, stretch=self._range.limits(self._scene.timeline.ends_s))
            self.page.draw(self._scene)

    def _draw_if_stale(self) -> None:
        self._is_due = False
        if self._is_stale and self.isVisible():
            self.redraw()

    # --- what the person wants to see -----------------------------------------------------------------

    def on_pointed(self, at: float | None) -> None:
        """Say the values at a place, or nothing."""
        self._cursor = at
        words = "" if at is None else self.page.values_at(self._scene, at)
        self.page.stack.show_cursor(at if words else None)
        self._values.setText(words or _HINT)

    def on_nudged(self, way: int) -> None:
        """Move the cursor by the keyboard, and say aloud what is there."""
        first, last = self.page.stack.plots[0].x_range
        newest = min(last, self._scene.timeline.ends_s) if self.page.is_over_time else last
        at = newest if self._cursor is None else self._cursor
        if places := self.page.places():
            nearest = min(range(len(places)), key=lambda n: abs(places[n] - at))
            step = 0 if self._cursor is None else way
            at = places[min(max(0, nearest + step), len(places) - 1)]
        else:
            at = min(max(first, at + way * NUDGE * (last - first)), last)
        self.on_pointed(at)
        plot = next((plot for plot in self.page.stack.plots if plot.hasFocus()), None)
        if plot is not None:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(plot, self.values))

    def on_zoomed(self, factor: float, at: float | None) -> None:
        """Show a longer or shorter stretch of time."""
        if self.page.is_over_time:
            self._range.zoom(factor, at, self._scene.timeline.ends_s)
            self._after_move()

    def on_panned(self, by: float) -> None:
        """Show an earlier or a later stretch of time."""
        if self.page.is_over_time:
            self._range.pan(by, self._scene.timeline.ends_s)
            self._after_move()

    def on_asked(self, what: str) -> None:
        """Show the whole session, what happens now, or stay where it is."""
        if what == "whole":
            self._range.whole()
        elif what == "follow":
            self._range.follow()
        else:
            self._range.show(*self._range.limits(self._scene.timeline.ends_s))
        self._after_move()

    def _after_move(self) -> None:
        self._show_state()
        self.mark_stale()

    def _show_state(self) -> None:
        self._live.setChecked(self._range.is_following)
        is_over_time = self.page.is_over_time
        self._live.setEnabled(is_over_time)
        for action in self._menu.actions()[:4]:
            action.setEnabled(is_over_time)

    # --- looks ----------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what happened while hidden."""
        super().showEvent(event)
        self.mark_stale()

    def hideEvent(self, event: QHideEvent) -> None:
        """Draw nothing while hidden."""
        super().hideEvent(event)
        self._is_stale = True

    def _describe(self) -> None:
        self.page.describe(self._scene)

    def _restyle(self) -> None:
        self._values.setFixedHeight(2 * self._values.fontMetrics().lineSpacing() + 2)
        for page in self._pages.values():
            page.stack.restyle()
        self._describe()
        self.mark_stale()
