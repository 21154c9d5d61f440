"""The conversation list itself: its rows (conversations, and the days that they belong to), and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.ui.theme import GRID, colours, see_through, text_font
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.chat.conversation import ConversationHead, Folder

_Index = QModelIndex | QPersistentModelIndex
_MONTHS = (
    tr("January"),
    tr("February"),
    tr("March"),
    tr("April"),
    tr("May"),
    tr("June"),
    tr("July"),
    tr("August"),
    tr("September"),
    tr("October"),
    tr("November"),
    tr("December"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A heading, a folder, or a conversation."""

    heading: str
    head: ConversationHead | None = None
    folder: Folder | None = None

    @property
    def words(self) -> str:
        """What it says."""
        return self.head.title if self.head else self.heading


def period_of(moment: datetime, now: datetime) -> str:
    """Name the part of the past that a moment belongs to, in local days."""
    day, today = moment.astimezone().date(), now.astimezone().date()
    if day >= today:
        return tr("Today")
    if day == today - timedelta(days=1):
        return tr("Yesterday")
    if day > today - timedelta(days=7):
        return tr("Previous 7 days")
    if day > today - timedelta(days=30):
        return tr("Previous 30 days")
    return tr("{month} {year}").format(month=_MONTHS[day.month - 1], year=day.year)


def rows_of(heads: Sequence[ConversationHead], now: datetime, folders: Sequence[Folder] = ()) -> list[Row]:
    """Put the pinned conversations first, then folders, then the others with a heading before each period."""
    pinned = [head for head in heads if head.is_pinned]
    rows = [Row(tr("Pinned")), *(Row(tr("Pinned"), head) for head in pinned)] if pinned else []
    known = {folder.id for folder in folders}
    for folder in folders:
        rows.append(Row(folder.name, folder=folder))
        if folder.is_open:
            rows += [Row(folder.name, head) for head in heads if head.folder_id == folder.id and not head.is_pinned]
    last = ""
    for head in heads:
        if head.is_pinned or head.folder_id in known:
            continue
        if (period := period_of(head.updated_at, now)) != last:
            rows.append(Row(period))
            last = period
        rows.append(Row(period, head))
    return rows


def _added(before: Sequence[Row], after: Sequence[Row]) -> list[tuple[int, int]] | None:
    """Return the runs of rows, first and behind the last, that are new; ``None`` if others are missing or moved."""
    runs: list[tuple[int, int]] = []
    n_known = 0
    for n, row in enumerate(after):
        if n_known < len(before) and row == before[n_known]:
            n_known += 1
        elif runs and runs[-1][1] == n:
            runs[-1] = (runs[-1][0], n + 1)
        else:
            runs.append((n, n + 1))
    return runs if n_known == len(before) else None


class ConversationList(QAbstractListModel):
    """The model behind the list. A title that is edited in place is reported, and shown once it comes back."""

    renamed = Signal(int, str)
    folder_renamed = Signal(int, str)

    ROW = Qt.ItemDataRole.UserRole

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []

    def show_heads(self, heads: Sequence[ConversationHead], now: datetime, folders: Sequence[Folder] = ()) -> None:
        """Replace all rows; where there are only more of them, what is marked stays so."""
        rows = rows_of(heads, now, folders)
        added = _added(self.rows, rows)
        if self.rows and added is not None:
            for first, end in added:
                self.beginInsertRows(QModelIndex(), first, end - 1)
                self.rows = [*self.rows[:first], *rows[first:end], *self.rows[first:]]
                self.endInsertRows()
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def index_of(self, conversation_id: int | None) -> QModelIndex:
        """Find a conversation's row; an invalid index if it is not listed."""
        for n, row in enumerate(self.rows):
            if row.head is not None and row.head.id == conversation_id:
                return self.index(n)
        return QModelIndex()

    def index_of_folder(self, folder_id: int) -> QModelIndex:
        """Find a folder's row; an invalid index if it is not listed."""
        for n, row in enumerate(self.rows):
            if row.folder is not None and row.folder.id == folder_id:
                return self.index(n)
        return QModelIndex()

    def rowCount(self, parent: _Index | None = None) -> int:
        """Count headings and conversations."""
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's signature
        """Give a row to the painter, its words to the screen reader."""
        row = self.rows[index.row()]
        if role == self.ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.words
        if role == Qt.ItemDataRole.ToolTipRole and row.head:
            return tr("{title}\n{when:%Y-%m-%d %H:%M}, %n message(s)", None, row.head.n_messages).format(
                title=row.head.title, when=row.head.updated_at.astimezone()
            )
        if role == Qt.ItemDataRole.AccessibleTextRole and row.folder:
            n = row.folder.n_conversations
            if row.folder.is_open:
                return tr("Folder {name}, %n conversation(s), open", None, n).format(name=row.folder.name)
            return tr("Folder {name}, %n conversation(s), closed", None, n).format(name=row.folder.name)
        if role == Qt.ItemDataRole.AccessibleTextRole and row.head:
            return " ".join(part for part in (row.head.title, row.head.snippet) if part)
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: ANN401 - Qt's
        """Report a new title."""
        head, folder = self.rows[index.row()].head, self.rows[index.row()].folder
        title = str(value).strip()
        if role == Qt.ItemDataRole.EditRole and folder is not None and title and title != folder.name:
            self.folder_renamed.emit(folder.id, title)
            return True
        if role == Qt.ItemDataRole.EditRole and head is not None and title and title != head.title:
            self.renamed.emit(head.id, title)
            return True
        return False

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Let conversations be chosen and edited, headings neither."""
        if not index.isValid() or (self.rows[index.row()].head is None and self.rows[index.row()].folder is None):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable


class ConversationView(QListView):
    """The list: Enter opens, F2 renames in place, Del deletes."""

    delete_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows = ConversationList(self)
        self.setModel(self.rows)
        self.setItemDelegate(_Painter(self))
        see_through(self)
        self.setAccessibleName(tr("Conversations"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMouseTracking(True)

    @property
    def is_naming(self) -> bool:
        """Whether somebody types a name in its place; other rows now would take it away."""
        return self.state() == QAbstractItemView.State.EditingState

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete on Del, open on Enter."""
        if event.key() == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)


class _Painter(QStyledItemDelegate):
    """Draws a day's heading, or a title with the line where a search matched."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        row: Row = index.data(ConversationList.ROW)
        line = option.fontMetrics.height()
        if row.head is None:
            return QSize(40, line + GRID + GRID // 2)
        return QSize(40, line * (2 if row.head.snippet else 1) + GRID + GRID // 2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row: Row = index.data(ConversationList.ROW)
        scheme = colours()
        painter.save()
        area: QRect = option.rect.adjusted(0, 1, -2, -1)
        inner = area.adjusted(GRID, 2, -GRID, -2)
        if row.head is None and row.folder is None:
            painter.setFont(text_font(-1.0, bold=True))
            painter.setPen(QColor(scheme.muted))
            painter.drawText(inner, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, row.heading)
            painter.restore()
            return
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_current or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(scheme.raised))
            painter.drawRoundedRect(area, 6, 6)
        if is_current:  # a bar, so that the mark is not colour alone
            painter.setBrush(QColor(scheme.accent))
            painter.drawRoundedRect(QRect(area.left(), area.top() + 5, 3, area.height() - 10), 1.5, 1.5)
        if is_current and option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(scheme.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area, 6, 6)
        self._draw_words(painter, option, row, inner)
        painter.restore()

    def _draw_words(self, painter: QPainter, option: QStyleOptionViewItem, row: Row, inner: QRect) -> None:
        scheme = colours()
        metrics = option.fontMetrics
        right = Qt.TextElideMode.ElideRight
        if row.head is None:
            if row.folder is not None:
                words = f"{'▾' if row.folder.is_open else '▸'}  {row.folder.name}  ({row.folder.n_conversations})"
                painter.setFont(text_font(-0.5, bold=True))
                painter.setPen(QColor(scheme.text))
                painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, metrics.elidedText(words, right, inner.width()))
            return
        painter.setFont(option.font)
        painter.setPen(QColor(scheme.text))
        title = QRect(inner.left(), inner.top(), inner.width(), metrics.height() + 4)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(title, flags, metrics.elidedText(row.head.title, right, inner.width()))
        if row.head.snippet:
            painter.setFont(text_font(-1.0))
            painter.setPen(QColor(scheme.muted))
            below = QRect(inner.left(), title.bottom(), inner.width(), metrics.height())
            painter.drawText(below, flags, painter.fontMetrics().elidedText(row.head.snippet, right, inner.width()))

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: _Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        editor.setAccessibleName(tr("New title"))
        return editor
