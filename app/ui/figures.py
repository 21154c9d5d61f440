"""The panel's figures in words. They are the session's own; nothing is computed here but their text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from app.metrics.baseline import differences, staleness
from app.metrics.disturbance import paging
from app.metrics.energy import tokens_per_wh
from app.metrics.outlook import outlook
from app.metrics.values import is_complete, is_lossy, is_plain
from app.metrics.verdict import MIN_PAIRS, MIN_TOKENS, MOST_PAIRS, usable
from app.ui.said import said, said_each
from app.ui.tr import tr
from app.ui.trace import Band
from app.ui.wording import drafter_name, length_words, power_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.metrics.baseline import Baseline
    from app.metrics.export import Comparison
    from app.metrics.recorder import SessionLog
    from app.metrics.values import Run

Offer = Literal["", "record", "record here", "switch off"]
"""The next step that the panel offers, if there is one."""


NO_DIFFERENCE = 1.05
"""A speed-up that is surely nearer to 1 than this is none that anybody notices."""

FARTHEST = 10.0
"""Beyond, an interval says no more than that too little is known."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure with its name; ``meaning`` is its definition, shown on hover."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether speculation pays, in words: the verdict, against what, what was predicted, what can be done."""

    verdict: str
    baseline: str
    note: str = ""
    offer: Offer = ""


def _number(value: float | None, digits: int, unit: str = "") -> str:
    return "–" if value is None else f"{value:,.{digits}f}{unit}"


def facts_of(run: Run) -> tuple[Fact, ...]:
    """Return the figures of an answer with their definitions."""
    drafting = (
        tr("off") if run.spec_type == "none" else tr("not engaged: {not_engaged}").format(not_engaged=run.not_engaged)
    )
    if run.engaged:
        drafting = f"{drafter_name(run.spec_type)}, {length_words(run.draft_tokens, run.n_exact)}"
    accepted = "–" if run.acceptance is None else f"{run.accepted:,}/{run.proposed:,} ({run.acceptance:.1%})"
    judged = "–" if run.alpha is None else f"{run.alpha:.2f} ({run.accepted:,}/{run.judged:,})"
    prefill = tr("Newly evaluated prompt tokens ÷ prefill time.")
    answer = tr("From the request to the last token: it holds the prefill of both models, catching up and decoding.")
    return (
        Fact(tr("Drafting"), drafting, tr("What drafted for this answer.")),
        Fact(tr("Acceptance"), accepted, tr("Draft tokens kept ÷ draft tokens sent to the target.")),
        Fact(
            tr("Alpha, per token"),
            judged,
            tr("Draft tokens kept ÷ those the target ruled on, up to the first rejected."),
        ),
        Fact(tr("Tokens per step"), _number(run.tokens_per_step, 2), tr("Tokens emitted ÷ passes of the target.")),
        Fact(tr("First token"), _number(run.ttft_s, 2, " s"), tr("From the request to the first token emitted.")),
        Fact(tr("Answer time"), _number(run.answer_s, 2, " s"), answer),
        Fact(tr("Prefill"), _number(run.prefill_tps, 0, " tok/s"), prefill),
        _energy(run),
        *_rows(run),
        *_power(run),
        *_marks(run),
    )


def _power(run: Run) -> tuple[Fact, ...]:
    """How the machine was powered, where the system tells: answers on battery and on mains are no pair."""
    told = run.surroundings
    if told is None or not (words := power_words(told.on_battery, told.power_mode)):
        return ()
    meaning = tr("Only answers on the same supply and in the same power mode are held against each other.")
    return (Fact(tr("Power"), words, meaning),)


def _energy(run: Run) -> Fact:
    """Tokens of an answer by the energy that it took, where the system tells."""
    figure = tokens_per_wh(run.tokens, run.energy_j)
    meaning = tr("Tokens ÷ energy from the request to the end; the whole machine's on battery, else the processor's.")
    if figure is None:
        return Fact(
            tr("Energy"),
            tr("not available"),
            tr("{meaning} This system does not tell, or not for so short an answer.").format(meaning=meaning),
        )
    return Fact(
        tr("Energy"),
        tr("{figure:,.0f} tokens/Wh").format(figure=figure),
        tr("{meaning} Measured: {energy_source}.").format(meaning=meaning, energy_source=run.energy_source),
    )


def _rows(run: Run) -> tuple[Fact, ...]:
    """Rows that passes had where they were more than chains need: with token trees, or a fixed shape."""
    if run.tree_depth is None and not run.fixed_shape:
        return ()
    rows = tr("{rows:,}, {wasted:,} wasted ({share:.0%})").format(
        rows=run.rows, wasted=run.rows_wasted, share=run.rows_wasted / max(1, run.rows)
    )
    found = [Fact(tr("Rows of the target"), rows, tr("Rows computed to verify drafts; those wasted gave no token."))]
    if run.tree_depth is not None:
        found.append(
            Fact(tr("Tree depth"), f"{run.tree_depth:.1f}", tr("Nodes on the longest way of a token tree, the mean."))
        )
    return tuple(found)


def _marks(run: Run) -> tuple[Fact, ...]:
    """Why an answer does not count, and what else went on meanwhile, where there is something to say."""
    found = (
        [Fact(tr("Does not count"), said(run.excluded), tr("It enters no verdict and no baseline."))]
        if run.excluded
        else []
    )
    if run.notes:
        found.append(
            Fact(tr("Meanwhile"), "; ".join(map(said, run.notes)), tr("What else went on while this was measured."))
        )
    if words := paging(run):
        meaning = tr("Weights that are not in memory are read from the disk in the midst of a pass.")
        found.append(Fact(tr("Memory"), said(words), meaning))
    return tuple(found)


def answer_title(run: Run, number: int) -> str:
    """Name a past answer in a list: its number, what drafted, how fast."""
    drafting = tr("plain") if is_plain(run) else drafter_name(run.spec_type) if run.engaged else tr("not engaged")
    parts = [f"{number} · {drafting}", _number(run.decode_tps, 1, " tok/s")]
    if run.acceptance is not None:
        parts.append(f"{run.acceptance:.0%}")
    if run.prompt:
        parts.append(run.prompt)
    return " · ".join(parts)


def comparison_words(chosen: Sequence[tuple[int, Run]]) -> str:
    """Hold two answers against each other, or say why they cannot be; "" unless there are two."""
    if len(chosen) != 2:
        return ""
    (first, a), (second, b) = chosen
    pair = tr("Answer {second} against {first}").format(second=second, first=first)
    for number, run in chosen:
        if why := exclusion(run):
            return tr("{pair}: no comparison, answer {number} {why}.").format(pair=pair, number=number, why=why)
    if a.conditions is None or b.conditions is None or a.decode_tps is None or b.decode_tps is None:
        return tr("{pair}: no comparison, the conditions of one are not known.").format(pair=pair)
    if reasons := differences(b.conditions, a.conditions):
        return tr("{pair}: no comparison under unlike conditions: {reasons}.").format(
            pair=pair, reasons=said_each(reasons)
        )
    return tr("{pair}: {decode_tps:.2f}× as fast. One pair is no verdict.").format(
        pair=pair, decode_tps=b.decode_tps / a.decode_tps
    )


def exclusion(run: Run) -> str:
    """Say why an answer counts in no verdict and no baseline; "" if it counts."""
    if run.stop_reason == "engine_died":
        return tr("is left out: the engine died during it")
    if run.stop_reason in ("cancelled", "failed"):
        is_stopped = run.stop_reason == "cancelled"
        return tr("is left out: it was stopped") if is_stopped else tr("is left out: it was broken off by a fault")
    if run.excluded:
        return tr("is left out: {excluded}").format(excluded=said(run.excluded))
    if not is_complete(run) or run.tokens < MIN_TOKENS:
        return tr("is left out: it has fewer than {min_tokens} tokens").format(min_tokens=MIN_TOKENS)
    if not is_plain(run) and not run.engaged:
        return tr("is left out: speculation was not engaged")
    if is_lossy(run):
        return tr("is left out: it is lossy, lenient acceptance may have changed its words")
    return ""


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
    notes = [_left_out(session), outlook_words(newest, session), refused]
    if comparison.verdict != "cannot tell":
        offer = "switch off" if comparison.verdict == "costs" and is_on else ""
    elif not offer and (refused or session.baseline is None):
        offer = "record"
    return Standing(verdict_words(comparison), baseline, _joined(notes), offer)


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
    if comparison.pairs_needed is None and low >= 1 / NO_DIFFERENCE and high <= NO_DIFFERENCE:
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


def _more(n_pairs: int) -> str:
    return tr("%n more pair(s) of answers", None, n_pairs)


def outlook_words(run: Run, session: SessionLog) -> str:
    """Say what was predicted for an answer beside what it measured, and the cause when they differ."""
    baseline = session.current_baseline()
    alike = baseline if baseline and run.conditions and not differences(baseline, run.conditions) else None
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
    if last is not None and not why and is_plain(last) and last.conditions and last.conditions.draft_file:
        return tr("The last answer is no baseline: the draft model {draft_file} is loaded beside its target.").format(
            draft_file=last.conditions.draft_file
        )
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
        if plain.conditions.draft_file:
            return tr("No verdict against the last plain answer: the draft model {draft_file} was loaded, too.").format(
                draft_file=plain.conditions.draft_file
            )
        return ""
    if session.baseline is None and (refused := session.baselines.refusals(newest.conditions)):
        return _refused_words(*refused[0])
    return ""


def _joined(notes: list[str]) -> str:
    return "\n".join(note for note in notes if note)


def baseline_words(session: SessionLog) -> str:
    """Say what the speed is held against, and why not against what was recorded before."""
    if baseline := session.current_baseline():
        band = baseline.decode_tps
        of = tr("recorded") if baseline.kind == "recorded" else tr("this session, speculation off")
        answers = tr("%n answer(s)", None, baseline.n_runs)
        return tr("Baseline {median:.1f} tok/s ({low:.1f}–{high:.1f}), {answers}, {of}").format(
            median=band.median, low=band.low, high=band.high, answers=answers, of=of
        )
    return tr("No baseline. Record one, or answer a few times with speculation off.")


def band_of(baseline: Baseline | None) -> Band | None:
    """Return a baseline as the charts draw it."""
    if baseline is None:
        return None
    return Band(baseline.decode_tps.median, baseline.decode_tps.low, baseline.decode_tps.high)
