"""An answer drawn as Markdown while it comes.

What is finished is printed once and stays; only the last lines, which may still change, are drawn over. So scrolling
back shows everything, and a terminal that changes its size loses nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.segment import Segment as Span
from rich.segment import Segments
from rich.syntax import Syntax
from rich.text import Text

from app.chat.segments import Segment, SegmentStream
from app.chat.visible import visible
from app.cli.answer_view import LATE_THOUGHT, AnswerView, Folded, Nowhere
from app.cli.heard import Piece
from app.cli.terminal import is_simple_terminal

_MAX_DRAWN = 20_000
"""Prose that is longer is printed as it is: to lay out a megabyte takes rich a minute."""
_SHARE = 0.1
"""Drawing takes no more than this share of the time: on a small machine the engine needs the cores."""
_CODE_THEME = "ansi_dark"
"""Colours of the terminal's own palette, so that they fit light and dark."""


def view_for_terminal(*, plain: bool) -> AnswerView:
    """Return how an answer is shown on the terminal that standard output is."""
    console = Console(highlight=False, markup=False, emoji=False)
    if plain or is_simple_terminal() or not console.is_terminal or console.legacy_windows:
        return Folded()
    return Drawn(console)


class LiveTail:
    """The last lines of the screen, drawn over again and again."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._n_rows = 0

    def draw(self, what: RenderableType) -> None:
        """Draw in place of what was drawn; of more than the screen holds, the end."""
        width, height = self._console.size
        options = self._console.options.update(width=max(1, width - 1))
        lines = self._console.render_lines(what, options, pad=False)[-max(1, height - 1) :]
        while lines and not "".join(span.text for span in lines[-1]).strip():
            del lines[-1]  # what ends in blank rows would leave the cursor elsewhere than it is counted to be
        spans: list[Span] = []
        for number, line in enumerate(lines):
            spans += [*([Span.line()] if number else []), *line]
        with self._console.capture() as drawn:
            self._console.print(Segments(spans), end="", soft_wrap=True, crop=False)
        self._write(self._wiped() + drawn.get())
        self._n_rows = len(lines)

    def clear(self) -> None:
        """Wipe what was drawn."""
        if self._n_rows:
            self._write(self._wiped())
            self._n_rows = 0

    def _wiped(self) -> str:
        if not self._n_rows:
            return ""
        up = f"\x1b[{self._n_rows - 1}A" if self._n_rows > 1 else ""
        return f"\r{up}\x1b[J"

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()


class Drawn(Nowhere):
    """Markdown with rich, thoughts folded to the time they took."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tail = LiveTail(console)
        self._segments = SegmentStream()
        self._n_printed = 0
        self._is_first = True
        self._thinking_since_s: float | None = None
        self._next_s = 0.0

    def show(self, raw: str, pieces: Sequence[Piece]) -> None:  # noqa: ARG002 - its signature
        """Take what is decided; draw it when it is time."""
        for piece in pieces:
            if piece.is_reset:
                self._reset()
            elif piece.is_thought:
                self._thinking_since_s = self._thinking_since_s or time.monotonic()
            elif piece.text:
                self._fold()
                self._segments.feed(piece.text)
        self._print_finished()
        if pieces and time.monotonic() >= self._next_s:
            began_s = time.monotonic()
            self._draw_tail()
            now_s = time.monotonic()
            self._next_s = now_s + (now_s - began_s) / _SHARE

    def end(self) -> None:
        """Print what is left."""
        self._fold()
        self._segments.close()
        self._print_finished()
        self._tail.clear()
        self._console.file.flush()

    def _reset(self) -> None:
        self._segments.close()
        self._print_finished()
        self._print(Text(LATE_THOUGHT, style="dim"))
        self._segments, self._n_printed = SegmentStream(), 0

    def _fold(self) -> None:
        if self._thinking_since_s is not None:
            self._print(Text(f"Thought for {time.monotonic() - self._thinking_since_s:.1f} s", style="dim"))
            self._thinking_since_s = None

    def _print_finished(self) -> None:
        for segment in self._segments.finished_from(self._n_printed):
            self._print(_drawn(segment))
            self._n_printed += 1

    def _print(self, what: RenderableType) -> None:
        self._tail.clear()
        if not self._is_first:
            self._console.print()
        self._console.print(what)
        self._is_first = False

    def _draw_tail(self) -> None:
        if self._thinking_since_s is not None:
            self._tail.draw(Text(f"Thinking… {time.monotonic() - self._thinking_since_s:.0f} s", style="dim"))
            return
        segment = self._segments.tail
        if not segment.text.strip():
            self._tail.clear()
            return
        height = self._console.size.height
        if segment.kind == "code" or len(segment.text) > _MAX_DRAWN:  # the rest of it is above the screen anyway
            segment = Segment(
                segment.kind, "\n".join(segment.text.split("\n")[-height:])[-_MAX_DRAWN:], segment.language
            )
        what = _drawn(segment)
        self._tail.draw(what if self._is_first else Group(Text(""), what))


def _drawn(segment: Segment) -> RenderableType:
    """Return a segment as rich draws it; controls and directions of a model's making are signs that can be read."""
    text = visible(segment.text).rstrip("\n")
    if segment.kind == "code":
        return Syntax(text, segment.language or "text", theme=_CODE_THEME, background_color="default", word_wrap=True)
    if len(text) > _MAX_DRAWN:
        return Text(text)
    return Markdown(text, code_theme=_CODE_THEME, hyperlinks=False)
