"""A model that is a function: the fake behind the loop's one seam.

The row after some tokens is made from a hash of all of them, so that a memory that holds anything but the confirmed
tokens changes the output at once. It checks what llama.cpp would abort on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.errors import DecodeError


class ScriptedMemory:
    """Implements ``speculate.Target`` and a drafter's ``Memory``.

    ``peakedness`` scales the logits: the larger, the surer the model. ``blur`` adds a second function of the same
    tokens, so that a draft model agrees with its target often, not always.
    """

    def __init__(self, *, n_vocab=40, n_ctx=256, n_batch=64, n_rows_max=32, can_rewind=True, peakedness=3.0, blur=0.0):
        self.n_vocab, self.n_ctx, self.n_batch, self.n_rows_max = n_vocab, n_ctx, n_batch, n_rows_max
        self.can_rewind, self.peakedness, self.blur = can_rewind, peakedness, blur
        self.held: list[int] = []
        self.fail_at: int | None = None
        self.batches: list[tuple[int, int]] = []
        self._rows: list[np.ndarray] = []

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
            raise DecodeError("scripted failure")
        self.batches.append((n, n_rows))
        rows = []
        for token in tokens:
            self.held.append(int(token))
            rows.append(self.row_after(self.held))
        self._rows = rows[len(rows) - n_rows :] if n_rows else []

    def row_after(self, tokens: Sequence[int]) -> np.ndarray:
        key = hash(tuple(tokens[-6:])) & 0xFFFFFFFF
        row = np.random.default_rng(key).standard_normal(self.n_vocab)
        if self.blur:
            row = row + self.blur * np.random.default_rng(key ^ 0xABCDEF).standard_normal(self.n_vocab)
        return (row * self.peakedness).astype(np.float32)

    def row(self, index: int) -> np.ndarray:
        return self._rows[index]

    def rewind(self, n_keep: int) -> None:
        if n_keep < len(self.held):
            del self.held[n_keep if self.can_rewind else 0 :]
            self._rows = []
