"""One size for all texts: larger or smaller than the system's by some points, at once.

Qt hands a new font on to widgets that have none of their own. Ours often have one, derived from it
(:func:`app.ui.theme.text_font`); those are moved by the same number of points.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QTextEdit, QTreeWidget, QTreeWidgetItem, QWidget


class _Bus(QObject):
    changed = Signal()


@cache
def font_bus() -> _Bus:
    """What says that the size has changed, for those who measured texts."""
    return _Bus()


@cache
def _system_pt() -> float:
    return float(QApplication.font().pointSizeF())


def font_extra_pt() -> float:
    """By how many points texts are larger than the system's."""
    return float(QApplication.font().pointSizeF()) - _system_pt()


def choose_font_size(extra_pt: float) -> None:
    """Make all texts larger than the system's by so many points."""
    step = _system_pt() + extra_pt - float(QApplication.font().pointSizeF())
    if not step:
        return
    own = {w: w.font() for w in QApplication.allWidgets() if _has_own(w)}
    font = QApplication.font()
    font.setPointSizeF(font.pointSizeF() + step)
    QApplication.setFont(font)
    for widget, font in own.items():
        widget.setFont(_larger(font, step))
    for widget in QApplication.allWidgets():
        if isinstance(widget, QTextEdit):
            widget.document().setDefaultFont(_larger(widget.document().defaultFont(), step))
        elif isinstance(widget, QTreeWidget):
            _resize_items(widget.invisibleRootItem(), widget.columnCount(), step)
    font_bus().changed.emit()


def _has_own(widget: QWidget) -> bool:
    """Whether a widget's font is set at itself; at a window it has to be: a style sheet keeps out the application's."""
    return widget.isWindow() or widget.testAttribute(Qt.WidgetAttribute.WA_SetFont)


def _larger(font: QFont, step: float) -> QFont:
    font = QFont(font)
    font.setPointSizeF(max(7.0, font.pointSizeF() + step))
    return font


def _resize_items(item: QTreeWidgetItem, n_columns: int, step: float) -> None:
    for child in filter(None, map(item.child, range(item.childCount()))):
        for column in range(n_columns):
            if child.data(column, Qt.ItemDataRole.FontRole) is not None:
                child.setFont(column, _larger(child.font(column), step))
        _resize_items(child, n_columns, step)
