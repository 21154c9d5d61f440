"""What an empty conversation shows: what to do first, in what state the model is, three prompts to try."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.ui.theme import GRID, named, text_font

EXAMPLES = (
    "Explain speculative decoding to a curious teenager, in five sentences.",
    "Write a Python function that counts the words in a text file, with a short example.",
    "Make a table of five European capitals with their countries and rivers.",
)
_MAX_WIDTH_PX = 560


class Welcome(QWidget):
    """An invitation to write."""

    example_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = QLabel("Ask something", alignment=Qt.AlignmentFlag.AlignHCenter)
        title.setFont(text_font(8.0, bold=True))
        self._state = named(QLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignHCenter), "state")
        column = QVBoxLayout()
        column.setSpacing(GRID)
        column.addWidget(title)
        column.addWidget(self._state)
        column.addSpacing(GRID)
        for words in EXAMPLES:
            column.addWidget(self._example(words))
        block = QWidget(maximumWidth=_MAX_WIDTH_PX)
        block.setLayout(column)
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        outer.addWidget(block)
        outer.setAlignment(block, Qt.AlignmentFlag.AlignHCenter)
        outer.addStretch(3)

    def show_state(self, words: str) -> None:
        """Say in what state the model is."""
        self._state.setText(words)

    def _example(self, words: str) -> QPushButton:
        button = named(QPushButton(words), "example")
        button.setAccessibleName(f"Try: {words}")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.example_chosen.emit(words))
        return button
