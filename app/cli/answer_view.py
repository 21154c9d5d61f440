"""Where an answer appears: as it is in a pipe, folded on a plain terminal, as lines of JSON, or nowhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

import msgspec

from app.cli.heard import Piece
from app.cli.terminal import write_text


class AnswerView(Protocol):
    """What is told of an answer as it comes. ``end`` is called whatever becomes of it, once."""

    def on_event(self, event: msgspec.Struct) -> None:
        """Take an event as it came."""

    def show(self, raw: str, pieces: Sequence[Piece]) -> None:
        """Take text as the model wrote it, and what is decided of thought and answer."""

    def end(self) -> None:
        """Leave what was shown as it shall stay."""


class Nowhere:
    """Shows nothing: somebody wants the document at the end."""

    def on_event(self, event: msgspec.Struct) -> None:
        """Pass it over."""

    def show(self, raw: str, pieces: Sequence[Piece]) -> None:
        """Pass it over."""

    def end(self) -> None:
        """Leave nothing."""


class JsonLines(Nowhere):
    """Each event as a line of JSON, at once."""

    def on_event(self, event: msgspec.Struct) -> None:
        """Write it."""
        write_text(msgspec.json.encode(event).decode() + "\n")


class AsItIs(Nowhere):
    """What the model writes, for a file or another program."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, raw: str, pieces: Sequence[Piece]) -> None:  # noqa: ARG002 - its signature
        """Write it."""
        if raw:
            self._last = raw[-1]
            write_text(raw)

    def end(self) -> None:
        """End the last line, if there is one."""
        if self._last not in ("", "\n"):
            write_text("\n")


class Folded(Nowhere):
    """The answer on a terminal that cannot be drawn over; thoughts are told by their time only."""

    def __init__(self) -> None:
        self._since_s: float | None = None
        self._last = ""

    def show(self, raw: str, pieces: Sequence[Piece]) -> None:  # noqa: ARG002 - its signature
        """Write what is said, and that it thinks."""
        for piece in pieces:
            if piece.is_reset:
                self._write(f"\n({LATE_THOUGHT})\n\n")
            elif piece.is_thought:
                if self._since_s is None:
                    self._since_s = time.monotonic()
                    self._write("Thinking… ")
            elif piece.text:
                self._unfold()
                self._write(piece.text)

    def end(self) -> None:
        """End the last line."""
        self._unfold()
        if self._last not in ("", "\n"):
            self._write("\n")

    def _unfold(self) -> None:
        if self._since_s is not None:
            self._write(f"{time.monotonic() - self._since_s:.1f} s\n\n")
            self._since_s = None

    def _write(self, text: str) -> None:
        self._last = text[-1:]
        write_text(text)


LATE_THOUGHT = "What is above was thinking."
"""Some templates open the thought in the prompt, so that only its end shows what it was."""
