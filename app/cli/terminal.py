"""What reaches the terminal: streamed text, lines beside it, and Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType
from typing import Any

from app.chat.visible import visible
from app.protocol import LoadProgress, NoticeInfo

INTERRUPTED = 130

CONTROLS = {code: None for code in (*range(0x20), 0x7F, *range(0x80, 0xA0)) if chr(code) not in "\n\t"}
"""For ``str.translate``: what moves the cursor or sets the title."""


def as_text(typed: str) -> str:
    """Return words that were typed or given without marks of bytes that are no text, and without half characters."""
    return typed.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


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
            _terminal.restore()
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


_INPUT, _LOCAL = 0, 3
"""Where ``termios`` keeps how keys come in, and what the terminal itself makes of them."""


class _Terminal:
    """The terminal that the person types at: as it was found, and as we have set it."""

    def __init__(self) -> None:
        self._found: list[Any] | None = None

    @contextmanager
    def silenced(self, *, whole_lines: bool) -> Iterator[None]:
        """Within the block nothing that is typed is echoed; without ``whole_lines`` each key waits as it came."""
        if self._found is not None or sys.platform == "win32" or not _is_ours_alone():
            yield  # on Windows nothing echoes while nobody reads
            return
        import termios

        self._found = termios.tcgetattr(sys.stdin.fileno())
        quiet = [*self._found]
        quiet[_LOCAL] &= ~termios.ECHO
        if not whole_lines:
            quiet[_LOCAL] &= ~(termios.ICANON | termios.IEXTEN)
            quiet[_INPUT] &= ~termios.ICRNL
        before = signal.signal(signal.SIGCONT, lambda _signal, _frame: _set(quiet))  # a shell sets it while we stop
        _set(quiet)
        try:
            yield
        finally:
            signal.signal(signal.SIGCONT, before)
            self.restore()
            self._found = None

    def restore(self) -> None:
        """Set it as it was found: also for a program that leaves at once."""
        if self._found is not None:
            _set(self._found)

    @contextmanager
    def as_found(self) -> Iterator[None]:
        """Within the block it is as it was found, for a question that is answered with a line."""
        if self._found is None:
            yield
            return
        import termios

        ours = termios.tcgetattr(sys.stdin.fileno())
        self.restore()
        try:
            yield
        finally:
            _set(ours)


_terminal = _Terminal()


def silent_keys() -> AbstractContextManager[None]:
    """Within the block the terminal does not echo what is typed into an answer; it waits for who reads next."""
    return _terminal.silenced(whole_lines=True)


def keys_as_typed() -> AbstractContextManager[None]:
    """Within the block keys that are typed while nobody reads wait for the next prompt, each as it came.

    A terminal that gathers lines takes some keys for itself; a Ctrl-D before the prompt would be lost to who reads
    keys then.
    """
    return _terminal.silenced(whole_lines=False)


def _set(attributes: list[Any]) -> None:
    import termios

    if _is_ours_alone():  # not from the background, which would stop us
        with suppress(termios.error):
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, attributes)


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
        with _terminal.as_found():
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
