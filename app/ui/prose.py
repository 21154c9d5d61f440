"""Markdown prose in one document, rendered piece by piece.

What is finished is appended and never touched again; behind it stands a tail that is typed as it arrives and
rendered anew at most every :data:`RENDER_EVERY_MS`, and only if that would change how it reads. So the cost of a
token does not grow with the answer.

Nothing is ever fetched: raw HTML is text (``MarkdownNoHTML``), and an image becomes its description
(:mod:`app.ui.dressing`). A formula in a finished piece is drawn when its picture has come
(:mod:`app.ui.formula_layout`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QFont,
    QHideEvent,
    QPaintEvent,
    QShowEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextTable,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QTextEdit, QWidget

from app.chat.visible import visible, visible_markdown
from app.ui.blocks import is_tame
from app.ui.dressing import INDENT_PX, dress, dress_table
from app.ui.formula_layout import PARAGRAPHS, PICTURE, FormulaLayout, selected_text
from app.ui.formulas import protect_formulas
from app.ui.links import address_words
from app.ui.marking import Highlights
from app.ui.theme import follow, see_through, text_font

if TYPE_CHECKING:
    from app.ui.blocks import Block
    from app.ui.heights import Shifts

RENDER_EVERY_MS = 100
COST_SHARE = 12
"""Rendering the tail again may take one part in so many of the time."""

FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_JOINT = "\u2063"  # an invisible separator, typed where two pieces meet and taken out again
_MARGIN_PX = 4
_SIGN = re.compile(r"[^\w ,.;'\"(?%–—…“”-]|_|  |www\.")
_ADDRESS = re.compile(r"(://|www\.|@)\S*$")  # Qt makes a link of it when it is long enough
_LONGEST_MARK = 16  # a shorter line may yet become a heading, a list or a rule
_LASTING = ("*", "_", "`", "\\", "~", "&", "<", "!", "[", "]", ")", "$", "#", ":")  # what comes next decides on these


class ProseView(QTextBrowser):
    """A piece of prose as tall as its text; selectable, its links reported by ``anchorClicked``."""

    height_changed = Signal()
    lines_moved = Signal(tuple)  # Shifts; before the height is said to have changed

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        see_through(self)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)  # for tables that are too wide
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._formulas = FormulaLayout(self, self._on_drawn)
        self.document().setDocumentMargin(0)
        self.document().setDefaultFont(text_font(1.0))
        self.document().setIndentWidth(INDENT_PX)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._finished: list[str] = []
        self._tail = ""
        self._tail_start = 0
        self._tail_formats: tuple[QTextFormat, QTextCharFormat] | None = None
        self._rendered_at = 0.0
        self._cost_s = 0.0
        self._is_raw = False  # it shows signs of Markdown
        self._is_typed = False  # something was added since it was rendered
        self._is_plain = False
        self._is_rebuilding = False
        self._n_pieces = 0  # of the block that it shows
        self._highlights = Highlights(self)
        self.highlighted.connect(lambda url: self.setToolTip(address_words(url)))
        follow(self.on_colours_changed)

    # --- content --------------------------------------------------------------------------------------

    @property
    def edit(self) -> QTextBrowser:
        """Where its text stands."""
        return self

    @property
    def shown(self) -> str:
        """The Markdown that is shown."""
        return "".join(self._finished) + self._tail

    @property
    def needs_render(self) -> bool:
        """Whether some of the tail is shown as it was typed, not yet as Markdown."""
        return self._is_raw

    def show_block(self, block: Block) -> None:
        """Show a block, of which the beginning may be here already."""
        self._is_plain = self._is_plain or block.kind == "plain" or not self._is_tame(block)
        if self._is_plain:
            if self.shown != block.text:
                self.set_plain(block.text)
            return
        if not self._finished and not self._tail and len(block.pieces) > 1:
            self.append("".join(block.pieces))
            self._n_pieces = len(block.pieces)
        for piece in block.pieces[self._n_pieces :]:
            self.append(piece)
        self._n_pieces = len(block.pieces)
        if block.tail:
            self.show_tail(block.tail)
        elif self._tail:
            self._drop_tail()
        if not block.is_open and len(self._finished) > 1 and leans_on_others(block.text):
            self._finished = [block.text]
            self._render_all()

    def _is_tame(self, block: Block) -> bool:
        return all(is_tame(piece) for piece in (*block.pieces[self._n_pieces :], block.tail))

    def append(self, markdown: str) -> None:
        """Add a finished piece; it takes the place of the tail."""
        self._drop_tail()
        self._render(markdown, is_finished=True)
        self._finished.append(markdown)

    def show_tail(self, markdown: str) -> None:
        """Show what is still growing: typed on at once, rendered if the last rendering is old enough."""
        if markdown == self._tail and not self._is_raw:
            return
        is_longer = bool(self._tail) and markdown.startswith(self._tail)
        is_raw = self._is_raw or not (is_longer and self._reads_alike(markdown[len(self._tail) :]))
        pause_s = max(RENDER_EVERY_MS / 1000, COST_SHARE * self._cost_s)
        is_due = is_raw and monotonic() - self._rendered_at >= pause_s and not self._is_tail_selected()
        if is_longer and not is_due:
            self._type(markdown[len(self._tail) :])
            self._is_raw = is_raw
        elif is_due or not self._tail:
            self._drop_tail()
            self._render_tail(markdown)
        else:
            return
        self._tail = markdown

    def _reads_alike(self, typed: str) -> bool:
        """Whether what is typed need not be rendered; it takes on the looks of what it is typed behind."""
        end = QTextCursor(self.document())
        end.movePosition(QTextCursor.MoveOperation.End)
        look = end.charFormat()
        is_dressed = look.fontItalic() or look.fontFixedPitch() or look.isAnchor() or look.fontStrikeOut()
        return not is_dressed and look.fontWeight() <= QFont.Weight.Normal and reads_alike(self._tail, typed)

    def _type(self, text: str) -> None:
        """Add to the tail what is not rendered, or need not be."""
        if not self._is_typed and self._tail[-1:].isspace():
            text = " " + text  # the rendering has swallowed it
        if text:
            cursor = QTextCursor(self.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(visible(text).replace("\n", " "))
            self._is_typed = True

    def set_plain(self, text: str) -> None:
        """Show text as it was typed, without Markdown."""
        self._finished, self._tail, self._is_raw, self._is_typed, self._is_plain = [text], "", False, False, True
        self._formulas.clear()
        self.setPlainText(visible(text))
        self._fit()

    def _is_tail_selected(self) -> bool:
        """Whether the person is selecting in the tail, which rendering would undo under their hands."""
        cursor = self.textCursor()
        return bool(self._tail and cursor.hasSelection() and cursor.selectionEnd() > self._tail_start)

    def _render_tail(self, markdown: str) -> None:
        end = QTextCursor(self.document())
        end.movePosition(QTextCursor.MoveOperation.End)
        self._tail_start = end.position()
        self._tail_formats = (end.blockFormat(), end.blockCharFormat())
        began_s = monotonic()
        self._render(markdown, is_finished=False)
        self._rendered_at = monotonic()
        self._cost_s = self._rendered_at - began_s

    def _drop_tail(self) -> None:
        """Take the tail out; the block before it gets its own formats back, which removal would merge away."""
        if self._tail_formats is not None:
            cursor = QTextCursor(self.document())
            cursor.beginEditBlock()
            cursor.setPosition(self._tail_start)
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            block, char = self._tail_formats
            cursor.setBlockFormat(block.toBlockFormat())
            cursor.setBlockCharFormat(char)
            cursor.endEditBlock()
        self._tail, self._tail_formats, self._is_raw, self._is_typed = "", None, False, False

    def _render(self, markdown: str, *, is_finished: bool) -> None:
        """Append Markdown. ``insertMarkdown`` merges its first block into the last one; the joint keeps them apart."""
        document, markdown = self.document(), protect_formulas(visible_markdown(markdown), is_marked=is_finished)
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        start = cursor.position()
        if document.isEmpty():
            document.setMarkdown(markdown, FEATURES)
        else:
            cursor.insertMarkdown(f"{_JOINT}\n\n{markdown}", FEATURES)
            joint = document.find(_JOINT, start)
            if not joint.isNull():
                joint.removeSelectedText()
        dress(document, start)
        if is_finished:
            self._formulas.take(start)
        cursor.endEditBlock()
        for frame in document.rootFrame().childFrames():  # which Qt brings up to date after an edit block only
            if isinstance(frame, QTextTable) and frame.lastPosition() >= start:
                dress_table(frame)

    # --- formulas -------------------------------------------------------------------------------------

    def show_sources(self, *, is_on: bool) -> None:
        """Show the source of formulas, or have them drawn, from now on."""
        self._formulas.draws = not is_on
        self._render_all()

    def _on_drawn(self, places: list[int], shifts: Shifts) -> None:
        """Note where pictures have come into the text, and how that has moved its lines."""
        self._tail_start += sum(1 for place in places if place <= self._tail_start)
        self._highlights.show_again()
        self.lines_moved.emit(shifts)
        self._fit()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Give what is selected to where it is dragged: of formulas the source."""
        if PICTURE not in self.textCursor().selectedText():
            return super().createMimeDataFromSelection()
        data = QMimeData()
        data.setText(selected_text(self.textCursor()).translate(PARAGRAPHS))
        return data

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, and formulas that are marked or selected so that they can be read."""
        super().paintEvent(event)
        cursor, palette = self.textCursor(), self.palette()
        selected = (cursor, palette.highlight().color(), palette.highlightedText().color())
        marks = [*self._highlights.looks, *((selected,) if cursor.hasSelection() else ())]
        if marks:
            self._formulas.paint_marked(marks, event.rect())

    def showEvent(self, event: QShowEvent) -> None:
        """Have formulas drawn while somebody can see them."""
        super().showEvent(event)
        self._formulas.draw()

    def hideEvent(self, event: QHideEvent) -> None:
        """Wait for no formula that nobody can see."""
        super().hideEvent(event)
        self._formulas.let_go()

    # --- Qt -------------------------------------------------------------------------------------------

    @property
    def highlights(self) -> Highlights:
        """What is found in it."""
        return self._highlights

    def setExtraSelections(self, selections: Sequence[QTextEdit.ExtraSelection]) -> None:
        """Mark tokens; what is found stays marked."""
        self._highlights.show_below(selections)

    def extraSelections(self) -> list[QTextEdit.ExtraSelection]:
        """Return the marks of tokens."""
        return self._highlights.below

    def loadResource(self, kind: int, name: QUrl | str) -> None:  # noqa: ARG002 - Qt's signature
        """Load nothing, whatever the text asks for."""
        return

    def on_colours_changed(self) -> None:
        """Render again: links, code and tables have colours of their own."""
        self._render_all()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll sideways here; leave up and down to the transcript."""
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()

    def height_for(self, width: int) -> int:
        """How tall it is in a width."""
        if self.document().textWidth() != width:
            self.document().setTextWidth(width)
        return self._text_height()

    def sizeHint(self) -> QSize:
        """Be as tall as the text."""
        return QSize(super().sizeHint().width(), self._text_height())

    def minimumSizeHint(self) -> QSize:
        """Be as tall as the text, however narrow."""
        return QSize(80, self._text_height())

    def _text_height(self) -> int:
        size, width = self.document().size(), self.document().textWidth()
        bar = self.horizontalScrollBar().sizeHint().height() if size.width() > width + 1 > 1 else 0
        return round(size.height()) + _MARGIN_PX + bar

    def _fit(self) -> None:
        if not (self._formulas.is_drawing or self._is_rebuilding) and self.height() != self._text_height():
            self.setFixedHeight(self._text_height())
            self.height_changed.emit()

    def _render_all(self) -> None:
        finished, tail = self._finished, self._tail
        if self._is_plain or not (finished or tail):
            return
        self._finished, self._tail, self._tail_formats = [], "", None
        self._formulas.clear()
        self._is_rebuilding = True  # what is below need not jump up and back
        self.document().clear()
        for piece in finished:
            self.append(piece)
        if tail:
            self._render_tail(tail)
            self._tail = tail
        self._is_rebuilding = False
        self._highlights.find_again()
        self._fit()


def leans_on_others(markdown: str) -> bool:
    """Whether a piece of Markdown may read otherwise by itself: an address that links lead to stands in another."""
    return "]:" in markdown


def reads_alike(before: str, typed: str) -> bool:
    """Whether text typed behind Markdown reads as it would be rendered: it neither begins, ends nor is a sign."""
    line = before[before.rfind("\n") + 1 :]
    is_open = len(line) < _LONGEST_MARK or line.endswith(_LASTING) or _ADDRESS.search(line)
    return not (is_open or "|" in before or _SIGN.search(typed))
