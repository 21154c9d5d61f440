"""How long to wait before the next try, and when to give up."""

from __future__ import annotations

import random
from dataclasses import dataclass

_RANDOM = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Patience:
    """Doubling waits with jitter; ``n_tries`` counts tries in a row that brought nothing.

    Attributes:
        longest_asked_s: how long a wait that a server asks for is granted.
        silence_s: a connection without a byte for so long is given up and made anew.
        answer_s: a question whose answer takes longer in all, however it trickles, is given up.
    """

    base_s: float = 1.0
    cap_s: float = 30.0
    n_tries: int = 8
    longest_asked_s: float = 300.0
    silence_s: float = 40.0
    answer_s: float = 30.0

    def delay_s(self, n_failures: int, asked_s: float | None = None) -> float:
        """Return how long to wait after so many failures in a row; at least what the server asked for."""
        doubled = min(self.cap_s, self.base_s * 2.0 ** min(n_failures, 16))
        return max(doubled * _RANDOM.uniform(0.5, 1.0), min(asked_s or 0.0, self.longest_asked_s))
