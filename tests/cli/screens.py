"""A terminal of the tests' own: a program runs in it, and its screen can be read as a person would."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from typing import Self

import pyte

from tests.cli.commands import COMMAND, ROOT, environment

PROMPT_BEGINS, PROMPT_ENDS = b"\x1b[?2004h", b"\x1b[?2004l"


class Screen:
    """Runs a command in a terminal of so many columns and rows."""

    def __init__(self, *arguments: object, columns: int = 80, rows: int = 24, **more: str) -> None:
        self.raw = b""
        self._screen = pyte.HistoryScreen(columns, rows, history=5000, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        self._ours, theirs = pty.openpty()
        self.resize(columns, rows)
        self._found = termios.tcgetattr(self._ours)
        self._n_prompts = 0
        surroundings = {k: v for k, v in environment().items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            cwd=ROOT,
            env={**surroundings, "TERM": "xterm-256color", **more},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._ours)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)

    def type(self, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        self._n_prompts = self.raw.count(PROMPT_BEGINS)
        while data:
            self._take(0)
            data = data[os.write(self._ours, data[:2048]) :]

    @property
    def text(self) -> str:
        """Everything that was shown, scrolled away or not."""
        above = ["".join(line[x].data for x in sorted(line)).rstrip() for line in self._screen.history.top]
        return "\n".join([*above, *(line.rstrip() for line in self._screen.display)])

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._ours)[3] & termios.ECHO)

    @property
    def is_as_found(self) -> bool:
        """Whether the terminal is set as it was before the program began."""
        return termios.tcgetattr(self._ours) == self._found

    def wait_for(self, words: str, timeout_s: float = 60) -> str:
        """Read until the words are somewhere on the screen."""
        deadline = time.monotonic() + timeout_s
        while words not in self.text:
            assert time.monotonic() < deadline, f"no {words!r} in:\n{self.text}"
            if not self._take(0.2):
                assert words in self.text, f"it ended without {words!r}:\n{self.text}"
        return self.text

    def wait_for_prompt(self, timeout_s: float = 60) -> None:
        """Read until it takes keys, which it tells the terminal by asking for pastes in brackets."""
        self._wait_for_prompts(0, timeout_s)

    def wait_for_next_prompt(self, timeout_s: float = 60) -> None:
        """Read until it takes keys at another prompt than when something was typed last."""
        self._wait_for_prompts(self._n_prompts + 1, timeout_s)

    def _wait_for_prompts(self, n: int, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while (n_begun := self.raw.count(PROMPT_BEGINS)) < n or n_begun <= self.raw.count(PROMPT_ENDS):
            assert time.monotonic() < deadline, f"no prompt in:\n{self.text}"
            assert self._take(0.1), f"it ended:\n{self.text}"

    def wait_until(self, holds: Callable[[], object], timeout_s: float = 60) -> None:
        """Read until something holds."""
        deadline = time.monotonic() + timeout_s
        while not holds():
            assert time.monotonic() < deadline, f"it does not come to hold:\n{self.text}"
            self._take(0.05)

    def end(self, timeout_s: float = 60) -> int:
        """Read until it ends; return the exit code."""
        deadline = time.monotonic() + timeout_s
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it does not end:\n{self.text}"
            self._take(0.1)
        self._take(0.1)
        return self.process.returncode

    def _take(self, timeout_s: float) -> bool:
        if not select.select([self._ours], [], [], timeout_s)[0]:
            return True
        try:
            block = os.read(self._ours, 65536)
        except OSError:  # nobody has it open any more
            return False
        self.raw += block
        self._stream.feed(block)
        return bool(block)


def _own_terminal() -> None:
    for number in (signal.SIGINT, signal.SIGHUP):  # what a shell or nohup has ignored would stay so
        signal.signal(number, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
