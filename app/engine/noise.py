"""Noise that is a function of (seed, position, token): the draw behind every sampled token.

``argmax(log p + g)`` with independent standard Gumbel noise g is an exact sample from p (Gumbel-max).
Because g depends on nothing but the key, whoever draws for the same position draws with the same
noise: plain decoding and verification get the same token, and a drafter that runs its own distribution
through it agrees nearly as often as any coupling can (Daliri, Musco, Suresh 2024, arXiv 2408.07978).

The hash is the finaliser of SplitMix64 (Steele, Lea, Flood 2014), as a counter-based generator.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def _mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def stream_key(seed: int, position: int) -> int:
    """Return the 64-bit key of one position's noise."""
    return _mix((_mix((seed + _GOLDEN) & _MASK) + (position + 1) * _GOLDEN) & _MASK)


def uniforms(key: int, tokens: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return one number in the open interval (0, 1) a token, shape ``(n,)``."""
    x = tokens.astype(np.uint64)
    with np.errstate(over="ignore"):
        x = np.uint64(key) + (x + np.uint64(1)) * np.uint64(_GOLDEN)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return ((x >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def gumbel(seed: int, position: int, tokens: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return standard Gumbel noise for tokens at a position, shape ``(n,)``."""
    noise: NDArray[np.float64] = -np.log(-np.log(uniforms(stream_key(seed, position), tokens)))
    return noise
