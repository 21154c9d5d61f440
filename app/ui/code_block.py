"""A code block: its language, a Copy button, the text in a fixed-pitch face, coloured by Pygments.

Pygments is imported when the first block is coloured. Colouring is an ornament: a lexer that fails, or a block
that is very long, leaves the text as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QSyntaxHighlighter, QTextCharFormat, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from app.ui.theme import GRID, Colours, IconButton, code_font, colours, follow, named, see_through, text_font

if TYPE_CHECKING:
    from pygments.lexer import Lexer

logger = logging.getLogger(__name__)

_MAX_COLOURED_CHARS = 200_000
_RECOLOUR_EVERY_MS = 250
_COPIED_MS = 1500

_Spans = list[tuple[int, int, str]]
"""Start, length and colour of the pieces of one line."""


def _lexer_for(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # not before the first window is painted
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False) if language else None
    except ClassNotFound:
        return None


def _colour_of(kind: str, scheme: Colours) -> str:
    """Colour of a Pygments token type, given by its dotted name; "" for plain text."""
    for prefix, colour in (
        ("Token.Keyword", scheme.code_keyword),
        ("Token.Literal.String", scheme.code_string),
        ("Token.Literal.Number", scheme.code_number),
        ("Token.Comment", scheme.code_comment),
        ("Token.Name.Function", scheme.code_name),
        ("Token.Name.Class", scheme.code_name),
        ("Token.Name.Tag", scheme.code_name),
        ("Token.Name.Attribute", scheme.code_number),
        ("Token.Name.Builtin", scheme.code_name),
        ("Token.Name.Decorator", scheme.code_keyword),
        ("Token.Operator.Word", scheme.code_keyword),
    ):
        if kind.startswith(prefix):
            return colour
    return ""


def spans_by_line(text: str, language: str, scheme: Colours) -> Iterator[_Spans]:
    """Yield the coloured pieces of each line of a text."""
    lexer = _lexer_for(language)
    spans: _Spans = []
    if lexer is not None:
        column = 0
        for kind, value in lexer.get_tokens(text):
            colour = _colour_of(str(kind), scheme)
            for n, piece in enumerate(value.split("\n")):
                if n:
                    yield spans
                    spans, column = [], 0
                if piece and colour:
                    spans.append((column, len(piece), colour))
                column += len(piece)
    yield spans


class _Painter(QSyntaxHighlighter):
    """Colours lines from a table that was made for the whole text."""

    def __init__(self, edit: QPlainTextEdit) -> None:
        super().__init__(edit.document())
        self._table: list[_Spans] = []

    def repaint_from(self, table: list[_Spans]) -> None:
        old, self._table = self._table, table
        block = self.document().begin()
        while block.isValid():
            line = block.blockNumber()
            before = old[line] if line < len(old) else None
            if before is None or line >= len(table) or before != table[line]:
                self.rehighlightBlock(block)
            block = block.next()

    def highlightBlock(self, text: str) -> None:
        line = self.currentBlock().blockNumber()
        if line >= len(self._table):
            return
        for start, length, colour in self._table[line]:
            shape = QTextCharFormat()
            shape.setForeground(QColor(colour))
            self.setFormat(start, min(length, len(text) - start), shape)


class _CodeText(QPlainTextEdit):
    """The text itself: as tall as its lines, scrolling sideways only."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        see_through(self)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(code_font())
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.document().setDocumentMargin(GRID)
        self.horizontalScrollBar().rangeChanged.connect(self.fit)

    def fit(self) -> None:
        lines = self.document().blockCount()
        bar = self.horizontalScrollBar()
        extra = bar.sizeHint().height() if bar.maximum() > 0 else 0
        height = lines * self.fontMetrics().lineSpacing() + 2 * GRID + 2 + extra
        if height != self.height():
            self.setFixedHeight(height)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll sideways here; leave up and down to the transcript."""
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()


class CodeView(QFrame):
    """One fenced block of an answer."""

    def __init__(self, language: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._language = language
        self._text = ""
        self._coloured_at = 0.0
        self._cost_s = 0.0
        self.setObjectName("code")
        self._label = named(QLabel(language or "text"), "muted")
        self._label.setFont(text_font(-0.5))
        self._copy = IconButton("copy", "Copy code")
        self._copy.clicked.connect(self.on_copy)
        self._edit = _CodeText(self)
        self._edit.setAccessibleName(f"{language or 'text'} code")
        self._painter = _Painter(self._edit)
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self._colour)
        self._copied = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied.timeout.connect(self.on_copied_shown)
        head = QHBoxLayout()
        head.setContentsMargins(GRID + 4, 2, 4, 2)
        head.addWidget(self._label)
        head.addStretch()
        head.addWidget(self._copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self._edit)
        self._edit.fit()
        follow(self._colour)

    @property
    def edit(self) -> QPlainTextEdit:
        """Where its text stands."""
        return self._edit

    @property
    def text(self) -> str:
        """The code, without the line end before the closing fence."""
        return self._text.removesuffix("\n")

    def show_text(self, text: str, *, is_finished: bool) -> None:
        """Show the code so far; only what is new is typed."""
        if text.startswith(self._text):
            typed = text[len(self._text) :]
        else:
            self._edit.clear()
            typed = text
        # A line end is typed when something follows it, or an empty last line would jump in and out.
        held = "\n" if self._text.endswith("\n") and self._text and typed else ""
        self._text = text
        typed = held + typed
        typed = typed.removesuffix("\n")
        if typed:
            cursor = QTextCursor(self._edit.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(typed)
            self._edit.fit()
        self._schedule(is_finished=is_finished)

    def on_copy(self) -> None:
        """Put the code on the clipboard, and say so for a moment."""
        QGuiApplication.clipboard().setText(self.text)
        self._copy.rename("Copied", "check")
        self._copied.start()

    def on_copied_shown(self) -> None:
        """Offer to copy again."""
        self._copy.rename("Copy code", "copy")

    def sizeHint(self) -> QSize:
        """Be as tall as the code."""
        return QSize(super().sizeHint().width(), self.minimumSizeHint().height())

    def _schedule(self, *, is_finished: bool) -> None:
        """Colour at the end, and now and then while the code grows: never more than a tenth of the time."""
        if is_finished:
            self._later.stop()
            self._colour()
        elif not self._later.isActive():
            pause_ms = max(_RECOLOUR_EVERY_MS, 10_000 * self._cost_s)
            self._later.start(round(max(0.0, pause_ms - (monotonic() - self._coloured_at) * 1000)))

    def _colour(self) -> None:
        if not self._text or len(self._text) > _MAX_COLOURED_CHARS:
            return
        started = monotonic()
        try:
            table = list(spans_by_line(self._text, self._language, colours()))
        except Exception:  # a lexer is other people's code, and all that is at stake is colour
            logger.info("Pygments could not colour a block of %s", self._language, exc_info=True)
            return
        self._painter.repaint_from(table)
        self._coloured_at = monotonic()
        self._cost_s = self._coloured_at - started
