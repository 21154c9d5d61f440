"""Which tokens a context's memory holds, and how much of a new prompt they already answer for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(slots=True)
class Held:
    """The part of a text that a memory holds: ``tokens``, which stand at position ``first`` of it."""

    tokens: list[int] = field(default_factory=list)
    first: int = 0

    @property
    def end(self) -> int:
        """Position of the first token that is not held."""
        return self.first + len(self.tokens)


def common_prefix(a: Sequence[int], b: Sequence[int], n_known: int = 0) -> int:
    """Return how many first tokens two sequences share; the first ``n_known`` are known to be equal."""
    n = min(len(a), len(b))
    n_known = min(n, n_known)
    same = np.asarray(a[n_known:n]) == np.asarray(b[n_known:n])
    return n if same.all() else n_known + int(same.argmin())


def reusable(cached: Sequence[int], prompt: Sequence[int], n_known: int = 0) -> int:
    """Return how many cached tokens a new prompt can keep: the common prefix, but never all of the prompt.

    At least one token must be evaluated, since the memory holds no logits.
    """
    return min(common_prefix(cached, prompt, n_known), len(prompt) - 1)
