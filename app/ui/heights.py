"""Heights of things below one another: known ones, guessed ones, and who is where."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

Shifts = tuple[tuple[float, float], ...]
"""Where some lines of a text ended and where they end now, from top to bottom."""


class Place(NamedTuple):
    """A place in a column that is found again: pixels into a part, which may have had its lines moved since."""

    n: int
    into_px: int
    edition: int = 0


def shifted(y: int, shifts: Shifts) -> int:
    """Return where what was at a place is now."""
    above = [now - before for before, now in shifts if before <= y]
    return round(y + above[-1]) if above else y


class Heights:
    """A column of heights. A change costs what lies behind it only when a place behind it is asked for."""

    def __init__(self, gap_px: int = 0) -> None:
        self._gap_px = gap_px
        self._heights: list[int] = []
        self._tops: list[int] = []
        self._n_right = 0  # so many tops are right

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, n: int) -> int:
        return self._heights[n]

    def append(self, height: int) -> None:
        """Put one more below."""
        self._heights.append(height)
        self._tops.append(0)

    def set(self, n: int, height: int) -> None:
        """Change a height."""
        if self._heights[n] != height:
            self._heights[n] = height
            self._n_right = min(self._n_right, n + 1)

    def cut(self, n: int) -> None:
        """Keep the first ``n`` only."""
        del self._heights[n:], self._tops[n:]
        self._n_right = min(self._n_right, n)

    def top(self, n: int) -> int:
        """Where the ``n``-th begins. One of no height takes no gap either."""
        if n >= self._n_right:
            self._work_out(n + 1)
        return self._tops[n]

    @property
    def total(self) -> int:
        """Height of them all."""
        if not self._heights:
            return 0
        return self.top(len(self._heights) - 1) + self._heights[-1]

    def at(self, y: float) -> int:
        """Return the one that a place lies in, or is nearest above it."""
        self._work_out(len(self._heights))
        return max(0, bisect_right(self._tops, y) - 1)

    def _work_out(self, n: int) -> None:
        for i in range(self._n_right, n):
            if i == 0:
                self._tops[0] = 0
            else:
                before = self._heights[i - 1]
                self._tops[i] = self._tops[i - 1] + before + (self._gap_px if before else 0)
        self._n_right = max(self._n_right, n)
