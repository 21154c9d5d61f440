"""What the answers so far foretell for an answer, beside what it measured, and the cause when the two differ.

Costs and alpha are those of all answers of a session that were drafted the same way under like conditions; no cost
curve has to be measured for it. The answer itself is the evidence that the prediction is held against.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.metrics import stats
from app.metrics.baseline import differences
from app.metrics.disturbance import paging, shared_bus
from app.metrics.prediction import Evidence, PassCosts, Prediction, cannot_pay, cause, predict
from app.metrics.values import Interval, Run, is_plain
from app.metrics.verdict import usable
from app.protocol import Step

MOST_STEPS = 4000
"""The newest steps say enough about costs."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """A prediction for an answer.

    ``measured`` is the answer's decode speed ÷ the baseline, its interval that of the baseline; ``cause`` says why the
    two differ, "" if they do not; ``hopeless`` what keeps this way from paying even at perfect acceptance, if anything.
    """

    prediction: Prediction
    measured: Interval | None
    cause: str
    hopeless: str


def outlook(run: Run, runs: Sequence[Run], baseline: Interval | None) -> Outlook | None:
    """Predict for a drafted answer from those drafted alike, itself included; ``None`` without enough to go by."""
    own = _tail(run)
    alike = _newest_steps(other for other in reversed(runs) if _is_alike(other, run))
    plain = _newest_steps(other for other in reversed(runs) if is_plain(other) and _is_comparable(other, run))
    alpha, one_row_s = stats.alpha(alike), [s.verify_s for s in (*plain, *alike) if not s.proposed and s.verify_s > 0]
    if not usable(run) or is_plain(run) or not own or alpha is None or not one_row_s:
        return None
    costs = _costs([*plain, *alike])
    plain_pass_s = math.fsum(one_row_s) / len(one_row_s)
    length = (run.n_exact or run.draft_tokens) if isinstance(run.draft_tokens, int) else None
    evidence = Evidence(own, plain_pass_s, length, plain, paging(run))
    predicted = predict(alpha, evidence, costs)
    if predicted is None:
        return None
    measured = _measured(run, baseline)
    why = "" if measured is None else cause(predicted, measured, evidence, costs)
    return Outlook(predicted, measured, why, _hopeless(predicted, evidence))


def _hopeless(prediction: Prediction, evidence: Evidence) -> str:
    """Say what keeps this way from paying; passes that something slowed down are not the target's own price."""
    why = cannot_pay(prediction)
    return (evidence.paging or shared_bus(evidence.steps, evidence.plain) or why) if why else ""


def _is_comparable(other: Run, run: Run) -> bool:
    if other.conditions is None or run.conditions is None or not usable(other):
        return False
    return not differences(other.conditions, run.conditions)


def _is_alike(other: Run, run: Run) -> bool:
    names = ("spec_type", "draft_tokens", "n_exact", "fixed_shape", "draft_min", "p_min")
    same = all(getattr(other, name) == getattr(run, name) for name in names)
    if not same or not _is_comparable(other, run) or other.conditions is None or run.conditions is None:
        return False
    return other.conditions.draft_file == run.conditions.draft_file


def _newest_steps(newest_first: Iterable[Run]) -> list[Step]:
    """Return steps that follow the first of their answer: that one's pass was the prefill."""
    steps: list[Step] = []
    for run in newest_first:
        steps += _tail(run)
        if len(steps) >= MOST_STEPS:
            break
    return steps


def _tail(run: Run) -> Sequence[Step]:
    return run.steps[max(1, len(run.steps) - MOST_STEPS) :]


def _costs(steps: Sequence[Step]) -> PassCosts:
    by_rows: dict[int, list[float]] = {}
    for step in steps:
        if step.verify_s > 0:
            by_rows.setdefault(step.n_rows, []).append(step.verify_s)
    drafted = [step.draft_s / step.proposed for step in steps if step.proposed]
    rows_s = {n_rows: stats.median(times) for n_rows, times in by_rows.items()}
    return PassCosts(rows_s, stats.median(drafted) if drafted else 0.0)


def _measured(run: Run, baseline: Interval | None) -> Interval | None:
    if baseline is None or run.decode_tps is None or baseline.low <= 0:
        return None
    return Interval(run.decode_tps / baseline.median, run.decode_tps / baseline.high, run.decode_tps / baseline.low)
