"""Streaming Markdown, cut into segments of which only the last can still change.

A model's answer arrives in pieces. Rendering all of it again for each piece is quadratic, so the stream is
cut at code fences, and prose further at blank lines where cutting does not change the rendering (not within a
list or an indented block). A finished segment never changes: it is rendered once::

    prose ─ blank line ─▶ prose ─ ``` ─▶ code ─ ``` ─▶ prose …
                                                       └ the only open one

A line that may yet turn out to be a fence is held back until it is decided; everything else shows at once.
Fences follow CommonMark 0.31 §4.5, with what models write besides: fences indented under a list item, or
right behind a list marker. A link reference reaches no further than its segment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

SegmentKind = Literal["prose", "code"]

_MARKER = r"(?:[-*+]|\d{1,9}[.)])"
_FENCE = re.compile(rf"(?P<indent> *)(?P<marker>{_MARKER} +)?(?P<fence>`{{3,}}|~{{3,}})(?P<info>.*)")
_UNDECIDED = re.compile(rf"(?P<head> *(?:{_MARKER} +)?)(?:`{{1,2}}|~{{1,2}}|`{{3,}}[^`]*|~{{3,}}.*)")
_LIST_ITEM = re.compile(rf"(?P<indent> *){_MARKER}(?P<gap> +|$)")
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
    """Cuts a growing text into segments; how the text was chunked does not matter."""

    def __init__(self) -> None:
        self._finished: list[Segment] = []
        self._lines: list[str] = []  # decided lines of the open segment, line ends included
        self._line = ""  # the last line, not complete yet
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
        return self._segment("".join(self._lines) + self._visible_line())

    def feed(self, text: str) -> None:
        """Append ``text``.

        Raises:
            ValueError: the stream was closed.
        """
        if self._is_closed:
            raise ValueError("the stream of segments is closed")
        *lines, rest = text.split("\n")
        for line in lines:
            self._take_line(self._line + line, "\n")
            self._line = ""
        self._line += rest

    def close(self) -> tuple[Segment, ...]:
        """End the stream and return all segments; an unclosed fence is code up to the end."""
        if not self._is_closed:
            if self._line:
                self._take_line(self._line, "")
                self._line = ""
            self._finish()
            self._fence = None
            self._is_closed = True
        return tuple(self._finished)

    def _segment(self, text: str) -> Segment:
        if self._fence is not None:
            return Segment("code", text, self._fence.language)
        return Segment("prose", text)

    def _visible_line(self) -> str:
        """Return what may be shown of the line that is not complete."""
        if self._fence is not None:
            could_close = not self._line.strip(self._fence.char + " \t\r")
            return "" if could_close else _dedent(self._line, self._fence.indent)
        undecided = _UNDECIDED.fullmatch(self._line)
        return undecided["head"] if undecided else _dedent(self._line, self._strip)

    def _take_line(self, line: str, end: str) -> None:
        if self._fence is not None:
            self._take_code_line(line, end, self._fence)
        elif not self._opens_fence(line):
            self._take_prose_line(line, end)

    def _take_code_line(self, line: str, end: str, fence: _Fence) -> None:
        body = line.strip(" \t\r")
        is_fence = len(body) >= fence.length and not body.strip(fence.char)
        if is_fence and _indent_of(line) <= max(fence.indent, self._list_indent or 0) + _MAX_INDENT:
            self._finish()
            self._fence = None
            self._strip = fence.indent if self._list_indent is not None else 0
        else:
            self._lines.append(_dedent(line, fence.indent) + end)

    def _opens_fence(self, line: str) -> bool:
        found = _FENCE.fullmatch(line.rstrip("\r"))
        if found is None or (found["fence"][0] == "`" and "`" in found["info"]):
            return False
        indent = len(found["indent"])
        if indent > _MAX_INDENT + (self._list_indent or 0):
            return False
        if marker := found["marker"]:
            self._take_prose_line(found["indent"] + marker.rstrip(), "\n")
            indent += len(marker)
        self._finish()
        words = found["info"].split()
        self._fence = _Fence(found["fence"][0], len(found["fence"]), indent, words[0].strip("{}.") if words else "")
        return True

    def _take_prose_line(self, line: str, end: str) -> None:
        if not line.strip():
            self._is_after_blank = True
            self._lines.append(end)
            return
        item = _LIST_ITEM.match(line)
        if self._is_after_blank and item is None and not line.startswith((" ", "\t")):
            self._finish()
            self._list_indent = None
        elif self._is_after_blank and item is not None and self._list_indent is None:
            self._finish()
        if item and len(item["indent"]) <= (self._list_indent or 0) + _MAX_INDENT:
            self._list_indent = len(item[0]) if item["gap"] else len(item[0]) + 1
        self._is_after_blank = False
        if _indent_of(line) < self._strip:
            self._strip = 0
        self._lines.append(_dedent(line, self._strip) + end)

    def _finish(self) -> None:
        """Close the open segment; prose without words is dropped."""
        segment = self._segment("".join(self._lines))
        if segment.kind == "code" or segment.text.strip():
            self._finished.append(segment)
        self._lines = []
        self._is_after_blank = False


def split_segments(text: str) -> tuple[Segment, ...]:
    """Cut a whole text into segments."""
    stream = SegmentStream()
    stream.feed(text)
    return stream.close()
