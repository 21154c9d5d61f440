"""The deleted conversations: to bring one back, or to erase it for good before its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.ui.dialog_size import fit
from app.ui.theme import GRID, named
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.chat.conversation import ConversationHead

_DAY_S = 24 * 3600.0
_ID = Qt.ItemDataRole.UserRole


class DeletedDialog(QDialog):
    """Lists them, the last deleted first, and says what is wanted of those that are chosen."""

    bring_back_requested = Signal(list)  # ids of conversations
    erase_requested = Signal(list)

    def __init__(self, parent: QWidget, kept_s: float) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Deleted conversations"))
        fit(self, 520, 420)
        self.about = named(QLabel(wordWrap=True), "muted")
        self._days = round(kept_s / _DAY_S)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Deleted conversations"))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.itemSelectionChanged.connect(self.on_selection)
        self.list.itemActivated.connect(lambda _item: self.on_bring_back())
        self.bring_back, self.erase = QPushButton(tr("&Bring back")), QPushButton(tr("&Erase for good…"))
        self.bring_back.clicked.connect(self.on_bring_back)
        self.erase.clicked.connect(lambda: self.erase_requested.emit(self.chosen()))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self.bring_back)
        row.addWidget(self.erase)
        row.addStretch(1)
        row.addWidget(buttons)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addWidget(self.about)
        column.addWidget(self.list, 1)
        column.addLayout(row)

    def show_heads(self, heads: Sequence[ConversationHead]) -> None:
        """List these."""
        self.list.clear()
        for head in heads:
            when = head.deleted_at.astimezone().strftime("%Y-%m-%d %H:%M") if head.deleted_at is not None else ""
            words = tr("{title}\ndeleted {when}, %n message(s)", None, head.n_messages).format(
                title=head.title, when=when
            )
            item = QListWidgetItem(words)
            item.setData(_ID, head.id)
            self.list.addItem(item)
        if heads:
            self.list.setCurrentRow(0)
            words = tr("They are kept for %n day(s) after they were deleted, then erased for good.", None, self._days)
        else:
            words = tr("There are none. A conversation that is deleted is kept here for %n day(s).", None, self._days)
        self.about.setText(words)
        self.on_selection()

    def chosen(self) -> list[int]:
        """Return the ids of those that are chosen."""
        return [int(item.data(_ID)) for item in self.list.selectedItems()]

    def on_selection(self) -> None:
        """Offer what can be done with what is chosen."""
        is_any = bool(self.list.selectedItems())
        self.bring_back.setEnabled(is_any)
        self.erase.setEnabled(is_any)

    def on_bring_back(self) -> None:
        """Ask for those that are chosen."""
        if ids := self.chosen():
            self.bring_back_requested.emit(ids)
