"""Something a person should know, said inside the window: the fact, what to do next, a button for that.

Never a dialog that stops the work. One notice is shown at a time; the newest wins, and the person can close it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from app.ui.said import said
from app.ui.theme import GRID, IconButton, colours, follow, icon
from app.ui.tr import tr

NoticeKind = Literal["info", "warning", "error"]

_PREFIX = {"info": "{words}", "warning": tr("Warning: {words}"), "error": tr("Error: {words}")}


class NoticeBar(QFrame):
    """A line of words with a hint and a button or two; hidden while there is nothing to say."""

    closed = Signal()
    told = Signal(str, str)  # how grave it is, and the words with that before them

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self._kind: NoticeKind = "info"
        self._on_action: Callable[[], object] | None = None
        self._icon = QLabel()
        self._label = QLabel(wordWrap=True)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._action = QPushButton()
        self._action.clicked.connect(self.on_action)
        self._on_more: Callable[[], object] | None = None
        self._more = QPushButton()
        self._more.setAccessibleName(tr("More about this notice"))
        self._more.clicked.connect(self.on_more)
        self._close = IconButton("close", tr("Close this notice"))
        self._close.clicked.connect(self.on_close)
        self._expiry = QTimer(self, singleShot=True)
        self._expiry.timeout.connect(self.on_close)
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID + 4, GRID // 2, GRID // 2, GRID // 2)
        row.setSpacing(GRID)
        row.addWidget(self._icon)
        row.addWidget(self._label, 1)
        row.addWidget(self._more)
        row.addWidget(self._action)
        row.addWidget(self._close)
        self._is_tinted = False
        self.hide()

    @property
    def words(self) -> str:
        """What is said now, "" while hidden."""
        return "" if self.isHidden() else str(self._label.text())

    @property
    def has_action(self) -> bool:
        """Whether there is a button to press."""
        return not self.isHidden() and self._on_action is not None

    def say(
        self,
        kind: NoticeKind,
        message: str,
        hint: str = "",
        *,
        action: tuple[str, Callable[[], object]] | None = None,
        more: tuple[str, Callable[[], object]] | None = None,
        expires_s: float = 0.0,
    ) -> None:
        """Show a notice in place of the one that is there.

        Args:
            kind: how grave it is.
            message: the fact; that of a layer below is said in the language of the person.
            hint: what to do next, likewise.
            action: the words of a button and what it does.
            more: the same for a second one, which tells more and leaves the notice where it is.
            expires_s: how long it is shown; 0 until it is closed.
        """
        if not self.isHidden():
            self.closed.emit()
        self._kind = kind
        words = " ".join(said(part) for part in (message, hint) if part)
        self._label.setText(words)
        self.setAccessibleName(_PREFIX[kind].format(words=words))
        self.told.emit(kind, self.accessibleName())
        self._on_action = action[1] if action else None
        self._action.setText(action[0] if action else "")
        self._action.setVisible(action is not None)
        self._on_more = more[1] if more else None
        self._more.setText(more[0] if more else "")
        self._more.setVisible(more is not None)
        self._expiry.stop()
        if expires_s:
            self._expiry.start(round(expires_s * 1000))
        self.setProperty("kind", kind)
        self.style().unpolish(self)
        self.style().polish(self)
        if not self._is_tinted:
            self._is_tinted = True
            follow(self._tint)
        self._tint()
        self.show()

    def on_action(self) -> None:
        """Do what the button says; the notice has done its work."""
        self._expiry.stop()
        self.hide()
        if self._on_action is not None:
            self._on_action()

    def on_more(self) -> None:
        """Tell more; what the other button is for is still to be done."""
        if self._on_more is not None:
            self._on_more()

    def on_close(self) -> None:
        """Close the notice."""
        self._expiry.stop()
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def _tint(self) -> None:
        scheme = colours()
        edge = {"info": scheme.accent, "warning": scheme.warning, "error": scheme.danger}[self._kind]
        self._icon.setPixmap(icon("info" if self._kind == "info" else "warning", edge).pixmap(18, 18))
