"""The memory of one sequence of a model: decode appends to it, rewind shortens it.

A pure-attention memory drops any tail. One with recurrent layers holds a running state: of that, only as many
tokens of the *last* decode can be dropped as it kept snapshots of, and only once until the next decode.
``seq_rm`` says yes to more than that and leaves a wrong state (measured), so the rule is kept here.
Everything else goes back to a checkpoint, or to nothing.

What llama.cpp answers with ``abort()`` is checked here first and raised as an exception (``GGML_ASSERT`` in
``llama-context.cpp``: a batch over ``n_batch``, more output rows than ``n_outputs_max``).
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NoReturn

import llama_cpp.llama_cpp as lc
import llama_cpp.llama_cpp_ext as ext
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from app.engine.cancel import CancelFlag
from app.engine.llama.backend import aborting, forget_log, last_log
from app.engine.llama.branches import N_SPARE_CELLS, Branches
from app.engine.llama.model import Model
from app.errors import DecodeError, LoadError
from app.memory_types import is_quantised
from app.protocol import MemoryTypes

Row = NDArray[np.float32]
"""Logits of one position, shape ``(n_vocab,)``; a view that the next decode overwrites."""

Hidden = NDArray[np.float32]
"""Rows that MTP heads continue from, shape ``(n_tokens, n_embd)``: row i belongs to token i."""

Watcher = Callable[[Sequence[int], int], None]

MAX_CHECKPOINTS = 8
CHECKPOINT_BYTES = 512 * 1024 * 1024
"""Most checkpoints, and most memory for them, that a context keeps."""

ELEMENT_TYPES: dict[str, int] = {
    "f32": lc.GGML_TYPE_F32,
    "f16": lc.GGML_TYPE_F16,
    "bf16": 30,  # GGML_TYPE_BF16 (ggml.h); the binding does not name it
    "q8_0": lc.GGML_TYPE_Q8_0,
    "q5_1": lc.GGML_TYPE_Q5_1,
    "q5_0": lc.GGML_TYPE_Q5_0,
    "q4_1": lc.GGML_TYPE_Q4_1,
    "q4_0": lc.GGML_TYPE_Q4_0,
    "iq4_nl": lc.GGML_TYPE_IQ4_NL,
}
"""ggml's numbers of :data:`app.memory_types.ELEMENT_TYPES`."""

_PARTIAL_ONLY = 1  # LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY: the recurrent part alone
_ABORTED = 2  # llama_decode's return value after the abort callback said stop


class DecodeCancelledError(DecodeError):
    """The cancel flag stopped a decode; never crosses a process."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a context is laid out.

    Attributes:
        n_ctx: positions in the memory.
        n_threads: for decoding and for prefill alike.
        n_rows_max: most positions of a batch whose logits are wanted (longest draft + 1).
        n_snapshots: states kept for rewinding, where the memory has recurrent layers that can; memory grows with it.
        n_batch: most tokens in one decode.
        memory: element types of K and V (names in ``ELEMENT_TYPES``).
        keeps_window: layers that look back a short way keep the whole text all the same; else only the end of a text
            can be rewound, and a rewind further back begins anew.
        n_leaves_max: most leaves of a token tree; 0 where none will be verified.
    """

    n_ctx: int
    n_threads: int
    n_rows_max: int
    n_snapshots: int = 0
    n_batch: int = 512
    memory: MemoryTypes = field(default_factory=MemoryTypes)
    keeps_window: bool = True
    n_leaves_max: int = 0


def _native_params(shape: Shape) -> Any:
    params = lc.llama_context_default_params()
    params.n_ctx = shape.n_ctx
    # On hybrids llama.cpp aborts unless n_ubatch > n_rs_seq + 1 (llama-batch.cpp, n_keep_tail).
    params.n_batch = params.n_ubatch = max(shape.n_batch, shape.n_rows_max, shape.n_snapshots + 2)
    params.n_seq_max = 1
    params.n_rs_seq = shape.n_snapshots
    params.n_outputs_max = shape.n_rows_max
    params.n_threads = params.n_threads_batch = shape.n_threads
    params.swa_full = shape.keeps_window
    set_memory_types(params, shape.memory)
    params.no_perf = True
    if shape.n_leaves_max:
        params.n_ctx += N_SPARE_CELLS
        params.n_seq_max = shape.n_leaves_max + 1
        params.n_outputs_max = max(shape.n_rows_max, params.n_seq_max)  # llama.cpp aborts where a sequence has none
        params.kv_unified = True  # else a tree is refused: its branches share cells
    return params


def fitting_types(model: Model, memory: MemoryTypes) -> MemoryTypes:
    """Return the types that a model's memory can have: where K and V are one, both as the one that was chosen.

    If none was, both are of V's type: it keeps ggml's kernels to the one path (see :class:`MemoryTypes`), K's does not.
    """
    if not model.has_one_memory or memory.type_k == memory.type_v:
        return memory
    chosen = memory.type_v if memory.type_k == MemoryTypes().type_k else memory.type_k
    return replace(memory, type_k=chosen, type_v=chosen)


def set_memory_types(params: Any, memory: MemoryTypes) -> None:
    """Write the element types and the kind of attention into native context parameters."""
    params.type_k, params.type_v = ELEMENT_TYPES[memory.type_k], ELEMENT_TYPES[memory.type_v]
    if memory.flash_attention is not None:
        params.flash_attn_type = int(memory.flash_attention)  # LLAMA_FLASH_ATTN_TYPE_DISABLED, _ENABLED


def _hint(memory: MemoryTypes) -> str:
    if is_quantised(memory.type_k) or is_quantised(memory.type_v):
        return "Choose 16 bits for the memory (f16, bf16), a shorter context length or a smaller model."
    return "Choose a shorter context length or a smaller model."


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    """The recurrent part of a memory as it was at ``n_past``."""

    n_past: int
    data: Any


class Context:
    """The memory (KV cache) of one sequence of a model, and the logits of its last decode."""

    def __init__(self, model: Model, shape: Shape) -> None:
        """Allocate the memory.

        Raises:
            LoadError: llama.cpp could not make the context, mostly for want of memory.
        """
        forget_log()
        shape = dataclasses.replace(shape, memory=fitting_types(model, shape.memory))
        self._context: Any = lc.llama_init_from_model(model.handle, _native_params(shape))
        if not self._context:
            raise LoadError(
                f"No context of {shape.n_ctx} tokens could be made: {last_log('no reason given')}",
                _hint(shape.memory),
            )
        self._memory: Any = lc.llama_get_memory(self._context)
        # llama.cpp rounds up to 256 positions, but aborts on a batch longer than what was asked for.
        self.n_ctx: int = min(shape.n_ctx, lc.llama_n_ctx(self._context))
        self.n_vocab = model.n_vocab
        self.n_embd = model.n_embd
        self.n_batch = shape.n_batch
        self.watcher: Watcher | None = None
        self.n_rows_max = shape.n_rows_max
        self.n_past = 0
        self.n_snapshots: int = lc.llama_n_rs_seq(self._context)
        self.has_state = model.has_memory_of_states
        self._is_elsewhere = bool(model.placement.devices)
        self.keeps_window = shape.keeps_window
        self._n_window = 0 if shape.keeps_window else model.n_window
        self.memory_types = shape.memory
        self._checkpoints: list[_Checkpoint] = []
        self._n_droppable = 0
        self._n_last_rows = 0
        self._n_last_tokens = 0
        self._last_path: list[int] | None = None
        self._views: dict[int, Row] = {}
        self._branches: Branches | None = None
        if shape.n_leaves_max:
            self._branches = Branches(self._context, shape.n_leaves_max, shape.n_rows_max)
        self._make_batch()

    @property
    def handle(self) -> Any:
        """The native pointer, for this package alone."""
        return self._context

    @property
    def n_draft_max(self) -> int:
        """Longest draft that can be verified and rewound."""
        return min(self.n_rows_max - 1, self.n_snapshots) if self.has_state else self.n_rows_max - 1

    def _make_batch(self) -> None:
        """Allocate the one batch that every decode fills again, with numpy views of its arrays."""
        self._batch: Any = lc.llama_batch_init(self.n_batch, 0, 1)

        def view(pointer: Any) -> NDArray[Any]:
            return np.ctypeslib.as_array(pointer, shape=(self.n_batch,))

        self._token = view(self._batch.token)
        self._pos = view(self._batch.pos)
        self._wanted = view(self._batch.logits)
        view(self._batch.n_seq_id)[:] = 1
        for i in range(self.n_batch):
            self._batch.seq_id[i][0] = 0

    def decode(self, tokens: Sequence[int], n_rows: int) -> None:
        """Evaluate tokens at the end of the memory; keep the logits of the last ``n_rows``.

        Raises:
            ValueError: a batch that llama.cpp would abort on.
            DecodeError: llama.cpp failed or was cancelled; the memory is as it was before, or further back where it
                has recurrent layers (see ``n_past``).
        """
        n = len(tokens)
        if not 0 < n <= self.n_batch or not 0 <= n_rows <= min(n, self.n_rows_max):
            raise ValueError(f"a batch of {n} tokens with {n_rows} rows: at most {self.n_batch}, {self.n_rows_max}")
        if self.n_past + n > self.n_ctx:
            raise ValueError(f"{self.n_past} + {n} tokens do not fit into a context of {self.n_ctx}")
        self._batch.n_tokens = n
        self._token[:n] = tokens
        self._pos[:n] = range(self.n_past, self.n_past + n)
        self._wanted[: n - n_rows] = 0
        self._wanted[n - n_rows : n] = 1
        if code := self._evaluate(self._batch):
            # llama.cpp has taken the tokens back itself; a running state it takes to snapshots that were never written.
            self._n_droppable = -1
            self._drop_from(self.n_past)
            self._raise(code, n)
        self.n_past += n
        self._n_droppable = min(self.n_snapshots, n - 1)
        self._n_last_rows, self._n_last_tokens, self._last_path = n_rows, n, None
        if self.watcher is not None:
            self.watcher(tokens, self.n_past - n)

    def _evaluate(self, batch: Any) -> int:
        code: int = lc.llama_decode(self._context, batch)
        if self._is_elsewhere:  # a device works on after the call: whoever times it, or cancels, wants it over
            lc.llama_synchronize(self._context)
        return code

    def _raise(self, code: int, n: int) -> NoReturn:
        if code == _ABORTED:
            raise DecodeCancelledError("The evaluation was cancelled.")
        raise DecodeError(
            f"llama_decode returned {code} for {n} tokens at position {self.n_past}: {last_log('')}",
            "Start the engine again; if it happens again, choose a shorter context or another model.",
        )

    @property
    def n_leaves_max(self) -> int:
        """Most leaves of a token tree; 0: none can be verified."""
        return 0 if self._branches is None else self._branches.n_leaves_max

    def decode_tree(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        """Evaluate a tree at the end of the memory; keep the logits of all nodes, row i being that of node i.

        The memory is as long as before until :meth:`keep_path` says what of it stays. ``parents`` is -1 for the root,
        which is the first node; each node comes after its parent.

        Raises:
            ValueError: a batch that llama.cpp would abort on, or a tree that this memory has no sequences for.
            DecodeError: as :meth:`decode`.
        """
        n = len(tokens)
        if self._branches is None or not 0 < n <= self.n_rows_max or self.n_past + n > self.n_ctx:
            raise ValueError(f"a tree of {n} nodes at position {self.n_past}")
        try:
            code = self._evaluate(self._branches.prepare(tokens, parents, self.n_past))
        except DecodeError:  # nothing of the memory could be kept
            self.n_past = 0
            raise
        if code:
            self._branches.drop()
            self._raise(code, n)
        self._n_last_rows = self._n_last_tokens = n
        self._last_path = None

    def keep_path(self, path: Sequence[int]) -> None:
        """Append the nodes of a path from the root of the tree that was evaluated last; drop its other nodes."""
        if self._branches is None:
            raise ValueError("no tree was evaluated")
        kept = self._branches.keep(path)
        self.n_past += len(path)
        self._last_path = list(path)
        if self.watcher is not None:
            self.watcher(kept, self.n_past - len(path))

    def row(self, index: int) -> Row:
        """Return the logits of kept row ``index`` of the last decode, shape ``(n_vocab,)``."""
        if not 0 <= index < self._n_last_rows:
            raise IndexError(index)
        pointer = lc.llama_get_logits_ith(self._context, self._n_last_tokens - self._n_last_rows + index)
        address = ctypes.addressof(pointer.contents)
        view = self._views.get(address)
        if view is None:  # making one takes longer than the whole choice; llama.cpp keeps few places
            if len(self._views) > 2 * self.n_rows_max:
                self._views.clear()
            view = np.ctypeslib.as_array((ctypes.c_float * self.n_vocab).from_address(address))
            self._views[address] = view
        return view

    def watch(self, watcher: Watcher | None) -> None:
        """Call ``watcher(tokens, position)`` after every decode, with hidden rows at hand; None ends it."""
        ext.llama_set_embeddings_nextn(self._context, watcher is not None, False)
        self.watcher = watcher

    @property
    def comes_back(self) -> bool:
        """Whether whatever was decoded can be taken back, and the memory is as it was."""
        return not self.has_state and not self._n_window

    def hidden(self) -> Hidden:
        """Return a copy of the hidden rows of the last decode's tokens, shape ``(n_tokens, n_embd)``.

        Of a tree they are those of the path that was kept.
        """
        pointer = ext.llama_get_embeddings_nextn_ith(self._context, 0)
        size = self._n_last_tokens * self.n_embd
        rows: Hidden = np.ctypeslib.as_array(pointer, shape=(size,)).reshape(-1, self.n_embd).copy()
        return rows if self._last_path is None else rows[self._last_path]

    def rewind(self, n_keep: int) -> None:
        """Drop every token from position ``n_keep`` on, and more where the memory cannot do just that.

        Look at ``n_past`` afterwards: on a memory with recurrent layers it may be that of a checkpoint, or 0.
        """
        if n_keep < self.n_past:
            self._drop_from(n_keep)

    def _drop_from(self, n_keep: int) -> None:
        may_drop = n_keep > 0 and (not self.has_state or self.n_past - n_keep <= self._n_droppable)
        self._n_droppable = 0
        may_drop = may_drop and self._has_window_before(n_keep)
        if may_drop and lc.llama_memory_seq_rm(self._memory, 0, n_keep, -1):
            self.n_past = n_keep
        else:
            self._restore(n_keep)
        self._checkpoints = [c for c in self._checkpoints if c.n_past <= self.n_past]

    def _has_window_before(self, n_keep: int) -> bool:
        """Whether layers that look back a short way still have all that the token at this position sees."""
        if not self._n_window:
            return True
        first: int = lc.llama_memory_seq_pos_min(self._memory, 0)
        return first <= max(0, n_keep - self._n_window)

    def mark(self) -> None:
        """Keep a checkpoint here, if this memory needs one to come back; the oldest gives way to it."""
        if not self.has_state or any(c.n_past == self.n_past for c in self._checkpoints):
            return
        size: int = lc.llama_state_seq_get_size_ext(self._context, 0, _PARTIAL_ONLY)
        data = (ctypes.c_uint8 * size)()
        if lc.llama_state_seq_get_data_ext(self._context, data, size, 0, _PARTIAL_ONLY) == size:
            n_kept = max(0, min(MAX_CHECKPOINTS, CHECKPOINT_BYTES // max(1, size)) - 1)
            self._checkpoints = [*self._checkpoints[len(self._checkpoints) - n_kept :], _Checkpoint(self.n_past, data)]

    def _restore(self, n_keep: int) -> None:
        """Go back to the latest checkpoint at or before ``n_keep``, or to nothing."""
        for checkpoint in reversed(self._checkpoints):
            size = len(checkpoint.data)
            if checkpoint.n_past > n_keep:
                continue
            if lc.llama_state_seq_set_data_ext(
                self._context, checkpoint.data, size, 0, _PARTIAL_ONLY
            ) == size and lc.llama_memory_seq_rm(self._memory, 0, checkpoint.n_past, -1):
                self.n_past = checkpoint.n_past
                return
        lc.llama_memory_clear(self._memory, True)
        self.n_past = 0
        if self._branches is not None:
            self._branches.forget()

    def cancelled_by(self, cancel: CancelFlag) -> AbstractContextManager[None]:
        """Let the flag stop a decode that is under way (on the CPU; elsewhere after the micro-batch)."""
        return aborting(lambda: self._context, cancel)

    def close(self) -> None:
        """Free the memory."""
        if self._context:
            lc.llama_batch_free(self._batch)
            if self._branches is not None:
                self._branches.close()
            lc.llama_free(self._context)
            self._context = None
