"""What speculation should gain by its costs and acceptance, and why what was measured differs.

The prediction for drafts of k tokens, each kept with probability a (alpha), is

    (1 − a^(k+1)) ÷ ((1 − a) · (v(k+1) ÷ v(1) + k·r))

tokens of a step by the time of a step, in plain passes: v is the cost of a pass by its rows, r that of a drafted token
÷ v(1). (Leviathan et al. 2023, arXiv 2211.17192, theorem 3.8, there with v(k+1) = v(1).) Costs are measured, never
interpolated; alpha is that of all prompts answered this way, the sample.

Steps that were recorded tell where measured and predicted part. What the prediction assumes is replaced by what the
steps did, one thing after the other: draft lengths, alpha, kept tokens, verify times, draft times. Each replacement
changes the speed-up by a factor, and the factors multiply to the whole difference, but for the time between passes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from app.metrics import stats
from app.metrics.disturbance import SLOWED, shared_bus
from app.metrics.values import Interval
from app.protocol import Step

SLACK = 0.05
"""Measured and predicted that are as near as this do not differ, however narrow the interval of few pairs is."""

NAMED = 1 / 3
"""A cause is named if it explains at least this share of the difference, on a logarithmic scale."""

CEILING = 1.02
"""A speed-up at perfect acceptance below this cannot pay."""

UNKNOWN = "not to be told from the steps"


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A predicted speed-up with all that it follows from.

    ``draft_tokens`` is k, or the mean of what a rule chose; ``verify_ratio`` is v(k + 1) ÷ v(1), ``draft_ratio`` is r;
    ``ceiling`` the speed-up if every draft token were kept.
    """

    speedup: float
    ceiling: float
    alpha: float
    draft_tokens: float
    verify_ratio: float
    draft_ratio: float


@dataclass(frozen=True, slots=True)
class PassCosts:
    """Measured costs in seconds: of a pass by its rows (one row is there), and of a drafted token.

    ``is_alone``: target and drafter were measured one after the other, as on a cost curve, not while both worked.
    """

    rows_s: Mapping[int, float]
    draft_token_s: float = 0.0
    is_alone: bool = False

    def ratio(self, n_rows: int) -> float | None:
        """Return v(n) ÷ v(1); None where v(n) was not measured."""
        return self.rows_s[n_rows] / self.rows_s[1] if n_rows in self.rows_s else None

    @property
    def draft_ratio(self) -> float:
        """The cost of a drafted token in plain passes, r."""
        return self.draft_token_s / self.rows_s[1]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a prediction is held against: steps that followed the first of their answers, and a plain pass beside them.

    ``length`` is the draft length that was asked for, None where a rule chose it. ``plain`` are steps of plain answers;
    ``paging`` says that memory was short meanwhile (:func:`app.metrics.disturbance.paging`).
    """

    steps: Sequence[Step]
    plain_pass_s: float
    length: int | None
    plain: Sequence[Step] = ()
    paging: str = ""


def expected_tokens(alpha: float, k: int) -> float:
    """Return the tokens of a step with a draft of k tokens, each kept with probability ``alpha`` if judged."""
    return math.fsum(alpha**i for i in range(k + 1))


def predict(alpha: float, evidence: Evidence, costs: PassCosts) -> Prediction | None:
    """Predict for the length that was asked for; where a rule chose it, or its cost is not known, for those it had."""
    if any(step.depth for step in evidence.steps):
        return None  # alpha and length tell what a chain yields, not a tree
    fixed = None if evidence.length is None else predict_fixed(alpha, evidence.length, costs)
    return fixed or predict_chosen(alpha, evidence, costs)


def predict_fixed(alpha: float, k: int, costs: PassCosts) -> Prediction | None:
    """Predict the speed-up of drafts of k tokens; None if a pass over k + 1 rows was never measured."""
    ratio = costs.ratio(k + 1)
    if ratio is None:
        return None
    step = ratio + k * costs.draft_ratio
    return Prediction(
        speedup=expected_tokens(alpha, k) / step,
        ceiling=(k + 1) / step,
        alpha=alpha,
        draft_tokens=k,
        verify_ratio=ratio,
        draft_ratio=costs.draft_ratio,
    )


def predict_chosen(alpha: float, evidence: Evidence, costs: PassCosts) -> Prediction | None:
    """Predict the speed-up at the draft lengths that the steps had; None without steps."""
    lengths = [step.proposed for step in evidence.steps]
    if not lengths:
        return None
    costs = _completed(costs, evidence)
    verify = math.fsum(costs.ratio(k + 1) or 1.0 for k in lengths)
    drafted = sum(lengths)
    total = verify + drafted * costs.draft_ratio
    return Prediction(
        speedup=math.fsum(expected_tokens(alpha, k) for k in lengths) / total,
        ceiling=(len(lengths) + drafted) / total,
        alpha=alpha,
        draft_tokens=drafted / len(lengths),
        verify_ratio=verify / len(lengths),
        draft_ratio=costs.draft_ratio,
    )


def cannot_pay(prediction: Prediction) -> str:
    """Say what keeps a way to draft from paying even at perfect acceptance; "" if nothing does."""
    if prediction.ceiling >= CEILING or not prediction.draft_tokens:
        return ""
    rows, ratio = prediction.draft_tokens + 1, prediction.verify_ratio
    if rows / ratio < CEILING:
        return f"target compute-bound: {rows:g} rows cost {ratio:.1f} times one row"
    return f"draft too dear: a drafted token costs {prediction.draft_ratio:.2f} of a plain pass"


def differs(predicted: float, measured: Interval) -> bool:
    """Tell whether a prediction lies outside the interval, by more than :data:`SLACK`."""
    return not measured.low * (1 - SLACK) <= predicted <= measured.high * (1 + SLACK)


def cause(prediction: Prediction, measured: Interval, evidence: Evidence, costs: PassCosts) -> str:
    """Say why measured and predicted differ: the causes that explain most of it; "" if they do not differ."""
    if not differs(prediction.speedup, measured):
        return ""
    total = math.log(measured.median / prediction.speedup)
    if not evidence.steps or not total:
        return UNKNOWN
    told = {name: math.log(factor) / total for name, factor in factors(prediction, evidence, costs).items()}
    named = sorted((name for name in told if told[name] >= NAMED), key=lambda name: -told[name])
    words = _Words(prediction, evidence, costs, is_gain=total > 0)
    return "; ".join(dict.fromkeys(words.of(name) for name in named)) or UNKNOWN


def factors(prediction: Prediction, evidence: Evidence, costs: PassCosts) -> dict[str, float]:
    """Return by what factor each thing that the steps did otherwise than assumed has changed the speed-up."""
    steps, full = evidence.steps, _completed(costs, evidence)
    lengths = [step.proposed for step in steps]
    own = stats.alpha(steps)
    alpha = prediction.alpha if own is None else own
    n_drafted = sum(lengths)
    assumed_s = math.fsum(full.ratio(k + 1) or 1.0 for k in lengths) + n_drafted * full.draft_ratio
    verified_s = math.fsum(step.verify_s for step in steps) / evidence.plain_pass_s
    drafted_s = math.fsum(step.draft_s for step in steps) / evidence.plain_pass_s
    emitted = stats.tokens(steps)
    speedups = [
        ("", prediction.speedup),
        ("length", math.fsum(expected_tokens(prediction.alpha, k) for k in lengths) / assumed_s),
        ("sample", math.fsum(expected_tokens(alpha, k) for k in lengths) / assumed_s),
        ("position", emitted / assumed_s),
        ("verify", emitted / (verified_s + n_drafted * full.draft_ratio)),
        ("draft", emitted / (verified_s + drafted_s)),
    ]
    return {name: after / before for (_, before), (name, after) in pairwise(speedups)}


def _completed(costs: PassCosts, evidence: Evidence) -> PassCosts:
    """Add row counts that only the steps had, by their own median: there they are no evidence against the costs."""
    rows_s = dict(costs.rows_s)
    for n in {step.n_rows for step in evidence.steps} - set(rows_s):
        own_s = stats.median([step.verify_s for step in evidence.steps if step.n_rows == n])
        rows_s[n] = own_s / evidence.plain_pass_s * costs.rows_s[1]
    return PassCosts(rows_s, costs.draft_token_s, costs.is_alone)


@dataclass(frozen=True, slots=True)
class _Words:
    """The causes as a person reads them, with the figures that show them."""

    prediction: Prediction
    evidence: Evidence
    costs: PassCosts
    is_gain: bool

    def of(self, name: str) -> str:
        """Return the words for a cause."""
        return {
            "length": self._length,
            "sample": self._sample,
            "position": self._position,
            "verify": self._verify,
            "draft": self._draft,
        }[name]()

    def _length(self) -> str:
        lengths = [step.proposed for step in self.evidence.steps]
        mean, asked = f"{sum(lengths) / len(lengths):.1f}", f"{self.prediction.draft_tokens:g}"
        empty = sum(not k for k in lengths) / len(lengths)
        if not empty:
            return f"drafts shorter than asked ({mean} of {asked} on average)"
        return f"drafts shorter than asked ({mean} of {asked} on average, none in {empty:.0%} of the steps)"

    def _sample(self) -> str:
        own = stats.alpha(self.evidence.steps) or 0.0
        return f"prompt unlike the sample (alpha {own:.2f} here, {self.prediction.alpha:.2f} over all prompts)"

    def _position(self) -> str:
        by = stats.alpha_by_position(self.evidence.steps)
        if len(by) < 2:
            return "more or fewer tokens kept than alpha says"
        if by[-1] < by[0]:
            return f"acceptance falls with position (alpha {by[0]:.2f} at 1, {by[-1]:.2f} at {len(by)})"
        return f"acceptance rises with position (alpha {by[0]:.2f} at 1, {by[-1]:.2f} at {len(by)})"

    def _slowed(self) -> str:
        """Return what slowed down target and drafter beside their own work, "" if nothing is known to have."""
        if self.is_gain:
            return ""
        evidence = self.evidence
        return evidence.paging or shared_bus(evidence.steps, evidence.plain) or self._slow_each_other()

    def _slow_each_other(self) -> str:
        """Say that both took longer in answers with a drafter than on the cost curve, where each worked alone."""
        steps, costs = self.evidence.steps, self.costs
        n_drafted = sum(step.proposed for step in steps)
        on_curve = [(step.verify_s, ratio) for step in steps if (ratio := costs.ratio(step.n_rows)) is not None]
        if not costs.is_alone or not n_drafted or not on_curve or not costs.draft_ratio:
            return ""
        pass_s = self.evidence.plain_pass_s
        verify = math.fsum(took_s for took_s, _ in on_curve) / pass_s / math.fsum(ratio for _, ratio in on_curve)
        draft = math.fsum(step.draft_s for step in steps) / pass_s / n_drafted / costs.draft_ratio
        if min(verify, draft) < SLOWED:
            return ""
        return (
            f"bus shared: in answers with a drafter a pass took {verify:.2f} × and a drafted token {draft:.2f} × what "
            "each took alone"
        )

    def _verify(self) -> str:
        if slowed := self._slowed():
            return slowed
        n_rows, here = self._most_telling_rows()
        if n_rows == 1:
            word = "faster machine" if self.is_gain else "slower machine"
            return f"{word} than for the plain answers (one row cost {here:.2f} × one row there)"
        curve = self.costs.ratio(n_rows)
        word = "target less compute-bound than on the cost curve" if self.is_gain else "target compute-bound"
        if curve is None:
            return f"{word} at {n_rows} rows ({here:.2f} × one row here)"
        return f"{word} at {n_rows} rows ({here:.2f} × one row here, {curve:.2f} × on the cost curve)"

    def _most_telling_rows(self) -> tuple[int, float]:
        """Return the row count whose passes make most of the difference, and what one of them cost in plain passes."""
        took: dict[int, list[float]] = {}
        for step in self.evidence.steps:
            took.setdefault(step.n_rows, []).append(step.verify_s / self.evidence.plain_pass_s)

        def excess(n_rows: int) -> float:
            curve = self.costs.ratio(n_rows)
            return 0.0 if curve is None else (math.fsum(took[n_rows]) - len(took[n_rows]) * curve)

        n_rows = (min if self.is_gain else max)(sorted(took), key=excess)
        return n_rows, math.fsum(took[n_rows]) / len(took[n_rows])

    def _draft(self) -> str:
        if slowed := self._slowed():
            return slowed
        drafted = sum(step.proposed for step in self.evidence.steps)
        spent_s = math.fsum(step.draft_s for step in self.evidence.steps)
        here = spent_s / self.evidence.plain_pass_s / max(1, drafted)
        word = "draft cheaper than on the cost curve" if self.is_gain else "draft too dear"
        curve = self.costs.draft_ratio
        return f"{word} (a drafted token costs {here:.2f} of a plain pass here, {curve:.2f} on the cost curve)"
