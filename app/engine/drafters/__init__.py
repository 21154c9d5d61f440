"""Drafters guess the next tokens cheaply; the target rules on them.

A drafter has four verbs. ``begin`` tells it the prompt (it may catch up now, or lazily); ``draft`` asks for at
most ``limit`` tokens that could follow; ``accept`` tells it the confirmed tokens after a step, and brings its
own memory back to them; ``close`` frees what it holds. Before ``begin``, ``process`` tells it of each batch of the
prompt: only heads, which go by the target's own rows, have a use for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.engine.draft_length import Ask
from app.engine.llama import Row
from app.protocol import SpecType


@dataclass(frozen=True, slots=True)
class TokenTree:
    """A draft with branches, its nodes in the order of their worth: a parent before its children.

    ``parents`` holds for each token the index of the one it follows, -1 for the pending token. So the first n nodes
    are a tree, too.
    """

    tokens: tuple[int, ...]
    parents: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def cut(self, n: int) -> TokenTree:
        """Return the first ``n`` nodes."""
        return TokenTree(self.tokens[:n], self.parents[:n])

    @property
    def is_chain(self) -> bool:
        """Whether each node follows the one before."""
        return self.parents == tuple(range(-1, len(self.tokens) - 1))

    @property
    def depth(self) -> int:
        """Nodes on the longest path."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 + (depths[parent] if parent >= 0 else 0))
        return max(depths, default=0)


Draft = list[int] | TokenTree


class Chooser(Protocol):
    """The rule that turns a row into a token; see :class:`app.engine.sampler.Sampler`."""

    def choose(self, row: Row, position: int) -> int:
        """Return the token at ``position`` given its logits."""

    def accept(self, token: int) -> None:
        """Count a token that was taken."""


class Drafter(Protocol):
    """What the loop needs of a drafter."""

    @property
    def name(self) -> SpecType:
        """How steps name it."""

    @property
    def kind(self) -> str:
        """What evidence about the last draft belongs to: the name, perhaps with how sure the drafter is."""

    def n_behind(self, tokens: Sequence[int]) -> int:
        """Return how many confirmed tokens it would have to catch up with before it can draft."""

    def n_unseen(self, tokens: Sequence[int]) -> int:
        """Return how many more than it lags it would have to take in to see all of the text; 0 where it does."""

    def process(self, tokens: Sequence[int]) -> None:
        """Take in a batch of the prompt; ``tokens`` is all that the target has evaluated of it so far."""

    def begin(self, tokens: Sequence[int]) -> None:
        """Start on a prompt, which the target has just evaluated."""

    def draft(self, tokens: Sequence[int], ask: Ask) -> Draft:
        """Return at most ``ask.limit`` tokens that could follow ``tokens``; an empty one is no draft."""

    def accept(self, tokens: Sequence[int]) -> None:
        """Take note of all confirmed tokens after a step, the pending one last."""

    def close(self) -> None:
        """Free what the drafter holds; it is not used again."""
