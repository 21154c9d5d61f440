"""One size for all texts: larger or smaller than the system's by some points, at once.

Qt hands a new font on to widgets that have none of their own, but not where there is a style sheet, and ours often have
one (:func:`app.ui.theme.text_font`). So each widget is moved by the same number of points.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QComboBox, QTextEdit, QTreeWidget, QTreeWidgetItem, QWidget

_LEAST_PT = 7.0
_WANTED = "wantedPointSize"


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


def font_scale() -> float:
    """How many times as large as the system's texts are, for what has to have room for some lines."""
    return float(QApplication.font().pointSizeF()) / _system_pt()


def choose_font_size(extra_pt: float) -> None:
    """Make all texts larger than the system's by so many points."""
    step = _system_pt() + extra_pt - float(QApplication.font().pointSizeF())
    if not step:
        return
    widgets = sorted(QApplication.allWidgets(), key=_depth)  # a spin box that is moved takes its field's size back
    before = [(widget, widget.font(), _text_font(widget)) for widget in widgets]
    font = QApplication.font()
    font.setPointSizeF(font.pointSizeF() + step)
    QApplication.setFont(font)
    for widget, font, of_text in before:
        widget.setFont(_moved(widget, font, step))
        if isinstance(widget, QTextEdit) and of_text is not None:
            widget.document().setDefaultFont(_larger(of_text, step))
        elif isinstance(widget, QTreeWidget):
            _resize_items(widget.invisibleRootItem(), widget.columnCount(), step)
        elif isinstance(widget, QComboBox):  # which remembers its least size, but for a change of the style
            QApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
            widget.updateGeometry()
    font_bus().changed.emit()


def _depth(widget: QWidget) -> int:
    parent = widget.parentWidget()
    return 0 if parent is None else 1 + _depth(parent)


def _text_font(widget: QWidget) -> QFont | None:
    """Return the font of a text that is formatted, which need not be its widget's."""
    return widget.document().defaultFont() if isinstance(widget, QTextEdit) else None


def _moved(widget: QWidget, font: QFont, step: float) -> QFont:
    """Return a widget's font of another size; what it would be below the least size is kept, for the way back."""
    kept, size = widget.property(_WANTED), float(font.pointSizeF())
    wanted = (float(kept) if kept is not None and size == _LEAST_PT else size) + step
    widget.setProperty(_WANTED, wanted)
    return _larger(font, wanted - size)


def _larger(font: QFont, step: float) -> QFont:
    font = QFont(font)
    if font.pointSizeF() > 0:  # else it was given in pixels
        font.setPointSizeF(max(_LEAST_PT, font.pointSizeF() + step))
    return font


def _resize_items(item: QTreeWidgetItem, n_columns: int, step: float) -> None:
    for child in filter(None, map(item.child, range(item.childCount()))):
        for column in range(n_columns):
            if child.data(column, Qt.ItemDataRole.FontRole) is not None:
                child.setFont(column, _larger(child.font(column), step))
        _resize_items(child, n_columns, step)
