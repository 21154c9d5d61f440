"""A field and a list that narrows while one types: what the palette and the list of shortcuts have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.ui.fuzzy import fit
from app.ui.theme import GRID, named, text_font
from app.ui.tr import tr

_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class Found(NamedTuple):
    """A row: its name, what its columns say, and other words that find it."""

    name: str
    words: str
    keys: str
    place: str
    also: str = ""

    @property
    def spoken(self) -> str:
        """What a screen reader says of the row."""
        return ", ".join(part for part in (self.words, self.keys, self.place) if part)


class Finder(QWidget):
    """The field keeps the keyboard; arrows move in the list, Enter picks."""

    picked = Signal(str)

    def __init__(self, hint: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[Found] = ()
        self.field = QLineEdit(placeholderText=hint, clearButtonEnabled=True)
        self.field.setAccessibleName(hint)
        self.field.textChanged.connect(self.refresh)
        self.field.installEventFilter(self)
        self.list = QTreeWidget()
        self.list.setColumnCount(3)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        header = self.list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.setAccessibleName(name)
        self.list.setAllColumnsShowFocus(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(lambda item: self.picked.emit(item.data(0, Qt.ItemDataRole.UserRole)))
        self.list.installEventFilter(self)
        self.nothing = named(QLabel(wordWrap=True), "nothing")
        self.nothing.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.field)
        column.addWidget(self.list, 1)
        column.addWidget(self.nothing)
        self.setFocusProxy(self.field)

    def show_rows(self, rows: Sequence[Found]) -> None:
        """Offer these rows, in this order as long as nothing is typed."""
        self._rows = rows
        self.refresh()

    @property
    def shown(self) -> list[str]:
        """The names of what is listed now."""
        items = [self.list.topLevelItem(n) for n in range(self.list.topLevelItemCount())]
        return [item.data(0, Qt.ItemDataRole.UserRole) for item in items if item is not None]

    def refresh(self) -> None:
        """List what fits what is typed, the best first."""
        typed = self.field.text().strip()
        rows = found(self._rows, typed) if typed else list(self._rows)
        self.list.clear()
        self.list.addTopLevelItems([_item(row) for row in rows])
        self.list.setVisible(bool(rows))
        self.nothing.setVisible(not rows)
        self._fit_columns()
        self.nothing.setText(tr("Nothing is called “{typed}”.").format(typed=typed))
        if (first := self.list.topLevelItem(0)) is not None:
            self.list.setCurrentItem(first)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns to the width."""
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Leave the places out where they would take the room of the names."""
        widest = max((self.list.fontMetrics().horizontalAdvance(row.words) for row in self._rows), default=0)
        others = self.list.sizeHintForColumn(1) + self.list.sizeHintForColumn(2)
        self.list.setColumnHidden(1, widest + others + 2 * GRID > self.list.viewport().width())

    def pick(self) -> None:
        """Pick the marked row."""
        item = self.list.currentItem()
        if item is not None:
            self.picked.emit(item.data(0, Qt.ItemDataRole.UserRole))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the list by the field's arrows, and pick by Enter."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.pick()
                return True
            if watched is self.field and event.key() in _MOVES:
                self.list.keyPressEvent(event)
                return True
        return super().eventFilter(watched, event)


def found(rows: Sequence[Found], typed: str) -> list[Found]:
    """Return the rows that fit, the best first; those found by other words than their own behind them."""
    scores = []
    for number, row in enumerate(rows):
        own, other = fit(typed, row.words), fit(typed, f"{row.words} {row.place} {row.keys} {row.also}")
        best = own.score if own is not None else other.score - 500 if other is not None else None
        if best is not None:
            scores.append((-best, number, row))
    return [row for _, _, row in sorted(scores, key=lambda one: one[:2])]


def _item(row: Found) -> QTreeWidgetItem:
    item = QTreeWidgetItem([row.words, row.place, row.keys])
    item.setData(0, Qt.ItemDataRole.UserRole, row.name)
    item.setData(0, Qt.ItemDataRole.AccessibleTextRole, row.spoken)
    item.setToolTip(0, row.words)
    item.setSizeHint(0, QSize(0, QFontMetrics(text_font()).height() + GRID))
    item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return item
