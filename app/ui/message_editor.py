"""The field that a message is written in: it grows with its lines, and takes files that are pasted or dropped."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy

from app.ui.theme import see_through, text_font
from app.ui.tr import tr

_MAX_LINES = 8
_LONG_PASTE_CHARS = 6_000


class MessageEditor(QPlainTextEdit):
    """Plain text that grows with its lines up to a limit."""

    submitted = Signal()
    stop_pressed = Signal()
    focus_changed = Signal()
    files_given = Signal(list)  # of paths
    long_text_given = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        see_through(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(text_font(1.0))
        self.setTabChangesFocus(True)
        self._does_enter_send = True
        self.setPlaceholderText(tr("Write a message"))
        self.setAccessibleName(tr("Message"))
        self.let_enter_send(is_on=True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self.fit)
        self.fit()

    def let_enter_send(self, *, is_on: bool) -> None:
        """Let Enter send and Shift+Enter break the line, or Ctrl+Enter send and Enter break it."""
        self._does_enter_send = is_on
        if is_on:
            self.setAccessibleDescription(tr("Enter sends, Shift+Enter starts a new line, Escape stops the answer"))
            words = tr("Enter sends · Shift+Enter starts a new line · Esc stops the answer · Drop or paste text files")
        else:
            self.setAccessibleDescription(tr("Control+Enter sends, Enter starts a new line, Escape stops the answer"))
            words = tr("Ctrl+Enter sends · Enter starts a new line · Esc stops the answer · Drop or paste text files")
        self.setToolTip(words)

    @property
    def send_key(self) -> str:
        """The key that sends."""
        return tr("Enter") if self._does_enter_send else "Ctrl+Enter"

    def _is_send(self, event: QKeyEvent) -> bool:
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return True
        return self._does_enter_send and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send, break the line, or stop on Esc."""
        if self._is_send(event):
            self.submitted.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.stop_pressed.emit()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take files, but for models: those are for the window."""
        return bool(_files(source)) or (not source.hasUrls() and source.hasText())

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Type what is pasted or dropped; files, and texts of many pages, go with the message instead."""
        if paths := _files(source):
            self.files_given.emit(paths)
        elif len(source.text()) > _LONG_PASTE_CHARS:
            self.long_text_given.emit(source.text())
        elif not source.hasUrls() or source.hasText():
            super().insertFromMimeData(source)

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
        if lines <= _MAX_LINES:  # all of it fits: nothing is scrolled away
            self.verticalScrollBar().setValue(0)


def _files(source: QMimeData) -> list[Path]:
    paths = [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
    return [] if any(path.suffix.lower() == ".gguf" for path in paths) else paths
