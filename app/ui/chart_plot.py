"""One chart: axes, band, cursor and lines, made to be redrawn some times a second at little cost.

Only what has changed is set anew: ranges and ticks stand still while they can, and a line that shows what it showed is
not touched. This module and those that use it import pyqtgraph; nobody imports them before the window is painted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsItem, QSizePolicy, QVBoxLayout, QWidget

from app.ui.chart_data import NOTHING, Curve
from app.ui.theme import Colours, colours, number_font

if TYPE_CHECKING:
    from app.ui.pace import Pace
    from app.ui.trace import Band

AXIS_PX = 42
LEAST_PX = (120, 72)
ZOOM = 1.25
"""How much a step of the wheel, or a key, zooms."""

NUDGE = 0.02
"""How far an arrow key moves the cursor, of what is shown."""

_KEYS = {
    Qt.Key.Key_Home: "whole",
    Qt.Key.Key_End: "follow",
    Qt.Key.Key_Plus: "in",
    Qt.Key.Key_Equal: "in",
    Qt.Key.Key_Minus: "out",
}


class _Curve(pg.PlotCurveItem):  # type: ignore[misc]  # pyqtgraph has no types
    """A curve as large as the plane: where its own lowest and highest points are is looked up at every painting."""

    plane = QRectF()

    def boundingRect(self) -> QRectF:
        """Take the plane, which the view clips to."""
        return self.plane


class Line:
    """A line item that knows what it shows."""

    def __init__(self, plot: pg.PlotItem, depth: float = 0.0) -> None:
        self._item = _Curve(antialias=True, skipFiniteCheck=True)
        self._item.setZValue(depth)
        self._item.hide()
        self._pen: QPen | None = None
        self.curve = NOTHING
        plot.addItem(self._item, ignoreBounds=True)

    @property
    def is_shown(self) -> bool:
        """Whether there is anything to see."""
        return bool(self._item.isVisible())

    def fit(self, plane: QRectF) -> None:
        """Take this part of the plane."""
        self._item.prepareGeometryChange()
        self._item.plane = plane

    def show(self, curve: Curve, pen: QPen, *, fill: QColor | None = None) -> None:
        """Draw this curve, unless it is what is drawn already."""
        x, y = curve
        if pen is not self._pen:
            self._pen = pen
            self._item.setPen(pen)
            # Stroking a wide line as one path is what takes longest; dashes need it, or begin anew at every point.
            self._item.setSegmentedLineMode("on" if pen.style() == Qt.PenStyle.SolidLine else "off")
            if fill is not None:
                self._item.setFillLevel(0.0)
                self._item.setBrush(fill)
        if not self._is_drawn(curve):
            self.curve = curve
            known = np.isfinite(y)
            joined = np.append(known[1:] & known[:-1], False) if len(y) else known
            gaps = "all" if known.all() else joined.astype(np.int32)
            self._item.setData(x, np.where(known, y, 0.0), connect=gaps)
        is_shown = len(x) > 1
        if is_shown != self._item.isVisible():
            self._item.setVisible(is_shown)

    def _is_drawn(self, curve: Curve) -> bool:
        (x, y), (drawn_x, drawn_y) = curve, self.curve
        return curve is self.curve or (np.array_equal(x, drawn_x) and np.array_equal(y, drawn_y, equal_nan=True))


class _View(pg.PlotWidget):  # type: ignore[misc]  # as above
    """What paints, and knows what that takes."""

    pace: Pace | None = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint, on the clock of the charts."""
        if self.pace is None:
            super().paintEvent(event)
        else:
            with self.pace.metered():
                super().paintEvent(event)


class ChartPlot(QWidget):
    """A chart. It reports what the person wants to see; others decide what that is."""

    pointed = Signal(object)
    """A place on the x axis, or ``None`` when the pointer has left."""

    nudged = Signal(int)
    """The cursor is to go so many steps."""

    zoomed = Signal(float, object)
    panned = Signal(float)
    asked = Signal(str)

    def __init__(self, name: str, meaning: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setAccessibleDescription(meaning)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.setMinimumSize(*LEAST_PX)
        self._view = _View(self, enableMenu=False)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._view.setFrameShape(QFrame.Shape.NoFrame)
        self._view.setMouseEnabled(x=False, y=False)
        self._view.setMinimumSize(*LEAST_PX)
        self._view.viewport().setMouseTracking(True)
        self._view.viewport().installEventFilter(self)
        self.plot = self._view.plotItem
        self.plot.hideButtons()
        menu = self.plot.ctrlMenu  # made whether or not it is wanted, and owned by nobody
        menu.setParent(self, menu.windowFlags())
        self.plot.vb.disableAutoRange()
        self.plot.setContentsMargins(0, 2, 6, 0)
        self.plot.getAxis("left").setWidth(AXIS_PX)
        for side in ("left", "bottom"):
            self.plot.getAxis(side).setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)  # texts are slow
            self.plot.getAxis(side).enableAutoSIPrefix(False)  # of a label that there is not
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)  # for the frame that shows the focus
        column.addWidget(self._view)
        self._lines: list[Line] = []
        self._x: tuple[float, float] | None = None
        self._y: tuple[float, float] | None = None
        self._drag_px: float | None = None
        self._cursor = pg.InfiniteLine(angle=90)
        self._area = pg.LinearRegionItem(orientation="horizontal", movable=False)
        self._median = pg.InfiniteLine(angle=0)
        self._band: Band | None = None
        for depth, item in ((-20, self._area), (-10, self._median), (10, self._cursor)):
            item.setZValue(depth)
            self.plot.addItem(item, ignoreBounds=True)
            item.hide()

    # --- what it shows --------------------------------------------------------------------------------

    @property
    def px(self) -> int:
        """Places along the x axis that can be told apart: a line is two pixels wide."""
        return max(40, int(self.width() - AXIS_PX - 8) // 2)

    @property
    def x_range(self) -> tuple[float, float]:
        """What the x axis shows."""
        return self._x or (0.0, 1.0)

    def meter(self, pace: Pace) -> None:
        """Have what painting takes counted."""
        self._view.pace = pace

    def line(self, depth: float = 0.0) -> Line:
        """Add a line."""
        line = Line(self.plot, depth)
        self._lines.append(line)
        return line

    def show_range(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Show this part of the plane."""
        if (x, y) == (self._x, self._y):
            return
        if x != self._x:
            self.plot.vb.setXRange(*x, padding=0)
        if y != self._y:
            self.plot.vb.setYRange(*y, padding=0)
        self._x, self._y = x, y
        plane = QRectF(x[0], y[0], x[1] - x[0], y[1] - y[0])
        for line in self._lines:
            line.fit(plane)

    def show_band(self, band: Band | None) -> None:
        """Draw a band with its median, or take it away."""
        if band != self._band:
            self._band = band
            self._area.setVisible(band is not None)
            self._median.setVisible(band is not None)
            if band is not None:
                self._area.setRegion((band.low, band.high))
                self._median.setValue(band.median)

    def show_cursor(self, at: float | None) -> None:
        """Mark a place on the x axis."""
        self._cursor.setVisible(at is not None)
        if at is not None:
            self._cursor.setValue(at)

    def show_ticks(self, side: str, ticks: list[tuple[float, str]]) -> None:
        """Label an axis at these places and nowhere else."""
        self.plot.getAxis(side).setTicks([ticks])

    def dress(self, scheme: Colours, *, has_bottom: bool) -> None:
        """Put on the colours."""
        self._view.setBackground(QColor(scheme.base))
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(pg.mkPen(scheme.border))
            axis.setTextPen(pg.mkPen(scheme.muted))
            axis.setStyle(
                tickFont=number_font(-1.5), tickLength=4, maxTickLevel=0, showValues=side == "left" or has_bottom
            )
        if not has_bottom:
            self.plot.getAxis("bottom").setHeight(6)
        self.plot.showGrid(y=True, alpha=0.15)
        band = QColor(scheme.muted)
        band.setAlpha(70)
        self._area.setBrush(band)
        for edge in self._area.lines:
            edge.setPen(pg.mkPen(None))
        self._median.setPen(pg.mkPen(scheme.muted, width=1, style=Qt.PenStyle.DotLine))
        self._cursor.setPen(pg.mkPen(scheme.text, width=1))

    # --- what the person does -------------------------------------------------------------------------

    def place_of(self, x_px: float) -> float:
        """Return the place on the x axis below a pixel."""
        scene = self._view.mapToScene(round(x_px), 0)
        return float(self.plot.vb.mapSceneToView(scene).x())

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Take the pointer's events before pyqtgraph does: it would look for what lies below at every move."""
        match event:
            case QWheelEvent():
                return self._wheel(event)
            case QMouseEvent():
                self._mouse(event)
                return True
        if event.type() == QEvent.Type.Leave:
            self.pointed.emit(None)
        return False

    def _wheel(self, event: QWheelEvent) -> bool:
        """Zoom about the pointer with Ctrl; without, the wheel scrolls the panel."""
        turns = event.angleDelta().y() / 120
        if not turns or not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return True
        self.zoomed.emit(ZOOM**-turns, self.place_of(event.position().x()))
        event.accept()
        return True

    def _mouse(self, event: QMouseEvent) -> None:
        """Point, drag, or go back to what happens now."""
        x_px, is_left = event.position().x(), event.button() == Qt.MouseButton.LeftButton
        match event.type():
            case QEvent.Type.MouseButtonPress if is_left:
                self._drag_px = x_px
                self.setFocus(Qt.FocusReason.MouseFocusReason)
            case QEvent.Type.MouseButtonRelease:
                self._drag_px = None
            case QEvent.Type.MouseButtonDblClick:
                self.asked.emit("follow")
            case QEvent.Type.MouseMove:
                self._move(x_px)

    def _move(self, x_px: float) -> None:
        place = self.place_of(x_px)
        if self._drag_px is not None:
            if by := self.place_of(self._drag_px) - place:
                self._drag_px = x_px
                self.panned.emit(by)
            return
        first, last = self.x_range
        self.pointed.emit(place if first <= place <= last else None)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Show that the keys go here."""
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QColor(colours().accent))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show it."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show it no more."""
        super().focusOutEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move the cursor, with Shift the stretch; plus and minus zoom; Home shows all, End what happens now."""
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            way = 1 if key == Qt.Key.Key_Right else -1
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                first, last = self.x_range
                self.panned.emit(way * (last - first) / 10)
            else:
                self.nudged.emit(way)
        elif key in _KEYS:
            what = _KEYS[key]
            if what in ("in", "out"):
                self.zoomed.emit(ZOOM if what == "out" else 1 / ZOOM, None)
            else:
                self.asked.emit(what)
        else:
            event.ignore()
            return
        event.accept()
