"""A loaded GGUF: weights, vocabulary, metadata."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import llama_cpp.llama_cpp as lc
import numpy as np
from numpy.typing import NDArray

from app.engine.cancel import CancelFlag
from app.engine.ggml import device_named
from app.engine.llama.backend import extra_buffers_are_safe, forget_log, init_backend, last_log
from app.engine.plain_text import finder
from app.errors import LoadError, ModelFileError
from app.placement import Placement

_ON_PROCESSOR = Placement()


class Model:
    """A loaded GGUF with its vocabulary."""

    def __init__(
        self,
        path: str,
        *,
        on_progress: Callable[[float], None] | None = None,
        cancel: CancelFlag | None = None,
        with_mtp: bool = False,
        is_dry: bool = False,
        placement: Placement = _ON_PROCESSOR,
    ) -> None:
        """Load the weights to where they are placed, those of embedded MTP heads only if asked for.

        A dry load reads the file's header and allocates nothing; of such a model nothing can be evaluated.

        Raises:
            ModelFileError: llama.cpp refused the file; the message is its own last word.
            LoadError: the load was cancelled, or a device is not there.
        """
        init_backend()
        forget_log()
        params = lc.llama_model_default_params()
        params.n_gpu_layers = placement.n_layers if placement.devices else 0
        params.load_mtp = with_mtp
        params.use_extra_bufts = extra_buffers_are_safe()
        if is_dry:
            params.no_alloc = True
        if is_dry or not placement.maps_file:
            params.load_mode = lc.LLAMA_LOAD_MODE_NONE
        # Passed explicitly: with NULL, llama.cpp spreads the layers over every GPU it finds.
        handles = [device_named(name) for name in placement.devices]
        self._devices = (ctypes.c_void_p * (len(handles) + 1))(*handles, None)
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
                f"llama.cpp cannot load {os.path.basename(path)}: {last_log('no reason given')}",  # noqa: PTH119
                "Is it a complete GGUF of an architecture that this version knows? Try another model.",
            )
        self.path, self.placement = path, placement
        self._read_facts(with_mtp)

    def _read_facts(self, with_mtp: bool) -> None:
        self._pieces: dict[int, bytes] = {}
        self._vocab: Any = lc.llama_model_get_vocab(self._model)
        self.n_vocab: int = lc.llama_vocab_n_tokens(self._vocab)
        self.n_ctx_train: int = max(0, lc.llama_model_n_ctx_train(self._model))  # a lie of 2**31 comes out negative
        self.n_embd: int = lc.llama_model_n_embd(self._model)
        self.n_embd_in: int = lc.llama_model_n_embd_inp(self._model)
        self.n_heads_mtp: int = lc.llama_model_n_layer_nextn(self._model) if with_mtp else 0
        self.n_layers: int = lc.llama_model_n_layer(self._model)
        self.n_window: int = lc.llama_model_n_swa(self._model)
        self.n_bytes: int = lc.llama_model_size(self._model)
        self.n_params: int = lc.llama_model_n_params(self._model)
        self.has_memory_of_states: bool = lc.llama_model_is_recurrent(self._model) or lc.llama_model_is_hybrid(
            self._model
        )
        architecture = self.meta("general.architecture")
        # Latent attention (MLA) keeps one row a token, of which V is a part; llama.cpp wants one type then.
        self.has_one_memory: bool = architecture == "deepseek4" or self.meta(
            f"{architecture}.attention.key_length_mla"
        ) not in ("", "0")
        self.can_chat: bool = lc.llama_model_has_decoder(self._model) and not lc.llama_model_has_encoder(self._model)
        self.bos: int = lc.llama_vocab_bos(self._vocab)
        self.eos: int = lc.llama_vocab_eos(self._vocab)
        self.adds_bos: bool = lc.llama_vocab_get_add_bos(self._vocab)
        self.adds_eos: bool = lc.llama_vocab_get_add_eos(self._vocab)
        self.vocab_type: int = lc.llama_vocab_type(self._vocab)

    @property
    def handle(self) -> Any:
        """The native pointer, for :class:`Context` alone."""
        return self._model

    @property
    def vocabulary(self) -> Any:
        """The native pointer, for :class:`Grammar` alone."""
        return self._vocab

    @cached_property
    def tokens_with_zero(self) -> NDArray[np.int32]:
        """Ids of tokens with a zero byte after their first: llama.cpp's grammars take it for their end."""
        zero = [token for token in range(self.n_vocab) if 0 in self.piece(token, special=True)[1:]]
        return np.array(zero, dtype=np.int32)

    @cached_property
    def control_tokens(self) -> dict[str, int]:
        """The control tokens by their texts, which are read as such wherever they stand."""
        attributes, control = lc.llama_vocab_get_attr, lc.LLAMA_TOKEN_ATTR_CONTROL | lc.LLAMA_TOKEN_ATTR_UNKNOWN
        return {self.text_of(n): n for n in range(self.n_vocab) if attributes(self._vocab, n) & control}

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

    @cached_property
    def control_finder(self) -> re.Pattern[str] | None:
        """What finds them in a text."""
        return finder(self.control_tokens)

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
        known = self._pieces.get(token)
        if known is not None and not special:
            return known
        buffer = ctypes.create_string_buffer(64)
        n = lc.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, special)
        if n < 0:
            buffer = ctypes.create_string_buffer(-n)
            n = lc.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, special)
        if not special:
            self._pieces[token] = buffer.raw[:n]
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
