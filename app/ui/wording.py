"""States and figures in words. Pure functions: the window, its tests and the pictures say the same."""

from __future__ import annotations

import html
import re
from functools import partial
from typing import TYPE_CHECKING, assert_never

from msgspec import structs

from app.protocol import LOSSY, TREES_TRIED, is_lossy_name, spec_name
from app.ui.said import said
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.chat.conversation import AnswerStats, Message
    from app.host import HostState
    from app.protocol import (
        DraftTokens,
        Engagement,
        Loaded,
        LoadProgress,
        Plan,
        Prefill,
        SpecType,
        Speculation,
        Started,
    )

_STAGES = {"target": tr("Loading the model"), "draft": tr("Loading the draft model"), "warmup": tr("Warming up")}
_DRAFTERS = {
    "ngram": tr("n-gram"),
    "draft-simple": tr("draft model"),
    "draft-mtp": tr("MTP heads"),
    "tree": tr("token tree"),
    "none": tr("none"),
    "": tr("none"),
}

_EXPECTED = re.compile(r"expected (\d+(?:\.\d+)?)x of plain speed")
_LEAST_DEBT_S = 0.05

REPORTED = tr("reported by the server")
ANSWERING = tr("Answering. Esc stops.")
NO_MODEL = tr("No model is loaded. Choose one above, or open a GGUF file.")


def phase_words(state: HostState, progress: str, target: str, *, has_failed: bool = False) -> str:
    """What the engine is doing, in one line.

    Args:
        state: the host's.
        progress: how far a load has come.
        target: who was chosen.
        has_failed: whether the last try to load it came to nothing.
    """
    match state.phase:
        case "starting":
            return tr("Starting the engine…")
        case "loading":
            return progress or said(state.detail) or tr("Loading the model…")
        case "answering":
            return ANSWERING
        case "died":
            return tr("The engine has stopped.")
        case "stopped":
            if state.pair:
                return tr("The engine is not running.")
            return NO_MODEL if has_failed else tr("Starting…")
        case "idle":
            return _idle_words(state.loaded, target)


def _idle_words(loaded: Loaded | None, target: str) -> str:
    """Who is ready to answer."""
    if loaded is None:
        return NO_MODEL
    name = tr("The starter model") if target == "starter" else target
    return tr("{name} is ready. Everything stays on this computer.").format(name=name)


def tip(words: str) -> str:
    """Return words as a tool tip: rich text, since only that is broken into lines."""
    return f"<p>{html.escape(words)}</p>".replace("\n", "<br>") if words else ""


def drafter_name(kind: str) -> str:
    """Name of a drafter, or of several in a row, for a person."""
    parts = kind.split(",")
    names = " + ".join(_DRAFTERS.get(part, part) for part in parts if part != LOSSY)
    return tr("{names}, lossy").format(names=names) if LOSSY in parts else names


def load_words(progress: LoadProgress) -> str:
    """How far loading has come."""
    return f"{_STAGES[progress.stage]}… {progress.fraction:.0%}"


def prefill_words(started: Started, done: int) -> str:
    """How far reading the prompt has come; what the cache already holds is said."""
    total = started.prompt_tokens - started.cached_tokens
    words = tr("Reading the prompt: {done:,} of {total:,} tokens")
    if started.cached_tokens:
        words = tr("Reading the prompt: {done:,} of {total:,} tokens ({cached:,} already known)")
    return words.format(done=done, total=total, cached=started.cached_tokens)


def waiting_words(prefill: Prefill, started: Started | None) -> str:
    """What to say under an answer that has no text yet, or whose context was full in its middle."""
    if prefill.left_out:
        words = tr(
            "The context was full, the oldest %n message(s) are left out. Reading the rest: {done:,} of {total:,} "
            "tokens",
            None,
            prefill.left_out,
        )
        return words.format(done=prefill.done, total=prefill.total)
    if started is None:
        return tr("Reading the prompt: {done:,} of {total:,} tokens").format(done=prefill.done, total=prefill.total)
    return prefill_words(started, prefill.done)


def engagement_words(engagement: Engagement) -> str:
    """Whether speculation is engaged, with what and how long, or why not."""
    if engagement.engaged:
        words = tr("engaged: {drafter_name}, {length_words}").format(
            drafter_name=drafter_name(engagement.drafter), length_words=length_words(engagement.draft_tokens)
        )
        if engagement.n_exact and isinstance(engagement.draft_tokens, str):
            words += ", " + tr("at most {n_exact} so that no word can change").format(n_exact=engagement.n_exact)
        return words + (
            "; " + tr("not engaged: {reason}").format(reason=said(engagement.reason)) if engagement.reason else ""
        )
    return tr("not engaged: {reason}").format(reason=said(engagement.reason))


def length_words(draft_tokens: DraftTokens, n_exact: int = 0) -> str:
    """How long drafts may be; kept to ``n_exact`` tokens, where rounding would change a word beyond."""
    if n_exact and (isinstance(draft_tokens, str) or n_exact < draft_tokens):
        words = tr("{length}, kept to {n_exact}")
        return words.format(length=length_words(draft_tokens), n_exact=n_exact)
    if isinstance(draft_tokens, int):
        return tr("length {draft_tokens}").format(draft_tokens=draft_tokens)
    return tr("length chosen by what pays") if draft_tokens == "auto" else tr("length by the rolling rule")


def power_words(on_battery: bool | None, power_mode: str) -> str:
    """What powers the machine, and in which mode; "" where nobody knows."""
    supply = "" if on_battery is None else tr("battery") if on_battery else tr("mains power")
    return ", ".join(filter(None, (supply, power_mode)))


def plan_words(engagement: Engagement, plan: Plan) -> str:
    """What the controller does now: engaged with which length and why, or paused and what drafting would cost."""
    if plan.limit == 0:
        words = tr("paused by the controller: {why}")
        if is_lossy_name(engagement.drafter):
            words = tr("paused by the controller (lossy): {why}")
        return words.format(why=pause_words(plan.reason))
    words = tr("engaged: {name}, length {limit}")
    if plan.drafter and is_lossy_name(engagement.drafter):
        words = tr("engaged: {name}, lossy, length {limit}")
    words = words.format(name=drafter_name(plan.drafter or engagement.drafter), limit=plan.limit)
    return words + (f" ({said(plan.reason)})" if plan.reason else "")


def pause_words(reason: str) -> str:
    """Why the controller pauses; the speed-up it expects is put as what drafting would cost."""
    reason = reason.removeprefix("paused: ")
    expected = _EXPECTED.fullmatch(reason)
    if expected is None:
        return said(reason)
    speedup = float(expected[1])
    if speedup >= 1:
        return tr("drafting would gain too little now (expected {speedup:.2f}× of plain speed)").format(speedup=speedup)
    return tr("drafting would cost about {loss:.0%} now (expected {speedup:.2f}× of plain speed)").format(
        loss=1 - speedup, speedup=speedup
    )


def debt_words(plan: Plan | None) -> str:
    """What speculation has saved or cost so far in the answer that runs, as the controller reckons."""
    if plan is None or abs(plan.debt_s) < _LEAST_DEBT_S:
        return ""
    words = tr("saved about {seconds:.1f} s of this answer so far")
    if plan.debt_s > 0:
        words = tr("cost about {seconds:.1f} s of this answer so far")
    return words.format(seconds=abs(plan.debt_s))


def expected_words(loaded: Loaded | None, asked: Speculation, *, is_on: bool) -> str:
    """What the next answer's speculation will be, as far as is known before it starts."""
    kinds = tuple(kind for kind in asked.types if kind != "none")
    if not is_on:
        return tr("off: the next answer is plain")
    if not kinds:
        return tr("not engaged: no drafter is chosen")
    if loaded is None:
        return tr("not engaged: no model is loaded")
    able = [kind for kind in map(partial(_or_chain, loaded), kinds) if kind in loaded.drafters]
    if able:
        missing = [
            f"{drafter_name(kind)}: {said(loaded.not_engageable.get(kind, ''))}" for kind in kinds if kind not in able
        ]
        words = tr("ready: {drafter_name}, {length_words}").format(
            drafter_name=drafter_name(spec_name(structs.replace(asked, types=tuple(able)))),
            length_words=length_words(asked.draft_tokens),
        )
        return words + ("; " + tr("not engaged: {missing}").format(missing=" ".join(missing)) if missing else "")
    missing_words = tr("{drafter} is not available with this model").format(drafter=drafter_name(kinds[0]))
    reason = said(loaded.not_engageable.get(kinds[0], missing_words))
    return tr("not engaged: {reason}").format(reason=reason)


def _or_chain(loaded: Loaded, kind: SpecType) -> SpecType:
    """Return who drafts in place of a token tree that cannot be."""
    chains: tuple[SpecType, ...] = ("draft-simple", "draft-mtp")
    able = [chain for chain in chains if chain in loaded.drafters]
    return able[0] if kind == "tree" and kind not in loaded.drafters and able else kind


def tree_words(loaded: Loaded | None) -> str:
    """What came of trying token trees when the model was loaded, or why they cannot be; "" if nothing is known."""
    if loaded is None:
        return ""
    tried = [notice.message for notice in loaded.notices if notice.code == TREES_TRIED]
    return said(loaded.not_engageable.get("tree") or next(iter(tried), ""))


def device_words(loaded: Loaded | None) -> str:
    """The device chip."""
    if loaded is None:
        return ""
    device = loaded.device
    if loaded.draft_device not in ("", device):
        device = tr("{device}, draft on {draft_device}").format(device=device, draft_device=loaded.draft_device)
    return threads_words(device, loaded.n_threads)


def threads_words(device: str, n_threads: int) -> str:
    """A device and on how many threads it works."""
    return tr("{device} · %n thread(s)", None, n_threads).format(device=device)


def answer_words(stats: AnswerStats | None, model: str) -> str:
    """The line under an answer: its figures, and which model gave it."""
    return " · ".join(part for part in (speed_words(stats) if stats is not None else "", model) if part)


def speed_words(stats: AnswerStats) -> str:
    """The line under an answer: speed, first token, acceptance, speculation, how it ended."""
    parts = [reported_words(stats)] if stats.reported is not None else []
    if stats.decode_tps is not None:
        parts.append(tr("{decode_tps:.1f} tok/s").format(decode_tps=stats.decode_tps))
    if stats.ttft_s is not None:
        parts.append(tr("first token {ttft_s:.2f} s").format(ttft_s=stats.ttft_s))
    if stats.n_tokens:
        parts.append(tr("{n_tokens:,} token(s)", None, stats.n_tokens).format(n_tokens=stats.n_tokens))
    if stats.n_proposed:
        share = stats.n_accepted / stats.n_proposed
        parts.append(
            tr("draft accepted {n_accepted:,}/{n_proposed:,} ({share:.1%})").format(
                n_accepted=stats.n_accepted, n_proposed=stats.n_proposed, share=share
            )
        )
    if stats.engagement is not None:
        parts.append(tr("speculation {engagement_words}").format(engagement_words=engagement_words(stats.engagement)))
    elif stats.n_tokens:
        parts.append(tr("speculation off"))
    if stats.lossy_before:
        parts.append(tr("lossy before it went on"))
    if stats.stop_reason is not None and (ending := _ending(stats)):
        parts.append(ending)
    return " · ".join(filter(None, parts))


def reported_words(stats: AnswerStats) -> str:
    """The figures that a server gave with an answer, each called its own word."""
    told = stats.reported
    if told is None:
        return ""
    parts = []
    if told.decode_tps is not None:
        parts.append(tr("{decode_tps:.1f} tok/s").format(decode_tps=told.decode_tps))
    if told.ttft_s is not None:
        parts.append(tr("first token {ttft_s:.2f} s").format(ttft_s=told.ttft_s))
    if told.tokens is not None:
        parts.append(tr("{n_tokens:,} token(s)", None, told.tokens).format(n_tokens=told.tokens))
    if told.proposed is not None and told.accepted is not None and (told.proposed or told.drafter):
        share = told.accepted / told.proposed if told.proposed else 0.0
        parts.append(
            tr("draft accepted {n_accepted:,}/{n_proposed:,} ({share:.1%})").format(
                n_accepted=told.accepted, n_proposed=told.proposed, share=share
            )
        )
    if is_lossy_name(told.drafter):
        parts.append(tr("lossy"))
    if told.not_engaged:
        parts.append(tr("speculation not engaged: {why}").format(why=told.not_engaged))
    return tr("{figures}, {reported}").format(figures=" · ".join(parts), reported=REPORTED) if parts else ""


def _ending(stats: AnswerStats) -> str:
    match stats.stop_reason:
        case None | "eos" | "stop":
            return ""
        case "length":
            return tr("stopped at the length limit")
        case "cancelled":
            return tr("stopped by you")
        case "failed":
            return tr("failed")
        case _ as never:
            assert_never(never)


def interrupted_words(message: Message) -> str:
    """The mark on a stored answer that was broken off, "" on others."""
    if message.state != "interrupted":
        return ""
    return tr("This answer was interrupted. What had been written is kept.")


def bytes_words(n_bytes: int) -> str:
    """A file size."""
    return (
        tr("{n_bytes:.1f} GB").format(n_bytes=n_bytes / 1e9)
        if n_bytes >= 1e9
        else tr("{n_bytes:.0f} MB").format(n_bytes=n_bytes / 1e6)
    )
