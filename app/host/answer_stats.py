"""What is kept of a run beside its answer in a conversation: for the window, and for whoever draws one."""

from __future__ import annotations

from app.chat.conversation import AnswerStats
from app.metrics.values import Run
from app.protocol import Engagement


def stats_of(run: Run, engagement: Engagement | None) -> AnswerStats:
    """Return what is shown and stored of a run."""
    stop = run.stop_reason
    return AnswerStats(
        n_tokens=run.tokens,
        n_prompt_tokens=run.prompt_tokens,
        n_cached_tokens=run.cached_tokens,
        decode_tps=run.decode_tps,
        ttft_s=run.ttft_s,
        answer_s=run.answer_s,
        n_proposed=run.proposed,
        n_accepted=run.accepted,
        engagement=None if run.spec_type == "none" else engagement,
        stop_reason="failed" if stop == "engine_died" else stop,
        run_id=run.id,
        seed=run.seed,
    )
