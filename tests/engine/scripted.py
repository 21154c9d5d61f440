"""A model that is a function: the fake behind the loop's one seam.

The row after some tokens is made from a hash of the last ones, so that a memory that holds anything but the confirmed
tokens changes the output at once. It checks what llama.cpp would abort on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from app.errors import DecodeError


class ScriptedMemory:
    """Implements ``speculate.Target`` and a drafter's ``Memory``.

    ``peakedness`` scales the logits: the larger, the surer the model. ``blur`` adds a second function of the same
    tokens, so that a draft model agrees with its target often, not always. ``n_tail`` is how many last tokens matter: a
    few, and the text soon repeats itself.
    """

    def __init__(
        self,
        *,
        n_vocab=40,
        n_ctx=256,
        n_batch=64,
        n_rows_max=32,
        can_rewind=True,
        peakedness=3.0,
        blur=0.0,
        n_tail=6,
        n_leaves_max=16,
    ):
        self.n_vocab, self.n_ctx, self.n_batch, self.n_rows_max = n_vocab, n_ctx, n_batch, n_rows_max
        self.can_rewind, self.peakedness, self.blur, self.n_tail = can_rewind, peakedness, blur, n_tail
        self.held: list[int] = []
        self.tree: list[tuple[int, int]] | None = None
        self.n_leaves_max = n_leaves_max
        self.fail_at: int | None = None
        self.fault: DecodeError = DecodeError("scripted failure")
        self.n_faults = 0
        self.batches: list[tuple[int, int]] = []
        self._rows: list[np.ndarray] = []
        self.watcher: Callable[[Sequence[int], int], None] | None = None
        self._n_last = 0

    @property
    def n_draft_max(self) -> int:
        return self.n_rows_max - 1

    @property
    def n_past(self) -> int:
        return len(self.held)

    def decode(self, tokens: Sequence[int], n_rows: int) -> None:
        n = len(tokens)
        assert 0 < n <= self.n_batch, "llama.cpp aborts on a batch over n_batch"
        assert 0 <= n_rows <= min(n, self.n_rows_max), "llama.cpp aborts on rows over n_outputs_max"
        assert self.n_past + n <= self.n_ctx, "no slot"
        if self.fail_at is not None and len(self.batches) >= self.fail_at:
            self.n_faults += 1
            raise self.fault
        self.batches.append((n, n_rows))
        self._rows, self._n_last, self.tree = [], n, None
        for i, token in enumerate(tokens):
            self.held.append(int(token))
            if i >= n - n_rows:
                self._rows.append(self.row_after(self.held))
        if self.watcher is not None:
            self.watcher(tokens, self.n_past - n)

    def decode_tree(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        """Rows of all nodes; the first is the root, and each comes after its parent."""
        n = len(tokens)
        assert 0 < n <= min(self.n_batch, self.n_rows_max), "llama.cpp aborts on rows over n_outputs_max"
        assert self.n_past + n <= self.n_ctx, "no slot"
        assert parents[0] == -1, "the first node is the root"
        assert all(0 <= parent < i for i, parent in enumerate(parents) if i), "a node before its parent"
        assert len(set(range(n)) - set(parents)) <= self.n_leaves_max, "more leaves than sequences"
        if self.fail_at is not None and len(self.batches) >= self.fail_at:
            self.n_faults += 1
            raise self.fault
        self.batches.append((n, n))
        paths: list[list[int]] = []
        for token, parent in zip(tokens, parents, strict=True):
            paths.append([*(paths[parent] if parent >= 0 else []), int(token)])
        self._rows, self._n_last = [self.row_after(self.held + path) for path in paths], n
        self.tree = [(int(token), parent) for token, parent in zip(tokens, parents, strict=True)]

    def keep_path(self, path: Sequence[int]) -> None:
        assert self.tree is not None, "no tree was decoded"
        assert [self.tree[node][1] for node in path] == [-1, *path[:-1]], "not a path from the root"
        first = self.n_past
        kept = [self.tree[node][0] for node in path]
        self.held += kept
        self.tree, self._n_last = None, len(path)
        if self.watcher is not None:
            self.watcher(kept, first)

    def row_after(self, tokens: Sequence[int]) -> np.ndarray:
        key = hash(tuple(tokens[-self.n_tail :])) & 0xFFFFFFFF
        row = np.random.default_rng(key).standard_normal(self.n_vocab)
        if self.blur:
            row = row + self.blur * np.random.default_rng(key ^ 0xABCDEF).standard_normal(self.n_vocab)
        return (row * self.peakedness).astype(np.float32)

    def row(self, index: int) -> np.ndarray:
        assert 0 <= index < len(self._rows), "llama.cpp has no such row"
        return self._rows[index]

    def watch(self, watcher: Callable[[Sequence[int], int], None] | None) -> None:
        self.watcher = watcher

    def hidden(self) -> np.ndarray:
        n = self.n_past
        return np.concatenate([self.hidden_at(i) for i in range(n - self._n_last, n)])

    def hidden_at(self, position: int) -> np.ndarray:
        """What heads are fed with beside the token after ``position``: tells where it comes from."""
        key = hash(tuple(self.held[max(0, position - 5) : position + 1]))
        return np.array([[TARGETS_OWN, position, key & 0xFFFF, key >> 16 & 0xFFFF]], dtype=np.float32)

    def rewind(self, n_keep: int) -> None:
        assert self.tree is None, "a tree that nobody has decided on"
        if n_keep < len(self.held):
            del self.held[n_keep if self.can_rewind else 0 :]
            self._rows = []


TARGETS_OWN, HEADS_OWN = 1, 2
"""Who made a hidden row; its first number."""


class ScriptedHeads:
    """Multi-token-prediction heads on a scripted target: a blurred view of it.

    Every row that they are fed with must be the target's own row of the token before, except in a draft. The heads of a
    chain share positions, and each has a layer of its own: what it was not fed there, or fed and not again after the
    text had changed, it does not know.
    """

    n_embd = 4

    def __init__(self, target: ScriptedMemory, *, n_batch=16, shares_memory=False, blur=0.3, n_heads=1):
        self.target, self.n_batch, self.shares_memory = target, n_batch, shares_memory
        self.n_heads = n_heads
        self.fail_at: int | None = None
        self.fault: DecodeError = DecodeError("scripted failure")
        self.n_faults = 0
        self.n_decodes = 0
        self.first = 0
        self.layers: list[list[tuple[int, bool]]] = [[] for _ in range(n_heads)]
        self.n_held = 0
        self._head = 0
        self._model = ScriptedMemory(
            n_vocab=target.n_vocab, peakedness=target.peakedness, blur=blur, n_tail=target.n_tail
        )

    def use_head(self, index: int) -> None:
        assert 0 <= index < self.n_heads
        self._head = index

    def fed(self, head: int = 0) -> list[int]:
        """Return the tokens that a head holds, from position ``first`` on."""
        return [token for token, _drafted in self.layers[head][: self.n_held]]

    def n_drafted(self, head: int = 0) -> int:
        """Return how many of them came with a row of the heads' own."""
        return sum(drafted for _token, drafted in self.layers[head][: self.n_held])

    def decode(self, tokens: Sequence[int], hidden: np.ndarray, position: int) -> None:
        assert 0 < len(tokens) <= self.n_batch, "llama.cpp aborts on a batch over n_batch"
        assert hidden.shape == (len(tokens), self.n_embd)
        if self.fail_at is not None and self.n_decodes >= self.fail_at:
            self.n_faults += 1
            raise self.fault
        self.n_decodes += 1
        for i, token in enumerate(tokens):
            self._feed(int(token), hidden[i : i + 1], position if self.shares_memory else position + i)

    def _feed(self, token: int, hidden: np.ndarray, position: int) -> None:
        drafted = bool(hidden[0, 0] == HEADS_OWN)
        layer = self.layers[self._head]
        if self.shares_memory:
            assert position == self.target.n_past, "an assistant stands where the pending token does"
            if not drafted:
                layer[:] = [(held, False) for held in self.target.held]
                self.first, self.n_held = 0, len(layer)
        else:
            self._find_place(position)
        if not drafted:
            assert not self.n_drafted(self._head), "what was drafted is still there"
            before = self.target.hidden_at(position - 1) if position else np.zeros((1, self.n_embd))
            assert np.array_equal(hidden, before), "a hidden row of another token"
        layer.append((token, drafted))
        self.n_held += 1

    def _find_place(self, position: int) -> None:
        if self.n_held == 0 and self.first != position:
            self.first = position
            for layer in self.layers:
                layer.clear()
        layer, at = self.layers[self._head], position - self.first
        assert at == self.n_held, "the heads' memory has a gap"
        assert at <= len(layer), "this head was not fed what comes before"
        del layer[at:]
        n = min(at, self.target.n_past - self.first)
        held = self.target.held[self.first : self.first + n]
        assert [token for token, _drafted in layer[:n]] == held, "this head holds another text"

    def row(self) -> np.ndarray:
        assert self.n_heads == 1 or self._head == self.n_drafted(self._head), "this head is for another token"
        return self._model.row_after(self.fed(self._head))

    def hidden(self) -> np.ndarray:
        return np.full((1, self.n_embd), HEADS_OWN, dtype=np.float32)

    def rewind(self, n_keep: int) -> None:
        if not self.shares_memory:
            self.n_held = min(self.n_held, max(0, n_keep - self.first))
