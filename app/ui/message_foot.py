"""The row below a message: what can be done with it, which of its alternatives it is, and its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QWidget

from app.ui.theme import GRID, IconButton, named, number_font
from app.ui.tr import tr

MessageAction = Literal["copy", "copy_plain", "edit", "regenerate", "go_on", "earlier", "later"]

_COPIED_MS = 1500
_NO_BREAK_HYPHEN = "\u2011"
ACTION_WORDS: dict[MessageAction, tuple[str, str]] = {
    "copy": ("copy", tr("Copy as Markdown")),
    "edit": ("pencil", tr("Edit")),
    "regenerate": ("restart", tr("Answer again")),
    "go_on": ("go-on", tr("Continue this answer")),
}
"""Icon and words of the buttons."""
MENU_WORDS: dict[MessageAction, str] = {
    "copy": tr("Copy as Markdown"),
    "copy_plain": tr("Copy as plain text"),
    "edit": tr("Edit"),
    "regenerate": tr("Answer again"),
    "go_on": tr("Continue this answer"),
    "earlier": tr("Earlier alternative"),
    "later": tr("Later alternative"),
}
KEYS: dict[Qt.Key, MessageAction] = {
    Qt.Key.Key_C: "copy",
    Qt.Key.Key_P: "copy_plain",
    Qt.Key.Key_E: "edit",
    Qt.Key.Key_R: "regenerate",
    Qt.Key.Key_O: "go_on",
    Qt.Key.Key_Left: "earlier",
    Qt.Key.Key_Right: "later",
}
"""What a key does while a message has the keyboard."""


class MessageFoot(QWidget):
    """Buttons, the number of the alternative where there are several, and a line of words."""

    asked = Signal(str)  # a MessageAction

    def __init__(self, actions: tuple[MessageAction, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons: dict[MessageAction, IconButton] = {}
        self._words = ""
        self.status = named(QLabel(wordWrap=True), "status")
        self.status.setTextFormat(Qt.TextFormat.PlainText)  # some of it are a server's own words
        self.status.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.status.setFont(number_font(-0.5))
        self.status.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._alternatives = QWidget()
        self._number = named(QLabel(), "status")
        self._number.setFont(number_font(-0.5))
        self._copied = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied.timeout.connect(lambda: self.button("copy").rename(tr("Copy as Markdown"), "copy"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID // 2)
        for action in actions:
            icon_name, words = ACTION_WORDS[action]
            button = self._buttons[action] = IconButton(icon_name, words)
            button.clicked.connect(lambda _checked=False, a=action: self.asked.emit(a))
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self._build_alternatives(row)
        row.addWidget(self.status, 1)

    def _build_alternatives(self, row: QHBoxLayout) -> None:
        inner = QHBoxLayout(self._alternatives)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        self._earlier = IconButton("left", tr("Earlier alternative"))
        self._later = IconButton("right", tr("Later alternative"))
        self._earlier.clicked.connect(lambda: self.asked.emit("earlier"))
        self._later.clicked.connect(lambda: self.asked.emit("later"))
        for widget in (self._earlier, self._number, self._later):
            inner.addWidget(widget)
        self._alternatives.hide()
        row.addWidget(self._alternatives, 0, Qt.AlignmentFlag.AlignTop)

    def button(self, action: MessageAction) -> IconButton:
        """One of the buttons."""
        return self._buttons[action]

    def show_actions(self, *actions: MessageAction) -> None:
        """Offer these and no others."""
        for action, button in self._buttons.items():
            button.setVisible(action in actions)

    def show_alternatives(self, number: int, n_all: int) -> None:
        """Say which of how many it is; nothing where there is only one."""
        self._alternatives.setVisible(n_all > 1)
        self._number.setText(f"{number}/{n_all}")
        self._number.setAccessibleName(tr("Alternative {number} of {n_all}").format(number=number, n_all=n_all))
        self._earlier.setEnabled(number > 1)
        self._later.setEnabled(number < n_all)

    @property
    def alternatives(self) -> str:
        """Which of how many, "" where there is only one."""
        return "" if self._alternatives.isHidden() else str(self._number.text())

    def offered(self) -> list[MessageAction]:
        """What can be done now, as far as the menu of a message lists it."""
        there: list[MessageAction] = []
        for action, button in self._buttons.items():
            if not button.isHidden():
                there.append(action)
                if action == "copy":
                    there.append("copy_plain")
        if self.alternatives and self._earlier.isEnabled():
            there.append("earlier")
        if self.alternatives and self._later.isEnabled():
            there.append("later")
        return there

    def say(self, words: str) -> bool:
        """Show the line of words; return whether that is a change."""
        if words == self._words:
            return False
        self._words = words
        self.status.setText(words.replace("n-gram", f"n{_NO_BREAK_HYPHEN}gram"))
        self.status.setVisible(bool(words))
        return True

    @property
    def words(self) -> str:
        """The line of words."""
        return self._words

    def say_copied(self) -> None:
        """Say for a moment that it was copied."""
        self.button("copy").rename(tr("Copied"), "check")
        self._copied.start()


def message_menu(parent: QWidget, actions: Sequence[MessageAction], do: Callable[[str], None]) -> QMenu:
    """Make the menu of a message."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    letters = {action: key for key, action in KEYS.items()}
    for action in actions:
        entry = QAction(MENU_WORDS[action], menu)
        entry.setShortcut(QKeySequence(letters[action]))
        entry.triggered.connect(lambda _checked=False, a=action: do(a))
        menu.addAction(entry)
    return menu
