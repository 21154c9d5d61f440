"""How whoever waits for an answer tells that nobody does any more."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Leaving:
    """Said once, from any thread; whoever is to know hears of it on that thread, at once.

    The host's loop may be the window's, which now and then is busy for longer than a step of the engine takes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_said = False
        self._listener: Callable[[], None] | None = None

    def then(self, listener: Callable[[], None]) -> None:
        """Let somebody hear of it, at once if it has been said."""
        with self._lock:
            self._listener = listener
            is_said = self._is_said
        if is_said:
            listener()

    def say(self) -> None:
        """Leave; as often as you like, only the first time counts."""
        with self._lock:
            listener = None if self._is_said else self._listener
            self._is_said = True
        if listener is not None:
            listener()
