"""A code block: its language, buttons to copy and to wrap, the text in a fixed-pitch face, coloured.

A long block is shown in several views, each with so many of its lines, that touch; only those near the screen exist.
They share a :class:`CodeLook`: what is coloured, whether lines are wrapped, how far it is scrolled sideways.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QTextEdit, QWidget

from app.chat.visible import visible
from app.ui.colouring import LONGEST_LINE, Colouring, Span
from app.ui.marking import Highlights
from app.ui.theme import GRID, IconButton, code_font, colours, follow, named, see_through, text_font
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.blocks import Block, Code

_RECOLOUR_EVERY_MS = 250
_COST_SHARE = 10
_SLICE_MS = 12
_SLICE_S = 0.005
_COPIED_MS = 1500
_ROW_CHARS = 1_000
_HEAD_PX = 30


def rows_of(line: str) -> int:
    """In how many rows a line is shown: megabytes without an end are cut, or laying them out would take seconds."""
    return 1 if len(line) <= LONGEST_LINE else -(-len(line) // _ROW_CHARS)


def in_rows(text: str) -> str:
    """Cut lines that are too long to be laid out into rows."""
    if len(text) <= LONGEST_LINE:
        return text
    return "\n".join(
        line if rows_of(line) == 1 else "\n".join(line[at : at + _ROW_CHARS] for at in range(0, len(line), _ROW_CHARS))
        for line in text.split("\n")
    )


class CodeLook(QObject):
    """What the views of one block have in common."""

    coloured = Signal(int, int)  # first line, and the one behind the last
    wrapped = Signal()
    scrolled = Signal(int)

    def __init__(self, code: Code, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.code = code
        self.colouring = Colouring(code.language)
        self.is_wrapped = False
        self._n_lines_wanted = 0
        self._cost_s = 0.0
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self.colour)

    def want(self, n_lines: int) -> None:
        """Colour so many lines from the first on."""
        self._n_lines_wanted = max(self._n_lines_wanted, n_lines)
        if not self._later.isActive():
            growing_ms = max(_RECOLOUR_EVERY_MS, round(_COST_SHARE * self._cost_s * 1000))
            self._later.start(0 if self.code.is_finished else growing_ms)

    def colour(self) -> None:
        """Colour for a moment, and go on later if there is more to do."""
        began_s = monotonic()
        self._feed()
        while self._has_work and monotonic() - began_s < _SLICE_S:
            first, behind = self.colouring.step()
            if behind > first:
                self.coloured.emit(first, behind)
        self._cost_s = monotonic() - began_s
        if self._has_work:
            self._later.start(_SLICE_MS)

    @property
    def _has_work(self) -> bool:
        return self.colouring.is_behind and len(self.colouring.lines) <= self._n_lines_wanted

    def _feed(self) -> None:
        self.colouring.feed(self.code.text_from(self.colouring.n_fed))

    def wrap(self, *, is_on: bool) -> None:
        """Wrap long lines, or scroll them."""
        self.is_wrapped = is_on
        self.wrapped.emit()


class _Painter(QSyntaxHighlighter):
    """Colours lines from the table of the whole block."""

    def __init__(self, edit: QPlainTextEdit, lines: list[list[Span]], first: int) -> None:
        super().__init__(edit.document())
        self._lines, self._first = lines, first

    def repaint_lines(self, first: int, behind: int) -> None:
        """Colour these lines of the block again."""
        for number in range(max(0, first - self._first), behind - self._first):
            block = self.document().findBlockByNumber(number)
            if not block.isValid():
                break
            self.rehighlightBlock(block)

    def highlightBlock(self, text: str) -> None:
        line = self._first + self.currentBlock().blockNumber()
        if line >= len(self._lines):
            return
        scheme = colours()
        for start, length, role in self._lines[line]:
            shape = QTextCharFormat()
            shape.setForeground(QColor(getattr(scheme, role)))
            self.setFormat(start, min(length, len(text) - start), shape)


class _CodeText(QPlainTextEdit):
    """The text itself: as tall as its lines, scrolling sideways only."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        see_through(self)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(code_font())
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.document().setDocumentMargin(0)
        self.highlights = Highlights(self)

    def height_for(self, width: int) -> int:
        line = self.fontMetrics().lineSpacing()
        margins = self.viewportMargins()
        inner = width - margins.left() - margins.right()
        around = margins.top() + margins.bottom() + 2
        if self.lineWrapMode() == QPlainTextEdit.LineWrapMode.WidgetWidth:
            self.resize(width, self.height())
            n_lines = round(self.document().size().height())
            return n_lines * line + around
        bar = self.horizontalScrollBar()
        is_wide = self.widest_px > inner or bar.maximum() > 0
        return self.document().blockCount() * line + around + (bar.sizeHint().height() if is_wide else 0)

    widest_px = 0
    """Width of the longest line, by its number of characters."""

    def setExtraSelections(self, selections: Sequence[QTextEdit.ExtraSelection]) -> None:
        """Mark tokens; what is found stays marked."""
        self.highlights.show_below(selections)

    def extraSelections(self) -> list[QTextEdit.ExtraSelection]:
        """Return the marks of tokens."""
        return self.highlights.below

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll sideways here; leave up and down to the transcript."""
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()


class CodeView(QFrame):
    """Lines of one fenced block of an answer: all of them, or those of one part."""

    height_changed = Signal()

    def __init__(self, look: CodeLook, block: Block, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look, self._line = look, block.line
        self._shown = ""
        self._is_last = True
        self._is_head = block.is_first
        self.setObjectName("code")
        language = look.code.language or "text"
        self._edit = _CodeText(self)
        self._edit.setAccessibleName(
            (tr("{language} code, from line {line}") if block.line else tr("{language} code")).format(
                language=language, line=block.line + 1
            )
        )
        self._painter = _Painter(self._edit, look.colouring.lines, block.line)
        self._label: QLabel | None = None
        if self._is_head:
            self._build_head(language)
        self._put_edges()
        look.coloured.connect(self._painter.repaint_lines)
        look.wrapped.connect(self._on_wrapped)
        look.scrolled.connect(self._edit.horizontalScrollBar().setValue)
        self._edit.horizontalScrollBar().valueChanged.connect(look.scrolled)
        self._edit.horizontalScrollBar().rangeChanged.connect(self.height_changed)
        if look.is_wrapped:
            self._on_wrapped()
        self.show_block(block)
        follow(self._painter.rehighlight)

    def _build_head(self, language: str) -> None:
        self._label = named(QLabel(language, self), "muted")
        self._label.setFont(text_font(-0.5))
        self._copy = IconButton("copy", tr("Copy code"), self)
        self._copy.clicked.connect(self.on_copy)
        self._wrap = IconButton("wrap", tr("Wrap long lines"), self)
        self._wrap.setCheckable(True)
        self._wrap.setChecked(self._look.is_wrapped)
        self._wrap.toggled.connect(lambda is_on: self._look.wrap(is_on=is_on))
        self._copied = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied.timeout.connect(self.on_copied_shown)

    @property
    def edit(self) -> QPlainTextEdit:
        """Where its text stands."""
        return self._edit

    @property
    def highlights(self) -> Highlights:
        """What is found in it."""
        return self._edit.highlights

    @property
    def text(self) -> str:
        """The whole block's code, without the line end before the closing fence."""
        return self._look.code.text

    def show_block(self, block: Block) -> None:
        """Show the code so far; only what is new is typed."""
        text = in_rows(visible(block.text))
        shown = text.removesuffix("\n")  # a line end is shown when something follows it
        if shown.startswith(self._shown):
            typed = shown[len(self._shown) :]
        else:
            self._edit.clear()
            typed = shown
        self._shown = shown
        if typed:
            cursor = QTextCursor(self._edit.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(typed)
            widest = max(map(len, typed.split("\n")))
            last = self._edit.document().lastBlock().length()
            advance = self._edit.fontMetrics().averageCharWidth()
            self._edit.widest_px = max(self._edit.widest_px, max(widest, last) * advance)
        if block.is_last != self._is_last:
            self._is_last = block.is_last
            self._put_edges()
        self._look.want(block.line + block.text.count("\n") + 1)

    def height_for(self, width: int) -> int:
        """How tall it is."""
        return self._top_px() + self._edit.height_for(width - 2) + (1 if self._is_last else 0)

    def on_copy(self) -> None:
        """Put the code on the clipboard, and say so for a moment."""
        QGuiApplication.clipboard().setText(self.text)
        self._copy.rename(tr("Copied"), "check")
        self._copied.start()

    def on_copied_shown(self) -> None:
        """Offer to copy again."""
        self._copy.rename(tr("Copy code"), "copy")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the parts in their places."""
        super().resizeEvent(event)
        width, top = self.width() - 2, self._top_px()
        self._edit.setGeometry(1, top, width, max(0, self.height() - top - (1 if self._is_last else 0)))
        if self._label is not None:
            self._label.setGeometry(GRID + 4, 2, width - 3 * _HEAD_PX, _HEAD_PX - 2)
            size = self._copy.sizeHint().boundedTo(QSize(_HEAD_PX, _HEAD_PX - 2))
            for n, button in enumerate((self._copy, self._wrap), start=1):
                button.setGeometry(width - n * (size.width() + 2), 2, size.width(), size.height())

    def _top_px(self) -> int:
        return _HEAD_PX if self._is_head else 0

    def _put_edges(self) -> None:
        """Draw the frame where the block begins and ends only."""
        edge = {(True, True): "whole", (True, False): "first", (False, True): "last", (False, False): "middle"}
        self._edit.setViewportMargins(GRID, GRID // 2 if self._is_head else 0, GRID, GRID if self._is_last else 0)
        self.setProperty("edge", edge[self._is_head, self._is_last])
        self.style().unpolish(self)
        self.style().polish(self)

    def _on_wrapped(self) -> None:
        mode = QPlainTextEdit.LineWrapMode
        self._edit.setLineWrapMode(mode.WidgetWidth if self._look.is_wrapped else mode.NoWrap)
        self.height_changed.emit()
