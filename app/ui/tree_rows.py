"""Lists with headings: a heading is a row that cannot be chosen, with the rows below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTreeWidget, QTreeWidgetItem

from app.ui.theme import GRID, text_font
from app.ui.tr import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

VALUE = Qt.ItemDataRole.UserRole
"""Where a row keeps what it stands for."""

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


_INDENT_PX = 2 * GRID
_LEAST_CHARS = 8
"""Room of each column: the first would have none where the others take it all. There is a bar to scroll then."""


class _Airy(QStyledItemDelegate):
    """Gives rows some air."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return super().sizeHint(option, index) + QSize(GRID, GRID - 2)


def heading(words: str) -> QTreeWidgetItem:
    """Make a heading."""
    row = QTreeWidgetItem([words])
    row.setFlags(Qt.ItemFlag.ItemIsEnabled)
    row.setFont(0, text_font(bold=True))
    return row


def rows_of(section: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    """Return the rows below a heading or a row."""
    rows = (section.child(index) for index in range(section.childCount()))
    return [row for row in rows if row is not None]


def choose(tree: QTreeWidget, row: QTreeWidgetItem | None) -> None:
    """Make a row the current one, if there is one."""
    if row is not None:
        tree.setCurrentItem(row)


def set_up(tree: QTreeWidget, name: str, columns: Sequence[str]) -> None:
    """Give a list its name and columns; the first takes the room that is left."""
    tree.setAccessibleName(name)
    tree.setHeaderLabels(columns)
    tree.setUniformRowHeights(True)
    tree.setAllColumnsShowFocus(True)
    tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    tree.setItemDelegate(_Airy(tree))
    tree.setIndentation(_INDENT_PX)
    header = tree.header()
    header.setAccessibleName(tr("{name}: columns").format(name=name))
    header.setStretchLastSection(False)
    header.setMinimumSectionSize(_LEAST_CHARS * tree.fontMetrics().averageCharWidth())
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
