"""The only door to llama.cpp: models, contexts and sampler chains, each owning its pointers.

Everything that llama.cpp answers with ``abort()`` is checked here first and raised as an exception
(reference: ``GGML_ASSERT`` in ``llama-context.cpp``: a batch over ``n_batch``, more output rows than
``n_outputs_max``). Nothing above this module sees a pointer, except as an opaque argument.

A :class:`Context` knows one sequence (0) and one number, ``n_past``: how many tokens its memory holds.
``decode`` appends at ``n_past``; ``rewind`` shortens.
"""

from __future__ import annotations

import collections
import ctypes
import ctypes.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import llama_cpp.llama_cpp as lc
import numpy as np
from numpy.typing import NDArray

from app.engine.cancel import CancelFlag
from app.errors import DecodeError, LoadError, ModelFileError

Row = NDArray[np.float32]
"""Logits of one position, shape ``(n_vocab,)``; a view that the next decode overwrites."""

LLAMA_CPP_COMMIT = "0c1e570"
"""The llama.cpp commit that llama-cpp-python 0.3.36 vendors and that our struct layouts match."""

_WARNING = 3  # ggml_log_level: none 0, debug 1, info 2, warn 3, error 4, continue 5
_ABORTED = 2  # llama_decode's return value after the abort callback said stop

_log_lines: collections.deque[str] = collections.deque(maxlen=200)
_log_level = _WARNING


def _on_native_log(level: int, text: bytes, _data: object) -> None:
    global _log_level
    if level != 5:
        _log_level = level
    line = text.decode("utf-8", "replace")
    _log_lines.append(line)
    if _log_level >= _WARNING:
        sys.stderr.write(line)
        sys.stderr.flush()


_log_callback = lc.llama_log_callback(_on_native_log)
_ready = False


def init_backend() -> None:
    """Start llama.cpp once for this process; its warnings go to stderr."""
    global _ready
    if not _ready:
        lc.llama_log_set(_log_callback, ctypes.c_void_p(0))
        lc.llama_backend_init()
        _ready = True


def system_info() -> str:
    """Return llama.cpp's line about the processor features it was built for."""
    text: bytes = lc.llama_print_system_info()
    return text.decode("utf-8", "replace").strip()


def extra_buffers_are_safe() -> bool:
    """Tell whether weights may be repacked for this processor.

    ggml's AMX kernels end the process with a segmentation fault inside ``ggml_backend_amx_mul_mat`` on
    virtual machines that show AMX (seen with this commit, Q4_1); the AMX buffer is one of the "extra"
    ones, so where AMX is compiled in, they are all left out. ARM, where repacking matters, has no AMX.
    """
    return "AMX_INT8 = 1" not in system_info()


def _last_log(default: str) -> str:
    """Return the most telling recent native log line."""
    lines = [line.strip() for line in "".join(_log_lines).splitlines() if line.strip()]
    for line in reversed(lines):
        if "error" in line.lower() or "failed" in line.lower() or "unknown" in line.lower():
            return line.split("error loading model: ")[-1]
    return lines[-1] if lines else default


class DecodeCancelledError(DecodeError):
    """The cancel flag stopped a decode; never crosses a process."""


class Model:
    """A loaded GGUF with its vocabulary."""

    def __init__(
        self,
        path: str,
        *,
        on_progress: Callable[[float], None] | None = None,
        cancel: CancelFlag | None = None,
    ) -> None:
        """Load the weights into CPU memory.

        Raises:
            ModelFileError: llama.cpp refused the file; the message is its own last word.
            LoadError: the load was cancelled.
        """
        init_backend()
        _log_lines.clear()
        params = lc.llama_model_default_params()
        params.n_gpu_layers = 0
        params.use_extra_bufts = extra_buffers_are_safe()
        # Passed explicitly: with NULL, llama.cpp spreads the layers over every GPU it finds.
        self._devices = (ctypes.c_void_p * 1)(None)
        params.devices = ctypes.addressof(self._devices)

        def progress(fraction: float, _data: object) -> bool:
            if on_progress is not None:
                on_progress(fraction)
            return cancel is None or not cancel()

        callback = lc.llama_progress_callback(progress)
        params.progress_callback = callback
        self._model: Any = lc.llama_model_load_from_file(os.fsencode(path), params)
        if not self._model:
            if cancel is not None and cancel():
                raise LoadError("Loading was cancelled.")
            raise ModelFileError(
                f"llama.cpp cannot load {os.path.basename(path)}: {_last_log('no reason given')}",  # noqa: PTH119
                "Is it a complete GGUF of an architecture that this version knows? Try another model.",
            )
        self.path = path
        self._vocab: Any = lc.llama_model_get_vocab(self._model)
        self.n_vocab: int = lc.llama_vocab_n_tokens(self._vocab)
        self.n_ctx_train: int = lc.llama_model_n_ctx_train(self._model)
        self.n_layers: int = lc.llama_model_n_layer(self._model)
        self.n_bytes: int = lc.llama_model_size(self._model)
        self.n_params: int = lc.llama_model_n_params(self._model)
        self.has_memory_of_states: bool = lc.llama_model_is_recurrent(self._model) or lc.llama_model_is_hybrid(
            self._model
        )
        self.can_chat: bool = lc.llama_model_has_decoder(self._model) and not lc.llama_model_has_encoder(self._model)
        self.bos: int = lc.llama_vocab_bos(self._vocab)
        self.eos: int = lc.llama_vocab_eos(self._vocab)
        self.adds_bos: bool = lc.llama_vocab_get_add_bos(self._vocab)
        self.vocab_type: int = lc.llama_vocab_type(self._vocab)

    @property
    def handle(self) -> Any:
        """The native pointer, for :class:`Context` alone."""
        return self._model

    def meta(self, key: str) -> str:
        """Return a metadata value as text, or "" if the file has no such key."""
        n_bytes = 256
        while True:
            buffer = ctypes.create_string_buffer(n_bytes)
            size = lc.llama_model_meta_val_str(self._model, key.encode(), buffer, n_bytes)
            if size < n_bytes:
                return buffer.value.decode("utf-8", "replace") if size >= 0 else ""
            n_bytes = size + 1

    def chat_template(self) -> str | None:
        """Return the model's own Jinja template, if it has one."""
        text = lc.llama_model_chat_template(self._model, None)
        return text.decode("utf-8", "replace") if text else None

    def tokenise(self, text: str, *, add_special: bool = False) -> list[int]:
        """Return the token ids of a text; special tokens written in it are recognised. Thread-safe."""
        raw = text.encode("utf-8", "replace")
        n_max = len(raw) + 8
        buffer = (ctypes.c_int32 * n_max)()
        n = lc.llama_tokenize(self._vocab, raw, len(raw), buffer, n_max, add_special, True)
        if n < 0:
            buffer = (ctypes.c_int32 * -n)()
            n = lc.llama_tokenize(self._vocab, raw, len(raw), buffer, -n, add_special, True)
        return list(buffer[:n])

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """Return the bytes of a token (none for a control token unless ``special``)."""
        buffer = ctypes.create_string_buffer(64)
        n = lc.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, special)
        if n < 0:
            buffer = ctypes.create_string_buffer(-n)
            n = lc.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, special)
        return buffer.raw[:n]

    def text_of(self, token: int) -> str:
        """Return the vocabulary's own spelling of a token ("" if the id is not in it)."""
        if not 0 <= token < self.n_vocab:
            return ""
        text: bytes = lc.llama_vocab_get_text(self._vocab, token)
        return text.decode("utf-8", "replace")

    def is_end(self, token: int) -> bool:
        """Tell whether the token ends an answer (end of text, of turn, …)."""
        ends: bool = lc.llama_vocab_is_eog(self._vocab, token)
        return ends

    def close(self) -> None:
        """Free the weights; contexts made from them must be closed before."""
        if self._model:
            lc.llama_model_free(self._model)
            self._model = None


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
        _log_lines.clear()
        self._context: Any = lc.llama_init_from_model(model.handle, params)
        if not self._context:
            raise LoadError(
                f"No context of {n_ctx} tokens could be made: {_last_log('no reason given')}",
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
                f"llama_decode returned {code} for {n} tokens at position {self.n_past}: {_last_log('')}",
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


_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])  # llama_token_data


class SamplerChain:
    """A native sampler chain that filters and scales candidates; the draw itself is ours."""

    def __init__(self) -> None:
        params = lc.llama_sampler_chain_default_params()
        params.no_perf = True
        self._chain: Any = lc.llama_sampler_chain_init(params)

    def add_penalties(self, n_vocab: int, last_n: int, repeat: float, frequency: float, presence: float) -> None:
        """Append penalties on the last ``last_n`` accepted tokens."""
        self._add(lc.llama_sampler_init_penalties(n_vocab, last_n, repeat, frequency, presence))

    def add_top_k(self, k: int) -> None:
        """Append: keep the k most likely."""
        self._add(lc.llama_sampler_init_top_k(k))

    def add_top_p(self, p: float) -> None:
        """Append: keep the smallest set whose probability reaches p."""
        self._add(lc.llama_sampler_init_top_p(p, 1))

    def add_min_p(self, p: float) -> None:
        """Append: keep what is at least p times as likely as the most likely."""
        self._add(lc.llama_sampler_init_min_p(p, 1))

    def add_temperature(self, temperature: float) -> None:
        """Append: divide the logits."""
        self._add(lc.llama_sampler_init_temp(temperature))

    def _add(self, sampler: Any) -> None:
        lc.llama_sampler_chain_add(self._chain, sampler)

    def apply(self, ids: NDArray[np.int32], logits: Row) -> tuple[NDArray[np.int32], Row]:
        """Run candidates through the chain; return the ids that are left and their final logits."""
        data = np.empty(len(ids), dtype=_CANDIDATE)
        data["id"], data["logit"], data["p"] = ids, logits, 0.0
        array = lc.llama_token_data_array(
            data=data.ctypes.data_as(lc.llama_token_data_p), size=len(ids), selected=-1, sorted=False
        )
        lc.llama_sampler_apply(self._chain, ctypes.byref(array))
        left = data[: array.size]
        return left["id"].copy(), left["logit"].copy()

    def accept(self, token: int) -> None:
        """Tell the members that keep a history which token was taken."""
        lc.llama_sampler_accept(self._chain, token)

    def clone(self) -> Self:
        """Return a copy with its own state."""
        copy = object.__new__(type(self))
        copy._chain = lc.llama_sampler_clone(self._chain)
        return copy

    def close(self) -> None:
        """Free the chain and its members."""
        if self._chain:
            lc.llama_sampler_free(self._chain)
            self._chain = None
