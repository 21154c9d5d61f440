"""Lines around formulas: where they are made to end, and what is below them."""

from __future__ import annotations

import re

from PySide6.QtGui import QTextBlock, QTextCursor, QTextTable

LINE_END = "\u2028"
_KEEP = QTextCursor.MoveMode.KeepAnchor
_SPACE_BEHIND = re.compile(r"[.,;:]? (?=.)")


def block_below(block: QTextBlock) -> QTextBlock:
    """Return the block below another; of a table that of the next row, or the one behind it."""
    cursor = QTextCursor(block)
    table: QTextTable | None = cursor.currentTable()
    if table is None:
        return block.next()
    cell = table.cellAt(cursor)
    row = cell.row() + cell.rowSpan()
    if row < table.rows():
        return table.cellAt(row, 0).firstCursorPosition().block()
    return block.document().findBlock(table.lastPosition() + 1)


def n_places(text: str) -> int:
    """How many places of a document a text takes."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def replace_letter(block: QTextBlock, place: int, instead: str) -> None:
    """Put a text in place of one letter."""
    cursor = QTextCursor(block)
    cursor.setPosition(place)
    cursor.setPosition(place + 1, _KEEP)
    cursor.insertText(instead, cursor.charFormat())


def end_line(block: QTextBlock, place: int) -> None:
    """Let a line end where a space stands."""
    cursor = QTextCursor(block)
    cursor.setPosition(place)
    cursor.setPosition(place + 1, _KEEP)
    if cursor.selectedText() == " ":
        replace_letter(block, place, LINE_END)


def end_line_behind(block: QTextBlock, place: int) -> None:
    """Let a line end at the space that stands at a place, or behind a full stop there."""
    cursor = QTextCursor(block)
    cursor.setPosition(place)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, _KEEP)
    if space := _SPACE_BEHIND.match(cursor.selectedText()):
        replace_letter(block, place + space.end() - 1, LINE_END)
