"""The figures, each a pure function of raw steps and times.

Definitions are those that every place shows: the panel, the command line and the export call these
functions and no others. A figure that has nothing to be computed from is ``None``, never 0.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from app.metrics.values import Interval
from app.protocol import Step

LIVE_WINDOW_S = 2.0
FIRST_BUCKET_TOKENS = 1024
CONFIDENCE = 0.95


def tokens(steps: Sequence[Step]) -> int:
    """Count the emitted tokens; one step (one chunk) may hold several."""
    return sum(step.emitted for step in steps)


def decode_tps(steps: Sequence[Step]) -> float | None:
    """Emitted tokens after the first step ÷ (time of the last step − of the first), engine time."""
    if len(steps) < 2:
        return None
    span_s = steps[-1].t_s - steps[0].t_s
    return (tokens(steps) - steps[0].emitted) / span_s if span_s > 0 else None


def prefill_tps(evaluated_tokens: int, prefill_s: float) -> float | None:
    """Newly evaluated prompt tokens ÷ prefill time."""
    return evaluated_tokens / prefill_s if evaluated_tokens > 0 and prefill_s > 0 else None


def acceptance(steps: Sequence[Step]) -> float | None:
    """Accepted ÷ proposed, as llama.cpp and GenieX print it."""
    proposed = sum(step.proposed for step in steps)
    return sum(step.accepted for step in steps) / proposed if proposed else None


def alpha(steps: Sequence[Step]) -> float | None:
    """Accepted ÷ judged: the chance that a draft token holds, given that the target ruled on it."""
    judged = sum(step.judged for step in steps)
    return sum(step.accepted for step in steps) / judged if judged else None


def alpha_by_position(steps: Sequence[Step]) -> tuple[float, ...]:
    """Kept at draft position i ÷ judged at i, for i = 1 … the longest that was judged."""
    longest = max((step.judged for step in steps), default=0)
    judged, kept = [0] * longest, [0] * longest
    for step in steps:
        for position in range(step.judged):
            judged[position] += 1
            kept[position] += position < step.accepted
    return tuple(k / j for k, j in zip(kept, judged, strict=True))


def tokens_per_step(steps: Sequence[Step]) -> float | None:
    """Emitted tokens ÷ target passes."""
    return tokens(steps) / len(steps) if steps else None


def rows(steps: Sequence[Step]) -> tuple[int, int]:
    """Count the rows of the passes that verified, and those of them that gave no token: rejected, or padding."""
    passes = [step for step in steps if step.verify_s > 0]
    n_rows = sum(step.n_rows for step in passes)
    return n_rows, n_rows - tokens(passes)


def tree_nodes(steps: Iterable[Step]) -> float | None:
    """Mean count of nodes of the token trees that were verified; passes with a chain or nothing are none."""
    nodes = [step.proposed for step in steps if step.depth]
    return sum(nodes) / len(nodes) if nodes else None


def tree_depth(steps: Sequence[Step]) -> float | None:
    """Mean depth of the token trees that were verified."""
    depths = [step.depth for step in steps if step.depth]
    return sum(depths) / len(depths) if depths else None


def context_bucket(steps: Sequence[Step]) -> int:
    """Upper bound of the power-of-two class (1,024 first) that the mean of first and last context position falls in."""
    middle = (steps[0].n_ctx + steps[-1].n_ctx) / 2 if steps else 0
    bound = FIRST_BUCKET_TOKENS
    while bound < middle:
        bound *= 2
    return bound


def median(values: Sequence[float]) -> float:
    """Middle value; the mean of the two middle ones for an even count.

    Raises:
        ValueError: no values.
    """
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def median_interval(values: Sequence[float]) -> Interval | None:
    """Median with the exact order-statistic interval: no assumption about the noise, nothing random.

    The k-th smallest and k-th largest of n values hold the median with probability 1 − 2·P(Bin(n, ½) < k); k is the
    largest for which this is at least 95 %. Fewer than six values cannot reach that: their whole range is given,
    and their number, which goes beside every interval, says how little it means.
    """
    if not values:
        return None
    ordered = sorted(values)
    n = len(ordered)
    # Binomial coefficients one from another: made anew, those of thousands of answers take a third of a second.
    rank, n_ways, below = 1, n, 1
    while rank < n // 2 and 2 * (below + n_ways) / 2**n <= 1 - CONFIDENCE:
        below += n_ways
        n_ways = n_ways * (n - rank) // (rank + 1)
        rank += 1
    return Interval(median(ordered), ordered[rank - 1], ordered[n - rank])


def ratio_interval(pairs: Sequence[tuple[float | None, float | None]]) -> Interval | None:
    """Median of the first ÷ the second of each pair, with its interval; pairs that lack one of the two are left out."""
    return median_interval([first / second for first, second in pairs if first is not None and second])


class LiveRate:
    """Decode speed over a sliding window of engine time, for a person to watch.

    The rate is that of the tokens after the last step which is at least the window's length old (or the first step,
    while the answer is younger): so a burst of accepted tokens is spread over the time it took, and a model slower
    than one step per window still has a rate.
    """

    def __init__(self, window_s: float = LIVE_WINDOW_S) -> None:
        self._window_s = window_s
        self._steps: deque[tuple[float, int]] = deque()
        self._tokens = 0

    def add(self, step: Step) -> float | None:
        """Take one more step; return the rate now, ``None`` before the second."""
        self._steps.append((step.t_s, step.emitted))
        self._tokens += step.emitted
        while len(self._steps) > 2 and self._steps[1][0] <= step.t_s - self._window_s:
            self._tokens -= self._steps.popleft()[1]
        return self.tps

    @property
    def tps(self) -> float | None:
        """The rate as of the last step."""
        if len(self._steps) < 2:
            return None
        (first_s, first_tokens), last_s = self._steps[0], self._steps[-1][0]
        return (self._tokens - first_tokens) / (last_s - first_s) if last_s > first_s else None
