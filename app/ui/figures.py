"""The panel's figures in words. They are the session's own; nothing is computed here but their text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.metrics.baseline import differences
from app.metrics.disturbance import paging
from app.metrics.energy import tokens_per_wh
from app.metrics.values import has_draft_of, is_beside_draft, is_complete, is_lossy, is_plain
from app.metrics.verdict import MIN_TOKENS
from app.ui.said import said
from app.ui.tr import tr
from app.ui.trace import Band
from app.ui.wording import drafter_name, length_words, power_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.metrics.baseline import Baseline
    from app.metrics.values import Run, RunConditions


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure with its name; ``meaning`` is its definition, shown on hover."""

    name: str
    value: str
    meaning: str


def _number(value: float | None, digits: int, unit: str = "") -> str:
    return "–" if value is None else f"{value:,.{digits}f}{unit}"


def facts_of(run: Run) -> tuple[Fact, ...]:
    """Return the figures of an answer with their definitions."""
    drafting = tr("not engaged: {not_engaged}").format(not_engaged=run.not_engaged)
    if is_plain(run):
        has_heads = run.conditions is not None and run.conditions.mtp_heads
        drafting = tr("off, MTP heads in memory") if has_heads else tr("off")
        if is_beside_draft(run):
            heads_too = tr("off, draft model and MTP heads in memory")
            drafting = heads_too if has_heads else tr("off, draft model in memory")
    elif run.engaged:
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


def draft_difference(one: RunConditions, other: RunConditions) -> str:
    """Say which draft model was in memory otherwise; "" if it was the same, or none."""
    if has_draft_of(one, other) or (one.draft_file is None and other.draft_file is None):
        return ""
    words = tr("the draft model {draft_file} was in memory, not {other}")
    if one.draft_file is None:
        words = tr("no draft model was in memory, and now {other} is")
    elif other.draft_file is None:
        words = tr("the draft model {draft_file} was in memory, and now none is")
    elif one.draft_file == other.draft_file:
        words = tr("the draft model {draft_file} in memory was another file, or on another device")
    return words.format(draft_file=one.draft_file, other=other.draft_file)


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
    reasons = [*map(said, differences(b.conditions, a.conditions))]
    plain, drafted = (a, b) if is_plain(a) else (b, a)
    if is_beside_draft(plain) and not is_plain(drafted):
        reasons.append(draft_difference(a.conditions, b.conditions))
    if any(reasons):
        return tr("{pair}: no comparison under unlike conditions: {reasons}.").format(
            pair=pair, reasons="; ".join(filter(None, reasons))
        )
    words = tr("{pair}: {decode_tps:.2f}× as fast. One pair is no verdict.").format(
        pair=pair, decode_tps=b.decode_tps / a.decode_tps
    )
    if is_plain(drafted) and (unlike := draft_difference(a.conditions, b.conditions)):
        words += " " + tr("Both are plain: {unlike}.").format(unlike=unlike)
    return words


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


def band_of(baseline: Baseline | None) -> Band | None:
    """Return a baseline as the charts draw it."""
    if baseline is None:
        return None
    band = baseline.decode_tps
    return Band(band.median, band.low, band.high, is_beside_draft=baseline.draft_file is not None)
