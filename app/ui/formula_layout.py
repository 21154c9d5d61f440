"""Formulas in a text: the picture stands behind its source, which stays in the text and takes no room there.

So whatever reads the text (searching, a screen reader, the marks of tokens) finds what was written; what is selected or
marked of a formula is all of it. The picture stands on the base line of its line: Qt puts one as far below that as the
descent of its own font, so the font's size is chosen for that.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from PySide6.QtCore import QRect, QRectF, Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextImageFormat,
)
from PySide6.QtWidgets import QTextEdit
from shiboken6 import isValid

from app.ui.formula_lines import LINE_END, block_below, end_line, end_line_behind, n_places, replace_letter
from app.ui.formula_pictures import Key, Picture, formula_pictures
from app.ui.formulas import DISPLAY, END, INLINE, LINE, tex_of
from app.ui.heights import Shifts
from app.ui.theme import colours

FORMULA = QTextFormat.Property.UserProperty + 1
"""The property of a format by which text belongs to a formula: its number."""
PICTURE = "\ufffc"
MOST_TEXT_BYTES = 32 << 20
"""The pictures of one text take no more than so much; what does not fit any more stays as it was written."""
PARAGRAPHS = str.maketrans({"\u2029": "\n", "\u2028": "\n", "\u00a0": " "})
"""What Qt has in a selection in place of ends of lines, and of spaces."""

Marked = tuple[QTextCursor, QColor, QColor]
"""A part of a text, and the ground and the colour that mark it."""

_KEEP = QTextCursor.MoveMode.KeepAnchor
_LETTERS = 1.12
"""The letters of the font for formulas are smaller than those of the same size around them."""
_MARKS = re.compile(f"[{INLINE}{DISPLAY}{LINE}{END}]")
_SIZES = {1: 1.2, 2: 1.5}  # by Qt's FontSizeAdjustment, which headings have


@dataclass(slots=True)
class _Formula:
    key: Key
    colour: str
    picture: Picture | None = None  # that is in the text


class Range(NamedTuple):
    """A part of a text."""

    start: int
    end: int


class FormulaLayout:
    """The formulas of one text.

    Attributes:
        draws: whether they are drawn here.
        is_drawing: whether the text is changing while they are.
    """

    def __init__(self, view: QTextEdit, on_drawn: Callable[[list[int], Shifts], None]) -> None:
        self._view = view
        self._on_drawn = on_drawn
        self._formulas: dict[int, _Formula] = {}
        self._number = 0
        self.draws, self.is_drawing = True, False
        self._is_asking = False
        self._names: dict[tuple[Key, str], str] = {}  # of the pictures that the text has, each of them once
        self._n_bytes, self._is_full = 0, False

    # --- content --------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Know nothing of the text any more."""
        self._formulas.clear()
        self._names.clear()
        self._n_bytes, self._is_full = 0, False
        self.let_go()

    def let_go(self) -> None:
        """Wait for no picture any more."""
        if self._is_asking:
            self._is_asking = False
            formula_pictures().forget(self)

    def take(self, start: int) -> None:
        """Take the marks out of what was rendered from a place on, and have what is between them drawn."""
        block = self._view.document().findBlock(start)
        found = False
        while block.isValid():
            if _MARKS.search(block.text()):
                self._take_block(block)
                found = True
            block = block.next()
        if found and self._may_draw():
            self._put(self._ready())  # nobody has seen where its lines were
            self._ask()

    def _take_block(self, block: QTextBlock) -> None:
        text, at = block.text(), block.position()
        marks = [(at + n_places(text[:i]), letter) for i, letter in enumerate(text) if letter in (INLINE, DISPLAY, END)]
        pairs = [(begin, end) for begin, end in pairwise(marks) if begin[1] != END and end[1] == END]
        numbered = list(enumerate(pairs, self._number + 1))
        self._number += len(pairs)
        is_code = block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeLanguage)
        for number, ((start, letter), (end, _)) in reversed(numbered):  # from the end, so that places stay right
            if not is_code:
                self._take_formula(block, Range(start, end), number, is_display=letter == DISPLAY)
        text, at = block.text(), block.position()
        for found in reversed(list(_MARKS.finditer(text))):
            replace_letter(block, at + n_places(text[: found.start()]), LINE_END if found[0] == LINE else "")

    def _take_formula(self, block: QTextBlock, place: Range, number: int, *, is_display: bool) -> None:
        """Note a formula between two marks; take the first mark and leave the one behind it."""
        start, end = place
        cursor = QTextCursor(block)
        if is_display:
            end_line_behind(block, end + 1)
        replace_letter(block, start, "")
        cursor.setPosition(start)
        cursor.setPosition(end - 1, _KEEP)
        shape = cursor.charFormat()
        size = self._size_px() * _SIZES.get(shape.intProperty(QTextFormat.Property.FontSizeAdjustment), 1.0)
        is_own = shape.foreground().style() != Qt.BrushStyle.NoBrush
        colour = shape.foreground().color().name() if is_own else colours().text
        tex = tex_of(cursor.selectedText().replace(LINE, "\n"))
        key = Key(tex, is_display, round(size * _LETTERS, 2), self._view.devicePixelRatioF())
        self._formulas[number] = _Formula(key, colour)
        mark = QTextCharFormat()
        mark.setProperty(FORMULA, number)
        cursor.mergeCharFormat(mark)
        if is_display and start > block.position():
            end_line(block, start - 1)

    def _size_px(self) -> float:
        return float(self._view.document().defaultFont().pointSizeF() * self._view.logicalDpiY() / 72)

    # --- pictures -------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Show the pictures that there are, and ask for the others while the text is in sight."""
        if not self._may_draw():
            return
        if ready := self._ready():
            before = self._line_ends(ready)
            self.is_drawing = True
            places = self._put(ready)
            self.is_drawing = False
            after = self._line_ends(ready)
            self._on_drawn(places, tuple(sorted((before[number], after[number]) for number in before)))
        self._ask()

    def _may_draw(self) -> bool:
        return self.draws and formula_pictures().is_on and isValid(self._view)

    def _ready(self) -> dict[int, Picture]:
        ready = {}
        for number, formula in sorted(self._formulas.items()):
            picture = None if formula.picture is not None else formula_pictures().picture(formula.key)
            if picture is not None and self._has_room(number, formula, picture):
                ready[number] = picture
        return ready

    def _has_room(self, number: int, formula: _Formula, picture: Picture) -> bool:
        """Let the text have a picture if there is room for it."""
        look = formula.key, formula.colour
        if look not in self._names:
            n_bytes = self._n_bytes + picture.image.sizeInBytes()
            if n_bytes > MOST_TEXT_BYTES:
                self._is_full = True
                return False
            self._n_bytes, self._names[look] = n_bytes, f"formula:{number}"
            self._view.document().addResource(
                QTextDocument.ResourceType.ImageResource, QUrl(self._names[look]), picture.tinted(formula.colour)
            )
        return True

    def _ask(self) -> None:
        if self._is_full:
            self.let_go()
            return
        keys = [formula.key for _, formula in sorted(self._formulas.items()) if formula.picture is None]
        if keys and self._view.isVisible():
            self._is_asking = True
            formula_pictures().ask(self, keys)

    def _put(self, ready: dict[int, Picture]) -> list[int]:
        """Put pictures into the text; return where."""
        cursor, places = QTextCursor(self._view.document()), list[int]()
        cursor.beginEditBlock()
        for number, place in reversed(_ranges(self._view.document()).items()):
            if number in ready:
                self._put_one(cursor, number, place, ready[number])
                self._formulas[number].picture = ready[number]
                places.append(place.end)
        cursor.endEditBlock()
        return places

    def _line_ends(self, numbers: Container[int]) -> dict[int, float]:
        """Return where what is below the line begins, in pixels, that each of these formulas ends in."""
        found = {}
        for number, place in _ranges(self._view.document()).items():
            if number in numbers:
                block = self._view.document().findBlock(place.end)
                lines = block.layout()
                line = lines.lineForTextPosition(place.end - block.position())
                is_last = not line.isValid() or line.lineNumber() == lines.lineCount() - 1
                following = block_below(block) if is_last else block
                top = self._view.document().documentLayout().blockBoundingRect(following).top()
                found[number] = top if is_last else top + lines.lineAt(line.lineNumber() + 1).y()
        return found

    def _put_one(self, cursor: QTextCursor, number: int, place: Range, picture: Picture) -> None:
        formula = self._formulas[number]
        name = self._names[formula.key, formula.colour]
        cursor.setPosition(place.start)
        cursor.setPosition(place.end, _KEEP)
        cursor.mergeCharFormat(_unseen())
        cursor.setPosition(place.end)
        cursor.insertText(PICTURE, self._shape(name, number, picture))

    def _shape(self, name: str, number: int, picture: Picture) -> QTextImageFormat:
        shape = QTextImageFormat()
        shape.setName(name)
        shape.setWidth(picture.width)
        shape.setHeight(picture.height)
        shape.setProperty(FORMULA, number)
        shape.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignBaseline)
        family = self._view.document().defaultFont().family()
        shape.setFontFamilies([family])
        shape.setFontPointSize(max(0.1, picture.descent / _descent_of_point(family)))
        return shape

    # --- marks ----------------------------------------------------------------------------------------

    def paint_marked(self, marks: Iterable[Marked], where: QRect) -> None:
        """Paint the pictures in marked text in a part of the view on the ground and in the colour of the marks.

        Qt lays a veil of half the ground over a picture, which leaves it too little contrast.
        """
        if not any(formula.picture is not None for formula in self._formulas.values()):
            return
        drawn = [(number, place) for number, place in _ranges(self._view.document()).items() if self._is_drawn(number)]
        painter = QPainter(self._view.viewport())
        for cursor, ground, ink in marks:
            at = bisect_right(drawn, cursor.selectionStart(), key=lambda one: one[1].end)
            for number, place in drawn[at:]:
                if place.end > cursor.selectionEnd():
                    break
                picture = self._formulas[number].picture
                if picture is not None and (spot := self._spot(place, picture)).intersects(QRectF(where)):
                    painter.fillRect(spot, ground)
                    image = picture.tinted(ink.name())
                    painter.drawPixmap(spot, image, QRectF(image.rect()))
        painter.end()

    def _is_drawn(self, number: int) -> bool:
        return number in self._formulas and self._formulas[number].picture is not None

    def _spot(self, place: Range, picture: Picture) -> QRectF:
        """Where a picture is seen in the view."""
        cursor = QTextCursor(self._view.document())
        cursor.setPosition(place.end - 1)
        lines = cursor.block().layout()
        line = lines.lineForTextPosition(cursor.positionInBlock())
        box = self._view.document().documentLayout().blockBoundingRect(cursor.block())
        left = self._view.cursorRect(cursor).left()
        top = box.top() - lines.boundingRect().top() + line.y() + line.ascent() - (picture.height - picture.descent)
        return QRectF(left, top, picture.width, picture.height)


def _ranges(document: QTextDocument) -> dict[int, Range]:
    """Return where each formula stands, pictures included, from top to bottom."""
    found: dict[int, Range] = {}
    block = document.begin()
    while block.isValid():
        walk = block.begin()
        while not walk.atEnd():
            piece = walk.fragment()
            if number := piece.charFormat().intProperty(FORMULA):
                start = found[number].start if number in found else piece.position()
                found[number] = Range(start, piece.position() + piece.length())
            walk += 1
        block = block.next()
    return found


def _unseen() -> QTextCharFormat:
    """Return the format of a source that has its picture: of no width, and lower than any line."""
    shape = QTextCharFormat()
    shape.setForeground(QBrush(QColor(0, 0, 0, 0)))
    shape.setProperty(QTextFormat.Property.FontPixelSize, 1)
    shape.setFontLetterSpacingType(QFont.SpacingType.PercentageSpacing)
    shape.setFontLetterSpacing(1)
    return shape


def _descent_of_point(family: str) -> float:
    """How far a font reaches below the base line for each point of its size, in pixels."""
    return max(0.01, QFontMetricsF(QFont(family, 100)).descent() / 100)


# --- what is selected ---------------------------------------------------------------------------------


def drawn_ranges(document: QTextDocument) -> list[Range]:
    """Return where the formulas of a text stand that are drawn, from top to bottom."""
    if PICTURE not in document.toPlainText():
        return []
    return [one for one in _ranges(document).values() if document.characterAt(one.end - 1) == PICTURE]


def with_formulas(cursor: QTextCursor, drawn: Sequence[Range]) -> QTextCursor:
    """Return a selection that has whole formulas where it has a part of one that is drawn."""
    start, end = cursor.selectionStart(), cursor.selectionEnd()
    if start == end or not drawn:
        return cursor
    first = bisect_right(drawn, start, key=lambda one: one.start) - 1
    last = bisect_left(drawn, end, key=lambda one: one.start) - 1
    whole = QTextCursor(cursor)
    whole.setPosition(drawn[first].start if first >= 0 and start < drawn[first].end else start)
    whole.setPosition(max(end, drawn[last].end) if last >= 0 else end, _KEEP)
    return whole


def to_mark(cursor: QTextCursor, drawn: Sequence[Range]) -> QTextCursor:
    """Return what to mark for a place that was found: whole formulas, of a single one its picture alone."""
    whole = with_formulas(cursor, drawn)
    place = Range(whole.selectionStart(), whole.selectionEnd())
    if place in drawn:
        whole.setPosition(place.end - 1)
        whole.setPosition(place.end, _KEEP)
    return whole


def selected_text(cursor: QTextCursor) -> str:
    """Return what is selected, of formulas the source."""
    if not cursor.hasSelection():
        return ""
    return with_formulas(cursor, drawn_ranges(cursor.document())).selectedText().replace(PICTURE, "")
