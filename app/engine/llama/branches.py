"""Token trees in a memory: several sequences that share cells, evaluated in one batch.

    sequences   0 … L - 1: one a leaf, each the text and the way from the root to its leaf; only 0 outlives a step
    cells       … text | root  a  b  a1  b1       kept root, b, b1:  … text root . b . b1
                                                  a and a1 stay where they are, in a sequence that nobody looks at

The order of cells is the order in which attention adds up, so it must stay that of the text: cells of rejected nodes
between kept ones are not given back, else later tokens would take them, and the same text would round otherwise than
without trees. A memory has :data:`N_SPARE_CELLS` more cells for them; when these are used up, the text is written down
and read back, which puts it into cells without gaps.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import llama_cpp.llama_cpp as lc

from app.engine.ggml import native
from app.engine.llama.model import Model
from app.errors import DecodeError

N_SPARE_CELLS = 256
"""Cells beyond the context for rejected nodes."""

_SMALL = 256


class Branches:
    """The tree that is evaluated, and what earlier ones have left behind."""

    def __init__(self, context: Any, n_leaves_max: int, n_nodes_max: int) -> None:
        self.n_leaves_max = n_leaves_max
        self.n_left_behind = 0
        self._context, self._memory = context, lc.llama_get_memory(context)
        self._rest = n_leaves_max
        self._batch: Any = lc.llama_batch_init(n_nodes_max, 0, n_leaves_max)
        self._tokens: list[int] = []
        self._leaves: list[list[int]] = []
        self._depths: list[int] = []
        self._base = 0

    def prepare(self, tokens: Sequence[int], parents: Sequence[int], n_past: int) -> Any:
        """Return the batch of a tree behind ``n_past`` tokens, with the text in all of its sequences.

        Raises:
            ValueError: it has too many leaves.
            DecodeError: the memory could not be put in order; it is empty.
        """
        leaves = leaves_below(parents)
        n_leaves = len(leaves[0])
        if n_leaves > self.n_leaves_max:
            raise ValueError(f"a tree of {n_leaves} leaves: at most {self.n_leaves_max}")
        if self.n_left_behind + len(tokens) > N_SPARE_CELLS:
            self._close_gaps()
        for leaf in range(1, n_leaves):
            lc.llama_memory_seq_cp(self._memory, 0, leaf, -1, -1)
        self._tokens, self._leaves, self._base, self._depths = list(tokens), leaves, n_past, []
        batch = self._batch
        batch.n_tokens = len(tokens)
        for i, (token, parent) in enumerate(zip(tokens, parents, strict=True)):
            self._depths.append(self._depths[parent] + 1 if parent >= 0 else 0)
            batch.token[i], batch.pos[i], batch.logits[i] = token, n_past + self._depths[i], 1
            batch.n_seq_id[i] = len(leaves[i])
            for j, leaf in enumerate(leaves[i]):
                batch.seq_id[i][j] = leaf
        return batch

    def keep(self, path: Sequence[int]) -> list[int]:
        """Let the text go on with the nodes of a path, and only with them; return their tokens."""
        on_path = set(path)
        for node in range(path[-1]):
            if node not in on_path:
                position = self._base + self._depths[node]
                lc.llama_memory_seq_cp(self._memory, self._leaves[node][0], self._rest, position, position + 1)
                self.n_left_behind += 1
        winner, n_past = self._leaves[path[-1]][0], self._base + len(path)
        if winner:
            lc.llama_memory_seq_rm(self._memory, 0, self._base, -1)
            lc.llama_memory_seq_cp(self._memory, winner, 0, self._base, n_past)
        else:
            lc.llama_memory_seq_rm(self._memory, 0, n_past, -1)
        self._drop_copies()
        return [self._tokens[node] for node in path]

    def drop(self) -> None:
        """Drop the whole tree."""
        lc.llama_memory_seq_rm(self._memory, 0, self._base, -1)
        self._drop_copies()

    def _drop_copies(self) -> None:
        for leaf in range(1, len(self._leaves[0])):
            lc.llama_memory_seq_rm(self._memory, leaf, -1, -1)

    def forget(self) -> None:
        """Take note that the memory was emptied."""
        self.n_left_behind = 0

    def _close_gaps(self) -> None:
        """Write the text down and read it back.

        Raises:
            DecodeError: it could not be read back; the memory is empty.
        """
        size: int = lc.llama_state_seq_get_size(self._context, 0)
        data = (ctypes.c_uint8 * size)()
        n_written = lc.llama_state_seq_get_data(self._context, data, size, 0)
        lc.llama_memory_clear(self._memory, False)
        self.n_left_behind = 0
        if n_written != size or not lc.llama_state_seq_set_data(self._context, data, size, 0):
            raise DecodeError("The memory could not be put in order after token trees.", "Ask again.")

    def close(self) -> None:
        """Free the batch."""
        lc.llama_batch_free(self._batch)


def leaves_below(parents: Sequence[int]) -> list[list[int]]:
    """Return for each node the numbers of the leaves below it, or its own; leaves are numbered as they come."""
    below: list[list[int]] = [[] for _ in parents]
    inner, n_leaves = set(parents), 0
    for i in range(len(parents)):
        if i in inner:
            continue
        node = i
        while node >= 0:
            below[node].append(n_leaves)
            node = parents[node]
        n_leaves += 1
    return below


def count_passes(model: Model, parents: Sequence[int]) -> int:
    """Return how many graphs a tree takes, on a small context of its own; none if it is refused."""
    passes: list[int] = []
    name_of = native("ggml_get_name", ctypes.c_char_p, ctypes.c_void_p)

    def on_tensor(tensor: Any, ask: bool, _data: Any) -> bool:
        if ask and name_of(tensor).startswith(b"result_output"):
            passes.append(1)
        return False

    params = lc.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = _SMALL
    params.n_seq_max, params.kv_unified, params.no_perf = len(parents), True, True
    params.n_threads = params.n_threads_batch = 1
    callback = lc.ggml_backend_sched_eval_callback(on_tensor)
    params.cb_eval = callback
    context: Any = lc.llama_init_from_model(model.handle, params)
    if not context:
        return 0
    branches = Branches(context, len(parents), len(parents))
    try:
        code = lc.llama_decode(context, branches.prepare([0] * len(parents), parents, 0))
    finally:
        branches.close()
        lc.llama_free(context)
    return len(passes) if code == 0 else 0
