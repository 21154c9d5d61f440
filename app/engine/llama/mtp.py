"""A context of multi-token-prediction heads: it continues from the target's hidden rows.

Two kinds. NextN heads (embedded in the target, or in a file of their own) keep a small memory of one
layer each: token i is fed with the hidden row of token i - 1. An assistant has no memory: its layers read the
target's, and every token of a draft stands at the same position.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import llama_cpp.llama_cpp as lc
import llama_cpp.llama_cpp_ext as ext
import numpy as np

from app.engine.cancel import CancelFlag
from app.engine.heads import ASSISTANT_SUFFIX, can_chain
from app.engine.llama.backend import aborting, forget_log, last_log
from app.engine.llama.context import Context, DecodeCancelledError, Hidden, Row, fitting_types, set_memory_types
from app.engine.llama.model import Model
from app.errors import DecodeError, LoadError
from app.protocol import MemoryTypes

N_BATCH = 512
_ABORTED = 2


def _check(model: Model, target: Context) -> None:
    """Refuse what llama.cpp would abort on.

    Raises:
        LoadError: there are no heads, more than can be run, or those of another target.
    """
    architecture = model.meta("general.architecture")
    if not model.n_heads_mtp:
        raise LoadError("The file has no MTP heads, or they were not loaded.", "Choose a file with MTP heads.")
    if model.n_embd_in != target.n_embd:
        raise LoadError(
            f"The heads take rows of {model.n_embd_in} numbers; the target makes rows of {target.n_embd}.",
            "Choose the heads that were trained with this target.",
        )
    if model.n_heads_mtp > 1 and not can_chain(architecture):
        raise LoadError(
            f"The file has {model.n_heads_mtp} MTP heads; llama.cpp runs one of architecture {architecture}.",
            "Choose a file with one head, or another drafter.",
        )


def _native_params(model: Model, target: Context, n_threads: int, memory: MemoryTypes, n_batch: int) -> Any:
    params = lc.llama_context_default_params()
    params.n_ctx = target.n_ctx
    params.n_batch = params.n_ubatch = n_batch
    params.n_outputs_max = 1
    params.n_seq_max = 1
    params.n_threads = params.n_threads_batch = n_threads
    params.ctx_type = lc.LLAMA_CONTEXT_TYPE_MTP
    params.ctx_other = target.handle
    params.swa_full = target.keeps_window
    # Whether V lies transposed depends on the kind of attention, so both sides of a memory need the same.
    is_assistant = model.meta("general.architecture").endswith(ASSISTANT_SUFFIX)
    set_memory_types(params, target.memory_types if is_assistant else fitting_types(model, memory))
    params.no_perf = True
    return params


class MtpContext:
    """The heads' memory (if they have one), and the row and hidden row of the last token decoded."""

    def __init__(
        self, model: Model, target: Context, *, n_threads: int, memory: MemoryTypes, n_batch: int = N_BATCH
    ) -> None:
        """Make the context beside the target's.

        Args:
            model: the heads.
            target: whose rows they continue from.
            n_threads: for all that they evaluate.
            memory: element types of a memory of their own; an assistant reads the target's.
            n_batch: most tokens in one decode.

        Raises:
            LoadError: these heads cannot work for this target; the message is llama.cpp's word.
        """
        _check(model, target)
        params = _native_params(model, target, n_threads, memory, n_batch)
        forget_log()
        self._context: Any = lc.llama_init_from_model(model.handle, params)
        if not self._context:
            raise LoadError(f"The MTP heads cannot be used: {last_log('no reason given')}")
        self.shares_memory: bool = ext.llama_get_ctx_other(self._context) == target.handle
        self.n_heads = 1 if self.shares_memory else model.n_heads_mtp
        ext.llama_set_embeddings_nextn(self._context, True, True)
        self._memory: Any = lc.llama_get_memory(self._context)
        self._is_elsewhere = bool(model.placement.devices)
        self.n_batch = n_batch
        self.n_vocab = model.n_vocab
        self.n_embd = model.n_embd_in
        self._batch: Any = lc.llama_batch_init(n_batch, self.n_embd, 1)
        # A batch of both tokens and rows: llama_batch_init makes room for one kind, the other array is ours.
        self._token = (ctypes.c_int32 * n_batch)()
        self._batch.token = ctypes.cast(self._token, type(self._batch.token))
        self._rows = np.ctypeslib.as_array(self._batch.embd, shape=(n_batch * self.n_embd,)).reshape(n_batch, -1)
        self._n_last = 0

    @property
    def handle(self) -> Any:
        """The native pointer, for this package alone."""
        return self._context

    def use_head(self, index: int) -> None:
        """Let a head of a chain do the next decodes; each keeps a layer of its own, at the same positions."""
        if not 0 <= index < self.n_heads:
            raise IndexError(index)
        ext.llama_set_nextn_layer_offset(self._context, index)

    def decode(self, tokens: Sequence[int], hidden: Hidden, position: int) -> None:
        """Feed tokens with their rows, shape ``(n, n_embd)``; keep the last one's row and hidden row.

        Raises:
            ValueError: a batch that llama.cpp would abort on.
            DecodeError: llama.cpp failed or was cancelled.
        """
        n = len(tokens)
        if not 0 < n <= self.n_batch or hidden.shape != (n, self.n_embd):
            raise ValueError(f"{n} tokens with rows of shape {hidden.shape}")
        self._batch.n_tokens = n
        self._rows[:n] = hidden
        for i, token in enumerate(tokens):
            self._token[i] = token
            self._batch.pos[i] = position + i
            self._batch.n_seq_id[i] = 1
            self._batch.seq_id[i][0] = 0
            self._batch.logits[i] = i == n - 1
        code: int = lc.llama_decode(self._context, self._batch)
        if self._is_elsewhere:
            lc.llama_synchronize(self._context)
        if code == _ABORTED:
            raise DecodeCancelledError("The evaluation was cancelled.")
        if code:
            raise DecodeError(f"The MTP heads failed with {code} at position {position}: {last_log('')}")
        self._n_last = n

    def row(self) -> Row:
        """Return the logits after the last token, shape ``(n_vocab,)``; a view."""
        pointer = lc.llama_get_logits_ith(self._context, self._n_last - 1)
        address = ctypes.addressof(pointer.contents)
        view: Row = np.ctypeslib.as_array((ctypes.c_float * self.n_vocab).from_address(address))
        return view

    def hidden(self) -> Hidden:
        """Return a copy of the hidden row after the last token, shape ``(1, n_embd)``."""
        pointer = ext.llama_get_embeddings_nextn_ith(self._context, self._n_last - 1)
        row: Hidden = np.ctypeslib.as_array(pointer, shape=(self.n_embd,)).reshape(1, -1).copy()
        return row

    def rewind(self, n_keep: int) -> None:
        """Drop every token from position ``n_keep`` on; nothing to do for heads without a memory."""
        if not self.shares_memory and not lc.llama_memory_seq_rm(self._memory, 0, n_keep, -1):
            lc.llama_memory_clear(self._memory, True)

    def cancelled_by(self, cancel: CancelFlag) -> AbstractContextManager[None]:
        """Let the flag stop a decode that is under way; see :meth:`Context.cancelled_by`."""
        return aborting(lambda: self._context, cancel)

    def close(self) -> None:
        """Free the heads' memory; before the target's context."""
        if self._context:
            self._batch.token = type(self._batch.token)()  # the array is ours: llama_batch_free must not free it
            lc.llama_batch_free(self._batch)
            lc.llama_free(self._context)
            self._context = None
