"""States and figures in words. Pure functions: the window, its tests and the pictures say the same."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, assert_never

from app.protocol import LOSSY, is_lossy_name

if TYPE_CHECKING:
    from app.chat.conversation import AnswerStats, Message
    from app.protocol import DraftTokens, Engagement, Loaded, LoadProgress, Plan, Prefill, SpecType, Started

_STAGES = {"target": "Loading the model", "draft": "Loading the draft model", "warmup": "Warming up"}
_DRAFTERS = {
    "ngram": "n-gram",
    "draft-simple": "draft model",
    "draft-mtp": "MTP heads",
    "tree": "token tree",
    "none": "none",
    "": "none",
}

_EXPECTED = re.compile(r"expected (\d+(?:\.\d+)?)x of plain speed")
_LEAST_DEBT_S = 0.05

NOT_LOADED = "No model is loaded."


def tip(words: str) -> str:
    """Return words as a tool tip: rich text, since only that is broken into lines."""
    return f"<p>{html.escape(words)}</p>".replace("\n", "<br>") if words else ""


def drafter_name(kind: str) -> str:
    """Name of a drafter, or of several in a row, for a person."""
    parts = kind.split(",")
    names = " + ".join(_DRAFTERS.get(part, part) for part in parts if part != LOSSY)
    return f"{names}, lossy" if LOSSY in parts else names


def load_words(progress: LoadProgress) -> str:
    """How far loading has come."""
    return f"{_STAGES[progress.stage]}… {progress.fraction:.0%}"


def prefill_words(started: Started, done: int) -> str:
    """How far reading the prompt has come; what the cache already holds is said."""
    total = started.prompt_tokens - started.cached_tokens
    words = f"Reading the prompt: {done:,} of {total:,} tokens"
    return words + (f" ({started.cached_tokens:,} already known)" if started.cached_tokens else "")


def waiting_words(prefill: Prefill, started: Started | None) -> str:
    """What to say under an answer that has no text yet."""
    if started is None:
        return f"Reading the prompt: {prefill.done:,} of {prefill.total:,} tokens"
    return prefill_words(started, prefill.done)


def engagement_words(engagement: Engagement) -> str:
    """Whether speculation is engaged, with what and how long, or why not."""
    if engagement.engaged:
        words = f"engaged: {drafter_name(engagement.drafter)}, {length_words(engagement.draft_tokens)}"
        if engagement.n_exact and isinstance(engagement.draft_tokens, str):
            words += f", at most {engagement.n_exact} so that no word can change"
        return words + (f"; not engaged: {engagement.reason}" if engagement.reason else "")
    return f"not engaged: {engagement.reason}"


def length_words(draft_tokens: DraftTokens) -> str:
    """How long drafts may be."""
    if isinstance(draft_tokens, int):
        return f"length {draft_tokens}"
    return "length chosen by what pays" if draft_tokens == "auto" else "length by the rolling rule"


def plan_words(engagement: Engagement, plan: Plan) -> str:
    """What the controller does now: engaged with which length and why, or paused and what drafting would cost."""
    if plan.limit == 0:
        lossy = " (lossy)" if is_lossy_name(engagement.drafter) else ""
        return f"paused by the controller{lossy}: {pause_words(plan.reason)}"
    name = drafter_name(plan.drafter or engagement.drafter)
    if plan.drafter and is_lossy_name(engagement.drafter):
        name += ", lossy"
    return f"engaged: {name}, length {plan.limit}" + (f" ({plan.reason})" if plan.reason else "")


def pause_words(reason: str) -> str:
    """Why the controller pauses; the speed-up it expects is put as what drafting would cost."""
    reason = reason.removeprefix("paused: ")
    expected = _EXPECTED.fullmatch(reason)
    if expected is None:
        return reason
    speedup = float(expected[1])
    if speedup >= 1:
        return f"drafting would gain too little now (expected {speedup:.2f}× of plain speed)"
    return f"drafting would cost about {1 - speedup:.0%} now (expected {speedup:.2f}× of plain speed)"


def debt_words(plan: Plan | None) -> str:
    """What speculation has saved or cost so far in the answer that runs, as the controller reckons."""
    if plan is None or abs(plan.debt_s) < _LEAST_DEBT_S:
        return ""
    return f"{'saved' if plan.debt_s < 0 else 'cost'} about {abs(plan.debt_s):.1f} s of this answer so far"


def expected_words(loaded: Loaded | None, kinds: tuple[SpecType, ...], n_draft: DraftTokens, *, is_on: bool) -> str:
    """What the next answer's speculation will be, as far as is known before it starts."""
    kinds = tuple(kind for kind in kinds if kind != "none")
    if not is_on:
        return "off: the next answer is plain"
    if not kinds:
        return "not engaged: no drafter is chosen"
    if loaded is None:
        return "not engaged: no model is loaded"
    able = [kind for kind in kinds if kind in loaded.drafters]
    if able:
        missing = [f"{drafter_name(kind)}: {loaded.not_engageable.get(kind, '')}" for kind in kinds if kind not in able]
        words = f"ready: {drafter_name(','.join(able))}, {length_words(n_draft)}"
        return words + (f"; not engaged: {' '.join(missing)}" if missing else "")
    reason = loaded.not_engageable.get(kinds[0], f"{drafter_name(kinds[0])} is not available with this model")
    return f"not engaged: {reason}"


def device_words(loaded: Loaded | None) -> str:
    """The device chip."""
    if loaded is None:
        return ""
    elsewhere = f", draft on {loaded.draft_device}" if loaded.draft_device not in ("", loaded.device) else ""
    return threads_words(loaded.device + elsewhere, loaded.n_threads)


def threads_words(device: str, n_threads: int) -> str:
    """A device and on how many threads it works."""
    return f"{device} · {n_threads} thread" + ("" if n_threads == 1 else "s")


def speed_words(stats: AnswerStats) -> str:
    """The line under an answer: speed, first token, acceptance, speculation, how it ended."""
    parts = []
    if stats.decode_tps is not None:
        parts.append(f"{stats.decode_tps:.1f} tok/s")
    if stats.ttft_s is not None:
        parts.append(f"first token {stats.ttft_s:.2f} s")
    if stats.n_tokens:
        parts.append(f"{stats.n_tokens:,} token" + ("" if stats.n_tokens == 1 else "s"))
    if stats.n_proposed:
        share = stats.n_accepted / stats.n_proposed
        parts.append(f"draft accepted {stats.n_accepted:,}/{stats.n_proposed:,} ({share:.1%})")
    if stats.engagement is not None:
        parts.append(f"speculation {engagement_words(stats.engagement)}")
    elif stats.n_tokens:
        parts.append("speculation off")
    if stats.stop_reason is not None and (ending := _ending(stats)):
        parts.append(ending)
    return " · ".join(parts)


def _ending(stats: AnswerStats) -> str:
    match stats.stop_reason:
        case None | "eos" | "stop":
            return ""
        case "length":
            return "stopped at the length limit"
        case "cancelled":
            return "stopped by you"
        case "failed":
            return "failed"
        case _ as never:
            assert_never(never)


def interrupted_words(message: Message) -> str:
    """The mark on a stored answer that was broken off, "" on others."""
    if message.state != "interrupted":
        return ""
    return "This answer was interrupted. What had been written is kept."


def bytes_words(n_bytes: int) -> str:
    """A file size."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
