"""What an answer's steps add up to by draft position and by context position; counts, in little and fixed memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.protocol import Step

FIRST_BIN_TOKENS = 32
MAX_BINS = 64


class PositionTally:
    """Draft tokens judged and kept, by draft position."""

    __slots__ = ("judged", "kept")

    def __init__(self) -> None:
        self.judged: list[int] = []
        self.kept: list[int] = []

    def add(self, step: Step) -> None:
        """Take one more step."""
        while len(self.judged) < step.judged:
            self.judged.append(0)
            self.kept.append(0)
        for position in range(step.judged):
            self.judged[position] += 1
            self.kept[position] += position < step.accepted

    def merge(self, other: PositionTally) -> None:
        """Add what another one counted."""
        while len(self.judged) < len(other.judged):
            self.judged.append(0)
            self.kept.append(0)
        for position, (judged, kept) in enumerate(zip(other.judged, other.kept, strict=True)):
            self.judged[position] += judged
            self.kept[position] += kept

    @property
    def alpha(self) -> tuple[float, ...]:
        """Kept ÷ judged at each position from the first."""
        return tuple(kept / judged for kept, judged in zip(self.kept, self.judged, strict=True))


@dataclass(slots=True)
class ContextBin:
    """What happened while the context had so many tokens."""

    n_tokens: int = 0
    seconds: float = 0.0
    proposed: int = 0
    accepted: int = 0

    def take(self, other: ContextBin) -> None:
        """Add what another one holds."""
        self.n_tokens += other.n_tokens
        self.seconds += other.seconds
        self.proposed += other.proposed
        self.accepted += other.accepted

    @property
    def tps(self) -> float | None:
        """Emitted tokens ÷ the time they took."""
        return self.n_tokens / self.seconds if self.seconds > 0 else None

    @property
    def acceptance(self) -> float | None:
        """Accepted ÷ proposed."""
        return self.accepted / self.proposed if self.proposed else None


class ContextTally:
    """Bins of context positions: as wide as it takes for :data:`MAX_BINS` to hold all."""

    __slots__ = ("_last_s", "bins", "width")

    def __init__(self) -> None:
        self.bins: dict[int, ContextBin] = {}
        self.width = FIRST_BIN_TOKENS
        self._last_s: float | None = None

    def add(self, step: Step) -> None:
        """Take one more step; the first only begins the clock, as for the decode speed; so does one after a slide."""
        last_s, self._last_s = self._last_s, step.t_s
        if last_s is None or step.slid:
            return
        held = self.bins.get(step.n_ctx // self.width)
        if held is None:
            self._put(step.n_ctx // self.width, ContextBin())
            held = self.bins[step.n_ctx // self.width]
        held.n_tokens += step.emitted
        held.seconds += step.t_s - last_s
        held.proposed += step.proposed
        held.accepted += step.accepted

    def merge(self, other: ContextTally) -> None:
        """Add what another one counted."""
        while self.width < other.width:
            self._widen()
        for number, held in other.bins.items():
            self._put(number * other.width // self.width, held)

    def _put(self, number: int, what: ContextBin) -> None:
        self.bins.setdefault(number, ContextBin()).take(what)
        while len(self.bins) > MAX_BINS:
            self._widen()

    def _widen(self) -> None:
        old, self.bins, self.width = self.bins, {}, self.width * 2
        for number, held in old.items():
            self.bins.setdefault(number // 2, ContextBin()).take(held)

    def rows(self) -> list[tuple[float, ContextBin]]:
        """Return the middle of each bin in tokens, with what it holds, in order."""
        return [((number + 0.5) * self.width, self.bins[number]) for number in sorted(self.bins)]


def positions_of(tallies: Iterable[PositionTally]) -> PositionTally:
    """Sum up."""
    total = PositionTally()
    for tally in tallies:
        total.merge(tally)
    return total


def context_of(tallies: Iterable[ContextTally]) -> ContextTally:
    """Sum up."""
    total = ContextTally()
    for tally in tallies:
        total.merge(tally)
    return total
