"""What ``bench`` found: answers summarised by prompt and by set, beside what their costs and acceptance predict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from app.cli.measure import Measured, identical_to_plain, is_off
from app.costs import CostsAt
from app.metrics import prediction, stats
from app.metrics.baseline import are_powered_alike
from app.metrics.disturbance import paging
from app.metrics.export import Comparison
from app.metrics.prediction import Evidence, PassCosts, Prediction
from app.metrics.recorder import spec_name
from app.metrics.values import (
    AppInfo,
    Interval,
    MachineInfo,
    ModelFacts,
    Run,
    beside_words,
    is_beside_draft,
    is_sound,
)
from app.metrics.verdict import judge, usable
from app.protocol import DraftTokens, Speculation, Step

SCHEMA = "slipstream.bench/1"

ALL = "all"
"""Name of the set of all prompts."""


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Some prompts answered one way, over all repetitions that came to their end.

    The ratios are medians over pairs: an answer and the plain one to the same prompt in the same round. Above 1 is
    faster: ``decode_ratio`` is decode speed ÷ plain, ``answer_ratio`` plain answer time ÷ this one's.
    """

    prompt_set: str = ""
    spec_type: str
    draft_tokens: DraftTokens
    decode_tps: Interval | None
    answer_s: Interval | None
    n_runs: int
    acceptance: float | None
    alpha: float | None
    tokens_per_step: float | None
    identical_to_plain: bool
    tokens: int
    proposed: int
    accepted: int
    engaged: bool
    not_engaged: str
    n_pairs: int = 0
    decode_ratio: Interval | None = None
    answer_ratio: Interval | None = None
    alpha_by_position: tuple[float, ...] = ()
    predicted: Prediction | None = None
    cause: str = ""


class BenchRow(Figures, frozen=True, kw_only=True):
    """One prompt answered one way."""

    prompt: str


class BenchSet(Figures, frozen=True, kw_only=True):
    """The prompts of a set, or all (:data:`ALL`), answered one way."""

    n_prompts: int


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """``bench --json``."""

    schema: str = SCHEMA
    app: AppInfo
    machine: MachineInfo
    target: ModelFacts | None
    draft: ModelFacts | None
    temperature: float
    seed: int
    max_tokens: int
    repeat: int
    n_ctx: int = 0
    n_threads: int = 0
    comparisons: tuple[Comparison, ...]
    rows: tuple[BenchRow, ...]
    sets: tuple[BenchSet, ...] = ()
    costs: tuple[CostsAt, ...] = ()


class Summary:
    """Answers of a bench, and what is made of them."""

    def __init__(
        self, measured: Sequence[Measured], ways: Sequence[Speculation], costs: Sequence[CostsAt] = ()
    ) -> None:
        """Take the answers.

        Args:
            measured: every answer, each with its prompt, way and round.
            ways: what to make rows of, in this order.
            costs: measured costs by position; without any nothing is predicted.
        """
        self.costs = costs
        self._measured, self._ways = measured, ways
        self._same = identical_to_plain(measured)
        self._alpha = {way: stats.alpha(_steps(self._answers(way=way))) for way in ways}

    def rows(self) -> tuple[BenchRow, ...]:
        """For each prompt a row each way."""
        prompts = dict.fromkeys(one.trial.prompt for one in self._measured)
        return tuple(
            BenchRow(prompt=prompt.name, **self._figures(self._answers(prompt=prompt.name), way, prompt.set_name))
            for prompt in prompts
            for way in self._ways
        )

    def sets(self) -> tuple[BenchSet, ...]:
        """For each set a row each way, and for all together if there are several."""
        names = list(dict.fromkeys(one.trial.prompt.set_name for one in self._measured))
        groups = [(name, self._answers(prompt_set=name)) for name in names]
        if len(names) > 1:
            groups.append((ALL, list(self._measured)))
        return tuple(
            BenchSet(n_prompts=len({one.trial.prompt for one in group}), **self._figures(group, way, name))
            for name, group in groups
            for way in self._ways
        )

    def comparisons(self) -> tuple[Comparison, ...]:
        """The verdict on each way from answers to the same prompt in the same round, the draft model loaded for both.

        The verdicts of a session are of answers without one; that would be a load before every other answer.
        """
        plain = self._answers(way=Speculation())
        found = []
        for way in self._ways:
            pairs = [(a, b) for a, b in _pairs(self._answers(way=way), plain) if usable(a) and usable(b)]
            if not is_off(way) and pairs:
                found.append(_comparison(pairs))
        return tuple(found)

    def _answers(
        self, *, prompt: str | None = None, prompt_set: str | None = None, way: Speculation | None = None
    ) -> list[Measured]:
        return [
            one
            for one in self._measured
            if prompt in (None, one.trial.prompt.name)
            and prompt_set in (None, one.trial.prompt.set_name)
            and way in (None, one.trial.speculation)
        ]

    def _figures(self, group: Sequence[Measured], way: Speculation, prompt_set: str) -> dict[str, Any]:
        """Sum up the answers of a group that were given one way."""
        answers = [one for one in group if one.trial.speculation == way]
        complete = [one.run for one in answers if is_sound(one.run)]
        plain = [one for one in group if is_off(one.trial.speculation)]
        steps = [step for run in complete for step in run.steps]
        pairs = [] if is_off(way) else _pairs(answers, plain)
        decode_ratio = stats.ratio_interval([(a.decode_tps, b.decode_tps) for a, b in pairs])
        predicted, cause = self._predict(complete, [one.run for one in plain], way, decode_ratio)
        return {
            "prompt_set": prompt_set,
            "spec_type": spec_name(way),
            "draft_tokens": 0 if is_off(way) else way.draft_tokens,
            "decode_tps": stats.median_interval([run.decode_tps for run in complete if run.decode_tps is not None]),
            "answer_s": stats.median_interval([run.answer_s for run in complete if run.answer_s is not None]),
            "n_runs": len(complete),
            "acceptance": stats.acceptance(steps),
            "alpha": stats.alpha(steps),
            "alpha_by_position": stats.alpha_by_position(steps),
            "tokens_per_step": stats.tokens_per_step(steps),
            "identical_to_plain": all(self._same[one.trial.prompt.name, way] for one in answers),
            "tokens": stats.tokens(steps),
            "proposed": sum(step.proposed for step in steps),
            "accepted": sum(step.accepted for step in steps),
            "engaged": all(one.run.engaged for one in answers),
            "not_engaged": next((one.run.not_engaged for one in answers if one.run.not_engaged), ""),
            "n_pairs": len(pairs),
            "decode_ratio": decode_ratio,
            "answer_ratio": stats.ratio_interval([(b.answer_s, a.answer_s) for a, b in pairs]),
            "predicted": predicted,
            "cause": cause,
        }

    def _predict(
        self, runs: Sequence[Run], plain: Sequence[Run], way: Speculation, measured: Interval | None
    ) -> tuple[Prediction | None, str]:
        """Predict from the costs and the way's alpha over all prompts; say why it came otherwise."""
        steps = [step for run in runs for step in run.steps[1:]]
        alone = [step for run in plain if is_sound(run) for step in run.steps[1:]]
        passes_s = [step.verify_s + step.draft_s for step in alone]
        alpha, costs = self._alpha.get(way), pass_costs(self.costs, steps)
        if is_off(way) or alpha is None or costs is None or not steps or not passes_s:
            return None, ""
        length = way.draft_tokens if isinstance(way.draft_tokens, int) else None
        paged = _paging_of_most(runs)
        evidence = Evidence(steps, math.fsum(passes_s) / len(passes_s), length, alone, paged)
        predicted = prediction.predict(alpha, evidence, costs)
        if predicted is None or measured is None:
            return predicted, ""
        return predicted, prediction.cause(predicted, measured, evidence, costs)


def pass_costs(measured: Sequence[CostsAt], steps: Sequence[Step]) -> PassCosts | None:
    """Return the costs at the position nearest to where the steps were, a drafted token as dear as who drafted."""
    if not measured or not steps:
        return None
    middle = sum(step.n_ctx for step in steps) / len(steps)
    nearest = min(measured, key=lambda at: abs(at.n_ctx - middle))
    rows_s = {row.n_rows: row.median_s for row in nearest.rows}
    if 1 not in rows_s:
        return None
    token_s: dict[str, float] = {cost.drafter: cost.token_s for cost in nearest.drafters}
    drafted = sum(step.proposed for step in steps)
    spent_s = math.fsum(step.proposed * token_s.get(step.drafter, 0.0) for step in steps)
    return PassCosts(rows_s, spent_s / drafted if drafted else 0.0, is_alone=True)


def _paging_of_most(runs: Sequence[Run]) -> str:
    """Return what the first paged answer says, if more than half of all were paged: one is no cause of a median."""
    said = [words for run in runs if (words := paging(run))]
    return said[0] if 2 * len(said) > len(runs) else ""


def _pairs(answers: Sequence[Measured], plain: Sequence[Measured]) -> list[tuple[Run, Run]]:
    """Pair complete answers with the plain ones to the same prompt in the same round."""
    partner = {(one.trial.prompt.name, one.trial.round): one.run for one in plain if is_sound(one.run)}
    found = []
    for one in answers:
        other = partner.get((one.trial.prompt.name, one.trial.round))
        if other is not None and is_sound(one.run) and one.run.engaged and are_powered_alike(one.run, other):
            found.append((one.run, other))
    return found


def _comparison(pairs: Sequence[tuple[Run, Run]]) -> Comparison:
    """Judge pairs of a drafted answer and the plain one to the same prompt."""
    first, conditions = pairs[0][0], pairs[0][0].conditions
    speeds = [(a.decode_tps, b.decode_tps) for a, b in pairs]
    verdict = judge([math.log(fast / slow) for fast, slow in speeds if fast and slow])
    n_beside = sum(is_beside_draft(plain) for _, plain in pairs)
    return Comparison(
        spec_type=first.spec_type,
        draft_tokens=first.draft_tokens,
        n_exact=first.n_exact,
        draft_min=first.draft_min,
        fixed_shape=first.fixed_shape,
        p_min=first.p_min,
        temperature=first.temperature,
        target_file=conditions.target_file if conditions else "",
        draft_file=conditions.draft_file if conditions else None,
        n_pairs=verdict.n_pairs,
        speedup=verdict.speedup,
        verdict=verdict.word,
        pairs_needed=verdict.pairs_needed,
        sentence=verdict.sentence,
        pairs=tuple((a.id, b.id) for a, b in pairs),
        n_beside_draft=n_beside,
        against=beside_words(n_beside, len(pairs)),
        conditions=msgspec.structs.replace(conditions, context_bucket=0) if conditions else None,
    )


def _steps(answers: Sequence[Measured]) -> list[Step]:
    return [step for one in answers if is_sound(one.run) for step in one.run.steps]
