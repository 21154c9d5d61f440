"""Colours, dashes and marks of the charts: nine of each can be told apart, also by those who see fewer colours.

The colours of answers that are compared are those of Okabe and Ito (*Color universal design*, 2008), darkened for a
light ground and lightened for a dark one. Each comes with its own dash and mark: none is carried by colour alone.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen

from app.ui.theme import Colours, colours

_LIGHT = ("#0072b2", "#b35900", "#007a5a", "#a8326e", "#5b3fa8", "#6b6b00")
_DARK = ("#56b4e9", "#e69f00", "#2fc99a", "#f09ac8", "#b49cff", "#f0e442")
_DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
    Qt.PenStyle.SolidLine,
)
MARKS = ("o", "s", "t", "d", "star", "+")
"""pyqtgraph's names of marks."""

GLYPHS = ("●", "■", "▼", "◆", "★", "✚")
"""The same marks in words."""

N_SERIES = len(MARKS)


class Look(NamedTuple):
    """How a series is drawn."""

    colour: str
    pen: QPen
    mark: str
    glyph: str


def _pen(colour: str, width: float = 2.0, dash: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    pen = QPen(QColor(colour), width, dash)
    pen.setCosmetic(True)
    return pen


@cache
def _look(scheme: Colours, n: int) -> Look:
    colour = (_DARK if scheme.is_dark else _LIGHT)[n % N_SERIES]
    return Look(colour, _pen(colour, 2.0, _DASHES[n % N_SERIES]), MARKS[n % N_SERIES], GLYPHS[n % N_SERIES])


def look(n: int) -> Look:
    """Return how the n-th series is drawn, counted from 0."""
    return _look(colours(), n)


@cache
def _named(scheme: Colours, name: str) -> QPen:
    dimmed = QColor(scheme.muted)
    dimmed.setAlpha(110)
    pens = {
        "drafted": _pen(scheme.accent),
        "plain": _pen(scheme.plain, 2.0, Qt.PenStyle.DashLine),
        "paused": _pen(scheme.muted, 6.0),
        "limit": _pen(scheme.muted, 1.0, Qt.PenStyle.DotLine),
    }
    if name == "dimmed":
        pen = QPen(dimmed, 1.0)
        pen.setCosmetic(True)
        return pen
    return pens[name]


def pen_of(name: str) -> QPen:
    """Return the pen of drafted, plain, paused or dimmed stretches, or of the limit; always the same one."""
    return _named(colours(), name)


def tint(colour: str, alpha: int = 60) -> QColor:
    """Return a colour to fill with."""
    tinted = QColor(colour)
    tinted.setAlpha(alpha)
    return tinted


def key(colour: str, glyph: str, words: str) -> str:
    """Return an entry of a legend as rich text."""
    return f'<span style="color:{colour}">{glyph}</span>&nbsp;{words}'
