"""What an answer cost, as lines under it."""

from __future__ import annotations

from app.chat.reported import RemoteFigures
from app.host.remote_wire import RemoteEnd
from app.metrics.stats import tree_nodes
from app.metrics.values import Run

REPORTED = "reported by the server"
"""Beside every figure that was not measured here."""


def profile_lines(run: Run) -> list[str]:
    """Describe a run, one figure a line; what was not measured is left out."""
    lines = [f"prompt tokens: {run.prompt_tokens}", f"cached tokens: {run.cached_tokens}"]
    if run.ttft_s is not None:
        lines.append(f"TTFT: {run.ttft_s:.3f} s")
    if run.prefill_tps is not None:
        lines.append(f"prefill speed: {run.prefill_tps:.1f} tok/s")
    lines.append(f"tokens: {run.tokens}")
    if run.decode_tps is not None:
        lines.append(f"decode speed: {run.decode_tps:.1f} tok/s")
    lines += _speculation(run)
    lines.append(f"stop reason: {run.stop_reason}")
    lines.append(f"seed: {run.seed}")
    return lines


def rows_text(run: Run) -> str:
    """Rows of the passes that verified, and what part of them gave no token."""
    n_passes = max(1, len(run.steps) - 1)
    wasted = run.rows_wasted / run.rows if run.rows else 0.0
    return f"{run.rows / n_passes:.1f} rows a pass, {wasted:.0%} of them wasted"


def brief_line(run: Run) -> str:
    """Describe a run in one line, for a conversation."""
    parts = [f"{run.decode_tps:.1f} tok/s"] if run.decode_tps is not None else []
    parts.append(f"tokens: {run.tokens}")
    if run.ttft_s is not None:
        parts.append(f"TTFT: {run.ttft_s:.1f} s")
    if run.spec_type != "none":
        if run.engaged:
            parts.append(f"draft accept: {accept_text(run.accepted, run.proposed)}")
        if run.lenient:
            parts.append("lossy")
        if run.not_engaged or not run.engaged:
            parts.append(_not_engaged(run))
    if run.stop_reason not in ("eos", "stop"):
        parts.append(f"stop reason: {run.stop_reason}")
    return " · ".join(parts)


def accept_text(accepted: int, proposed: int) -> str:
    """Accepted of proposed draft tokens, with the share."""
    share = f"{accepted / proposed:.1%}" if proposed else "nothing drafted"
    return f"{accepted}/{proposed} ({share})"


def _speculation(run: Run) -> list[str]:
    if run.spec_type == "none":
        return []
    if not run.engaged:
        return [f"speculation: {run.spec_type} {_not_engaged(run)}"]
    rule = isinstance(run.draft_tokens, str)
    lines = [
        f"speculation: {run.spec_type}, "
        + (f"length {run.draft_tokens}" if rule else f"up to {run.draft_tokens} tokens"),
        f"draft accept: {accept_text(run.accepted, run.proposed)}",
    ]
    if run.not_engaged:
        lines.insert(1, f"not engaged: {run.not_engaged}")
    if run.lenient:
        lines.append(f"lossy: acceptance is lenient (P = {run.lenient:g}), the answer may not be the model's own words")
    if run.fixed_shape:
        lines.append(f"fixed shape: {rows_text(run)}")
    if run.tree_depth is not None and (n_nodes := tree_nodes(run.steps)) is not None:
        lines.append(f"token trees: {n_nodes:.1f} nodes, {run.tree_depth:.1f} deep, {rows_text(run)}")
    if run.tokens_per_step is not None:
        lines.append(f"tokens per step: {run.tokens_per_step:.2f}")
    return lines


def _not_engaged(run: Run) -> str:
    return f"not engaged, because: {run.not_engaged or 'The answer never started.'}"


def remote_lines(end: RemoteEnd) -> list[str]:
    """Describe an answer of a server by what it reports, one figure a line."""
    figures = end.reported
    whole = (
        ("prompt tokens", figures.prompt_tokens),
        ("cached tokens", figures.cached_tokens),
        ("tokens", figures.tokens),
    )
    lines = [f"{name}: {value}" for name, value in whole if value is not None]
    speeds = (("prefill speed", figures.prefill_tps), ("decode speed", figures.decode_tps))
    if figures.ttft_s is not None:
        lines.append(f"TTFT: {figures.ttft_s:.3f} s")
    lines += [f"{name}: {value:.1f} tok/s" for name, value in speeds if value is not None]
    if figures.drafter:
        lines.append(f"speculation: {figures.drafter}")
    lines += _remote_drafts(figures)
    if figures.tokens_per_step is not None:
        lines.append(f"tokens per step: {figures.tokens_per_step:.2f}")
    told = [f"{line} ({REPORTED})" for line in lines]
    return [*told, f"stop reason: {end.finish_reason}"]


def remote_brief(end: RemoteEnd) -> str:
    """Describe an answer of a server in one line."""
    figures = end.reported
    parts = [f"{figures.decode_tps:.1f} tok/s"] if figures.decode_tps is not None else []
    parts += [f"tokens: {figures.tokens}"] if figures.tokens is not None else []
    parts += _remote_drafts(figures)
    parts += [REPORTED] if parts else []
    return " · ".join([*parts, *([f"stop reason: {end.finish_reason}"] if end.finish_reason != "stop" else [])])


def _remote_drafts(figures: RemoteFigures) -> list[str]:
    lines = []
    if figures.proposed is not None and figures.accepted is not None and (figures.proposed or figures.drafter):
        lines.append(f"draft accept: {accept_text(figures.accepted, figures.proposed)}")
    if figures.not_engaged:
        lines.append(f"not engaged, because: {figures.not_engaged}")
    return lines
