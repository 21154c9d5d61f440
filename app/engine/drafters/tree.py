"""Draft a token tree: branch a model drafter's draft where it is unsure.

The children of a node are the tokens that come first there for the drafter, with the noise of that position: so the
target's choice is among them as often as may be. A node's worth is how likely the target comes by: the product of the
chances on its way. The tree takes the worthiest node each time, until its budget of rows is spent; the order in which
it took them is the order of the draft, so any beginning of it is a tree, too. (The same greedy growth as that of
EAGLE-2: Li et al. 2024, arXiv 2406.16858; verified with one attention mask: SpecInfer, Miao et al. 2024, 2305.09781.)

A node is evaluated by the drafter only when its children are wanted; its memory goes back to where the branch begins.
What they are worth is not known before: about as much as best children after nodes of that probability usually are, and
a look at them is worth something in itself, since the tree takes them only if they are better than what it knows.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.engine.calibration import Calibration, OfTrees
from app.engine.draft_length import Ask
from app.engine.drafters import TokenTree
from app.engine.llama import NothingAllowedError, Row
from app.engine.sampler import Sampler
from app.protocol import SpecType

N_CHILDREN = 4
"""Most children of a node."""

LEAST_WORTH = 0.005
"""Nodes that the target comes by less often are not worth a row on any machine."""


CURIOSITY = 0.5
"""How far a node that was not evaluated yet is ranked above what its best child is likely to be worth: 0 is not at all,
1 as if the child were certain. Looking more often finds better trees (1: up to 7 % more tokens a step than 0) and
evaluates more (1: 1.3 times as many tokens as a chain has in wide trees of unsure text, 0: fewer than a chain)."""


class Source(Protocol):
    """A drafter that can go on from any token that it has drafted."""

    def n_behind(self, tokens: Sequence[int]) -> int:
        """Return how many confirmed tokens it would have to catch up with before it can draft."""

    def n_unseen(self, tokens: Sequence[int]) -> int:
        """Return how many more than it lags it would have to take in to see all of the text."""

    def process(self, tokens: Sequence[int]) -> None:
        """Take in a batch of the prompt."""

    def begin(self, tokens: Sequence[int]) -> None:
        """Start on a prompt."""

    def ahead(self) -> Sampler:
        """Return a copy of the answer's sampler that draws as the drafter does: a tree's best way is its chain."""

    def open(self, tokens: Sequence[int], ask: Ask) -> int:
        """Take in the text; return how deep a tree may be, 0 for none."""

    def row_after(self, tokens: Sequence[int], path: Sequence[int]) -> Row:
        """Return the row after the text and a path of drafted tokens."""

    def end_branches(self, tokens: Sequence[int]) -> None:
        """Put the memory in order after a draft."""

    def accept(self, tokens: Sequence[int]) -> None:
        """Take note of all confirmed tokens after a step."""

    def close(self) -> None:
        """Free what it holds."""


@dataclass(slots=True)
class _Node:
    """A node that may be in the tree: its token, where it hangs, and what it is worth.

    ``probability`` is the drafter's word, ``rank`` its place among its siblings; ``children`` come once they are known;
    ``sampler`` is that of its place.
    """

    token: int
    parent: _Node | None
    worth: float
    probability: float
    depth: int
    rank: int = 0
    index: int = -1
    children: list[_Node] = field(default_factory=list)
    n_taken: int = 0
    sampler: Sampler | None = None

    def path(self) -> list[int]:
        """Return the tokens on the way to it, the pending one apart."""
        tokens: list[int] = []
        node = self
        while node.parent is not None:
            tokens.append(node.token)
            node = node.parent
        return tokens[::-1]


class TreeDrafter:
    """Drafts one answer with trees over another drafter."""

    name: SpecType = "tree"
    kind = "tree"

    def __init__(
        self,
        source: Source,
        calibrations: OfTrees,
        *,
        n_leaves_max: int,
        draft_min: int = 0,
        p_min: float = 0.0,
    ) -> None:
        """Make a drafter.

        Args:
            source: who says what comes after a node; copies of its sampler go along the branches.
            calibrations: how often a child of some probability is the target's choice; learned from.
            n_leaves_max: most leaves that the target can verify at once.
            draft_min: trees of fewer nodes are not used.
            p_min: children less probable than this are not drafted.
        """
        self._source = source
        self._calibrations = calibrations
        self._n_leaves_max = n_leaves_max
        self._draft_min = draft_min
        self._p_min = p_min
        self._root: _Node | None = None
        self._n_text = 0

    def n_behind(self, tokens: Sequence[int]) -> int:
        """Return how many tokens the source lags."""
        return self._source.n_behind(tokens)

    def n_unseen(self, tokens: Sequence[int]) -> int:
        """Return how many more it would have to take in."""
        return self._source.n_unseen(tokens)

    def process(self, tokens: Sequence[int]) -> None:
        """Let the source take in a batch of the prompt."""
        self._source.process(tokens)

    def begin(self, tokens: Sequence[int]) -> None:
        """Let the source catch up with the prompt."""
        self._source.begin(tokens)

    def draft(self, tokens: Sequence[int], ask: Ask) -> TokenTree:
        """Return a tree of at most ``ask.limit`` nodes after ``tokens``."""
        self._root = None
        n_deep = self._source.open(tokens, ask)
        if n_deep <= 0:
            return TokenTree((), ())
        root = _Node(tokens[-1], None, 1.0, 1.0, 0, sampler=self._source.ahead())
        growth = _Growth(self, tokens, root, n_deep)
        try:
            nodes = growth.grow(ask)
        finally:
            growth.close()
            self._source.end_branches(tokens)
        if len(nodes) < max(1, self._draft_min):
            return TokenTree((), ())
        self._root, self._n_text = root, len(tokens)
        parents = tuple(-1 if node.parent is None else node.parent.index for node in nodes)
        return TokenTree(tuple(node.token for node in nodes), parents)

    def children_of(self, node: _Node, row: Row, position: int) -> list[_Node]:
        """Return what may follow a node, best first, of what is probable enough."""
        if node.sampler is None:
            raise ValueError("no sampler stands at this node")
        found: list[_Node] = []
        worth = node.worth
        for rank, (token, probability) in enumerate(node.sampler.ranked(row, position, N_CHILDREN)):
            share = self._calibration_of(rank).share(probability)
            worth = min(worth, node.worth * share)  # never above a likelier one's
            if probability >= self._p_min and worth >= LEAST_WORTH:
                found.append(_Node(token, node, worth, probability, node.depth + 1, rank))
        return found

    def _calibration_of(self, rank: int) -> Calibration:
        return self._calibrations.others if rank else self._calibrations.best

    def row_after(self, tokens: Sequence[int], node: _Node) -> Row:
        """Return the row after a node."""
        return self._source.row_after(tokens, node.path())

    def hope(self, node: _Node) -> float:
        """Return how much of a node's worth its best child has, where nobody knows it yet."""
        return self._calibrations.following.share(_sureness(node))

    @property
    def n_leaves_max(self) -> int:
        """Most leaves of a tree."""
        return self._n_leaves_max

    def accept(self, tokens: Sequence[int]) -> None:
        """Learn which of the children were the target's choice; let the source take note."""
        node, self._root = self._root, None
        for token in tokens[self._n_text :] if node is not None else ():
            if node is None:
                break
            node = self._learn(node, token)
        self._source.accept(tokens)

    def _learn(self, node: _Node, token: int) -> _Node | None:
        """Learn of the children of a node which was the target's choice; return it, if one was."""
        chosen = None
        for child in node.children:
            self._calibration_of(child.rank).observe(child.probability, child.token == token)
            chosen = child if child.token == token else chosen
        if node.parent is not None and node.children:
            self._calibrations.following.observe(_sureness(node), node.children[0].token == token)
        return chosen

    def close(self) -> None:
        """Close the source."""
        self._source.close()


def _sureness(node: _Node) -> float:
    """How probable a node is, as far as that tells of what follows it: after a second-best word nobody is sure."""
    return 0.0 if node.rank else node.probability


class _Growth:
    """One tree as it grows: what could come next, the worthiest first."""

    def __init__(self, drafter: TreeDrafter, tokens: Sequence[int], root: _Node, n_deep: int) -> None:
        self._drafter, self._tokens, self._n_deep = drafter, tokens, n_deep
        self._nodes: list[_Node] = []
        self._all: list[_Node] = [root]
        self._heap: list[tuple[float, int, _Node]] = []
        self._n_leaves = 1
        self._counter = itertools.count()

    def grow(self, ask: Ask) -> list[_Node]:
        """Return the nodes in the order of their worth, at most ``ask.limit``."""
        self._expand(self._all[0])
        while self._heap and len(self._nodes) < ask.limit:
            _worth, _n, node = heapq.heappop(self._heap)
            if node.index >= 0:
                self._expand(node)
            elif self._take(node) and ask.goes_on is not None and not ask.goes_on(node.worth, self._next_worth):
                break
        return self._nodes

    @property
    def _next_worth(self) -> float:
        """What the node that comes next is worth, as far as is known."""
        if not self._heap:
            return 0.0
        node = self._heap[0][2]
        return node.worth * self._drafter.hope(node) if node.index >= 0 else node.worth

    def _take(self, node: _Node) -> bool:
        """Put a node into the tree, if there is a sequence for its leaf."""
        parent = node.parent
        if parent is None or (parent.n_taken and self._n_leaves == self._drafter.n_leaves_max):
            return False
        self._n_leaves += parent.n_taken > 0
        parent.n_taken += 1
        node.index = len(self._nodes)
        self._nodes.append(node)
        if node.depth < self._n_deep:
            hope = self._drafter.hope(node)
            self._push(node, (hope + CURIOSITY * (1 - hope)) * node.worth)  # of its best child, which nobody knows yet
        return True

    def _expand(self, node: _Node) -> None:
        """Let the drafter say what follows a node of the tree."""
        if node.parent is not None and node.sampler is None:
            if node.parent.sampler is None:
                raise ValueError("a node was taken before its parent")
            node.sampler = node.parent.sampler.clone()
            self._all.append(node)
            node.sampler.accept(node.token)
        try:
            row = self._drafter.row_after(self._tokens, node)
            node.children = self._drafter.children_of(node, row, len(self._tokens) + node.depth)
        except NothingAllowedError:
            node.children = []  # the branch has led the grammar into a dead end
        for child in node.children:
            self._push(child, child.worth)

    def _push(self, node: _Node, worth: float) -> None:
        heapq.heappush(self._heap, (-worth, next(self._counter), node))

    def close(self) -> None:
        """Free the samplers."""
        for node in self._all:
            if node.sampler is not None:
                node.sampler.close()
                node.sampler = None
