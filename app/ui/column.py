"""Blocks below one another, of which only those near the screen have widgets; of the others the height is known.

Heights of blocks that were never built are guessed from their text. What a guess was wrong by moves what is below it,
and whoever shows the column puts that right (see :mod:`app.ui.transcript`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QUrl, Signal
from PySide6.QtWidgets import QWidget

from app.ui.blocks import Block
from app.ui.code_block import CodeLook, CodeView, rows_of
from app.ui.heights import Heights, Place, Shifts, shifted
from app.ui.prose import ProseView
from app.ui.selecting import MessageSelection
from app.ui.theme import GRID
from app.ui.thought import ThoughtHead
from app.ui.tr import tr
from app.ui.written_links import written_links

Part = ProseView | CodeView | ThoughtHead

THOUGHT_INDENT_PX = 20
_LINE_PX = 20
_MOST_MOVES = 50
"""A place is found again after lines of its block were moved so often."""
_CHAR_PX = 7.5
_CODE_HEAD_PX = 46


class BlockColumn(QWidget):
    """The text of one message."""

    height_changed = Signal()
    link_clicked = Signal(QUrl)
    menu_requested = Signal(QPoint)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = name
        self.thought_words = tr("Thoughts")
        self._blocks: Sequence[Block] = ()
        self._heights = Heights()
        self._parts: dict[int, Part] = {}
        self._looks: dict[int, CodeLook] = {}
        self._moves: dict[int, tuple[int, tuple[Shifts, ...]]] = {}  # how often lines were moved, and how lately
        self._unfolded: set[int] = set()
        self._fold_of: list[int] = []  # for each block the thought that it belongs to, or -1
        self._top, self._bottom = -math.inf, math.inf
        self._is_settling = False
        self._shows_all_thoughts = False
        self._shows_sources = False
        self._query = ""
        self._width = 0
        self.selection = MessageSelection(self)

    # --- content --------------------------------------------------------------------------------------

    @property
    def parts(self) -> list[ProseView | CodeView]:
        """The texts that are built, from top to bottom."""
        return [part for _, part in sorted(self._parts.items()) if not isinstance(part, ThoughtHead)]

    @property
    def blocks(self) -> Sequence[Block]:
        """All blocks."""
        return self._blocks

    def part(self, n: int) -> Part | None:
        """The widget of a block, if it is built."""
        return self._parts.get(n)

    def number_of(self, part: QWidget) -> int:
        """The number of the block that a widget shows."""
        return next((n for n, each in self._parts.items() if each is part), -1)

    def show_blocks(self, blocks: Sequence[Block], first: int = 0) -> None:
        """Show these blocks, of which those before ``first`` are as they were."""
        if self._blocks is not blocks or first == 0 or len(blocks) < len(self._heights):
            first = 0
            if self._blocks is not blocks or len(blocks) < len(self._heights) or not _same_kinds(self._parts, blocks):
                self.reset()
        self._blocks = blocks
        self._is_settling = True  # heights that change meanwhile are measured below
        for n in range(first, len(blocks)):
            self._take(n)
        self._is_settling = False
        self.settle()

    def reset(self) -> None:
        """Take everything away."""
        for n in list(self._parts):
            self._drop(n)
        self._heights.cut(0)
        self._fold_of.clear()
        for look in self._looks.values():
            look.deleteLater()  # its timer would colour on what nobody sees
        self._looks.clear()

    def _take(self, n: int) -> None:
        block = self._blocks[n]
        if n >= len(self._fold_of):
            before = self._fold_of[n - 1] if n else -1
            self._fold_of.append(n if block.kind == "thought" else before if block.in_thought else -1)
        part = self._parts.get(n)
        if isinstance(part, ThoughtHead):
            part.say(self.thought_words)
        elif part is not None:
            part.show_block(block)
        height = self._guess(n) if part is None else self._measure(n, part)
        if n < len(self._heights):
            if part is not None or block.is_open:
                self._heights.set(n, height)
        else:
            self._heights.append(height)

    def unfold_all(self) -> None:
        """Show what was thought, here and from now on."""
        self._shows_all_thoughts = True
        for n in range(len(self._blocks)):
            self._heights.set(n, self._height_now(n))
        self.settle()

    def show_sources(self, *, is_on: bool) -> None:
        """Show formulas as they were written, or have them drawn, here and from now on."""
        self._shows_sources = is_on
        for part in self.parts:
            if isinstance(part, ProseView):
                part.show_sources(is_on=is_on)

    def say_thought(self, words: str) -> None:
        """Change what the head of the thoughts says."""
        self.thought_words = words
        for part in self._parts.values():
            if isinstance(part, ThoughtHead):
                part.say(words)

    def _is_hidden(self, n: int) -> bool:
        fold = self._fold_of[n]
        return fold not in (-1, n) and fold not in self._unfolded and not self._shows_all_thoughts

    def _on_fold(self, n: int, *, is_open: bool) -> None:
        (self._unfolded.add if is_open else self._unfolded.discard)(n)
        for i in range(n, len(self._blocks)):
            if self._fold_of[i] == n:
                self._heights.set(i, self._height_now(i))
        self.settle()

    def _height_now(self, n: int) -> int:
        part = self._parts.get(n)
        return self._guess(n) if part is None else self._measure(n, part)

    def links(self) -> list[tuple[str, str]]:
        """Return the words and the address of links of what is shown; of too many, those in sight and the first."""
        near = self._in_sight()
        order = (*near, *(n for n in range(len(self._blocks)) if n not in near))
        return written_links((n, self._blocks[n]) for n in order if not self._is_hidden(n))

    # --- geometry -------------------------------------------------------------------------------------

    @property
    def content_height(self) -> int:
        """Height of all blocks."""
        return self._heights.total

    def lay_out(self, width: int) -> int:
        """Be so wide; return the height."""
        if width != self._width:
            self._width = width
            for n in range(len(self._blocks)):
                self._heights.set(n, self._height_now(n))
            self.settle()
        return self.content_height

    def show_range(self, top: float, bottom: float) -> None:
        """Have widgets for what lies between; what is far from it loses its own."""
        self._top, self._bottom = top, bottom
        self.settle()

    def anchor_at(self, y: float) -> Place:
        """Name a place so that it is found again after heights have changed."""
        if not self._blocks:
            return Place(0, round(y))
        n = self._heights.at(y)
        return Place(n, round(y) - self._heights.top(n), self._moves.get(n, (0, ()))[0])

    def place_of(self, anchor: Place) -> int:
        """Where a place that was named is now."""
        n, into, edition = anchor
        now, lately = self._moves.get(n, (0, ()))
        for shifts in lately[edition - now :] if edition < now else ():
            into = shifted(into, shifts)
        return self._heights.top(n) + into if n < len(self._heights) else into

    def build(self, n: int) -> Part | None:
        """Build the widget of a block now."""
        if self._fold_of[n] not in (-1, n) and self._is_hidden(n):
            self._on_fold(self._fold_of[n], is_open=True)
            if isinstance(head := self._parts.get(self._fold_of[n]), ThoughtHead):
                head.setChecked(True)
        if n not in self._parts:
            self._make(n)
            self.settle()
        return self._parts.get(n)

    def settle(self) -> None:
        """Build what is in sight, measure it, and put everything in its place."""
        if self._is_settling or not self._width:
            return
        self._is_settling = True
        before = self.height()
        try:
            self._build_and_place()
        finally:
            self._is_settling = False
        total = self._heights.total
        if total != before:
            self.resize(self._width, total)
            self.height_changed.emit()

    def _build_and_place(self) -> None:
        built = -1
        while built != len(self._parts):
            built = len(self._parts)
            for n in self._in_sight():
                if n not in self._parts and self._heights[n]:
                    self._make(n)
        self._drop_far()
        for n, part in self._parts.items():
            self._place(n, part)

    def _in_sight(self) -> range:
        if not self._blocks:
            return range(0)
        first = self._heights.at(self._top) if self._top > 0 else 0
        last = self._heights.at(self._bottom) if self._bottom < self._heights.total else len(self._blocks) - 1
        return range(first, last + 1) if self._bottom >= 0 and self._top <= self._heights.total else range(0)

    def _drop_far(self) -> None:
        if self._bottom == math.inf:
            return
        reach = self._bottom - self._top
        for n, part in list(self._parts.items()):
            top = self._heights.top(n)
            is_far = top + self._heights[n] < self._top - reach or top > self._bottom + reach
            is_kept = self.selection.holds(n) or part.hasFocus() or self._blocks[n].is_open
            if self._is_hidden(n) or (is_far and not is_kept):
                self._drop(n)

    def _indent(self, n: int) -> int:
        return THOUGHT_INDENT_PX if self._blocks[n].in_thought else 0

    def _gap(self, n: int) -> int:
        block = self._blocks[n]
        return 0 if (block.kind == "code" and not block.is_last) or n == len(self._blocks) - 1 else GRID

    def _measure(self, n: int, part: Part) -> int:
        if self._is_hidden(n):
            return 0
        return part.height_for(max(40, self._width - self._indent(n))) + self._gap(n)

    def _guess(self, n: int) -> int:
        if self._is_hidden(n):
            return 0
        block = self._blocks[n]
        if block.kind == "code":
            text = block.text
            lines = sum(map(rows_of, text.removesuffix("\n").split("\n")))
            return lines * _LINE_PX + (_CODE_HEAD_PX if block.is_first else 0) + self._gap(n)
        return guess_height(block.text, self._width) + self._gap(n)

    def _place(self, n: int, part: Part) -> None:
        indent, top = self._indent(n), self._heights.top(n)
        width, height = self._width - indent, self._heights[n] - self._gap(n)
        if isinstance(part, ThoughtHead):
            width = min(width, part.sizeHint().width() + GRID)
        part.setGeometry(indent, top, width, height)
        part.setVisible(height > 0)

    # --- widgets --------------------------------------------------------------------------------------

    def _make(self, n: int) -> None:
        block = self._blocks[n]
        part: Part
        if block.kind == "thought":
            part = ThoughtHead(self.thought_words, self, is_open=n in self._unfolded or self._shows_all_thoughts)
            part.fold_toggled.connect(lambda is_open: self._on_fold(n, is_open=is_open))
        elif block.code is not None:
            look = self._looks.get(id(block.code)) or CodeLook(block.code, self)
            self._looks[id(block.code)] = look
            part = CodeView(look, block, self)
            part.height_changed.connect(lambda: self._on_part_height(n))
        else:
            part = ProseView(self)
            part.setAccessibleName(self.name)
            part.anchorClicked.connect(self.link_clicked)
            part.document().setTextWidth(self._width - self._indent(n))
            part.show_sources(is_on=self._shows_sources)
            part.show_block(block)
            part.lines_moved.connect(lambda shifts: self._on_lines_moved(n, shifts))
            part.height_changed.connect(lambda: self._on_part_height(n))
        self._parts[n] = part
        if not isinstance(part, ThoughtHead):
            self.selection.watch(part)
            if self._query:
                part.highlights.find(self._query)
        self._heights.set(n, self._measure(n, part))
        part.show()

    def _drop(self, n: int) -> None:
        part = self._parts.pop(n)
        part.hide()
        part.deleteLater()

    def _on_lines_moved(self, n: int, shifts: Shifts) -> None:
        n_moves, lately = self._moves.get(n, (0, ()))
        self._moves[n] = n_moves + 1, (*lately, shifts)[-_MOST_MOVES:]

    def _on_part_height(self, n: int) -> None:
        if not self._is_settling and (part := self._parts.get(n)) is not None:
            self._heights.set(n, self._measure(n, part))
            self.settle()

    # --- finding --------------------------------------------------------------------------------------

    def show_found(self, query: str) -> None:
        """Mark every place where a text stands, now and in what is built later; "" takes the marks away."""
        self._query = query
        for part in self.parts:
            part.highlights.find(query)

    def place_found(self, n: int, number: int) -> int:
        """Mark the ``number``-th place in the ``n``-th block as the one looked at; return how far down it is."""
        part = self.build(n)
        if not isinstance(part, ProseView | CodeView):
            return self._heights.top(n)
        part.highlights.find(self._query)
        cursor = part.highlights.go_to(number)
        into = part.edit.cursorRect(cursor).top() + part.edit.y() if cursor is not None else 0
        return self._heights.top(n) + max(0, into if part.edit is not part else into - part.y())


def guess_height(text: str, width: int) -> int:
    """Guess how tall a text of so many pixels' width is."""
    n_columns = max(10, int(width / _CHAR_PX))
    return (len(text) // n_columns + text.count("\n") + 1) * _LINE_PX


def _same_kinds(parts: dict[int, Part], blocks: Sequence[Block]) -> bool:
    return all(
        n < len(blocks)
        and isinstance(part, ThoughtHead) == (blocks[n].kind == "thought")
        and isinstance(part, CodeView) == (blocks[n].kind == "code")
        for n, part in parts.items()
    )
