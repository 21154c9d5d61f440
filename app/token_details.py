"""What is told of each token when somebody wants to see them: a value that the protocol carries only when asked for."""

from __future__ import annotations

import msgspec


class TokenDetail(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A token: how many characters of its chunk's text came with it, and how likely the target held it.

    The probability is the target's own, before any sampling setting. A token that completes a character has all of it;
    one that only begins one has none.
    """

    n_chars: int
    probability: float


class TokenLogprob(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A token's bytes and the natural logarithm of its probability; ``top`` are the likeliest tokens in its place.

    Probabilities are the target's own, before any sampling setting. A control token has no bytes.
    """

    piece: bytes
    logprob: float
    top: tuple[tuple[bytes, float], ...] = ()
