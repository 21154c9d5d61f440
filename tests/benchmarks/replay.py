"""What an answer would have cost at any fixed draft length, from its text and the measured cost curve.

A text does not depend on how it was drafted, and a drafter's word at a position depends on the text before it alone as
long as all its earlier words were kept. So one pass of the draft model over the finished text tells at every position
whether its word would have been kept, and that tells every step of every fixed length without running it: no noise of
the machine gets into the comparison. The n-gram drafter needs the text alone, so it is played on it; in a chain the
draft model is asked where it has nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from app.engine.cancel import CancelFlag
from app.engine.cost_curve import measure_costs
from app.engine.draft_length import Ask
from app.engine.drafters.ngram import NgramDrafter
from app.engine.engage import sharpness_of
from app.engine.llama import Context, Shape
from app.engine.loading import LoadedPair
from app.engine.sampler import Sampler
from app.protocol import MeasureCosts, Sampling, Step
from tests.engine.played_answers import catch_up_s

LENGTHS = (1, 2, 3, 4, 5, 6, 8)
NGRAM_LENGTHS = (*LENGTHS, 12, 16)
"""Fixed lengths that are replayed: where n-gram drafts, longer ones too."""

_BATCH = 64


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds of a target pass by its rows, of a drafted token, and of a token that the draft model catches up with."""

    rows_s: dict[int, float]
    token_s: float
    caught_up_token_s: float

    def catch_up_s(self, n_tokens: int) -> float:
        """Return the seconds of catching up."""
        return catch_up_s(n_tokens, self.token_s, self.caught_up_token_s)


def measured_curve(
    pair: LoadedPair, position: int, sampling: Sampling, repeat: int = 5, longest: int = max(LENGTHS)
) -> Curve:
    """Measure the curve of drafts of up to ``longest`` tokens where the memory holds ``position``; medians."""
    command = MeasureCosts(
        id=0, n_rows=tuple(range(1, longest + 2)), positions=(position,), repeat=repeat, sampling=sampling
    )
    (at,) = measure_costs(command, pair, CancelFlag()).costs
    draft = next((cost for cost in at.drafters if cost.drafter == "draft-simple"), None)
    rows_s = {row.n_rows: row.median_s for row in at.rows}
    return Curve(rows_s, draft.token_s if draft else 0.0, draft.catch_up_token_s if draft else 0.0)


def usual_curve(curves: Sequence[Curve]) -> Curve:
    """Return the medians of curves measured one after the other: a shared machine does not stay the same."""
    return Curve(
        {n_rows: median(curve.rows_s[n_rows] for curve in curves) for n_rows in curves[0].rows_s},
        median(curve.token_s for curve in curves),
        median(curve.caught_up_token_s for curve in curves),
    )


class Words:
    """The draft model's word at every position of finished texts."""

    def __init__(self, pair: LoadedPair, n_ctx: int) -> None:
        if pair.draft is None:
            raise ValueError("the pair has no draft model")
        self._context = Context(pair.draft.model, Shape(n_ctx, pair.n_threads, _BATCH + 1))
        self._n_vocab = pair.target.model.n_vocab
        self.sharpness = sharpness_of(pair)

    def agreement(
        self, prompt: Sequence[int], ids: Sequence[int], sampling: Sampling, *, likeliest: bool
    ) -> list[bool]:
        """Tell for each of ``ids`` whether the draft model would have said it.

        It draws with the target's own noise, or says its most likely word.
        """
        self._context.rewind(0)
        for at in range(0, len(prompt) - 1, _BATCH):
            self._context.decode(prompt[at : min(at + _BATCH, len(prompt) - 1)], 1)
        of_target = Sampler(sampling, self._n_vocab, prompt)
        sampler = of_target.clone(self.sharpness)
        of_target.close()
        fed = [prompt[-1], *ids[:-1]]
        agrees = []
        for at in range(0, len(fed), _BATCH):
            batch = fed[at : at + _BATCH]
            self._context.decode(batch, len(batch))
            for i in range(len(batch)):
                row = self._context.row(i)[: self._n_vocab]
                said = int(row.argmax()) if likeliest else sampler.choose(row, len(prompt) + at + i)
                agrees.append(said == ids[at + i])
                sampler.accept(ids[at + i])
        sampler.close()
        return agrees

    def close(self) -> None:
        """Free the memory."""
        self._context.close()


def fixed_steps(agrees: Sequence[bool], length: int) -> list[tuple[int, int]]:
    """Return (drafted, emitted) of each step after the first token, at a fixed draft length."""
    steps, at = [], 1
    while at < len(agrees):
        n_draft = min(length, len(agrees) - at - 1)
        n_kept = 0
        while n_kept < n_draft and agrees[at + n_kept]:
            n_kept += 1
        steps.append((n_draft, n_kept + 1))
        at += n_kept + 1
    return steps


@dataclass(frozen=True, slots=True)
class Played:
    """A replayed step: tokens drafted and emitted, whether a model drafted, what it had to catch up with before that
    it had not seen, and the seconds that looking for a copy took."""

    n_draft: int
    n_emitted: int
    by_model: bool = False
    n_caught_up: int = 0
    search_s: float = 0.0


def play(
    prompt: Sequence[int], ids: Sequence[int], agrees: Sequence[bool] | None, length: int, *, has_ngram: bool
) -> list[Played]:
    """Return the steps after the first token at a fixed length: n-gram if it is there, else or where it has nothing the
    draft model, if ``agrees`` tells its words."""
    ngram = NgramDrafter() if has_ngram else None
    text, n_prompt = [*prompt, ids[0]], len(prompt)
    if ngram is not None:
        ngram.begin(prompt)
    steps: list[Played] = []
    n_unseen = 0  # by the draft model: of what n-gram brought, and the last word of its own draft if that was kept
    while (at := len(text) - n_prompt) < len(ids):
        limit = min(length, len(ids) - at - 1)
        started_s = time.perf_counter()
        draft = ngram.draft(text, Ask(limit)) if ngram is not None and limit else []
        search_s = time.perf_counter() - started_s
        by_model = not draft and agrees is not None and limit > 0
        n_draft = limit if by_model else len(draft)
        n_kept = 0
        while n_kept < n_draft and (agrees[at + n_kept] if by_model else draft[n_kept] == ids[at + n_kept]):
            n_kept += 1
        text += ids[at : at + n_kept + 1]
        started_s = time.perf_counter()
        if ngram is not None:
            ngram.accept(text)
        search_s += time.perf_counter() - started_s
        steps.append(Played(n_draft, n_kept + 1, by_model, n_unseen if by_model else 0, search_s))
        n_unseen = int(n_kept == n_draft) if by_model else n_unseen + n_kept + 1
    return steps


def played_s(curve: Curve, steps: Sequence[Played]) -> float:
    """Return the decode time of replayed steps on the curve."""
    return sum(
        curve.rows_s[step.n_draft + 1]
        + step.search_s
        + (step.n_draft * curve.token_s if step.by_model else 0.0)
        + curve.catch_up_s(step.n_caught_up)
        for step in steps
    )


def recorded_s(curve: Curve, steps: Sequence[Step]) -> float:
    """Return the decode time of recorded steps on the curve.

    A draft may be longer than what was verified of it, so its length is told by its time. Catching up with a prompt
    takes what it took.
    """
    return sum(curve.rows_s.get(step.proposed + 1, step.verify_s) + _drafted_s(curve, step) for step in steps[1:])


def _drafted_s(curve: Curve, step: Step) -> float:
    if step.drafter == "ngram":
        return step.draft_s  # it has no model to run
    n_drafted = max(step.proposed, round(step.draft_s / curve.token_s)) if curve.token_s else 0
    return n_drafted * curve.token_s if n_drafted <= max(step.limit, step.proposed) else step.draft_s
