"""How long what an engine says fast may gather before somebody looks: changed, or cut short, while it speaks."""

from __future__ import annotations

import threading


class Gathering:
    """A wait that its owner may change and whoever is in a hurry may end. All verbs belong to any thread.

    Attributes:
        seconds: how long to wait from one look to the next; lines that come further apart are not waited for.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self._hurried = threading.Event()

    def wait(self, most_s: float = float("inf")) -> None:
        """Let more come, but not for longer than ``most_s``; returns at once while somebody is in a hurry."""
        wait_s = min(self.seconds, most_s)
        if wait_s > 0:
            self._hurried.wait(wait_s)

    def hurry(self) -> None:
        """Look at once, and at every line from now on: somebody waits for one of them."""
        self._hurried.set()

    def calm(self) -> None:
        """Let lines gather again."""
        self._hurried.clear()
