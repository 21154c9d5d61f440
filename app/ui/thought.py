"""The head of what a model thought before it answered: a button that unfolds it, and how long it took."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from app.ui.theme import named, text_font
from app.ui.tr import tr

_HEIGHT_PX = 28


def thought_words(seconds: float | None, *, is_thinking: bool) -> str:
    """Say that it thinks, or how long it thought."""
    if is_thinking:
        return tr("Thinking…")
    if seconds is None:
        return tr("Thoughts")
    if seconds < 60:
        return tr("Thought for {seconds:.1f} s").format(seconds=seconds)
    return tr("Thought for {minutes} min {seconds} s").format(minutes=int(seconds // 60), seconds=int(seconds % 60))


class ThoughtHead(QToolButton):
    """Folds and unfolds."""

    fold_toggled = Signal(bool)  # whether it is open now

    def __init__(self, words: str, parent: QWidget | None = None, *, is_open: bool) -> None:
        super().__init__(parent)
        named(self, "thought")
        self.setAutoRaise(True)
        self.setFont(text_font(-0.5))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setCheckable(True)
        self.setChecked(is_open)
        self.setToolTip(tr("Show or hide what the model thought"))
        self._words = words
        self._show()
        self.toggled.connect(self.on_toggled)

    def say(self, words: str) -> None:
        """Change the words."""
        if words != self._words:
            self._words = words
            self._show()

    def on_toggled(self, is_open: bool) -> None:
        """Turn the arrow and tell."""
        self._show()
        self.fold_toggled.emit(is_open)

    def height_for(self, _width: int) -> int:
        """How tall it is."""
        return _HEIGHT_PX

    def _show(self) -> None:
        self.setArrowType(Qt.ArrowType.DownArrow if self.isChecked() else Qt.ArrowType.RightArrow)
        self.setText(self._words)
        state = tr("unfolded") if self.isChecked() else tr("folded")
        self.setAccessibleName(f"{self._words}, {state}")
