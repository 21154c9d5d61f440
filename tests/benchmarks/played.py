"""The steps of answers whose texts are known, counted without the target and without a clock.

The target's choices are the text, so of a real pair only the draft model has to run; the loop and the drafters are the
real ones. A text does not depend on how it was drafted, so every way has the same texts, and steps can be counted at a
fraction of the price. Rows of the draft model are remembered: another way to draft asks mostly for the same ones.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.engine.draft_length import FixedLength
from app.engine.drafters import Drafter
from app.engine.drafters.draft_model import DraftModelDrafter
from app.engine.drafters.tree import TreeDrafter
from app.engine.evidence import Evidence
from app.engine.llama import Context, Model, Row, Shape
from app.engine.prompt_cache import Held, common_prefix
from app.engine.sampler import Sampler
from app.engine.speculate import Generation, speculate
from app.engine.tree_check import N_LEAVES
from app.protocol import Sampling, Step

_N_LOGITS = 96
"""Logits that are remembered of a row: more than the default sampler looks at."""

_NEVER = -1e4
_NOTHING: Row = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Text:
    """An answer: the tokens of its prompt, its own, and how they were drawn."""

    prompt: Sequence[int]
    ids: Sequence[int]
    sampling: Sampling


class KnownText:
    """Target and chooser of an answer that is known."""

    n_ctx, n_batch, n_rows_max, n_draft_max = 1 << 20, 512, 32, 31

    def __init__(self, text: Text) -> None:
        self._tokens = [*text.prompt, *text.ids]
        self.n_past = len(text.prompt)

    def decode(self, tokens: Sequence[int], n_rows: int) -> None:
        """Append tokens."""
        self.n_past += len(tokens)

    def decode_tree(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        """Do nothing: the path is kept later."""

    def keep_path(self, path: Sequence[int]) -> None:
        """Append a path."""
        self.n_past += len(path)

    def rewind(self, n_keep: int) -> None:
        """Drop a tail."""
        self.n_past = min(self.n_past, n_keep)

    def row(self, index: int) -> Row:
        """Return nothing: the choice does not need it."""
        return _NOTHING

    def choose(self, row: Row, position: int) -> int:
        """Return the token of the text."""
        return self._tokens[position]

    def accept(self, token: int) -> None:
        """Do nothing."""


class RememberedRows:
    """A draft model's memory that evaluates only what it does not remember.

    Attributes:
        n_fed: tokens that whoever drafted had evaluated, remembered or not.
    """

    n_batch, n_rows_max = 64, 25

    def __init__(self, context: Context, known: dict[bytes, tuple[np.ndarray, np.ndarray]]) -> None:
        self.n_ctx, self.n_fed, self.known = context.n_ctx, 0, known
        self._context, self._evaluated = context, list[int]()
        self._held: list[int] = []
        self._n_rows = 0

    @property
    def n_past(self) -> int:
        """Tokens that it holds."""
        return len(self._held)

    def decode(self, tokens: Sequence[int], n_rows: int) -> None:
        """Append tokens."""
        self._held.extend(tokens)
        self.n_fed += len(tokens)
        self._n_rows = n_rows

    def rewind(self, n_keep: int) -> None:
        """Drop a tail."""
        del self._held[n_keep:]

    def row(self, index: int) -> Row:
        """Return a row with its largest logits; the others never come to anything."""
        tokens = self._held[: len(self._held) - self._n_rows + index + 1]
        key = hashlib.blake2b(np.array(tokens, dtype=np.int32).tobytes(), digest_size=16).digest()
        if key not in self.known:
            row = self._evaluate(tokens)
            best = np.argpartition(row, -_N_LOGITS)[-_N_LOGITS:].astype(np.int32)
            self.known[key] = best, row[best].copy()
        best, logits = self.known[key]
        full = np.full(self._context.n_vocab, _NEVER, dtype=np.float32)
        full[best] = logits
        return full

    def _evaluate(self, tokens: Sequence[int]) -> Row:
        n_kept = min(common_prefix(self._evaluated, tokens), len(tokens) - 1)
        self._context.rewind(n_kept)
        for start in range(n_kept, len(tokens), self.n_batch):
            self._context.decode(tokens[start : min(start + self.n_batch, len(tokens))], 1)
        self._evaluated = list(tokens)
        return self._context.row(0)


@dataclass(frozen=True, slots=True)
class Count:
    """What a way took for some texts: steps, tokens that the draft model evaluated, and trees that branched."""

    n_tokens: int
    n_steps: int
    n_fed: int
    n_branched: int

    @property
    def tokens_per_step(self) -> float:
        """Return tokens after the first ÷ steps."""
        return self.n_tokens / max(1, self.n_steps)


class Player:
    """Counts the steps of known texts with one draft model."""

    def __init__(self, draft: Model, n_ctx: int, n_threads: int, n_vocab: int, sharpness: float) -> None:
        self._context = Context(draft, Shape(n_ctx, n_threads, RememberedRows.n_batch + 1))
        self._known: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
        self._n_vocab, self._sharpness = n_vocab, sharpness

    def count(self, texts: Sequence[Text], n_draft: int, evidence: Evidence | None) -> Count:
        """Draft so many tokens a step, or nodes of trees that learn in ``evidence``."""
        steps: list[Step] = []
        n_fed = 0
        for text in texts:
            memory, sampler = RememberedRows(self._context, self._known), sampler_of(text, self._n_vocab)
            chain = DraftModelDrafter(memory, Held(), sampler, sharpness=self._sharpness)
            drafter: Drafter = chain
            if evidence is not None:
                known = evidence.calibrations_of_tree(sampler.is_greedy)
                drafter = TreeDrafter(chain, known, n_leaves_max=N_LEAVES)
            steps += steps_of(text, drafter, n_draft)
            drafter.close()
            sampler.close()
            n_fed += memory.n_fed - len(text.prompt)
        n_branched = sum(step.depth > 0 for step in steps)
        return Count(sum(len(text.ids) - 1 for text in texts), len(steps), n_fed, n_branched)

    def close(self) -> None:
        """Free the memory."""
        self._context.close()


def steps_of(text: Text, drafter: Drafter, n_draft: int) -> list[Step]:
    """Return the steps after the first, drafted with a fixed number of tokens or nodes."""
    known = KnownText(text)
    generation = Generation(
        known,
        list(text.prompt),
        known,
        lambda _token: False,
        len(text.ids),
        (drafter,),
        FixedLength(n_draft),
        time.perf_counter(),
    )
    return [outcome.step for outcome in speculate(generation)][1:]


def sampler_of(text: Text, n_vocab: int) -> Sampler:
    """Return the target's sampler of an answer, as its drafters copy it."""
    return Sampler(text.sampling, n_vocab, text.prompt)
