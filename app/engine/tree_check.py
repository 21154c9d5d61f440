"""Can this target verify token trees here, and is it worth it? Seen by trying, when a model is loaded for them.

Three questions: are all nodes evaluated at once (a memory that keeps a running state takes branch after branch), are
the rows of the leaves those of the same tokens in a line, also after a side branch was kept, and does a tree cost
what a chain of as many rows does?
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.engine.llama import Model, Row
from app.protocol import TREES_TRIED, Load, NoticeInfo

N_LEAVES = 16
"""Most leaves of a tree."""

TREE = (-1, 0, 0, 1, 2, 1)
"""Parents of the tree that is tried: a root, two branches, one of which forks; three leaves."""

_SMALL_TREE = (-1, 0, 0)

_PREFIX = 12
_CLOSE = 0.05
"""Largest difference of a logit, as a share of the largest, that is rounding and no error."""

_DEAREST = 1.3
_LEAST_S = 0.001
"""A tree that costs so many times what a chain of as many rows does, and this much more, gains nothing."""

_N_TIMED_ROWS = 8
_N_TIMES, _MOST_TIMES = 3, 8
"""Timings of each, and at most: that a machine is busy for a moment is no reason to refuse trees for a session."""


class Trees(Protocol):
    """The part of a context that is tried."""

    n_past: int
    n_vocab: int

    @property
    def n_draft_max(self) -> int:
        """Longest draft."""

    def decode(self, tokens: Sequence[int], n_rows: int) -> None:
        """Append tokens."""

    def decode_tree(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        """Evaluate a tree."""

    def keep_path(self, path: Sequence[int]) -> None:
        """Keep a path of it."""

    def row(self, index: int) -> Row:
        """Return a row."""

    def rewind(self, n_keep: int) -> None:
        """Drop a tail."""


class Tried(Protocol):
    """The part of a loaded pair that keeps what came of it."""

    no_trees: str
    are_trees_alike: bool
    notices: list[NoticeInfo]


@dataclass(frozen=True, slots=True)
class TreeCheck:
    """What was found.

    Attributes:
        n_passes: how many graphs a tree took.
        difference: the largest of a leaf's logit to that of the same tokens in a line, as a share of the largest.
        chain_s, tree_s: time of a chain and of a tree of as many rows.
    """

    n_passes: int
    difference: float
    chain_s: float
    tree_s: float

    @property
    def cost(self) -> float:
        """Time of a tree ÷ that of a chain."""
        return self.tree_s / self.chain_s

    @property
    def why_not(self) -> str:
        """Why chains are drafted instead; "" if trees can be."""
        if self.n_passes < 1:
            return "llama.cpp refuses token trees for this target."
        if self.n_passes > 1:
            return f"This target takes {self.n_passes} passes for the branches of one token tree, which gains nothing."
        if self.difference > _CLOSE:
            return "This target's rows in a token tree are not those of the same tokens in a line on this device."
        if _is_dear(self.chain_s, self.tree_s):
            return f"A token tree takes {self.cost:.1f} times as long as a chain of as many rows on this device."
        return ""

    @property
    def notice(self) -> NoticeInfo:
        """What was found, in words."""
        bits = "bit for bit those of a line" if not self.difference else f"within {self.difference:.1e} of a line"
        words = f"Token trees were tried: one pass, rows {bits}, {self.cost:.2f} times the time of a chain."
        return NoticeInfo(TREES_TRIED, self.why_not or words)


def why_no_trees(command: Load, model: Model) -> str:
    """Say why token trees need not be tried on a target; "" if they may be possible."""
    if not command.trees:
        return "The model was not loaded for token trees."
    if command.draft_max < len(_SMALL_TREE) - 1:
        return "Token trees need drafts of at least two tokens; this model was loaded for shorter ones."
    if model.has_memory_of_states:
        return "Token trees need a target with attention layers only; this one keeps a running state."
    if model.n_window and not command.placement.keeps_window:
        return "Token trees need the whole text in memory; layers of this target keep its end only, on this device."
    return ""


def why_nobody_branches(n_own_heads: int) -> str:
    """Say why nobody drafts token trees where no draft model does; heads are those with a memory of their own."""
    if n_own_heads < 2:
        return "No draft model, and no MTP heads with a memory of their own."
    return f"Of MTP heads only a single one can branch: this target has {n_own_heads} in a chain."


def note_trees(pair: Tried, found: TreeCheck) -> None:
    """Keep what came of trying trees, and say it."""
    pair.no_trees, pair.are_trees_alike = found.why_not, not found.difference
    pair.notices.append(found.notice)


def check_trees(context: Trees, n_passes: Callable[[], int], n_rows_alike: int = len(TREE)) -> TreeCheck:
    """Try trees on an empty memory, and leave it empty; ``n_passes`` counts the graphs that :data:`TREE` takes.

    Where rows round otherwise from some number on, up to ``n_rows_alike``, a tree within it is compared, and a small
    one where drafts are too short for another; they have two tokens at least.
    """
    n_rows = min(_N_TIMED_ROWS, context.n_draft_max + 1)
    n = n_passes()
    if n != 1:
        return TreeCheck(n, 0.0, 1.0, 1.0)
    is_small = n_rows < len(TREE) or len(_SMALL_TREE) <= n_rows_alike < len(TREE)
    tree = _SMALL_TREE if is_small else TREE
    try:
        return TreeCheck(n, _difference(context, tree), *_times(context, n_rows))
    finally:
        context.rewind(0)


def _is_dear(chain_s: float, tree_s: float) -> bool:
    return tree_s > _DEAREST * chain_s and tree_s - chain_s > _LEAST_S


def _token(context: Trees, i: int) -> int:
    return (17 + 31 * i) % context.n_vocab


def _difference(context: Trees, tree: Sequence[int]) -> float:
    """Compare every leaf, and what comes after a kept side branch, with the same tokens in a line.

    All passes have as many rows, padded: kernels that round by the number of rows are no matter of trees.
    """
    tokens = [_token(context, _PREFIX + i) for i in range(len(tree))]
    after = [_token(context, 90 + i) for i in range(len(tree))]
    worst = 0.0
    for leaf in sorted(set(range(len(tree))) - set(tree)):
        path, node = [leaf], tree[leaf]
        while node >= 0:
            path.insert(0, node)
            node = tree[node]
        _fill(context)
        context.decode_tree(tokens, tree)
        found = [context.row(node).copy() for node in path]
        context.keep_path(path)
        found += _rows(context, after)
        _fill(context)
        line = [tokens[node] for node in path]
        expected = _rows(context, [*line, *after[: len(tree) - len(line)]])[: len(line)]
        context.rewind(_PREFIX + len(line))
        expected += _rows(context, after)
        for row, other in zip(found, expected, strict=True):
            worst = max(worst, float(np.abs(row - other).max() / np.abs(other).max()))
    return worst


def _rows(context: Trees, tokens: Sequence[int]) -> list[Row]:
    context.decode(tokens, len(tokens))
    return [context.row(i).copy() for i in range(len(tokens))]


def _fill(context: Trees) -> None:
    context.rewind(0)
    context.decode([_token(context, i) for i in range(_PREFIX)], 1)


def _times(context: Trees, n_rows: int) -> tuple[float, float]:
    """Time chains and trees by turns, the lowest of some each; of more while trees seem too dear."""
    tokens = [_token(context, i) for i in range(n_rows)]
    parents = [-1, *((i - 1) // 2 for i in range(1, n_rows))]
    tree_s: list[float] = []
    chain_s: list[float] = []
    _fill(context)
    for n in range(_MOST_TIMES):
        if n >= _N_TIMES and not _is_dear(min(chain_s), min(tree_s)):
            break
        started_s = time.perf_counter()
        context.decode(tokens, n_rows)
        context.row(0)
        chain_s.append(time.perf_counter() - started_s)
        context.rewind(_PREFIX)
        started_s = time.perf_counter()
        context.decode_tree(tokens, parents)
        context.row(0)
        context.keep_path([0])
        tree_s.append(time.perf_counter() - started_s)
        context.rewind(_PREFIX)
    return min(chain_s), min(tree_s)
