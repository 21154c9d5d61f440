"""Whether speculation pays, in words: the verdict, what it is held against, why not against what, what can be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from app.metrics.baseline import MIN_RUNS, differences, staleness
from app.metrics.outlook import outlook
from app.metrics.pairing import can_be_halves
from app.metrics.stats import FIRST_BUCKET_TOKENS
from app.metrics.values import is_plain
from app.metrics.verdict import MIN_PAIRS, MOST_PAIRS, usable
from app.ui.figures import draft_difference, exclusion
from app.ui.recording import N_BUILT_IN, rounds_for
from app.ui.said import said, said_each
from app.ui.tr import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.metrics.baseline import Baseline
    from app.metrics.export import Comparison
    from app.metrics.recorder import SessionLog
    from app.metrics.values import Interval, Run, RunConditions

Offer = Literal["", "record", "record here", "record more", "compare drafts", "switch off"]
"""The next step that the panel offers, if there is one."""


NO_DIFFERENCE = 1.05
"""A speed-up that is surely nearer to 1 than this is none that anybody notices."""

FARTHEST = 10.0
"""Beyond, an interval says no more than that too little is known."""


_WITHOUT_HALF = tr(
    "No plain answer of this length is left to hold the last one with speculation against. Answer at this length with "
    "speculation off, or record on your questions in this conversation."
)
_MORE_HELP = tr("A recording makes them: the built-in prompts, answered with speculation off and on by turns.")
_MORE_HERE_HELP = tr("A recording on your questions in this conversation makes them, at this length.")
_NEWER_HELP = tr("A recording makes pairs of this session: the built-in prompts, with speculation off and on by turns.")
_OTHERS_HELP = tr(
    "More answers like these will hardly show one. Other drafts may, or other prompts: code and edits of a text repeat "
    "more than prose does."
)
_CALM_HELPS = tr(
    "These answers differ too much from one another. Longer answers vary less, and so do those of a machine that does "
    "nothing else meanwhile."
)


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether speculation pays, in words: the verdict, against what, what was predicted, what can be done."""

    verdict: str
    baseline: str
    note: str = ""
    offer: Offer = ""
    n_more: int = 0
    """Pairs of answers that are offered to be recorded."""


def standing(session: SessionLog, *, is_on: bool) -> Standing:
    """Say whether speculation pays: the verdict on the newest answer that was drafted."""
    baseline = baseline_words(session)
    newest = next((run for run in reversed(session.runs) if session.comparison_of(run)), None)
    comparison = session.comparison_of(newest) if newest is not None else None
    refused, offer = _baseline_refusal(session, newest)
    if newest is None or comparison is None:
        notes = [_left_out(session), refused]
        return Standing(tr("Does speculation pay? Not measured yet."), baseline, _joined(notes), offer)
    if not refused and not comparison.n_pairs:
        refused = _refusal(session, newest)
    since = _since_then(newest, session.conditions_now())
    notes = [beside_draft_words(comparison), since, _left_out(session), outlook_words(newest, session), refused]
    n_more = 0
    if comparison.verdict != "cannot tell":
        offer = "switch off" if comparison.verdict == "costs" and is_on and not since else ""
    elif not offer and not since and _is_without_half(newest, comparison, session):
        notes.append(_WITHOUT_HALF)
        offer = "record here"
    elif not offer and not since and (refused or session.baseline is None):
        offer = "record"
    elif not offer and not since:
        helps, offer, n_more = _what_helps(newest, comparison)
        notes.append(helps)
    return Standing(verdict_words(comparison), baseline, _joined(notes), offer, n_more)


def _what_helps(newest: Run, comparison: Comparison) -> tuple[str, Offer, int]:
    """Say what would decide what a full set of pairs leaves open, and offer it; with how many pairs, if with any."""
    needed = comparison.pairs_needed
    if comparison.speedup is None:  # as many answers as the verdict asks for are what helps
        return "", "", 0
    if needed is None and not comparison.drift:
        return (_OTHERS_HELP, "compare drafts", 0) if _is_no_difference(comparison.speedup) else (_CALM_HELPS, "", 0)
    if newest.conditions is not None and newest.conditions.context_bucket > FIRST_BUCKET_TOKENS:
        return _MORE_HERE_HELP, "record here", 0
    n_more = N_BUILT_IN * rounds_for(needed or MIN_PAIRS)
    return _NEWER_HELP if needed is None else _MORE_HELP, "record more", n_more


def _is_no_difference(speedup: Interval) -> bool:
    return speedup.low >= 1 / NO_DIFFERENCE and speedup.high <= NO_DIFFERENCE


def verdict_words(comparison: Comparison) -> str:
    """Say what the pairs say, and about how many more answers it takes where they do not say it yet."""
    if comparison.speedup is None:
        missing = MIN_PAIRS - comparison.n_pairs
        return tr("Does speculation pay? Cannot tell yet (needs about {more})").format(more=_more(missing))
    middle, low, high = comparison.speedup.median, comparison.speedup.low, comparison.speedup.high
    if comparison.verdict == "pays":
        words = tr("Speculation pays {middle:.2f}× ({low:.2f}–{high:.2f})")
        if high >= FARTHEST:
            words = tr("Speculation pays {middle:.2f}× ({low:.2f} to over {high:.0f})")
        return words.format(middle=middle, low=low, high=min(high, FARTHEST))
    if comparison.verdict == "costs":
        return tr("Speculation costs {middle:.0%} ({least:.0%}–{most:.0%})").format(
            middle=1 - middle, least=1 - high, most=1 - low
        )
    band = (
        f"{low:.2f}–{high:.2f}×"
        if high < FARTHEST
        else tr("{low:.2f} to over {farthest:.0f}×").format(low=low, farthest=FARTHEST)
    )
    if comparison.pairs_needed is None and _is_no_difference(comparison.speedup):
        return tr("Does speculation pay? Cannot tell: {band}, as good as no difference").format(band=band)
    if comparison.pairs_needed is None and comparison.drift:
        words = tr("Does speculation pay? Cannot tell: {band} against an earlier session (answer with it off, too)")
        return words.format(band=band)
    if comparison.pairs_needed is None:
        return tr("Does speculation pay? Cannot tell: {band} (needs over {most_pairs} more pairs of answers)").format(
            band=band, most_pairs=MOST_PAIRS
        )
    return tr("Does speculation pay? Cannot tell yet: {band} (needs about {more})").format(
        band=band, more=_more(comparison.pairs_needed)
    )


def beside_draft_words(comparison: Comparison) -> str:
    """Say how much of a verdict is not held against a baseline by its definition; "" if nothing is."""
    n_beside, n_pairs = comparison.n_beside_draft, comparison.n_pairs
    if not n_beside:
        return ""
    if n_beside == n_pairs:
        return tr("Held against answers of this session with speculation off, draft model in memory.")
    return tr(
        "{n_beside} of {n_pairs} pairs are held against answers of this session with speculation off, draft model in "
        "memory; the others against the baseline."
    ).format(n_beside=n_beside, n_pairs=n_pairs)


def _more(n_pairs: int) -> str:
    return tr("%n more pair(s) of answers", None, n_pairs)


def outlook_words(run: Run, session: SessionLog) -> str:
    """Say what was predicted for an answer beside what it measured, and the cause when they differ."""
    alike = session.baseline_of(run)
    told = outlook(run, session.runs, alike.decode_tps if alike else None)
    if told is None:
        return ""
    words = tr("Predicted {speedup:.2f}×").format(speedup=told.prediction.speedup)
    if told.measured is not None:
        band = told.measured
        words = tr("Predicted {speedup:.2f}×, last answer measured {median:.2f}× ({low:.2f}–{high:.2f})").format(
            speedup=told.prediction.speedup, median=band.median, low=band.low, high=band.high
        )
    if why := told.cause or told.hopeless:
        words += f": {said_each(why.split('; '))}"
    return f"{words}."


def _left_out(session: SessionLog) -> str:
    last = session.runs[-1] if session.runs else None
    why = exclusion(last) if last is not None else ""
    return tr("The last answer {why}.").format(why=why) if why else ""


def _baseline_refusal(session: SessionLog, newest: Run | None) -> tuple[str, Offer]:
    """Say which conditions keep the baseline in use from being held against answers, and what to do; "" if none does.

    It is held against the newest drafted answer of what is loaded, or, before there is one, against what is loaded.
    """
    baseline, now = session.baseline, session.conditions_now()
    if baseline is None or now is None:
        return "", ""
    drafted = newest.conditions if newest is not None else None
    if newest is None or drafted is None or drafted.target_fingerprint != now.target_fingerprint:
        reasons = staleness(baseline, now)
        return (_refused_words(baseline.name, reasons), "record") if reasons else ("", "")
    if reasons := differences(baseline, drafted, bucket=False):
        return _refused_words(baseline.name, reasons), "record"
    if session.baseline_of(newest) is None:
        words = tr(
            "No verdict against the baseline “{name}”: {reasons}. Answer at this length with speculation off, or "
            "record on your questions in this conversation."
        )
        return words.format(name=baseline.name, reasons=said_each(differences(baseline, drafted))), "record here"
    return "", ""


def _is_without_half(newest: Run, comparison: Comparison, session: SessionLog) -> bool:
    """Whether only plain answers at the length of a drafted one help: more drafted ones, or built-in prompts, do not.

    Where nothing was measured at the length of the built-in prompts, a baseline on these does as well.
    """
    if newest.conditions is None or any(newest.id == drafted for drafted, _ in comparison.pairs):
        return False
    return newest.conditions.context_bucket > FIRST_BUCKET_TOKENS or session.current_baseline() is not None


def _refused_words(name: str, reasons: Sequence[str]) -> str:
    words = tr("No verdict against the baseline “{name}”: {reasons}. Record one under the conditions of now.")
    return words.format(name=name, reasons=said_each(reasons))


def _refusal(session: SessionLog, newest: Run) -> str:
    """Say why there is nothing to hold drafted answers against though something was measured."""
    if newest.conditions is None:
        return ""
    plain = next((run for run in reversed(session.runs) if is_plain(run) and usable(run) and run.conditions), None)
    if plain is not None and plain.conditions is not None:
        if reasons := differences(plain.conditions, newest.conditions):
            return tr("No verdict against the last plain answer: {reasons}.").format(reasons=said_each(reasons))
        if not can_be_halves(plain.conditions, newest.conditions):
            words = tr("No verdict against the last plain answer: {reasons}.")
            return words.format(reasons=draft_difference(plain.conditions, newest.conditions))
        return ""
    if session.baseline is None and (refused := session.baselines.refusals(newest.conditions)):
        return _refused_words(*refused[0])
    return ""


def _since_then(newest: Run, now: RunConditions | None) -> str:
    """Say what has changed since the answers that a verdict is about; "" if it is of what is loaded."""
    then = newest.conditions
    if then is None or now is None:
        return ""
    alike = replace(now, sampled=then.sampled, sampler=then.sampler, context_bucket=then.context_bucket)
    reasons = [*map(said, differences(then, alike)), draft_difference(then, now)]
    words = tr("That was measured under other conditions than those of now: {reasons}.")
    return words.format(reasons="; ".join(filter(None, reasons))) if any(reasons) else ""


def _joined(notes: list[str]) -> str:
    return "\n".join(note for note in notes if note)


def _is_elsewhere(baseline: Baseline, session: SessionLog) -> bool:
    """Whether a baseline is of another context length than the last answer that counts."""
    newest = next((run for run in reversed(session.runs) if usable(run) and run.conditions), None)
    on = newest.conditions if newest else None
    return on is not None and on.context_bucket != baseline.context_bucket


def _answers_words(baseline: Baseline, *, is_elsewhere: bool) -> str:
    """Say of how many answers a baseline is, and of which length where it is not the last answer's."""
    if not is_elsewhere:
        return tr("%n answer(s)", None, baseline.n_runs)
    return tr(
        "%n answer(s) within {last:,} tokens of context, another length than the last answer", None, baseline.n_runs
    ).format(last=baseline.context_bucket)


def baseline_words(session: SessionLog) -> str:
    """Say what the speed is held against, and why not against what was recorded before."""
    if baseline := session.current_baseline():
        band, is_elsewhere = baseline.decode_tps, _is_elsewhere(baseline, session)
        answers = _answers_words(baseline, is_elsewhere=is_elsewhere)
        of = tr("recorded") if baseline.kind == "recorded" else tr("this session, speculation off")
        of = tr("this session, speculation off, draft model in memory") if baseline.draft_file else of
        of = tr("{of}, the target's MTP heads in memory").format(of=of) if baseline.mtp_heads else of
        words = tr("Baseline {median:.1f} tok/s ({low:.1f}–{high:.1f}), {answers}, {of}").format(
            median=band.median, low=band.low, high=band.high, answers=answers, of=of
        )
        missing = max(0, MIN_RUNS - baseline.n_runs)
        if missing and not is_elsewhere:  # more of that length are of no use at this one
            words += " " + tr("(%n more within {bucket:,} tokens for a 95 % interval)", None, missing).format(
                bucket=baseline.context_bucket
            )
        return words
    return tr("No baseline. Record one, or answer a few times with speculation off.")
