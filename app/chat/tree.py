"""The tree of a conversation's messages: paths through it, and alternatives at each place.

A *place* is a parent (``None``: the beginning); the messages below it are alternatives of each other. ``chosen`` says
for a message which of its children was read last: switching to an alternative goes on along what was read there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MessageTree:
    """Who follows whom.

    Attributes:
        parents: the parent of each message, ``None`` for the first; in the order in which they were made.
        chosen: the child that was read last, for messages that have any.
    """

    parents: Mapping[int, int | None]
    chosen: Mapping[int, int | None] = field(default_factory=dict)
    _children: dict[int | None, list[int]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for message, parent in self.parents.items():
            self._children.setdefault(parent, []).append(message)

    def children(self, message: int | None) -> tuple[int, ...]:
        """Return the messages right below one, oldest first; of ``None``, the beginnings."""
        return tuple(self._children.get(message, ()))

    def alternatives(self, message: int) -> tuple[int, ...]:
        """Return all messages in the place of one, itself too, oldest first."""
        return self.children(self.parents[message])

    def path(self, leaf: int | None) -> tuple[int, ...]:
        """Return the messages from the beginning to ``leaf``; a parent that is missing is a beginning."""
        found: list[int] = []
        seen: set[int] = set()
        while leaf is not None and leaf in self.parents and leaf not in seen:
            found.append(leaf)
            seen.add(leaf)
            leaf = self.parents[leaf]
        return tuple(reversed(found))

    def leaf_below(self, message: int) -> int:
        """Go down from a message along what was read last, else along the newest, to the end."""
        seen = {message}
        while below := self._children.get(message):
            chosen = self.chosen.get(message)
            message = chosen if chosen is not None and chosen in below else below[-1]
            if message in seen:
                break
            seen.add(message)
        return message

    def alternatives_of(self, path: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """Return the alternatives of each message of a path that has any."""
        return {message: found for message in path if len(found := self.alternatives(message)) > 1}
