"""Does speculation pay? An interval for the speed-up that may be looked at after every answer.

Each pair gives one log-ratio, ln(speculative ÷ plain decode speed). The mean of the log-ratios gets a confidence
sequence: intervals for 6, 7, 8 … pairs of which, with 95 % probability, *all* hold the truth. An ordinary interval
holds at one moment chosen beforehand; somebody who watches it after each answer and stops when it looks good is
misled far more often than 5 % of the time.

From :data:`LAI_START` pairs on it is Lai's sequence for the mean of normal observations of unknown variance:
the mixture of t-likelihood ratios over a flat prior on the effect, begun late and bounded by the extended Ville
inequality (T. L. Lai, "On confidence sequences", Annals of Statistics 4, 1976; H. Wang and A. Ramdas,
"Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance", 2023, arXiv 2310.03722).
Before, when the variance is hardly known, each count of pairs has a Student interval at its own very small share of
the 5 % (:data:`EARLY_ALPHA`); the shares add up (union bound). Beginning Lai's sequence at 10 is what makes it 1.57
times as wide as the ordinary interval at 12 pairs, where one that begins at 6 is 1.64 times as wide.

A verdict needs more than that the interval lies on one side of 1: the same sequence at half the error has to. So of all
sessions in which speculation changes nothing, at most 2.5 % ever hear that it pays or costs, also where the noise is
skewed, as that of a busy machine is (``tests/metrics/test_verdict.py``, on recorded pairs).

Plain halves from a baseline of an earlier session have something in common that no number of pairs shows: that day the
machine was a little faster, or slower. The interval is wider by :data:`DRIFT` times their share.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from app.metrics.values import Interval, Run, VerdictWord, is_beside_draft, is_lossy, is_plain, is_sound

MIN_PAIRS = 6
LAI_START = 10
ALPHA = 0.05
EARLY_ALPHA = {6: 0.001, 7: 0.001, 8: 0.002, 9: 0.003}
VERDICT_ALPHA = ALPHA / 2
"""Largest share of sessions that ever hear a verdict which is not so."""

SESSION_DEVIATION = 0.02
"""By how much a machine's speed differs from session to session under like conditions (standard deviation)."""

DRIFT = 2.5 * SESSION_DEVIATION
"""What a stored baseline is allowed to be off by, as a natural logarithm."""

MIN_TOKENS = 16
"""Shorter answers say nothing about decode speed."""
MOST_PAIRS = 400
"""How far ahead a verdict is foretold; nobody waits for more pairs than this."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the pairs say.

    ``speedup`` is the geometric mean of the ratios with its interval, ``None`` below six pairs. ``pairs_needed`` is
    about how many more pairs would decide it: 0 when decided, ``None`` when more than :data:`MOST_PAIRS`. ``drift`` is
    what the interval allows for plain halves of another session, a natural logarithm.
    """

    word: VerdictWord
    n_pairs: int
    speedup: Interval | None
    pairs_needed: int | None
    drift: float = 0.0

    @property
    def sentence(self) -> str:
        """The verdict as a person reads it."""
        if self.speedup is None:
            return f"cannot tell yet ({_pairs(MIN_PAIRS - self.n_pairs)} needed)"
        low, high = self.speedup.low, self.speedup.high
        band = f"{low:.2f}–{high:.2f}" if high < 10 else f"{low:.2f} to over 10"
        if self.word == "pays":
            return f"pays {self.speedup.median:.2f}× ({band})"
        if self.word == "costs":
            return f"costs {1 - self.speedup.median:.0%} ({1 - high:.0%}–{1 - low:.0%})"
        more = "plain answers of this session needed" if self.drift else f"over {_pairs(MOST_PAIRS)} needed"
        if self.pairs_needed is not None:
            more = f"about {_pairs(self.pairs_needed)} needed"
        return f"cannot tell: {band}× ({more})"


@dataclass(frozen=True, slots=True)
class Sample:
    """One decode speed that can be half of a pair; ``prompt`` "" is free chat.

    ``is_beside_draft``: of a plain answer, whether a draft model was in memory.
    """

    run_id: str
    prompt: str
    decode_tps: float
    context_bucket: int
    is_beside_draft: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A speculative answer and the plain one that it is compared with."""

    speculative: Sample
    plain: Sample

    @property
    def log_ratio(self) -> float:
        """Natural logarithm of the speed-up."""
        return math.log(self.speculative.decode_tps / self.plain.decode_tps)


def student_inside(t: float, dof: int) -> float:
    """P(|T| < t) for Student's t with a whole number of degrees of freedom (Abramowitz and Stegun 26.7.3–4)."""
    angle = math.atan(t / math.sqrt(dof))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = dof % 2
    term = cosine if odd else 1.0
    total = term if dof > 1 else 0.0
    for j in range(3 if odd else 2, dof - 1, 2):
        term *= cosine * cosine * (j - 1) / j
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


@cache
def student_bound(alpha: float, dof: int) -> float:
    """The t that |T| exceeds with probability ``alpha``."""
    low, high = 0.0, 1e4
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - student_inside(middle, dof) > alpha else (low, middle)
    return high


@cache
def _lai_level(error: float) -> float:
    """Logarithm of the level that the mixture exceeds, from ``LAI_START`` on, with what is left of the error.

    The mixture is M(n, t) = (1 + t²/(n − 1))^(n/2) ÷ √n. Under the null, M times the density of t is a constant c at
    ``LAI_START``, so with |t| < a where M < level, P(ever above) ≤ P(|T| ≥ a) + 2·a·c ÷ level (extended Ville).
    """
    n, dof = LAI_START, LAI_START - 1
    alpha = error * (1 - sum(EARLY_ALPHA.values()) / ALPHA)
    constant = math.exp(math.lgamma(n / 2) - math.lgamma(dof / 2)) / math.sqrt(dof * math.pi) / math.sqrt(n)
    low, high = 1.0, 1e3
    for _ in range(100):
        a = (low + high) / 2
        level = (1 + a * a / dof) ** (n / 2) / math.sqrt(n)
        crossing = 1 - student_inside(a, dof) + 2 * a * constant / level
        low, high = (a, high) if crossing > alpha else (low, a)
    return n / 2 * math.log1p(high * high / dof) - math.log(n) / 2


@cache
def t_bound(n_pairs: int, error: float = ALPHA) -> float:
    """Half width of the interval for ``n_pairs`` in standard errors of the mean; ``error``: the share that ever misses.

    Raises:
        ValueError: fewer than :data:`MIN_PAIRS`.
    """
    if n_pairs < MIN_PAIRS:
        raise ValueError(f"no interval for {n_pairs} pairs")
    if n_pairs < LAI_START:
        return student_bound(EARLY_ALPHA[n_pairs] * error / ALPHA, n_pairs - 1)
    exponent = (2 * _lai_level(error) + math.log(n_pairs)) / n_pairs
    return math.sqrt((n_pairs - 1) * math.expm1(exponent))


def judge(log_ratios: Sequence[float], n_stored: int = 0) -> Verdict:
    """Give the verdict on the log-ratios of all pairs so far, in any order.

    Of ``n_stored`` pairs the plain half is from a baseline of another session.
    """
    n = len(log_ratios)
    if n < MIN_PAIRS:
        return Verdict("cannot tell", n, None, MIN_PAIRS - n)
    mean, drift = math.fsum(log_ratios) / n, DRIFT * (n_stored / n)
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in log_ratios) / (n - 1))
    half = t_bound(n) * deviation / math.sqrt(n) + drift
    speedup = Interval(math.exp(mean), math.exp(mean - half), math.exp(mean + half))
    if abs(mean) > t_bound(n, VERDICT_ALPHA) * deviation / math.sqrt(n) + drift:
        return Verdict("pays" if mean > 0 else "costs", n, speedup, 0, drift)
    return Verdict("cannot tell", n, speedup, _needed(n, abs(mean) - drift, deviation), drift)


def pair_up(arrivals: Iterable[tuple[Sample, bool]]) -> list[Pair]:
    """Pair speculative samples (true) with plain ones (false) of like conditions, in order of arrival.

    Each arrival takes the latest free sample of the other kind with the same prompt in the same context bucket; each is
    used once. A pair never depends on what comes later, or looking early would no longer be harmless. A prompt with a
    name pairs only with itself. Free chat (no name) never repeats a prompt, and plain decode speed depends on the
    context length, not on the words: it takes any plain sample of its bucket, one of free chat first. Plain samples
    without a draft model in memory come before all others.
    """
    drafted, plain, beside = _Waiting(), _Waiting(), _Waiting()
    pairs = []
    for sample, speculative in arrivals:
        if speculative:
            takes = (others.take(sample, any_name=not sample.prompt, free_chat=False) for others in (plain, beside))
            match = next((found for found in takes if found is not None), None)
        else:
            match = drafted.take(sample, any_name=False, free_chat=True)
        if match is not None:
            pairs.append(Pair(sample, match) if speculative else Pair(match, sample))
        else:
            (drafted if speculative else beside if sample.is_beside_draft else plain).put(sample)
    return pairs


class _Waiting:
    """Samples of one kind without a partner, by context bucket and prompt, the newest of each at the end."""

    def __init__(self) -> None:
        self._n = 0
        self._free: dict[int, dict[str, list[tuple[int, Sample]]]] = {}

    def put(self, sample: Sample) -> None:
        """Let a sample wait."""
        self._n += 1
        self._free.setdefault(sample.context_bucket, {}).setdefault(sample.prompt, []).append((self._n, sample))

    def take(self, sample: Sample, *, any_name: bool, free_chat: bool) -> Sample | None:
        """Take the newest with the same prompt; else, if that will do, the newest of any, or one of free chat."""
        named = self._free.get(sample.context_bucket, {})
        prompt = sample.prompt
        if prompt not in named and any_name and named:
            prompt = max(named, key=lambda name: named[name][-1][0])
        elif prompt not in named and free_chat:
            prompt = ""
        if prompt not in named:
            return None
        taken = named[prompt].pop()[1]
        if not named[prompt]:
            del named[prompt]
        return taken


def usable(run: Run) -> bool:
    """Whether a run may enter a verdict or a baseline: complete, long enough, what was asked for took part, no mark.

    A lossy answer never does: to say other words faster is no speed-up of the same.
    """
    return is_measured(run) and not is_lossy(run)


def is_measured(run: Run) -> bool:
    """Whether a run says something about its own way to draft; lossy ones, too."""
    return is_sound(run) and run.tokens >= MIN_TOKENS and (is_plain(run) or run.engaged)


def sample_of(run: Run) -> Sample:
    """Make the sample of a usable run.

    Raises:
        ValueError: the run has no decode speed or no known conditions.
    """
    if run.decode_tps is None or run.conditions is None:
        raise ValueError(f"run {run.id} cannot be compared")
    return Sample(run.id, run.prompt, run.decode_tps, run.conditions.context_bucket, is_beside_draft(run))


def _needed(n: int, effect: float, deviation: float) -> int | None:
    """Find the first count of pairs beyond ``n`` at which this effect and deviation would decide."""
    widths = _verdict_widths()
    first = bisect_left(widths, True, n + 1 - MIN_PAIRS, key=lambda width: width * deviation < effect)
    return first + MIN_PAIRS - n if first < len(widths) else None


@cache
def _verdict_widths() -> tuple[float, ...]:
    """Half widths for a verdict in standard deviations, from :data:`MIN_PAIRS` on, each narrower than the last."""
    return tuple(t_bound(n, VERDICT_ALPHA) / math.sqrt(n) for n in range(MIN_PAIRS, MOST_PAIRS + 1))


def _pairs(n: int) -> str:
    return f"{n} more pair" if n == 1 else f"{n} more pairs"
