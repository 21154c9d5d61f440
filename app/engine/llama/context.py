"""The memory of one sequence of a model: decode appends to it, rewind shortens it.

What llama.cpp answers with ``abort()`` is checked here first and raised as an exception (``GGML_ASSERT`` in
``llama-context.cpp``: a batch over ``n_batch``, more output rows than ``n_outputs_max``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import llama_cpp.llama_cpp as lc
import numpy as np
from numpy.typing import NDArray

from app.engine.cancel import CancelFlag
from app.engine.llama.backend import forget_log, last_log
from app.engine.llama.model import Model
from app.errors import DecodeError, LoadError

Row = NDArray[np.float32]
"""Logits of one position, shape ``(n_vocab,)``; a view that the next decode overwrites."""

_ABORTED = 2  # llama_decode's return value after the abort callback said stop


class DecodeCancelledError(DecodeError):
    """The cancel flag stopped a decode; never crosses a process."""


class Context:
    """The memory (KV cache) of one sequence of a model, and the logits of its last decode."""

    def __init__(self, model: Model, *, n_ctx: int, n_threads: int, n_rows_max: int, n_batch: int = 512) -> None:
        """Allocate the memory.

        Args:
            model: whose weights are used; kept alive by the caller.
            n_ctx: positions in the memory.
            n_threads: for decoding and for prefill alike.
            n_rows_max: most positions of a batch whose logits are wanted (longest draft + 1).
            n_batch: most tokens in one decode.

        Raises:
            LoadError: llama.cpp could not make the context, mostly for want of memory.
        """
        params = lc.llama_context_default_params()
        params.n_ctx = n_ctx
        params.n_batch = params.n_ubatch = max(n_batch, n_rows_max)
        params.n_seq_max = 1
        params.n_outputs_max = n_rows_max
        params.n_threads = params.n_threads_batch = n_threads
        params.no_perf = True
        forget_log()
        self._context: Any = lc.llama_init_from_model(model.handle, params)
        if not self._context:
            raise LoadError(
                f"No context of {n_ctx} tokens could be made: {last_log('no reason given')}",
                "Choose a shorter context length or a smaller model.",
            )
        self._memory: Any = lc.llama_get_memory(self._context)
        self.n_ctx: int = lc.llama_n_ctx(self._context)
        self.n_vocab = model.n_vocab
        self.n_batch: int = params.n_batch
        self.n_rows_max = n_rows_max
        self.n_past = 0
        self.can_rewind = not model.has_memory_of_states
        self._n_last_rows = 0
        self._n_last_tokens = 0
        self._make_batch()

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
            DecodeError: llama.cpp failed or was cancelled; the memory is as it was before.
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
        code: int = lc.llama_decode(self._context, self._batch)
        if code:
            self._drop_from(self.n_past)
            if code == _ABORTED:
                raise DecodeCancelledError("The evaluation was cancelled.")
            raise DecodeError(
                f"llama_decode returned {code} for {n} tokens at position {self.n_past}: {last_log('')}",
                "Start the engine again; if it happens again, choose a shorter context or another model.",
            )
        self.n_past += n
        self._n_last_rows, self._n_last_tokens = n_rows, n

    def row(self, index: int) -> Row:
        """Return the logits of kept row ``index`` of the last decode, shape ``(n_vocab,)``."""
        if not 0 <= index < self._n_last_rows:
            raise IndexError(index)
        pointer = lc.llama_get_logits_ith(self._context, self._n_last_tokens - self._n_last_rows + index)
        address = ctypes.addressof(pointer.contents)
        view: Row = np.ctypeslib.as_array((ctypes.c_float * self.n_vocab).from_address(address))
        return view

    def rewind(self, n_keep: int) -> None:
        """Drop every token from position ``n_keep`` on.

        A recurrent or hybrid memory cannot drop some of its tokens (``seq_rm`` may even say that it did,
        and leave a wrong state), so there everything goes: look at ``n_past`` afterwards.
        """
        if n_keep < self.n_past:
            self._drop_from(n_keep)

    def _drop_from(self, n_keep: int) -> None:
        if n_keep == 0 or not self.can_rewind or not lc.llama_memory_seq_rm(self._memory, 0, n_keep, -1):
            lc.llama_memory_clear(self._memory, True)
            n_keep = 0
        self.n_past = n_keep

    @contextmanager
    def cancelled_by(self, cancel: CancelFlag) -> Iterator[None]:
        """Let the flag stop a decode that is under way (on the CPU; elsewhere after the micro-batch)."""
        lc.llama_set_abort_callback(self._context, cancel.callback, cancel.address)
        try:
            yield
        finally:
            if self._context:
                lc.llama_set_abort_callback(self._context, lc.ggml_abort_callback(), None)

    def close(self) -> None:
        """Free the memory."""
        if self._context:
            lc.llama_batch_free(self._batch)
            lc.llama_free(self._context)
            self._context = None
