"""A question before something goes for good: what will happen, and the safe answer as the default."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget


class Question(QMessageBox):
    """Asks, and does what was asked for only if the answer is given by its own button."""

    def __init__(self, parent: QWidget, question: str, words: str, answer: str) -> None:
        super().__init__(QMessageBox.Icon.Question, "Slipstream", question, parent=parent)
        self.setInformativeText(words)
        self.answer = QPushButton(answer)
        self.addButton(self.answer, QMessageBox.ButtonRole.DestructiveRole)
        cancel = self.addButton(QMessageBox.StandardButton.Cancel)
        self.setDefaultButton(cancel)
        self.setEscapeButton(cancel)

    def ask(self, then: Callable[[], None], ended: Callable[[], None]) -> None:
        """Open it; ``ended`` is called in any case, before ``then``."""

        def on_finished() -> None:
            ended()
            if self.clickedButton() is self.answer:
                then()
            self.deleteLater()

        self.finished.connect(on_finished)
        self.open()
