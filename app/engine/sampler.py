"""From a row of logits to a token: the target's choice as a function of its own candidates and a key.

    row ──▶ candidates (a superset of what top-k can keep) ──▶ native chain ──▶ argmax(log p + noise)

At temperature 0 it is ``argmax p`` after penalties. The choice depends on the row, on the tokens taken so
far and on (seed, position), and on nothing else: not on the draft, its length or timing. That is
what makes one acceptance rule lossless for every drafter at every temperature.

With a grammar, a choice that the grammar allows stands (most do, and one token is quickly checked). Otherwise the
choice is made again, with the same noise, from what the grammar allows of the whole vocabulary.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Self

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from app.engine.llama import Grammar, NothingAllowedError, Row, SamplerChain
from app.engine.noise import gumbel
from app.errors import DecodeError, UsageError
from app.protocol import Sampling

_BLOCK = 64
"""Logits are searched in blocks of this many: the k-th best block maximum bounds the k-th best logit. A block is every
n-th logit, since numpy takes the maximum across rows 15 times as fast as along short ones."""

COLDEST = 1e-6
"""A temperature up to this is 0: logits differ by more or not at all, and divided by less they overflow."""

_N_ASKED = 64
"""So many of the most likely tokens a grammar is asked about first; each time it allows too few, 8 times as many."""

DRAFT_SHARPNESS = 1.35
"""A drafter draws as if it were surer than it is: its target is larger, and surer. Of Qwen2.5-Coder 1.5B's words at
temperature 0.8 its 0.5B draft model had so many right (16 answers, 2,048 words; sharpness 1, about this, and infinite,
which is its most likely word): prose 0.635, 0.646, 0.547; chat 0.688, 0.688, 0.621; code 0.895, 0.898, 0.889; JSON
0.938, 0.936, 0.924."""

N_CONFIDENCE = 10
"""A draft token's probability is taken among this many of the most likely (as llama.cpp's drafters do)."""


def check(sampling: Sampling) -> None:
    """Refuse settings that have no meaning.

    Raises:
        UsageError: names the setting and its range.
    """
    s = sampling
    ranges = (
        ("temperature", s.temperature, 0.0, 100.0),
        ("top_k", s.top_k, 0, 1 << 30),
        ("top_p", s.top_p, 0.0, 1.0),
        ("min_p", s.min_p, 0.0, 1.0),
        ("repeat_penalty", s.repeat_penalty, 0.01, 100.0),
        ("frequency_penalty", s.frequency_penalty, -100.0, 100.0),
        ("presence_penalty", s.presence_penalty, -100.0, 100.0),
        ("penalty_last_n", s.penalty_last_n, 0, 1 << 20),
        ("seed", s.seed, 0, (1 << 64) - 1),
    )
    for name, value, low, high in ranges:
        if not low <= value <= high:
            raise UsageError(f"{name} is {value}", f"It must lie between {low} and {high}.")


def top_superset(row: Row, k: int) -> NDArray[np.int32]:
    """Return ids that hold the k largest logits, ties included, and few others; sorted by id."""
    n_blocks = len(row) // _BLOCK
    if n_blocks <= k:
        return np.arange(len(row), dtype=np.int32)
    blocks, rest = row[: n_blocks * _BLOCK].reshape(_BLOCK, n_blocks), row[n_blocks * _BLOCK :]
    maxima = blocks.max(axis=0)
    # At least k logits reach the k-th best block maximum, so nothing below it is among the k best.
    bound = np.partition(maxima, n_blocks - k)[n_blocks - k]
    within = np.flatnonzero(maxima >= bound)
    at, which = np.nonzero(blocks[:, within] >= bound)
    ids = np.concatenate((at * n_blocks + within[which], n_blocks * _BLOCK + np.flatnonzero(rest >= bound)))
    return ids.astype(np.int32)


class Sampler:
    """One generation's settings with the history that its penalties need.

    ``n_gone`` is how many tokens have left the context: a position has the noise of its place in the whole text.
    """

    def __init__(self, sampling: Sampling, n_vocab: int, history: Iterable[int] = ()) -> None:
        """Build the native chain and let the prompt's tail count for the penalties.

        Raises:
            UsageError: a setting is out of its range.
        """
        check(sampling)
        self._sampling = s = sampling if sampling.temperature > COLDEST else structs.replace(sampling, temperature=0.0)
        self._n_vocab, self._sharpness, self.n_gone = n_vocab, 1.0, 0
        self._has_penalties = s.penalty_last_n > 0 and (
            s.repeat_penalty != 1.0 or s.frequency_penalty != 0.0 or s.presence_penalty != 0.0
        )
        self._draws = s.temperature > 0
        self._window: collections.deque[int] = collections.deque(maxlen=max(1, s.penalty_last_n))
        self._grammar: Grammar | None = None
        self._chain = SamplerChain()
        if self._has_penalties:
            self._chain.add_penalties(
                n_vocab, s.penalty_last_n, s.repeat_penalty, s.frequency_penalty, s.presence_penalty
            )
        if s.temperature > 0:
            if s.top_k > 0:
                self._chain.add_top_k(s.top_k)
            if s.top_p < 1:
                self._chain.add_top_p(s.top_p)
            if s.min_p > 0:
                self._chain.add_min_p(s.min_p)
            self._chain.add_temperature(s.temperature)
        for token in collections.deque(history, maxlen=max(1, s.penalty_last_n)):
            self._count(token)

    def keep_to(self, grammar: Grammar) -> None:
        """Let the next tokens follow a grammar; it is closed with this sampler."""
        self._grammar = grammar

    @property
    def is_greedy(self) -> bool:
        """Tell whether the most likely token is always taken."""
        return self._sampling.temperature == 0

    @property
    def depends_on_history(self) -> bool:
        """Tell whether a choice depends on the tokens before, beside its row: by penalties or a grammar."""
        return self._has_penalties or self._grammar is not None

    def choose(self, row: Row, position: int) -> int:
        """Return the token at ``position`` given its logits, shape ``(n_vocab,)``.

        A draft model's row may be some tokens shorter, or longer: what the target has no token for is left out.

        Raises:
            DecodeError: the row holds no numbers; llama.cpp's samplers would end the process.
            NothingAllowedError: the grammar allows no token.
        """
        row = row[: self._n_vocab]
        likeliest = int(row.argmax())  # the first NaN, if there is one
        if not np.isfinite(row[likeliest]):
            raise DecodeError(
                f"The model computed a logit that is not a number ({row[likeliest]}) at position {position}.",
                "Its file is damaged or was badly quantised: get it again, or another quantisation of it.",
            )
        if self._sampling.temperature == 0 and not self._has_penalties:
            token = likeliest
        else:
            token = self._draw(row, self._candidates(row), position)
        if self._grammar is None or self.allows(token):
            return token
        return self._draw(row, self._allowed_candidates(row, self._grammar), position)

    def distribution(self, row: Row) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the tokens that may be drawn and their probabilities, both of shape ``(n,)``, grammar apart.

        At temperature 0, where only one may be drawn, they are those at temperature 1 of the whole vocabulary.
        """
        row = row[: self._n_vocab]
        is_cold = self._sampling.temperature == 0
        candidates = np.arange(len(row), dtype=np.int32) if is_cold else self._candidates(row)
        ids, logits = self._chain.apply(candidates, row[candidates])
        weights = np.exp(logits.astype(np.float64) - float(logits.max()))
        return ids, weights / weights.sum()

    def ranked(self, row: Row, position: int, n: int) -> list[tuple[int, float]]:
        """Return the ``n`` tokens that come first at a position, best first: the first is what is chosen.

        Each has its share of the weights of the :data:`N_CONFIDENCE` best, by the scores that the noise has changed.
        """
        row = row[: self._n_vocab]
        touched = self._touched(row)
        is_cold = self._sampling.temperature == 0
        n_wanted = N_CONFIDENCE if is_cold else self._sampling.top_k
        candidates = top_superset(row, n_wanted + len(touched)) if n_wanted else np.arange(len(row), dtype=np.int32)
        candidates = np.union1d(candidates, touched).astype(np.int32)
        if self._grammar is not None:
            candidates = self._grammar.allowed(candidates)
        candidates = candidates[np.isfinite(row[candidates])]
        if not len(candidates):
            return []
        ids, logits = self._chain.apply(candidates, row[candidates])
        scores = logits.astype(np.float64)
        if self._draws:
            scores *= self._sharpness
            scores += gumbel(self._sampling.seed, self.n_gone + position, ids)
        order = np.lexsort((ids, -scores))[:N_CONFIDENCE]
        weights = np.exp(scores[order] - scores[order[0]])
        shares = weights / weights.sum()
        return [(int(ids[i]), float(share)) for i, share in zip(order[:n], shares[:n], strict=True)]

    def allows(self, token: int) -> bool:
        """Tell whether the grammar, if there is one, can go on with a token."""
        return self._grammar is None or len(self._grammar.allowed(np.array([token], dtype=np.int32))) > 0

    def _draw(self, row: Row, candidates: NDArray[np.int32], position: int) -> int:
        """Run candidates through the chain; return the one that is best with its noise."""
        ids, logits = self._chain.apply(candidates, row[candidates])
        scores = logits.astype(np.float64)
        if self._draws:
            scores *= self._sharpness
            scores += gumbel(self._sampling.seed, self.n_gone + position, ids)
        # The chain's order of equal logits is its own affair; ours is the lowest id.
        best = ids[scores == scores.max()]
        return int(best.min())

    @property
    def _n_kept(self) -> int:
        """How many tokens the chain keeps at most; 0 is any number."""
        return 1 if self._sampling.temperature == 0 else self._sampling.top_k

    def _touched(self, row: Row) -> NDArray[np.int32]:
        """Return the tokens that have a penalty: it can push one out of the k best or lift one into them."""
        if not self._has_penalties:
            return np.empty(0, dtype=np.int32)
        return np.fromiter((token for token in set(self._window) if token < len(row)), dtype=np.int32)

    def _candidates(self, row: Row) -> NDArray[np.int32]:
        """Narrow the vocabulary to what the chain could keep, so that it need not sort all of it."""
        if self._n_kept == 0:
            return np.arange(len(row), dtype=np.int32)
        if not self._has_penalties:
            return top_superset(row, self._n_kept)
        touched = self._touched(row)
        return np.union1d(top_superset(row, self._n_kept + len(touched)), touched).astype(np.int32)

    def _allowed_candidates(self, row: Row, grammar: Grammar) -> NDArray[np.int32]:
        """Return what the chain could keep of the tokens that the grammar allows.

        Raises:
            NothingAllowedError: there is none.
        """
        touched = self._touched(row)
        n_asked = _N_ASKED if self._n_kept else len(row)
        while True:
            # All of a superset are at least as likely as all outside, so enough allowed ones of it are the best.
            asked = top_superset(row, n_asked)
            allowed = grammar.allowed(asked)
            if len(asked) == len(row) or len(allowed) >= self._n_kept + len(touched):
                break
            n_asked *= 8
        if len(touched):
            allowed = np.union1d(allowed, grammar.allowed(touched)).astype(np.int32)
        allowed = allowed[np.isfinite(row[allowed])]
        if not len(allowed):
            raise NothingAllowedError(
                "The grammar allows no token of this model here, not even the end.", "Correct the grammar."
            )
        return allowed

    def accept(self, token: int) -> None:
        """Count a token for the penalties, and go on in the grammar."""
        if self._grammar is not None:
            self._grammar.accept(token)
        self._count(token)

    def _count(self, token: int) -> None:
        if self._has_penalties:
            self._window.append(token)
            self._chain.accept(token)

    def clone(self, sharpness: float | None = None) -> Self:
        """Return a copy with its own history, for a drafter that looks ahead.

        With a sharpness, it draws as from a row whose probabilities are to that power.
        """
        copy = object.__new__(type(self))
        copy._sharpness = self._sharpness if sharpness is None else sharpness
        copy._sampling, copy._n_vocab, copy._has_penalties = self._sampling, self._n_vocab, self._has_penalties
        copy.n_gone = self.n_gone
        copy._draws, copy._window = self._draws, self._window.copy()
        copy._chain = self._chain.clone()
        copy._grammar = None if self._grammar is None else self._grammar.clone()
        return copy

    def likeliest(self) -> Self:
        """Return a view on this sampler, with the same history as it goes on, that does not draw.

        It chooses what is likeliest after the chain. It is not closed, copies of it are.
        """
        view = object.__new__(type(self))
        view._sampling, view._n_vocab, view._has_penalties = self._sampling, self._n_vocab, self._has_penalties
        view._draws, view._window, view._chain, view._grammar = False, self._window, self._chain, self._grammar
        view._sharpness, view.n_gone = self._sharpness, self.n_gone
        return view

    def close(self) -> None:
        """Free the native chain and the grammar's state."""
        self._chain.close()
        if self._grammar is not None:
            self._grammar.close()


def confidence(row: Row, token: int) -> float:
    """Return the probability of a token among the :data:`N_CONFIDENCE` most likely of its row."""
    best = _most_likely(row)
    return float(min(1.0, np.exp(float(row[token]) - best[-1]) / np.exp(best - best[-1]).sum()))


def peak(row: Row) -> float:
    """Return the probability of the most likely token, counted the same way."""
    best = _most_likely(row)
    return float(1.0 / np.exp(best - best[-1]).sum())


def _most_likely(row: Row) -> NDArray[np.float64]:
    """Return the highest logits, the highest one last."""
    logits = row[top_superset(row, N_CONFIDENCE)].astype(np.float64)
    return np.sort(logits)[-N_CONFIDENCE:]
