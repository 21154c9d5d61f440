"""A growing answer as blocks that are small enough to be shown, kept away or rendered again each by itself.

:class:`~app.chat.segments.SegmentStream` cuts at fences and blank lines. Here neighbouring pieces of prose join until a
block is worth a widget of its own, and what is too large for one (a file as one code block, a line of megabytes) is cut
further. Only the last block ever changes, so that what an arriving token costs does not depend on what is there.

What Markdown would choke on (thousands of nested quotes, of columns, of open brackets) is shown as it was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from app.chat.reasoning import Reasoning
from app.chat.segments import Segment, SegmentStream

BlockKind = Literal["prose", "plain", "code", "thought"]

JOIN_CHARS = 2_500
"""Prose longer than this is not joined by more."""
MOST_CHARS = 6_000
MOST_LINES = 150
MOST_ROWS = 40
"""Laying out a table takes more than its length tells: so many lines without a blank line go into a block, twice as
many if they are the last."""

_DEEP = re.compile(r"^(?:[ \t]{0,99}(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){24}", re.MULTILINE)
_INDENTED = re.compile(r"^[ \t]{64}[ \t]*(?:[-*+>]|\d+[.)])", re.MULTILINE)
_MOST_COLUMNS = 64
_MOST_MARKS = 1_200
_MARKS = re.compile(r"[\[\]*_`~&<]")
_TABLE_HEAD = re.compile(r"[^\n]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\n")


@dataclass(slots=True)
class Code:
    """What the blocks of one fence have in common; ``chunks`` are the texts of those that are complete."""

    language: str
    chunks: list[str] = field(default_factory=list)
    n_chunk_chars: int = 0
    tail: str = ""
    is_finished: bool = False

    @property
    def text(self) -> str:
        """The code without the line end before the closing fence."""
        return ("".join(self.chunks) + self.tail).removesuffix("\n")

    def text_from(self, place: int) -> str:
        """The code from a place on; it costs what it returns."""
        end = self.n_chunk_chars
        if place >= end:
            return self.tail[place - end :]
        parts = [self.tail]
        for chunk in reversed(self.chunks):
            end -= len(chunk)
            parts.append(chunk)
            if end <= place:
                break
        return "".join(reversed(parts))[place - end :]


@dataclass(slots=True, eq=False)
class Block:
    """A piece of an answer.

    ``pieces`` (``n_chars``) are finished, ``tail`` still grows. ``code`` is what a block of code shares with those
    around it; it shows that code from line ``line`` on, and ``is_first`` and ``is_last`` say whether it begins and ends
    it. A ``thought`` is the head of what was thought, which follows it in blocks ``in_thought``.
    """

    kind: BlockKind
    pieces: list[str] = field(default_factory=list)
    tail: str = ""
    n_chars: int = 0
    code: Code | None = None
    line: int = 0
    is_first: bool = True
    is_last: bool = True
    is_open: bool = True
    in_thought: bool = False

    @property
    def text(self) -> str:
        """What it shows, as it was written."""
        return "".join(self.pieces) + self.tail


def is_tame(text: str) -> bool:
    """Whether rendering a piece of Markdown takes an ordinary time."""
    if _DEEP.search(text) or _INDENTED.search(text):
        return False
    if any(line.count("|") > _MOST_COLUMNS for line in text.splitlines()):
        return False
    return sum(1 for _ in _MARKS.finditer(text)) <= _MOST_MARKS


class BlockStream:
    """Cuts a growing answer into blocks.

    Attributes:
        blocks: all blocks so far.
        n_resets: how often what was answer became thought, and all blocks new ones.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.n_resets = 0
        self._changed_from = 0
        self._reasoning = Reasoning()
        self._begin()

    def _begin(self, *, is_thought: bool = False) -> None:
        self._segments = SegmentStream()
        self._n_taken = 0
        self._n_cut = 0  # characters of the open segment that are in finished blocks already
        self._head = ""  # of the table that the open segment is
        self._is_thought = is_thought
        self._code: Code | None = None

    def take_changes(self) -> int:
        """Return the number of the first block that has changed or is new since the last call."""
        first, self._changed_from = self._changed_from, max(0, len(self.blocks) - 1)
        return first

    def feed(self, text: str) -> None:
        """Append text."""
        for run in self._reasoning.feed(text):
            self._take(run.text, is_thought=run.is_thought, is_reset=run.is_reset)
        self._show_tail()

    def close(self) -> None:
        """End the answer."""
        for run in self._reasoning.close():
            self._take(run.text, is_thought=run.is_thought, is_reset=run.is_reset)
        self._end_run()

    def _take(self, text: str, *, is_thought: bool, is_reset: bool) -> None:
        if is_reset:
            self.blocks.clear()
            self.n_resets += 1
            self._changed_from = 0
            self._begin()
        if is_thought != self._is_thought:
            self._end_run()
            self._begin(is_thought=is_thought)
            if is_thought:
                self._add(Block("thought"))
        self._segments.feed(text)
        for segment in self._segments.finished_from(self._n_taken):
            self._finish(segment)
        self._n_taken = self._segments.n_finished

    def _end_run(self) -> None:
        for segment in self._segments.close()[self._n_taken :]:
            self._finish(segment)
        self._n_taken = self._segments.n_finished
        self._close_last()
        if self._is_thought:
            for block in reversed(self.blocks):
                if block.kind == "thought":
                    block.is_open = False
                    self._changed_from = min(self._changed_from, self.blocks.index(block))
                    break

    # --- from segments to blocks ----------------------------------------------------------------------

    def _show_tail(self) -> None:
        segment = self._segments.tail_from(self._n_cut)
        if segment.kind == "code":
            self._show_code(segment.text, segment.language, is_finished=False)
        elif segment.text.strip():
            self._show_prose(segment.text, is_finished=False)

    def _finish(self, segment: Segment) -> None:
        rest = segment.text[self._n_cut :]
        if segment.kind == "code":
            self._show_code(rest, segment.language, is_finished=True)
            self._code = None
        else:
            self._show_prose(rest, is_finished=True)
        self._n_cut, self._head = 0, ""

    def _show_prose(self, text: str, *, is_finished: bool) -> None:
        place = 0
        while at := _end_of_prose(text, place):
            if not self._n_cut and (head := _TABLE_HEAD.match(text)):
                self._head = head[0]
                self._put(text[:at], is_finished=True)
            else:
                self._put(self._head + text[place:at], is_finished=True)
            self._n_cut += at - place
            place = at
        if (rest := text[place:]).strip():
            self._put(self._head + rest, is_finished=is_finished)

    def _put(self, text: str, *, is_finished: bool) -> None:
        """Put prose behind the last block, or into it."""
        last = self.blocks[-1] if self.blocks else None
        if last is None or last.kind != "prose" or not last.is_open or not self._may_join(last):
            last = self._add(Block("prose", in_thought=self._is_thought))
        self._note_change()
        if is_finished:
            last.pieces.append(text)
            last.n_chars += len(text)
            last.tail = ""
        else:
            last.tail = text

    def _may_join(self, last: Block) -> bool:
        return (not last.pieces) or (last.n_chars < JOIN_CHARS and not self._n_cut)

    def _show_code(self, text: str, language: str, *, is_finished: bool) -> None:
        if self._code is None:
            self._code = Code(language)
            self._add(Block("code", code=self._code, in_thought=self._is_thought))
        code, block = self._code, self.blocks[-1]
        place = 0
        while (end := _end_of_chunk(text, place)) and (end < len(text) or not is_finished):
            chunk, place = text[place:end], end
            code.chunks.append(chunk)
            code.n_chunk_chars += len(chunk)
            block.pieces, block.tail, block.is_last = [chunk], "", False
            line = block.line + chunk.count("\n")
            self._note_change()
            block = self._add(Block("code", code=code, line=line, is_first=False, in_thought=self._is_thought))
            self._n_cut += len(chunk)
        code.tail = block.tail = text[place:]
        code.is_finished = is_finished
        block.is_open = not is_finished
        self._note_change()

    def _add(self, block: Block) -> Block:
        self._close_last()
        self._changed_from = min(self._changed_from, len(self.blocks))
        self.blocks.append(block)
        return block

    def _close_last(self) -> None:
        if self.blocks and (last := self.blocks[-1]).kind != "thought":
            if last.kind != "code" and last.tail:
                last.pieces.append(last.tail)
                last.tail = ""
            last.is_open = False
            self._note_change()

    def _note_change(self) -> None:
        self._changed_from = min(self._changed_from, max(0, len(self.blocks) - 1))


def _end_of_prose(text: str, start: int) -> int:
    """Where the Markdown that fills a block ends; 0 if it does not fill one."""
    end, half = start + MOST_CHARS, start + MOST_CHARS // 2
    if text.count("\n", start, end) > 2 * MOST_ROWS:
        at = start
        for _ in range(MOST_ROWS):
            at = text.find("\n", at) + 1
        return at
    if len(text) <= end:
        return 0
    return text.rfind("\n", half, end) + 1 or text.rfind(" ", half, end) + 1 or end


def _end_of_chunk(text: str, start: int) -> int:
    """Where the code that fills a block ends; 0 if it does not fill one."""
    if len(text) - start <= MOST_CHARS and text.count("\n", start) <= MOST_LINES:
        return 0
    at = start
    for _ in range(MOST_LINES):
        found = text.find("\n", at, start + 2 * MOST_CHARS) + 1
        if not found:
            break
        at = found
        if at - start >= MOST_CHARS:
            break
    return at if at > start else start + MOST_CHARS


def blocks_of(text: str) -> list[Block]:
    """Cut a whole answer into blocks."""
    stream = BlockStream()
    stream.feed(text)
    stream.close()
    return stream.blocks


def plain_blocks(text: str) -> list[Block]:
    """Cut a text that is shown as it was typed."""
    blocks, at = [], 0
    while len(text) - at > MOST_CHARS:
        end = text.rfind("\n", at, at + MOST_CHARS) + 1 or at + MOST_CHARS
        blocks.append(Block("plain", [text[at:end]], is_open=False))
        at = end
    blocks.append(Block("plain", [text[at:]], is_open=False))
    return blocks
