"""The sampling of an answer: what the conversation sets for itself, else what the program is set to."""

from __future__ import annotations

import msgspec

from app.chat.chat_settings import ConversationSettings
from app.chat.grammar import grammar_of
from app.protocol import Sampling
from app.settings import Settings

_OF_BOTH = ("temperature", "top_k", "top_p", "min_p", "repeat_penalty")
_OWN_ONLY = ("frequency_penalty", "presence_penalty", "penalty_last_n")


def sampling_for(chosen: ConversationSettings, defaults: Settings, seed: int) -> Sampling:
    """Put the sampling of an answer together, with the grammar of its constraint.

    Args:
        chosen: what the conversation sets.
        defaults: what the program is set to.
        seed: the seed if the conversation has none of its own.

    Raises:
        UsageError: the constraint is not a schema or a grammar, or asks for what cannot be kept.
    """
    own: dict[str, float | int | str] = {"grammar": grammar_of(chosen.constraint)}
    for name in _OF_BOTH:
        value = getattr(chosen, name)
        own[name] = getattr(defaults, name) if value is None else value
    for name in _OWN_ONLY:
        if (value := getattr(chosen, name)) is not None:
            own[name] = value
    return msgspec.structs.replace(Sampling(seed=seed if chosen.seed is None else chosen.seed), **own)
