"""Token ids to text while they stream: characters are never split, stop strings never shown.

A token may hold part of a UTF-8 character, and the start of a stop string may turn out to be one or
not. What is undecided is held back until it is decided.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class TextStream:
    """Bytes in, decided text out."""

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stop = tuple(s for s in stop if s)
        self._held = ""
        self.stopped = False

    def push(self, piece: bytes) -> str:
        """Take a token's bytes; return the text that is decided by them.

        After a stop string has been seen, ``stopped`` is true, the text before it has been returned and nothing
        more comes.
        """
        return self._settle(self._decoder.decode(piece))

    def finish(self) -> str:
        """Return what was still held back; an incomplete character becomes U+FFFD."""
        text = self._settle(self._decoder.decode(b"", final=True))
        text, self._held = text + self._held, ""
        return text

    def _settle(self, new: str) -> str:
        if self.stopped:
            return ""
        text = self._held + new
        found = [at for at in (text.find(s) for s in self._stop) if at >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        n_held = self._n_undecided(text)
        self._held = text[len(text) - n_held :]
        return text[: len(text) - n_held]

    def _n_undecided(self, text: str) -> int:
        """Return how many last characters could begin a stop string."""
        longest = max((len(s) for s in self._stop), default=1) - 1
        for n in range(min(longest, len(text)), 0, -1):
            tail = text[len(text) - n :]
            if any(s.startswith(tail) for s in self._stop):
                return n
        return 0
