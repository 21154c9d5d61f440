"""Which drafter an answer gets, or in words why none: speculation that is asked for is never silently off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.engine.drafters import Chain, Drafter
from app.engine.drafters.draft_model import DraftModelDrafter
from app.engine.drafters.mtp import MtpDrafter
from app.engine.drafters.ngram import NgramDrafter
from app.engine.loading import LoadedPair
from app.engine.sampler import Sampler
from app.errors import UsageError
from app.protocol import Engagement, SpecType, Speculation


@dataclass(frozen=True, slots=True)
class Engaged:
    """A drafter for one answer (None for plain decoding) and the words for it."""

    drafter: Drafter | None
    engagement: Engagement


def check(speculation: Speculation, n_rows_max: int) -> None:
    """Refuse settings that have no meaning.

    Raises:
        UsageError: names the setting and its range.
    """
    s = speculation
    if not 0 <= s.draft_tokens < n_rows_max:
        raise UsageError(f"The draft length is {s.draft_tokens}.", f"It must lie between 0 and {n_rows_max - 1}.")
    if not 0 <= s.draft_min <= max(s.draft_tokens, 0):
        raise UsageError(f"The shortest draft is {s.draft_min}.", "It must lie between 0 and the draft length.")
    if not 0.0 <= s.p_min <= 1.0:
        raise UsageError(f"The draft probability cutoff is {s.p_min}.", "It must lie between 0 and 1.")


def engage(speculation: Speculation, pair: LoadedPair, sampler: Sampler, tokens: Sequence[int]) -> Engaged:
    """Make the drafters that were asked for, as far as they can be had, for the prompt ``tokens``.

    Raises:
        UsageError: a setting is out of its range.
    """
    check(speculation, pair.target.context.n_rows_max)
    wanted = [name for name in dict.fromkeys(speculation.types) if name != "none"]
    if not wanted:
        return Engaged(None, Engagement(engaged=False, reason="Speculation is off."))
    if speculation.draft_tokens == 0:
        return Engaged(None, Engagement(engaged=False, reason="The draft length is 0."))
    missing = [f"{name}: {pair.not_engageable[name]}" for name in wanted if name in pair.not_engageable]
    names = [name for name in wanted if name not in pair.not_engageable]
    reason = " ".join(missing)
    if not names:
        return Engaged(None, Engagement(engaged=False, reason=reason))
    limit = min(speculation.draft_tokens, pair.target.context.n_draft_max)
    if pair.heads is not None:
        pair.heads.memory.agree(tokens)
    drafters = [_make(name, speculation, pair, sampler) for name in names]
    return Engaged(
        drafters[0] if len(drafters) == 1 else Chain(drafters),
        Engagement(engaged=True, drafter=",".join(names), draft_tokens=limit, reason=reason),
    )


def _make(name: SpecType, speculation: Speculation, pair: LoadedPair, sampler: Sampler) -> Drafter:
    if name == "draft-simple" and pair.draft is not None:
        return DraftModelDrafter(
            pair.draft.context,
            pair.draft.cached,
            sampler,
            draft_min=speculation.draft_min,
            p_min=speculation.p_min,
        )
    if name == "draft-mtp" and pair.heads is not None:
        return MtpDrafter(pair.heads.memory, sampler, draft_min=speculation.draft_min, p_min=speculation.p_min)
    return NgramDrafter(speculation.draft_min)
