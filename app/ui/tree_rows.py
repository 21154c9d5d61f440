"""Lists with headings: a heading is a row that cannot be chosen, with the rows below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QSize, Qt
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTreeWidget, QTreeWidgetItem

from app.ui.theme import GRID, text_font
from app.ui.tr import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

VALUE = Qt.ItemDataRole.UserRole
"""Where a row keeps what it stands for."""

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


_INDENT_PX = 2 * GRID
_LEAST_CHARS = 18
"""Room of the first column where the others would leave it less; there is a bar to scroll then."""


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
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    _FirstColumn(tree)


class _FirstColumn(QObject):
    """Lets the first column have what the others leave, but never so little that its texts cannot be told apart."""

    def __init__(self, tree: QTreeWidget) -> None:
        super().__init__(tree)
        self._tree = tree
        tree.viewport().installEventFilter(self)
        tree.header().sectionResized.connect(self.on_resized)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look at the width again."""
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def on_resized(self, column: int, _before_px: int, _now_px: int) -> None:
        """Look again where another column takes more or less."""
        if column:
            self._fit()

    def _fit(self) -> None:
        header = self._tree.header()
        least_px = _LEAST_CHARS * self._tree.fontMetrics().averageCharWidth()
        others_px = sum(header.sectionSize(column) for column in range(1, header.count()))
        is_narrow = self._tree.viewport().width() - others_px < least_px
        mode = QHeaderView.ResizeMode.Interactive if is_narrow else QHeaderView.ResizeMode.Stretch
        if header.sectionResizeMode(0) != mode:
            header.setSectionResizeMode(0, mode)
        if is_narrow:
            header.resizeSection(0, least_px)
