"""What reaches the terminal: streamed text, lines beside it, and Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from app.protocol import LoadProgress, NoticeInfo

INTERRUPTED = 130

CONTROLS = {code: None for code in (*range(0x20), 0x7F, *range(0x80, 0xA0)) if chr(code) not in "\n\t"}
"""For ``str.translate``: what moves the cursor or sets the title."""


def write_text(text: str) -> None:
    """Show text of an answer at once.

    On a terminal control characters are dropped: a model's words shall not move the cursor or set the title.
    """
    sys.stdout.write(text.translate(CONTROLS) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def note(text: str) -> None:
    """Say something beside the output, on stderr; a template's or a file's words shall not move the cursor, either."""
    sys.stderr.write(text.translate(CONTROLS) + "\n")
    sys.stderr.flush()


def note_notices(notices: tuple[NoticeInfo, ...]) -> None:
    """Say what a person should know though the work goes on."""
    for notice in notices:
        note(f"notice: {notice.message}" + (f" {notice.hint}" if notice.hint else ""))


class LoadLine:
    """One line that shows how far a load has come, if somebody is looking."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._width = 0

    def show(self, progress: LoadProgress) -> None:
        """Take the next progress event."""
        if self._shown:
            self._draw(f"loading {progress.stage}: {progress.fraction:.0%}")

    def clear(self) -> None:
        """Wipe the line."""
        if self._width:
            self._draw("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _draw(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)


@contextmanager
def first_interrupt(call: Callable[[], Awaitable[None]]) -> Iterator[None]:
    """Within the block the first Ctrl-C makes the loop await ``call``; the second leaves the program at once."""
    loop = asyncio.get_running_loop()
    started: list[asyncio.Future[None]] = []
    asked = False

    def start() -> None:
        started.append(asyncio.ensure_future(call()))

    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            os._exit(INTERRUPTED)
        asked = True
        loop.call_soon_threadsafe(start)

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def read_line(prompt: str) -> str | None:
    """Ask for a line; ``None`` when there are no more or Ctrl-C was pressed."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(prompt)
    except (EOFError, KeyboardInterrupt):
        return None
    finally:
        signal.signal(signal.SIGINT, before)
