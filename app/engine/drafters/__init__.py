"""Drafters guess the next tokens cheaply; the target rules on them.

A drafter has four verbs. ``begin`` tells it the prompt (it may catch up now, or lazily); ``draft`` asks for at
most ``limit`` tokens that could follow; ``accept`` tells it the confirmed tokens after a step, and brings its
own memory back to them; ``close`` frees what it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.engine.llama import Row


class Chooser(Protocol):
    """The rule that turns a row into a token; see :class:`app.engine.sampler.Sampler`."""

    def choose(self, row: Row, position: int) -> int:
        """Return the token at ``position`` given its logits."""

    def accept(self, token: int) -> None:
        """Count a token that was taken."""


class Drafter(Protocol):
    """What the loop needs of a drafter."""

    @property
    def name(self) -> str:
        """How steps name it: a ``SpecType``."""

    def begin(self, tokens: Sequence[int]) -> None:
        """Start on a prompt whose last token is not yet in the target's memory or has just been decoded."""

    def draft(self, tokens: Sequence[int], limit: int) -> list[int]:
        """Return at most ``limit`` tokens that could follow ``tokens``; an empty list is no draft."""

    def accept(self, tokens: Sequence[int]) -> None:
        """Take note of all confirmed tokens after a step, the pending one last."""

    def close(self) -> None:
        """Free what the drafter holds; it is not used again."""


class Chain:
    """Several drafters, asked in order until one has a draft."""

    def __init__(self, drafters: Sequence[Drafter]) -> None:
        self._drafters = tuple(drafters)
        self._spoke = self._drafters[0]

    @property
    def name(self) -> str:
        """Who made the last draft."""
        return self._spoke.name

    def begin(self, tokens: Sequence[int]) -> None:
        """Start all."""
        for drafter in self._drafters:
            drafter.begin(tokens)

    def draft(self, tokens: Sequence[int], limit: int) -> list[int]:
        """Return the first draft that is not empty."""
        for drafter in self._drafters:
            draft = drafter.draft(tokens, limit)
            if draft:
                self._spoke = drafter
                return draft
        return []

    def accept(self, tokens: Sequence[int]) -> None:
        """Tell all."""
        for drafter in self._drafters:
            drafter.accept(tokens)

    def close(self) -> None:
        """Close all."""
        for drafter in self._drafters:
            drafter.close()
