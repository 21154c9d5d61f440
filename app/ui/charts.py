"""The two charts: decode speed over the baseline band, and draft acceptance, on one time axis.

This is the only module that imports pyqtgraph, and nobody imports this one before the window is painted.
Drafted answers are solid lines, plain ones dashed: colour is the second carrier.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import pyqtgraph as pg
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.ui.theme import Colours, colours, follow, number_font, text_font
from app.ui.trace import Band, Timeline, Trace

FOLLOW_S = 60.0
"""How much of the session the live charts show."""

REDRAW_MS = 100
_HEADROOM = 1.15
_AXIS_PX = 46
_LEAST_PX = (120, 90)


def _make_plot(name: str) -> pg.PlotWidget:
    """Make a chart that leaves wheel and drag to the panel."""
    plot = pg.PlotWidget(enableMenu=False)
    plot.setAccessibleName(name)
    plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
    plot.setFrameShape(QFrame.Shape.NoFrame)
    plot.setMouseEnabled(x=False, y=False)
    plot.setMinimumSize(*_LEAST_PX)
    plot.hideButtons()
    plot.getAxis("left").setWidth(_AXIS_PX)
    return plot


def _dress(plot: pg.PlotWidget, scheme: Colours) -> None:
    plot.setBackground(QColor(scheme.base))
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(pg.mkPen(scheme.border))
        axis.setTextPen(pg.mkPen(scheme.muted))
        axis.setStyle(tickFont=number_font(-1.5), tickLength=4, maxTickLevel=1)
    plot.showGrid(y=True, alpha=0.15)


def _since(since_s: float, at_s: list[float], values: list[float]) -> tuple[list[float], list[float]]:
    """Return the part of a curve from a moment on, with the point before it: what is out of sight costs nothing."""
    start = max(0, bisect_left(at_s, since_s) - 1)
    return at_s[start:], values[start:]


class SpeedCharts(QWidget):
    """Both charts with their captions. Redrawn ten times a second at most, and never while hidden."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._timeline = Timeline()
        self._band: Band | None = None
        self._is_following = True
        self._speed_caption, self._acceptance_caption = self._caption(), self._caption()
        self._speed = _make_plot("Chart of decode speed")
        self._acceptance = _make_plot("Chart of draft acceptance")
        self._speed_lines: list[pg.PlotDataItem] = []
        self._acceptance_lines: list[pg.PlotDataItem] = []
        self._area = pg.LinearRegionItem(orientation="horizontal", movable=False)
        self._median = pg.InfiniteLine(angle=0)
        for depth, item in ((-20, self._area), (-10, self._median)):
            item.setZValue(depth)  # behind the curves
            self._speed.addItem(item, ignoreBounds=True)
            item.hide()
        self._speed.setXLink(self._acceptance)
        self._acceptance.setYRange(-0.08, 1.12, padding=0)
        self._acceptance.getAxis("left").setTicks([[(0, "0 %"), (0.5, "50 %"), (1, "100 %")]])
        self._redraw = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._redraw.timeout.connect(self.redraw)
        self._is_stale = True
        self._build()
        follow(self._restyle)

    def _caption(self) -> QLabel:
        label = QLabel(wordWrap=True)
        label.setTextFormat(Qt.TextFormat.RichText)
        label.setFont(text_font(-0.5))
        return label

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self._speed_caption)
        column.addWidget(self._speed, 3)
        column.addWidget(self._acceptance_caption)
        column.addWidget(self._acceptance, 2)

    # --- content --------------------------------------------------------------------------------------

    def show_timeline(self, timeline: Timeline, *, is_following: bool) -> None:
        """Draw this timeline: its last minute, or all of it."""
        self._timeline, self._is_following = timeline, is_following
        self.mark_stale()

    def show_band(self, band: Band | None) -> None:
        """Draw the baseline, or take it away."""
        self._band = band
        self._restyle_captions()
        self.mark_stale()

    def mark_stale(self) -> None:
        """Redraw soon, if anybody can see it."""
        self._is_stale = True
        if self.isVisible() and not self._redraw.isActive():
            self._redraw.start()

    def redraw(self) -> None:
        """Draw what there is now."""
        self._is_stale = False
        since_s = self._timeline.ends_s - FOLLOW_S if self._is_following else 0.0
        shown = [trace for trace in self._timeline.traces if trace.at_s and trace.ends_s >= since_s]
        speeds = ((t, *_since(since_s, t.at_s, t.tps)) for t in shown)
        acceptances = ((t, *_since(since_s, t.acceptance_at_s, t.acceptance)) for t in shown if t.acceptance)
        self._draw_lines(self._speed, self._speed_lines, speeds)
        self._draw_lines(self._acceptance, self._acceptance_lines, acceptances)
        self._draw_band()
        ends_s = max(self._timeline.ends_s, 5.0)
        self._acceptance.setXRange(max(0.0, since_s), ends_s, padding=0.02)
        top = max((max(_since(since_s, t.at_s, t.tps)[1], default=0.0) for t in shown), default=0.0)
        self._speed.setYRange(0, max(top, self._band.high if self._band else 0.0, 1.0) * _HEADROOM, padding=0)

    def _draw_lines(
        self,
        plot: pg.PlotWidget,
        lines: list[pg.PlotDataItem],
        curves: Iterable[tuple[Trace, list[float], list[float]]],
    ) -> None:
        """Reuse the line items that are there: making them anew is what costs."""
        n = 0
        for n, (trace, x, y) in enumerate(curves, start=1):
            if n > len(lines):
                lines.append(plot.plot())
            lines[n - 1].setData(x, y)
            lines[n - 1].setPen(self._pen(is_plain=trace.is_plain))
            lines[n - 1].show()
        for line in lines[n:]:
            line.hide()

    def _pen(self, *, is_plain: bool) -> pg.mkPen:
        scheme = colours()
        if is_plain:
            return pg.mkPen(scheme.plain, width=2, style=Qt.PenStyle.DashLine)
        return pg.mkPen(scheme.accent, width=2)

    def _draw_band(self) -> None:
        self._area.setVisible(self._band is not None)
        self._median.setVisible(self._band is not None)
        if self._band is not None:
            self._area.setRegion((self._band.low, self._band.high))
            self._median.setValue(self._band.median)

    # --- looks ----------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what happened while hidden."""
        super().showEvent(event)
        if self._is_stale:
            self._redraw.start(0)

    def hideEvent(self, event: QHideEvent) -> None:
        """Draw nothing while hidden."""
        super().hideEvent(event)
        self._redraw.stop()
        self._is_stale = True

    def _restyle(self) -> None:
        scheme = colours()
        _dress(self._speed, scheme)
        _dress(self._acceptance, scheme)
        band = QColor(scheme.muted)
        band.setAlpha(70)
        self._area.setBrush(band)
        for edge in self._area.lines:
            edge.setPen(pg.mkPen(None))
        self._median.setPen(pg.mkPen(scheme.muted, width=1, style=Qt.PenStyle.DotLine))
        self._restyle_captions()
        self.mark_stale()

    def _restyle_captions(self) -> None:
        scheme = colours()
        drafted = f'<span style="color:{scheme.accent}">━</span> drafted'
        plain = f'<span style="color:{scheme.plain}">╌</span> plain'
        band = f' &nbsp;<span style="color:{scheme.muted}">▒</span> baseline' if self._band else ""
        self._speed_caption.setText(f"<b>Decode speed</b>, tok/s: {drafted} &nbsp;{plain}{band}")
        self._acceptance_caption.setText("<b>Draft acceptance</b>, accepted ÷ proposed, last 2 s")
