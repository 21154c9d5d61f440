"""Marks that lie over a text: those of its tokens below, what is searched for above."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from app.ui.formula_layout import Marked, drawn_ranges, to_mark
from app.ui.theme import colours

Selections = Sequence[QTextEdit.ExtraSelection]

_MOST_MARKED = 500
FOUND = {False: ("#ffe9a8", "#1a2026"), True: ("#5c4a00", "#ffffff")}
"""Ground and text of what is found, by whether the scheme is dark."""
CURRENT = {False: ("#853300", "#ffffff"), True: ("#ffc266", "#1b1200")}
"""Ground and text of the place that is looked at."""


class Highlights:
    """The two layers of marks of one text view."""

    def __init__(self, edit: QTextEdit | QPlainTextEdit) -> None:
        self._edit = edit
        self.below: list[QTextEdit.ExtraSelection] = []
        self._found: list[QTextEdit.ExtraSelection] = []
        self._query, self._current = "", -1

    def show_below(self, selections: Selections) -> None:
        """Show these marks of tokens."""
        self.below = list(selections)
        self._show()

    def show_again(self) -> None:
        """Show the marks of what is found where formulas have been drawn meanwhile."""
        if self._found:
            self._show()

    @property
    def looks(self) -> list[Marked]:
        """What is found, with its ground and its colour."""
        return [(one.cursor, one.format.background().color(), one.format.foreground().color()) for one in self._found]

    def find(self, query: str) -> int:
        """Mark every place where a text stands, whatever its case; return how many."""
        self._query, self._current = query, -1
        before, self._found = self._found, []
        cursor = QTextCursor(self._edit.document())
        while query and len(self._found) < _MOST_MARKED:
            cursor = self._edit.document().find(query, cursor, QTextDocument.FindFlag(0))
            if cursor.isNull():
                break
            self._found.append(self._mark(cursor, FOUND))
        if before or self._found:
            self._show()
        return len(self._found)

    def find_again(self) -> None:
        """Mark what is looked for in a text that was made anew, and the same place as the one looked at."""
        current = self._current
        if self._query:
            self.find(self._query)
        if current >= 0:
            self.go_to(current)

    def go_to(self, number: int) -> QTextCursor | None:
        """Mark the ``number``-th place as the one looked at; the last one if there are not so many."""
        if not self._found:
            return None
        number = min(number, len(self._found) - 1)
        self._current = number
        cursor = QTextCursor(self._found[number].cursor)  # a copy: the mark that holds it is replaced
        self._found[number] = self._mark(cursor, CURRENT)
        self._show()
        return cursor

    def _mark(self, cursor: QTextCursor, look: dict[bool, tuple[str, str]]) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        ground, text = look[colours().is_dark]
        shape = QTextCharFormat()
        shape.setBackground(QColor(ground))
        shape.setForeground(QColor(text))
        selection.cursor = QTextCursor(cursor)
        selection.format = shape
        return selection

    def _show(self) -> None:
        show = (
            QPlainTextEdit.setExtraSelections
            if isinstance(self._edit, QPlainTextEdit)
            else QTextEdit.setExtraSelections
        )
        drawn = drawn_ranges(self._edit.document()) if self._found else []
        for selection in self._found if drawn else ():
            selection.cursor = to_mark(selection.cursor, drawn)
        show(self._edit, [*self.below, *self._found])  # type: ignore[arg-type]
