"""A native sampler chain: candidates in, the filtered and scaled ones out."""

from __future__ import annotations

import ctypes
from typing import Any, Self

import llama_cpp.llama_cpp as lc
import numpy as np
from numpy.typing import NDArray

from app.engine.llama.context import Row

CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""``llama_token_data``."""


def candidate_array(data: NDArray[Any]) -> Any:
    """Return a ``llama_token_data_array`` over candidates, which the caller keeps alive."""
    return lc.llama_token_data_array(
        data=data.ctypes.data_as(lc.llama_token_data_p), size=len(data), selected=-1, sorted=False
    )


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
        data = np.empty(len(ids), dtype=CANDIDATE)
        data["id"], data["logit"], data["p"] = ids, logits, 0.0
        array = candidate_array(data)
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
