"""The page of the settings about what a person has made: where it is, a backup of it, and the way in and out."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.ui.theme import GRID, named, text_font
from app.ui.tr import tr

ENTRIES: tuple[tuple[str, str, str], ...] = (
    (
        "export",
        tr("&Export all conversations…"),
        tr(
            "Into one file: JSON with all branches, which can be imported again, or Markdown, HTML or text for reading."
        ),
    ),
    (
        "import",
        tr("&Import conversations…"),
        tr("Files of Slipstream, OpenAI, ChatGPT, LM Studio or Jan. They are added to yours; nothing is replaced."),
    ),
    (
        "backup",
        tr("&Back up everything…"),
        tr("Conversations, presets, settings and baselines in one file, at any time. Models are left out."),
    ),
    (
        "restore",
        tr("&Restore a backup…"),
        tr("Puts what a backup holds in the place of what is here, which is kept in a folder. The window opens anew."),
    ),
)


class DataPage(QWidget):
    """Buttons with plain help; what they do is :class:`app.ui.data_control.DataControl`'s business."""

    asked = Signal(str)  # export, import, backup, restore or show

    def __init__(self) -> None:
        super().__init__()
        self.where = QLabel(wordWrap=True)
        self.where.setTextFormat(Qt.TextFormat.PlainText)
        self.where.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.where.setAccessibleName(tr("Where your data is"))
        self.buttons: dict[str, QPushButton] = {}
        column = QVBoxLayout(self)
        column.setSpacing(GRID // 2)
        column.addWidget(self.where)
        self._add(
            column, "show", tr("&Show the folder"), tr("It stays on this machine; nothing of it is sent anywhere.")
        )
        for name, words, help_words in ENTRIES:
            self._add(column, name, words, help_words)
        column.addStretch(1)

    def _add(self, column: QVBoxLayout, name: str, words: str, help_words: str) -> None:
        button = self.buttons[name] = QPushButton(words)
        button.setAutoDefault(False)
        button.setAccessibleDescription(help_words)
        button.clicked.connect(lambda: self.asked.emit(name))
        label = named(QLabel(help_words, wordWrap=True), "muted")
        label.setFont(text_font(-0.5))
        column.addSpacing(GRID // 2)
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(label)
