"""The answers of the session as a list to choose from: one to look at, several to compare."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListWidget, QListWidgetItem, QSizePolicy

from app.ui.theme import number_font
from app.ui.tr import tr

MOST_ANSWERS = 200
"""The newest answers are listed; the charts remember no more."""

_LINES = 4
_MEANING = tr("Decode speed in tok/s; acceptance: draft tokens kept ÷ draft tokens sent to the target.")
_ID = Qt.ItemDataRole.UserRole


class AnswerList(QListWidget):
    """Newest first. Click, Ctrl + click or Shift + arrows select."""

    selection_changed = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Answers of this session"))
        self.setToolTip(
            tr("Select an answer to see its figures, several to compare them (Ctrl + click, Shift + arrows)")
            + "\n"
            + _MEANING
        )
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setFont(number_font(-0.5))
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setUniformItemSizes(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._shown: tuple[tuple[str, str], ...] = ()
        self.itemSelectionChanged.connect(lambda: self.selection_changed.emit(self.selected()))

    def sizeHint(self) -> QSize:
        """Room for a few lines."""
        lines = min(max(self.count(), 1), _LINES)
        return QSize(120, lines * max(self.sizeHintForRow(0), self.fontMetrics().height() + 2) + 2 * self.frameWidth())

    def minimumSizeHint(self) -> QSize:
        """The same: it scrolls by itself."""
        return self.sizeHint()

    def show_answers(self, answers: Sequence[tuple[str, str]]) -> None:
        """List these (id, title), oldest first; what is selected stays so."""
        answers = tuple(answers[-MOST_ANSWERS:])
        if answers == self._shown:
            return
        selected = set(self.selected())
        n_kept = len(self._shown)
        with QSignalBlocker(self):
            if not n_kept or self._shown != answers[:n_kept]:
                self.clear()
                n_kept = 0
            for identity, title in answers[n_kept:]:
                item = QListWidgetItem(title)
                item.setData(_ID, identity)
                item.setToolTip(f"{title}\n{_MEANING}")
                self.insertItem(0, item)
                item.setSelected(identity in selected)
        self._shown = answers
        self.updateGeometry()
        if selected != set(self.selected()):
            self.selection_changed.emit(self.selected())

    def selected(self) -> tuple[str, ...]:
        """The ids of the selected answers, oldest first."""
        rows = sorted((self.row(item) for item in self.selectedItems()), reverse=True)
        return tuple(str(self.item(row).data(_ID)) for row in rows)

    def select(self, ids: Sequence[str]) -> None:
        """Select these and no others."""
        with QSignalBlocker(self):
            for row in range(self.count()):
                self.item(row).setSelected(self.item(row).data(_ID) in ids)
        self.selection_changed.emit(self.selected())
