"""Two sessions side by side: the same figures of each, what differs, and the ratio where it means something.

A ratio of decode speeds rests on prompts that both sessions answered the same way; its interval is that of the verdicts
(:func:`app.metrics.verdict.judge`), from at least six such pairs, with what a machine's speed differs from session to
session. Between answers of different targets there is none. Two exports of one session hold the same answers, of which
no pair is made: only those that came between the two are held against the earlier ones, and of one session nothing
differs from day to day.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from app.metrics import stats
from app.metrics.export import Metrics
from app.metrics.pictures import way_words
from app.metrics.report import interval, number
from app.metrics.values import Interval, Run, RunConditions, is_lossy, is_plain
from app.metrics.verdict import is_measured, judge, usable

SCHEMA = "slipstream.compare/1"

_ALIAS = re.compile(r"prompt \d+")
_CONDITIONS = (
    ("target_file", "target"),
    ("quantisation", "quantisation"),
    ("device", "device"),
    ("n_threads", "threads"),
    ("memory", "conversation memory"),
    ("on_battery", "power supply"),
    ("power_mode", "power mode"),
    ("sampler", "sampler"),
    ("draft_file", "draft model"),
    ("draft_device", "draft model on"),
    ("app_version", "version"),
    ("llama_cpp_commit", "llama.cpp"),
)


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What one session measured one way; sums and medians over the answers that count."""

    n_runs: int
    tokens: int
    decode_tps: Interval | None
    ttft_s: Interval | None
    acceptance: float | None
    alpha: float | None
    tokens_per_step: float | None
    verdict: str = ""


class ComparedWay(msgspec.Struct, frozen=True, kw_only=True):
    """One way of answering in both sessions; ``ratio`` is b ÷ a in decode speed over ``n_pairs`` shared prompts."""

    way: str
    a: Figures | None
    b: Figures | None
    n_pairs: int = 0
    ratio: Interval | None = None
    no_ratio: str = ""


class Difference(msgspec.Struct, frozen=True):
    """A condition in which the two sessions differ."""

    what: str
    a: str
    b: str


class SessionComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two sessions, side by side."""

    schema: str = SCHEMA
    names: tuple[str, str]
    differences: tuple[Difference, ...]
    ways: tuple[ComparedWay, ...]


def compare(a: Metrics, b: Metrics, names: tuple[str, str] = ("A", "B")) -> SessionComparison:
    """Put two sessions side by side."""
    groups = [_by_way(one.runs) for one in (a, b)]
    redacted = [one.session is not None and one.session.redacted for one in (a, b)]
    sessions = {one.session.id if one.session is not None else "" for one in (a, b)}
    is_one_session = len(sessions) == 1 and "" not in sessions
    is_redacted = any(redacted) and not (is_one_session and all(redacted))  # one session numbers a prompt but once
    is_one_target = _targets(a.runs) == _targets(b.runs) and len(_targets(a.runs)) == 1
    ways = []
    for way in dict.fromkeys([*groups[0], *groups[1]]):
        left, right = (group.get(way, []) for group in groups)
        n_pairs, ratio, why = _ratio(left, right, is_redacted=is_redacted, is_one_session=is_one_session)
        if any(map(is_lossy, (*left, *right))):
            n_pairs, ratio, why = 0, None, "lossy answers are not the same text"
        if not is_one_target:
            n_pairs, ratio, why = 0, None, "the targets differ"
        ways.append(
            ComparedWay(
                way=_way_words(way),
                a=_figures(left, a),
                b=_figures(right, b),
                n_pairs=n_pairs,
                ratio=ratio,
                no_ratio="" if ratio else why,
            )
        )
    return SessionComparison(names=names, differences=tuple(_differences(a, b)), ways=tuple(ways))


def figure_rows(way: ComparedWay) -> list[tuple[str, str, str]]:
    """Return the figures of a way in words: name, that of a, that of b."""
    rows: list[tuple[str, str, str]] = []
    for name, words in _FIGURES.items():
        a, b = ("–" if side is None else words(side) for side in (way.a, way.b))
        rows.append((name, a, b))
    return rows


def ratio_words(way: ComparedWay) -> str:
    """Say how much faster b decoded, or why that cannot be said."""
    if way.ratio is None:
        return f"none: {way.no_ratio}"
    return f"{way.ratio.median:.2f}× ({way.ratio.low:.2f}–{way.ratio.high:.2f}), {way.n_pairs} pairs"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


_FIGURES: dict[str, Callable[[Figures], str]] = {
    "answers": lambda f: str(f.n_runs),
    "decode speed, tok/s": lambda f: interval(f.decode_tps) if f.decode_tps else "–",
    "TTFT, s": lambda f: number(f.ttft_s.median if f.ttft_s else None, 3),
    "acceptance": lambda f: _share(f.acceptance),
    "alpha": lambda f: number(f.alpha, 2),
    "tokens per step": lambda f: number(f.tokens_per_step, 2),
    "verdict": lambda f: f.verdict or "–",
}

_Way = tuple[str, bool]
"""What was asked for, in words, and whether the answers were sampled."""


def _by_way(runs: Iterable[Run]) -> dict[_Way, list[Run]]:
    found: dict[_Way, list[Run]] = {}
    for run in runs:
        if is_measured(run):
            found.setdefault((way_words(run), run.temperature > 0), []).append(run)
    return found


def _way_words(way: _Way) -> str:
    asked, is_sampled = way
    return f"{asked}, {'sampled' if is_sampled else 'greedy'}"


def _figures(runs: Sequence[Run], metrics: Metrics) -> Figures | None:
    if not runs:
        return None
    proposed, judged, accepted = (
        sum(getattr(run, name) for run in runs) for name in ("proposed", "judged", "accepted")
    )
    n_steps = sum(len(run.steps) for run in runs)
    tokens = sum(run.tokens for run in runs)
    ids = {run.id for run in runs}
    sentences = [c.words for c in metrics.comparisons if ids & {fast for fast, _ in c.pairs}]
    return Figures(
        n_runs=len(runs),
        tokens=tokens,
        decode_tps=stats.median_interval([run.decode_tps for run in runs if run.decode_tps is not None]),
        ttft_s=stats.median_interval([run.ttft_s for run in runs if run.ttft_s is not None]),
        acceptance=accepted / proposed if proposed else None,
        alpha=accepted / judged if judged else None,
        tokens_per_step=tokens / n_steps if n_steps else None,
        verdict="; ".join(sentences),
    )


def _ratio(
    left: Sequence[Run], right: Sequence[Run], *, is_redacted: bool, is_one_session: bool
) -> tuple[int, Interval | None, str]:
    if not left or not right:
        return 0, None, "only one of them answered this way"
    if is_one_session:
        both = {run.id for run in left} & {run.id for run in right}
        newer = [[run for run in side if run.id not in both] for side in (left, right)]
        if not any(newer):
            return 0, None, "these are the same answers of one session"
        left, right = newer[0] or left, newer[1] or right
    free: dict[tuple[str, int], list[float]] = {}
    for run in left:
        if (speed := _speed(run)) is not None:
            free.setdefault(_prompt_key(run), []).append(speed)
    ratios = []
    for run in right:
        key = _prompt_key(run)
        is_named = bool(run.prompt) and not (is_redacted and _ALIAS.fullmatch(run.prompt))
        if is_named and free.get(key) and (speed := _speed(run)) is not None:
            ratios.append(math.log(speed / free[key].pop(0)))
    judged = judge(ratios, n_stored=0 if is_one_session else len(ratios))  # else as with a baseline of another session
    needs = "fewer than six prompts were answered in both"
    if is_redacted:
        needs = "fewer than six prompts were answered in both (own prompts are left out)"
    return len(ratios), judged.speedup, needs


def _speed(run: Run) -> float | None:
    """Return the decode speed, if any machine could have it: a file may say what it likes."""
    return run.decode_tps if run.decode_tps is not None and 1e-6 < run.decode_tps < 1e9 else None


def _prompt_key(run: Run) -> tuple[str, int]:
    return run.prompt, run.conditions.context_bucket if run.conditions else 0


def _targets(runs: Iterable[Run]) -> set[str]:
    return {run.conditions.target_fingerprint for run in runs if run.conditions and usable(run)}


def _differences(a: Metrics, b: Metrics) -> list[Difference]:
    facts = [("processor", a.machine.cpu, b.machine.cpu), ("system", a.machine.os, b.machine.os)]
    facts += [(words, _values(a.runs, field), _values(b.runs, field)) for field, words in _CONDITIONS]
    return [Difference(what, left, right) for what, left, right in facts if left != right]


def _values(runs: Sequence[Run], field: str) -> str:
    """Return all that a condition was, in words."""
    found: dict[str, None] = {}
    for run in runs:
        if isinstance(run.conditions, RunConditions):
            value = getattr(run.conditions, field)
            found[_value_words(field, value)] = None
    return ", ".join(found) or "–"


def _value_words(field: str, value: object) -> str:
    if field == "on_battery":
        return "not known" if value is None else "battery" if value else "mains"
    return "none" if value in (None, "") else str(value)


class Counted(NamedTuple):
    """How much a session holds."""

    answers: int
    plain: int
    tokens: int
    steps: int


def counted(metrics: Metrics) -> Counted:
    """Count what a session holds."""
    runs = metrics.runs
    n_tokens, n_steps = sum(run.tokens for run in runs), sum(len(run.steps) for run in runs)
    return Counted(len(runs), sum(map(is_plain, runs)), n_tokens, n_steps)


def totals(metrics: Metrics) -> str:
    """Say how much a session holds."""
    n = counted(metrics)
    answers = f"{n.answers:,} answer" + ("" if n.answers == 1 else "s")
    return f"{answers} ({n.plain:,} plain), {n.tokens:,} tokens, {n.steps:,} steps"
