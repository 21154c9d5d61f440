"""What an answer cost, as lines under it."""

from __future__ import annotations

from app.metrics.values import Run


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


def accept_text(accepted: int, proposed: int) -> str:
    """Accepted of proposed draft tokens, with the share."""
    share = f"{accepted / proposed:.1%}" if proposed else "nothing drafted"
    return f"{accepted}/{proposed} ({share})"


def _speculation(run: Run) -> list[str]:
    if run.spec_type == "none":
        return []
    if not run.engaged:
        return [f"speculation: {run.spec_type} not engaged: {run.not_engaged or 'The answer never started.'}"]
    rule = isinstance(run.draft_tokens, str)
    lines = [
        f"speculation: {run.spec_type}, "
        + (f"length {run.draft_tokens}" if rule else f"up to {run.draft_tokens} tokens"),
        f"draft accept: {accept_text(run.accepted, run.proposed)}",
    ]
    if run.not_engaged:
        lines.insert(1, f"not engaged: {run.not_engaged}")
    if run.tokens_per_step is not None:
        lines.append(f"tokens per step: {run.tokens_per_step:.2f}")
    return lines
