"""Streaming Markdown, cut into segments of which only the last can still change.

A model's answer arrives in pieces. Rendering all of it again for each piece is quadratic, so the stream is
cut at code fences, and prose further at blank lines where cutting does not change the rendering (not within a
list or an indented block). A finished segment never changes: it is rendered once::

    prose ─ blank line ─▶ prose ─ ``` ─▶ code ─ ``` ─▶ prose …
                                                       └ the only open one

A line that may yet turn out to be a fence is held back until it is decided; everything else shows at once.
Fences follow CommonMark 0.31 §4.5, with what models write besides: fences indented under a list item, or
right behind a list marker; a fence line is at most 1,000 characters long. A link reference reaches no further than its
segment, and code inside of a list item stands behind the list.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from itertools import chain
from typing import Literal

SegmentKind = Literal["prose", "code"]

_MARKER = r"(?:[-*+]|\d{1,9}[.)])"
_FENCE = re.compile(rf"(?P<indent> *)(?P<marker>{_MARKER} +)?(?P<fence>`{{3,}}|~{{3,}})(?P<info>.*)")
_UNDECIDED = re.compile(rf"(?P<head> *(?:{_MARKER} +)?)(?:`{{1,2}}|~{{1,2}}|`{{3,}}[^`]*|~{{3,}}.*)")
_LIST_ITEM = re.compile(rf"(?P<indent> *){_MARKER}(?P<gap> +|$)")
_BEGINNING = re.compile(r" *(?:[-*+] *|\d{1,9}(?:[.)] *)?)?")
"""A line that may still become a fence, though nothing of one has come."""
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MAX_FENCE_LINE = 1000
"""A longer line is no fence: it would have to be looked at again with each piece that comes, and held back."""
_MAX_INDENT = 3
"""Deeper than this, CommonMark reads an indented code block."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of an answer: Markdown prose, or the content of one fenced block without its fences."""

    kind: SegmentKind
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Fence:
    char: str
    length: int
    indent: int
    language: str


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _dedent(line: str, width: int) -> str:
    """Take away up to ``width`` leading spaces."""
    return line[min(_indent_of(line), width) :]


class SegmentStream:
    """Cuts a growing text into segments; how the text was chunked does not matter.

    What a piece costs does not depend on what came before it: a line of megabytes and a fence that never ends take
    time that grows with their length.
    """

    def __init__(self) -> None:
        self._finished: list[Segment] = []
        self._lines: list[str] = []  # decided lines of the open segment, line ends included
        self._n_chars = 0  # of those
        self._pieces: list[str] = []  # of the last line, not complete yet
        self._begun = ""  # that line, as long as it may still turn out to be a fence
        self._is_decided = False
        self._shown: list[str] = []  # what is shown of it
        self._n_shown = 0
        self._fence: _Fence | None = None
        self._list_indent: int | None = None  # column of the text of the last list item, inside a list
        self._strip = 0  # indentation to take off what follows a fence inside a list item
        self._is_after_blank = False
        self._is_closed = False

    @property
    def n_finished(self) -> int:
        """How many segments will not change any more."""
        return len(self._finished)

    def finished_from(self, start: int) -> tuple[Segment, ...]:
        """Return the finished segments from the ``start``-th on."""
        return tuple(self._finished[start:])

    @property
    def tail(self) -> Segment:
        """The segment that is still growing, with the decided part of its last line; empty after :meth:`close`."""
        return self.tail_from(0)

    def tail_from(self, place: int) -> Segment:
        """Return the growing segment from a character on; that costs what it returns, however much is before it."""
        wanted = max(0, self._n_chars + self._n_shown - place)
        parts, n = list[str](), 0
        for part in chain(reversed(self._shown), reversed(self._lines)):
            if n >= wanted:
                break
            parts.append(part)
            n += len(part)
        return self._segment("".join(reversed(parts))[n - wanted :] if wanted else "")

    def feed(self, text: str) -> None:
        """Append ``text``.

        Raises:
            ValueError: the stream was closed.
        """
        if self._is_closed:
            raise ValueError("the stream of segments is closed")
        start = 0
        while (at := text.find("\n", start)) >= 0:
            self._pieces.append(text[start:at])
            self._end_line("\n")
            start = at + 1
        if start < len(text):
            self._grow(text[start:])

    def close(self) -> tuple[Segment, ...]:
        """End the stream and return all segments; an unclosed fence is code up to the end."""
        if not self._is_closed:
            if self._pieces:
                self._end_line("")
            self._finish()
            self._fence = None
            self._is_closed = True
        return tuple(self._finished)

    def _segment(self, text: str) -> Segment:
        if self._fence is not None:
            return Segment("code", text, self._fence.language)
        return Segment("prose", text)

    # --- the line that is not complete --------------------------------------------------------------------

    def _grow(self, piece: str) -> None:
        self._pieces.append(piece)
        if self._is_decided:
            self._shown.append(piece)
            self._n_shown += len(piece)
            return
        self._begun += piece
        self._is_decided, shown = self._look(self._begun)
        self._shown, self._n_shown = [shown], len(shown)
        if self._is_decided and self._fence is None:
            self._end_before(self._begun)

    def _end_before(self, line: str) -> None:
        """Finish what is before a blank line as soon as a line is known to begin something else, not at its end."""
        if not self._is_after_blank:
            return
        item = self._item(line)
        if item is None and not line.startswith((" ", "\t")):
            self._finish()
            self._list_indent = None
        elif item is not None and self._list_indent is None:
            self._finish()

    def _item(self, line: str) -> re.Match[str] | None:
        item = _LIST_ITEM.match(line)
        is_code = item is not None and len(item["indent"]) > (self._list_indent or 0) + _MAX_INDENT
        return None if is_code else item  # an indented block may look like one

    def _look(self, line: str) -> tuple[bool, str]:
        """Return whether a line that is not complete can no longer be a fence, and what may be shown of it."""
        is_open = len(line) <= _MAX_FENCE_LINE
        if self._fence is not None:
            if is_open and not line.strip(self._fence.char + " \t\r"):
                return False, ""
            return True, _dedent(line, self._fence.indent)
        if is_open and (undecided := _UNDECIDED.fullmatch(line)):
            return False, undecided["head"]
        return not (is_open and _BEGINNING.fullmatch(line)), self._stripped(line)

    def _end_line(self, end: str) -> None:
        line = "".join(self._pieces)
        self._pieces, self._begun, self._is_decided = [], "", False
        self._shown, self._n_shown = [], 0
        if self._fence is not None:
            self._take_code_line(line, end, self._fence)
        elif not self._opens_fence(line):
            self._take_prose_line(line, end)

    # --- complete lines -----------------------------------------------------------------------------------

    def _keep(self, text: str) -> None:
        self._lines.append(text)
        self._n_chars += len(text)

    def _take_code_line(self, line: str, end: str, fence: _Fence) -> None:
        body = line.strip(" \t\r") if len(line) <= _MAX_FENCE_LINE else ""
        is_fence = len(body) >= fence.length and not body.strip(fence.char)
        if is_fence and _indent_of(line) <= max(fence.indent, self._list_indent or 0) + _MAX_INDENT:
            self._finish()
            self._fence = None
            self._strip = fence.indent if self._list_indent is not None else 0
        else:
            self._keep(_dedent(line, fence.indent) + end)

    def _opens_fence(self, line: str) -> bool:
        found = _FENCE.fullmatch(line.rstrip("\r")) if len(line) <= _MAX_FENCE_LINE else None
        if found is None or (found["fence"][0] == "`" and "`" in found["info"]):
            return False
        indent = len(found["indent"])
        if indent > _MAX_INDENT + (self._list_indent or 0):
            return False
        if marker := found["marker"]:
            self._take_prose_line(found["indent"] + marker.rstrip(), "\n")
            indent += len(marker)
        self._finish()
        self._fence = _Fence(found["fence"][0], len(found["fence"]), indent, _language(found["info"]))
        return True

    def _take_prose_line(self, line: str, end: str) -> None:
        if not line.strip():
            self._is_after_blank = True
            self._keep(_dedent(line, self._strip) + end)
            return
        self._end_before(line)
        item = self._item(line)
        if item:
            self._list_indent = len(item[0]) if item["gap"] else len(item[0]) + 1
        self._is_after_blank = False
        shown = self._stripped(line)
        if _indent_of(line) < self._strip:
            self._strip = 0
        self._keep(shown + end)

    def _stripped(self, line: str) -> str:
        """Take off the indentation of the list item that a fence was in, if the line is still inside of it."""
        return line if _indent_of(line) < self._strip else line[self._strip :]

    def _finish(self) -> None:
        """Close the open segment; prose without words is dropped."""
        segment = self._segment("".join(self._lines))
        if segment.kind == "code" or segment.text.strip():
            self._finished.append(segment)
        self._lines, self._n_chars = [], 0
        self._is_after_blank = False


def _language(info: str) -> str:
    """Return the first word of an info string, without the marks that some dialects put around it."""
    words = _ESCAPE.sub(r"\1", html.unescape(info)).split()
    return words[0].strip("{}.") if words else ""


def split_segments(text: str) -> tuple[Segment, ...]:
    """Cut a whole text into segments."""
    stream = SegmentStream()
    stream.feed(text)
    return stream.close()
