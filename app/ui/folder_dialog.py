"""Where models are kept: shown, moved elsewhere with progress, or exchanged for a folder that has some."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.ui.theme import GRID, named, text_font
from app.ui.tr import tr

_WIDTH_PX = 560


class FolderDialog(QDialog):
    """What it means is :class:`app.ui.shelf_control.ShelfControl`'s business."""

    move_requested = Signal()
    use_requested = Signal()
    default_requested = Signal()
    show_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Models folder"))
        self.setMinimumWidth(_WIDTH_PX)
        self.folder = QLabel(wordWrap=True)
        self.folder.setFont(text_font(0.5, bold=True))
        self.folder.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.facts = named(QLabel(wordWrap=True), "muted")
        self.words = QLabel(wordWrap=True)
        for label in (self.folder, self.facts, self.words):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.move_button = QPushButton(tr("&Move everything to another folder…"))
        self.use_button = QPushButton(tr("&Use another folder as it is…"))
        self.default_button = QPushButton(tr("Move &back to the data folder"))
        self.show_button = QPushButton(tr("&Show it"))
        self.progress = QProgressBar(textVisible=False)
        self.progress.setAccessibleName(tr("Moving the models folder"))
        self.cancel = QPushButton(tr("Cancel"))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._connect()
        self._build()
        self.show_progress(None, "")

    def _connect(self) -> None:
        self.move_button.clicked.connect(self.move_requested)
        self.use_button.clicked.connect(self.use_requested)
        self.default_button.clicked.connect(self.default_requested)
        self.show_button.clicked.connect(self.show_requested)
        self.cancel.clicked.connect(self.cancel_requested)
        self.buttons.rejected.connect(self.reject)

    def _build(self) -> None:
        choices = QVBoxLayout()
        for button in (self.move_button, self.use_button, self.default_button, self.show_button):
            choices.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        working = QHBoxLayout()
        working.setSpacing(GRID)
        working.addWidget(self.progress, 1)
        working.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addWidget(QLabel(tr("Models are kept in")))
        column.addWidget(self.folder)
        column.addWidget(self.facts)
        column.addLayout(choices)
        column.addLayout(working)
        column.addWidget(self.words)
        column.addStretch(1)
        column.addWidget(self.buttons)

    def show_folder(self, folder: Path, facts: str, *, is_default: bool) -> None:
        """Say which folder it is and what is in it."""
        self.folder.setText(str(folder))
        self.facts.setText(facts)
        self.default_button.setVisible(not is_default)

    def show_progress(self, fraction: float | None, words: str) -> None:
        """Show how far a move is; None while none is running."""
        is_moving = fraction is not None
        for button in (self.move_button, self.use_button, self.default_button):
            button.setEnabled(not is_moving)
        self.buttons.setEnabled(not is_moving)
        self.progress.setVisible(is_moving)
        self.cancel.setVisible(is_moving)
        self.progress.setValue(round(100 * (fraction or 0.0)))
        self.words.setText(words)
        self.words.setVisible(bool(words))

    def reject(self) -> None:
        """Stay open while something is moved: the way to end that is its own button."""
        if self.buttons.isEnabled():
            super().reject()
