"""Where a person writes: Enter sends, Shift+Enter breaks the line, Esc stops the answer."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.ui.theme import GRID, colours, follow, icon, named, see_through, text_font

_MAX_LINES = 8
_DRAFT_PAUSE_MS = 800
_BUTTON_PX = 34


class _Editor(QPlainTextEdit):
    """Plain text that grows with its lines up to a limit."""

    submitted = Signal()
    stop_pressed = Signal()
    focus_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        see_through(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(text_font(1.0))
        self.setTabChangesFocus(True)
        self.setPlaceholderText("Write a message")
        self.setAccessibleName("Message")
        self.setAccessibleDescription("Enter sends, Shift+Enter starts a new line, Escape stops the answer")
        self.setToolTip("Enter sends · Shift+Enter starts a new line · Esc stops the answer")
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self.fit)
        self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send on Enter, break on Shift+Enter, stop on Esc."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.submitted.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.stop_pressed.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Count the wrapped lines again."""
        super().resizeEvent(event)
        self.fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell the frame."""
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell the frame."""
        super().focusOutEvent(event)
        self.focus_changed.emit()

    def sizeHint(self) -> QSize:
        """Prefer the height of the text."""
        return QSize(super().sizeHint().width(), self.height())

    def fit(self) -> None:
        """Be as tall as the lines, up to a limit."""
        lines = max(1, round(self.document().size().height()))
        margin = 2 * round(self.document().documentMargin())
        height = min(lines, _MAX_LINES) * self.fontMetrics().lineSpacing() + margin + 2
        if height != self.height():
            self.setFixedHeight(height)


class Composer(QFrame):
    """The message being written, with one button: *Send*, or *Stop* while an answer runs."""

    sent = Signal(str)
    stopped = Signal()
    draft_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_answering = False
        self.editor = _Editor()
        self._button = named(QPushButton(), "send")
        self._button.setFixedSize(_BUTTON_PX, _BUTTON_PX)
        self._button.clicked.connect(self.on_button)
        self._draft = QTimer(self, singleShot=True, interval=_DRAFT_PAUSE_MS)
        self._draft.timeout.connect(self.on_draft_paused)
        self._frame = named(QFrame(), "composer")
        row = QHBoxLayout(self._frame)
        row.setContentsMargins(GRID + 2, GRID // 2, GRID // 2 + 1, GRID // 2)
        row.addWidget(self.editor, 1)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignBottom)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._frame)
        self.editor.submitted.connect(self.on_submit)
        self.editor.stop_pressed.connect(self.stopped)
        self.editor.focus_changed.connect(self.on_focus_changed)
        self.editor.textChanged.connect(self.on_text_changed)
        follow(self._refresh)

    @property
    def text(self) -> str:
        """What is written so far."""
        return str(self.editor.toPlainText())

    def set_text(self, text: str) -> None:
        """Put a text in place of what is there; it does not count as a change of the draft."""
        blocked = self.editor.blockSignals(True)
        self.editor.setPlainText(text)
        self.editor.blockSignals(blocked)
        self.editor.moveCursor(self.editor.textCursor().MoveOperation.End)
        self.editor.fit()
        self._draft.stop()
        self._refresh()

    def show_answering(self, *, is_answering: bool) -> None:
        """Turn the button into *Stop*, or back into *Send*."""
        self._is_answering = is_answering
        self._refresh()

    def take_focus(self) -> None:
        """Put the cursor here."""
        self.editor.setFocus()

    def flush_draft(self) -> None:
        """Report a draft that waits for a pause in typing, now."""
        if self._draft.isActive():
            self._draft.stop()
            self.on_draft_paused()

    def on_submit(self) -> None:
        """Send, unless an answer runs (the text stays) or there is nothing to send."""
        text = self.text.strip()
        if text and not self._is_answering:
            self._draft.stop()
            self.sent.emit(text)

    def on_button(self) -> None:
        """Send or stop."""
        if self._is_answering:
            self.stopped.emit()
        else:
            self.on_submit()
        self.take_focus()

    def on_text_changed(self) -> None:
        """Report the draft once typing pauses."""
        self._draft.start()
        self._refresh()

    def on_draft_paused(self) -> None:
        """Report the draft."""
        self.draft_changed.emit(self.text)

    def on_focus_changed(self) -> None:
        """Show by the frame that typing goes here."""
        self._frame.setProperty("active", self.editor.hasFocus())
        self._frame.style().unpolish(self._frame)
        self._frame.style().polish(self._frame)

    def _refresh(self) -> None:
        name, words = ("stop", "Stop (Esc)") if self._is_answering else ("send", "Send (Enter)")
        can = self._is_answering or bool(self.text.strip())
        scheme = colours()
        self._button.setEnabled(can)
        self._button.setIcon(icon(name, scheme.on_accent if can else scheme.muted))
        self._button.setToolTip(words)
        self._button.setAccessibleName(words.partition(" (")[0])
