"""Selecting and copying across the parts of one message, as if it were one text.

Each part is a text view with a selection of its own. Dragging out of one selects the rest of it, all of those between,
and the beginning of the one under the pointer; copying joins what is selected in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.ui.formula_layout import PARAGRAPHS, selected_text

if TYPE_CHECKING:
    from app.ui.code_block import CodeView
    from app.ui.column import BlockColumn
    from app.ui.prose import ProseView

Edit = QTextEdit | QPlainTextEdit
_KEEP = QTextCursor.MoveMode.KeepAnchor


class MessageSelection(QObject):
    """What is selected in one message."""

    def __init__(self, column: BlockColumn) -> None:
        super().__init__(column)
        self._column = column
        self._anchor: tuple[int, int] | None = None  # block, place in its text
        self._is_all = False
        self._range = range(0)  # blocks that hold a part of the selection

    def watch(self, part: ProseView | CodeView) -> None:
        """Take part in what the person selects in a part."""
        for widget in (part.edit, part.edit.viewport()):
            widget.installEventFilter(self)
        if self._is_all:
            part.edit.selectAll()

    def holds(self, n: int) -> bool:
        """Whether a block's widget must stay: it holds a part of the selection."""
        return n in self._range and not self._is_all

    @property
    def is_anything(self) -> bool:
        """Whether something is selected."""
        if self._is_all:
            return True
        edits = [getattr(self._column.part(n), "edit", None) for n in self._range]
        return any(edit is not None and edit.textCursor().hasSelection() for edit in edits)

    @property
    def text(self) -> str:
        """What is selected, as it reads."""
        if self._is_all:
            return self.whole()
        chosen = []
        for n in self._range:
            part = self._column.part(n)
            if (edit := getattr(part, "edit", None)) is not None and (words := _selected(edit)):
                chosen.append(words)
        return "\n".join(chosen)

    def copy(self) -> None:
        """Put what is selected on the clipboard."""
        QGuiApplication.clipboard().setText(self.text)

    def whole(self) -> str:
        """The message as it reads, without Markdown."""
        from app.ui.plain_text import plain_of

        return plain_of(self._column.blocks)

    def clear(self) -> None:
        """Select nothing."""
        self._anchor, self._range, self._is_all = None, range(0), False
        for part in self._column.parts:
            _deselect(part.edit)

    def select_all(self) -> None:
        """Select the whole message."""
        self._is_all = True
        for part in self._column.parts:
            part.edit.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the mouse across parts; copy and select all for the whole message."""
        kind = event.type()
        if kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(event)
        if kind == QEvent.Type.ContextMenu and isinstance(event, QContextMenuEvent):
            self._column.menu_requested.emit(event.globalPos())
            return True
        edit = watched.parentWidget() if isinstance(watched, QWidget) else None
        if edit is not None and isinstance(event, QMouseEvent):
            if kind == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
                self._press(edit, event)
            elif kind == QEvent.Type.MouseMove and event.buttons() & Qt.MouseButton.LeftButton:
                return self._drag(event.globalPosition().toPoint())
        return False

    def _key(self, event: QKeyEvent) -> bool:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            return True
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
            return True
        return False

    def _press(self, edit: QWidget, event: QMouseEvent) -> None:
        n = self._number_of(edit)
        if n < 0 or not isinstance(edit, Edit):
            return
        if not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.clear()
            self._anchor = n, edit.cursorForPosition(event.position().toPoint()).position()
        self._range = range(n, n + 1)

    def _drag(self, spot: QPoint) -> bool:
        """Select from where the button went down to the pointer; true when that leaves the part."""
        if self._anchor is None:
            return False
        here, place = self._at(spot)
        start, anchor = self._anchor
        if here == start:
            for n in self._range:
                if n != start and (part := self._column.part(n)) is not None:
                    _deselect(getattr(part, "edit", None))
            self._range = range(start, start + 1)
            return False
        is_down = here > start
        for n in set(self._range) - set(range(min(start, here), max(start, here) + 1)):
            _deselect(getattr(self._column.part(n), "edit", None))
        self._range = range(min(start, here), max(start, here) + 1)
        for n in self._range:
            target = getattr(self._column.part(n), "edit", None)
            if target is None:
                continue
            end = _end_of(target)
            if n == start:
                _select(target, anchor, end if is_down else 0)
            elif n == here:
                _select(target, 0 if is_down else end, place)
            else:
                _select(target, 0, end)
        return True

    def _at(self, spot: QPoint) -> tuple[int, int]:
        """The block under a point of the screen, or nearest to it, and the place in its text."""
        y = self._column.mapFromGlobal(spot).y()
        best = self._anchor[0] if self._anchor else 0
        for part in self._column.parts:
            if part.isVisible() and part.y() <= y:
                best = self._column.number_of(part)
        if not any(part.y() <= y for part in self._column.parts) and self._column.parts:
            best = self._column.number_of(self._column.parts[0])
        edit = getattr(self._column.part(best), "edit", None)
        if edit is None:
            return best, 0
        return best, int(edit.cursorForPosition(edit.viewport().mapFromGlobal(spot)).position())

    def _number_of(self, edit: QWidget) -> int:
        return next((self._column.number_of(part) for part in self._column.parts if part.edit is edit), -1)


def _selected(edit: Edit) -> str:
    return selected_text(edit.textCursor()).translate(PARAGRAPHS)


def _end_of(edit: Edit) -> int:
    return edit.document().characterCount() - 1


def _select(edit: Edit, start: int, end: int) -> None:
    cursor = edit.textCursor()
    cursor.setPosition(start)
    cursor.setPosition(end, _KEEP)
    edit.setTextCursor(cursor)


def _deselect(edit: Edit | None) -> None:
    if edit is not None and (cursor := edit.textCursor()).hasSelection():
        cursor.clearSelection()
        edit.setTextCursor(cursor)
