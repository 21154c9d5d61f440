"""The figures of an answer, as clients of this API know them, with the definitions of the program's own panel."""

from __future__ import annotations

from typing import Any

from app.metrics.values import Run, is_lossy
from app.protocol import Engagement, NoticeInfo


def usage_of(run: Run) -> dict[str, Any]:
    """Return ``usage``; a draft token that was proposed and not kept counts as rejected."""
    return {
        "prompt_tokens": run.prompt_tokens,
        "completion_tokens": run.tokens,
        "total_tokens": run.prompt_tokens + run.tokens,
        "prompt_tokens_details": {"cached_tokens": run.cached_tokens},
        "completion_tokens_details": {
            "accepted_prediction_tokens": run.accepted,
            "rejected_prediction_tokens": run.proposed - run.accepted,
        },
    }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1e3, 3)


def timings_of(run: Run, engagement: Engagement | None) -> dict[str, Any]:
    """Return ``timings``: llama.cpp's names where it has one; times are the engine's own.

    ``predicted_per_second`` leaves out the first chunk, as decode speed does everywhere in the program. ``lossy``: the
    answer may not be the model's own words; the drafter's name ends in it, too.
    """
    drafter = engagement.drafter if engagement is not None and engagement.engaged else ""
    return {
        "cache_n": run.cached_tokens,
        "prompt_n": run.prompt_tokens - run.cached_tokens,
        "prompt_ms": _ms(run.prefill_s),
        "prompt_per_second": run.prefill_tps,
        "predicted_n": run.tokens,
        "predicted_ms": _ms(run.answer_s - run.ttft_s) if run.answer_s is not None and run.ttft_s is not None else None,
        "predicted_per_second": run.decode_tps,
        "ttft_ms": _ms(run.ttft_s),
        "answer_ms": _ms(run.answer_s),
        "draft_prompt_ms": _ms(run.draft_prefill_s),
        "draft_n": run.proposed,
        "draft_n_judged": run.judged,
        "draft_n_accepted": run.accepted,
        "draft_accept": run.acceptance,
        "alpha": run.alpha,
        "tokens_per_step": run.tokens_per_step,
        "drafter": drafter,
        "not_engaged": run.not_engaged,
        "lossy": is_lossy(run),
        "rows_n": run.rows,
        "rows_n_wasted": run.rows_wasted,
        "tree_depth": run.tree_depth,
    }


def notices_of(notices: tuple[NoticeInfo, ...]) -> list[dict[str, str]]:
    """Return what a person should know about an answer."""
    return [{"code": one.code, "message": one.message, "hint": one.hint} for one in notices]
