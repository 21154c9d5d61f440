"""The panel's figures in words. They are the session's own; nothing is computed here but their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.metrics.values import is_plain
from app.metrics.verdict import usable
from app.ui.speed_panel import Fact
from app.ui.trace import Band
from app.ui.wording import drafter_name, length_words

if TYPE_CHECKING:
    from app.metrics.baseline import Baseline
    from app.metrics.recorder import SessionLog
    from app.metrics.values import Run


def _number(value: float | None, digits: int, unit: str = "") -> str:
    return "–" if value is None else f"{value:,.{digits}f}{unit}"


def facts_of(run: Run) -> tuple[Fact, ...]:
    """Return the figures of an answer with their definitions."""
    drafting = "off" if run.spec_type == "none" else f"not engaged: {run.not_engaged}"
    if run.engaged:
        drafting = f"{drafter_name(run.spec_type)}, {length_words(run.draft_tokens)}"
    accepted = "–" if run.acceptance is None else f"{run.accepted:,}/{run.proposed:,} ({run.acceptance:.1%})"
    return (
        Fact("Drafting", drafting, "What drafted for this answer."),
        Fact("Draft accepted", accepted, "Draft tokens kept ÷ draft tokens sent to the target."),
        Fact("Alpha, per token", _number(run.alpha, 2), "Draft tokens kept ÷ those the target ruled on."),
        Fact("Tokens per step", _number(run.tokens_per_step, 2), "Tokens emitted ÷ passes of the target."),
        Fact("First token", _number(run.ttft_s, 2, " s"), "From the request to the first token."),
        Fact("Prefill", _number(run.prefill_tps, 0, " tok/s"), "Newly evaluated prompt tokens ÷ prefill time."),
    )


def verdict_words(session: SessionLog) -> str:
    """Say whether speculation pays: the verdict on the newest answer that was drafted."""
    for run in reversed(session.runs):
        if comparison := session.comparison_of(run):
            words = comparison.sentence
            if comparison.verdict == "cannot tell":
                return f"Does speculation pay? {words[:1].upper()}{words[1:]}"
            return f"Speculation {words}"
    return "Does speculation pay? Not measured yet."


def baseline_words(session: SessionLog) -> str:
    """Say what the speed is held against, and why not against what was recorded before."""
    if baseline := current_baseline(session):
        band = baseline.decode_tps
        of = "recorded" if baseline.kind == "recorded" else "this session, speculation off"
        answers = f"{baseline.n_runs} answer" + ("" if baseline.n_runs == 1 else "s")
        return f"Baseline {band.median:.1f} tok/s ({band.low:.1f}–{band.high:.1f}), {answers}, {of}"
    return "No baseline. Record one, or answer a few times with speculation off."


def current_baseline(session: SessionLog) -> Baseline | None:
    """Return the recorded baseline, or else what the session's plain answers make."""
    if session.baseline is not None:
        return session.baseline
    plain = [run for run in session.runs if is_plain(run) and usable(run)]
    return session.live_baseline(plain[-1]) if plain else None


def band_of(baseline: Baseline | None) -> Band | None:
    """Return a baseline as the charts draw it."""
    if baseline is None:
        return None
    return Band(baseline.decode_tps.median, baseline.decode_tps.low, baseline.decode_tps.high)
