"""A switch: on or off, drawn as a knob in a track, with the words beside it saying which."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.ui.theme import GRID, colours

_TRACK_W, _TRACK_H, _KNOB_GAP = 34, 18, 3


class Switch(QAbstractButton):
    """A check box that looks like a switch; screen readers hear a check box."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setText(text)
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        """Room for the track and the words."""
        words = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(_TRACK_W + GRID + words + 6, max(_TRACK_H, self.fontMetrics().height()) + 8)

    def minimumSizeHint(self) -> QSize:
        """Room for the track and the words."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the track, the knob and the words."""
        scheme = colours()
        is_on = self.isChecked() and self.isEnabled()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(3, (self.height() - _TRACK_H) / 2, _TRACK_W, _TRACK_H)
        painter.setPen(QPen(QColor(scheme.accent if is_on else scheme.muted), 1.5))
        painter.setBrush(QColor(scheme.accent if is_on else scheme.base))
        painter.drawRoundedRect(track, _TRACK_H / 2, _TRACK_H / 2)
        radius = _TRACK_H / 2 - _KNOB_GAP
        x = track.right() - _TRACK_H / 2 if self.isChecked() else track.left() + _TRACK_H / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(scheme.on_accent if is_on else scheme.muted))
        painter.drawEllipse(QPointF(x, track.center().y()), radius, radius)
        painter.setPen(QColor(scheme.text if self.isEnabled() else scheme.muted))
        words = QRectF(track.right() + GRID, 0, self.width() - track.right() - GRID, self.height())
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())
        if self.hasFocus():
            painter.setPen(QPen(QColor(scheme.accent), 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
