"""What reaches the terminal: streamed text, lines beside it, and Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from app.chat.visible import visible
from app.protocol import LoadProgress, NoticeInfo

INTERRUPTED = 130

CONTROLS = {code: None for code in (*range(0x20), 0x7F, *range(0x80, 0xA0)) if chr(code) not in "\n\t"}
"""For ``str.translate``: what moves the cursor or sets the title."""


def write_text(text: str) -> None:
    """Show text of an answer at once.

    On a terminal control characters become signs: a model's words shall not move the cursor or set the title.
    """
    if sys.stdout is None:  # closed by whoever started us
        return
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def note(text: str) -> None:
    """Say something beside the output, on stderr; a template's or a file's words shall not move the cursor, either."""
    if sys.stderr is None:
        return
    sys.stderr.write(visible(text) + "\n")
    sys.stderr.flush()


def note_notices(notices: tuple[NoticeInfo, ...]) -> None:
    """Say what a person should know though the work goes on."""
    for notice in notices:
        note(f"notice: {notice.message}" + (f" {notice.hint}" if notice.hint else ""))


class StatusLine:
    """One line on stderr that says how far something has come, if somebody is looking."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._width = 0

    def show(self, words: str) -> None:
        """Write over what was there."""
        if self._is_shown:
            self._draw(words.translate(CONTROLS)[: shutil.get_terminal_size().columns - 1])

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


class LoadLine(StatusLine):
    """How far a load has come."""

    def on_progress(self, progress: LoadProgress) -> None:
        """Take the next progress event."""
        self.show(f"loading {progress.stage}: {progress.fraction:.0%}")


@contextmanager
def first_interrupt(
    call: Callable[[], Awaitable[None]], before_leaving: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Within the block the first Ctrl-C makes the loop await ``call``; the second leaves the program at once."""
    loop = asyncio.get_running_loop()
    started: list[asyncio.Future[None]] = []
    asked = False

    def start() -> None:
        started.append(asyncio.ensure_future(call()))

    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            before_leaving()
            os._exit(INTERRUPTED)
        asked = True
        loop.call_soon_threadsafe(start)

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def kept_by_interrupts() -> Iterator[None]:
    """Within the block a Ctrl-C that nobody waits for does nothing: between an answer and the next question, say."""
    before = signal.signal(signal.SIGINT, lambda _signal, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def silent_keys() -> Iterator[Callable[[], None]]:
    """Within the block the terminal does not echo what is typed into an answer; it waits for the next question.

    Yields:
        What sets the terminal right again, for a program that leaves at once.
    """
    if sys.platform == "win32" or not _is_ours_alone():
        yield lambda: None  # on Windows nothing echoes while nobody reads
        return
    import termios

    keys = sys.stdin.fileno()
    before = termios.tcgetattr(keys)
    quiet = [*before]
    quiet[3] &= ~termios.ECHO

    def restore() -> None:
        with suppress(termios.error):
            termios.tcsetattr(keys, termios.TCSADRAIN, before)

    termios.tcsetattr(keys, termios.TCSADRAIN, quiet)
    try:
        yield restore
    finally:
        restore()


def _is_ours_alone() -> bool:
    """Whether we may set the terminal: not for a pager that reads from us, nor from the background (that stops us)."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return False
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False


def ask_yes(question: str) -> bool:
    """Ask whoever sits there, on stderr; Enter is yes, Ctrl-C is no."""
    sys.stderr.write(f"{question.translate(CONTROLS)} [Y/n] ")
    sys.stderr.flush()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        line = ""
    finally:
        signal.signal(signal.SIGINT, before)
    if not line:
        sys.stderr.write("\n")
        return False
    return line.strip().lower() in ("", "y", "yes")


def is_simple_terminal() -> bool:
    """Whether the terminal takes no escape sequences, as far as it says."""
    return sys.platform != "win32" and os.environ.get("TERM", "") in ("", "dumb", "unknown")


def can_ask() -> bool:
    """Whether somebody sits there who can answer."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
