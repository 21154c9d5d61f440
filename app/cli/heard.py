"""What has come of an answer so far, with what was thought told from what was said, and how long the thinking took."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.chat.reasoning import Reasoning
from app.chat.reasoning import Run as Piece
from app.engine.thinking import begun_mark

__all__ = ["Heard", "Piece"]


class Heard:
    """Collects an answer as it comes; nothing of it is lost if it breaks off."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began_s = now()
        self._reasoning = Reasoning()
        self._raw: list[str] = []
        self._thought: list[str] = []
        self._said: list[str] = []
        self._thinking_since_s: float | None = None
        self.thought_s: float | None = None

    @property
    def raw(self) -> str:
        """What the model wrote, marks and all."""
        return "".join(self._raw)

    @property
    def thought(self) -> str:
        """What it thought."""
        return "".join(self._thought).strip()

    @property
    def said(self) -> str:
        """What it answered."""
        text = "".join(self._said)
        return text.lstrip("\n") if self._thought else text

    def begin(self, prompt_end: str) -> list[Piece]:
        """Take the end of the prompt, in which the template may have begun a thought for the model."""
        return self._took(self._reasoning.feed(begun_mark(prompt_end)))

    def feed(self, text: str) -> list[Piece]:
        """Take text as the model writes it; return what is decided."""
        self._raw.append(text)
        return self._took(self._reasoning.feed(text))

    def feed_thought(self, text: str) -> list[Piece]:
        """Take a thought that somebody else has told from the answer already."""
        return self._took([Piece(text, is_thought=True)])

    def close(self) -> list[Piece]:
        """End the answer; return what was held back."""
        pieces = self._took(self._reasoning.close())
        self._stop_thinking()
        return pieces

    def _took(self, pieces: list[Piece]) -> list[Piece]:
        for piece in pieces:
            if piece.is_reset:
                self._thought, self._said = [], []
                self.thought_s = self._now() - self._began_s
            if piece.is_thought:
                self._thought.append(piece.text)
                if not piece.is_reset and self._thinking_since_s is None:
                    self._thinking_since_s = self._now()
            else:
                self._said.append(piece.text)
                self._stop_thinking()
        return pieces

    def _stop_thinking(self) -> None:
        if self._thinking_since_s is not None:
            self.thought_s = (self.thought_s or 0.0) + self._now() - self._thinking_since_s
            self._thinking_since_s = None
