"""A line above the field of the composer: what waits, or what is being changed, and a button that takes that back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.ui.theme import GRID, IconButton, named, text_font


class ComposerLine(QWidget):
    """Words and a button; hidden without words."""

    withdrawn = Signal()

    def __init__(self, button_name: str) -> None:
        super().__init__()
        self._label = named(QLabel(wordWrap=True), "status")
        self._label.setFont(text_font(-0.5))
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        close = IconButton("close", button_name)
        close.clicked.connect(self.withdrawn)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID // 2)
        row.addWidget(self._label, 1)
        row.addWidget(close)
        self.hide()

    def say(self, words: str) -> None:
        """Show these words, or nothing."""
        self._label.setText(words)
        self._label.setAccessibleName(words)
        self.setVisible(bool(words))

    @property
    def words(self) -> str:
        """What it says."""
        return "" if self.isHidden() else str(self._label.text())
