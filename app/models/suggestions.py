"""Which drafters fit a target, best first.

Heads that were trained with the target come first, then draft models, the largest that fits beside the target and is
small against it, then n-grams; last what fits but seldom pays. No benchmark score enters: a drafter that agrees more
often but is dearer, or does not fit into memory, makes the answers slower.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.heads import has_embedded_heads
from app.models.cautions import LARGEST_SHARE, SMALL_TARGET_PARAMS
from app.models.device_memory import ON_PROCESSOR, Spread, spread_over
from app.models.memory import Room, reckon
from app.models.pairs import Candidate, Judgement, judge, judge_ngram, judge_own_heads, with_memory
from app.protocol import Load

_HEADS, _DRAFT, _NGRAM, _SELDOM = range(4)


def suggest(
    target: Candidate, drafts: Sequence[Candidate], how: Load, room: Room, spread: Spread = ON_PROCESSOR
) -> list[Judgement]:
    """Return the ways of drafting that fit, best first, each with the memory it takes.

    Args:
        target: the model to draft for.
        drafts: files that might.
        how: context length and memory types.
        room: what there is of memory.
        spread: which devices share the layers.
    """
    found: list[tuple[tuple[int, int], Judgement]] = []

    def add(judgement: Judgement, draft: Candidate | None) -> None:
        header = draft.header if draft is not None else None
        memory = spread_over(reckon(target.header, header, how, room), target.header, header, how, spread)
        judgement = with_memory(judgement, memory)
        if judgement.fits:
            found.append((rank_of(target, judgement, draft), judgement))

    if has_embedded_heads(target.header):
        add(judge_own_heads(target, spread.kind), None)
    for draft in drafts:
        if draft.name != target.name:
            add(judge(target, draft, spread.kind), draft)
    add(judge_ngram(target, spread.kind), None)
    return [judgement for _, judgement in sorted(found, key=lambda entry: entry[0])]


def rank_of(target: Candidate, judgement: Judgement, draft: Candidate | None) -> tuple[int, int]:
    """Return the place of a way to draft that fits among others for the same target, the lowest first."""
    n_bytes = draft.n_bytes if draft is not None else 0
    return _group(target, judgement, n_bytes), -n_bytes


def _group(target: Candidate, judgement: Judgement, n_draft_bytes: int) -> int:
    """Return the group, by kind and by whether the pair fits into memory now."""
    fits_now = judgement.memory is None or judgement.memory.fits
    if judgement.kind == "n-gram":
        return _NGRAM
    if judgement.kind != "draft model":
        return _HEADS if fits_now else _SELDOM
    is_small = target.header.n_params < SMALL_TARGET_PARAMS
    is_large = n_draft_bytes > target.n_bytes * LARGEST_SHARE
    return _SELDOM if is_small or is_large or not fits_now else _DRAFT
