"""A virtual screen with a window manager, and a person's keys on it: Xvfb, openbox, xdotool."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

NEEDED = ("Xvfb", "openbox", "xdotool", "import")


class Desk:
    """The screen; to be used with ``with``."""

    def __init__(self, display: int) -> None:
        if absent := [name for name in NEEDED if shutil.which(name) is None]:
            raise SystemExit(f"not installed: {', '.join(absent)}")
        self.name = f":{display}"
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        try:
            self._start_screen()
            self._start_manager()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _fault: BaseException | None, _: TracebackType | None
    ) -> None:
        self._end()

    def _start_screen(self) -> None:
        """Start Xvfb and wait until it says that it is ready: a socket may be an old one, or another's."""
        reader, writer = os.pipe()
        words = ["Xvfb", self.name, "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-displayfd", str(writer)]
        quiet = subprocess.DEVNULL
        self._processes.append(subprocess.Popen(words, stdout=quiet, stderr=quiet, pass_fds=(writer,)))
        os.close(writer)
        with os.fdopen(reader, "rb") as ready:
            if not ready.readline():
                raise SystemExit(f"the virtual screen did not start; is {self.name} in use?")

    def _start_manager(self) -> None:
        """Start openbox and wait until it manages: before that no window is active, and no shortcut is heard."""
        quiet = subprocess.DEVNULL
        words = ["openbox", "--sm-disable"]
        self._processes.append(subprocess.Popen(words, env=self.environment(), stdout=quiet, stderr=quiet))
        question = ["xdotool", "get_num_desktops"]

        def manages() -> bool:
            if self._processes[-1].poll() is not None:
                raise SystemExit("the window manager ended at once")
            asked = subprocess.run(question, env=self.environment(), capture_output=True, timeout=30, check=False)
            return asked.returncode == 0

        until(manages, 10, "the window manager")

    def _end(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
            process.wait(10)

    def environment(self) -> dict[str, str]:
        """Return our environment, with this screen."""
        return {**os.environ, "DISPLAY": self.name, "QT_QPA_PLATFORM": "xcb"}

    def find(self, title: str) -> str:
        """Return the id of a window on the screen whose title matches, "" if there is none."""
        told = self._tool("search", "--onlyvisible", "--name", title)
        return told.split()[-1] if told.split() else ""

    def wait_for(self, title: str, limit_s: float = 30.0) -> None:
        """Wait for a window, and give it the keyboard."""
        until(lambda: self.find(title), limit_s, f"the window {title}")
        self._tool("windowactivate", "--sync", self.find(title))
        time.sleep(0.5)

    def press(self, keys: str) -> None:
        """Press keys together."""
        self._tool("key", "--clearmodifiers", keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self._tool("type", "--delay", "15", text)

    def picture(self, place: Path) -> None:
        """Write what is on the screen into a PNG file."""
        subprocess.run(["import", "-window", "root", str(place)], env=self.environment(), check=True)

    def window_picture(self, title: str, place: Path) -> None:
        """Write a window, without its frame, into a small PNG file: 96 colours are enough for a window."""
        words = ["import", "-window", self.find(title), "-dither", "None", "-colors", "96", f"png8:{place}"]
        subprocess.run(words, env=self.environment(), check=True)

    def _tool(self, *arguments: str) -> str:
        told = subprocess.run(
            ["xdotool", *arguments], env=self.environment(), capture_output=True, text=True, timeout=30, check=False
        )
        return told.stdout


def until(holds: Callable[[], object], limit_s: float, what: str) -> None:
    """Wait until something holds.

    Raises:
        SystemExit: it does not in time.
    """
    end_s = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > end_s:
            raise SystemExit(f"waited {limit_s:.0f} s in vain for {what}")
        time.sleep(0.1)
