"""How long the next draft may be. For now: as long as the person said."""

from __future__ import annotations

from typing import Protocol

from app.protocol import Step


class LengthPolicy(Protocol):
    """Chooses the draft length limit k before each step, 0 included."""

    def choose(self) -> int:
        """Return the limit of the next draft."""

    def observe(self, step: Step) -> None:
        """Learn from a step."""


class FixedLength:
    """Always the same k."""

    def __init__(self, draft_tokens: int) -> None:
        self._draft_tokens = draft_tokens

    def choose(self) -> int:
        """Return k."""
        return self._draft_tokens

    def observe(self, step: Step) -> None:
        """Learn nothing: k is fixed."""
