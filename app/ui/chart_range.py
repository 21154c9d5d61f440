"""Which part of the session the charts show: the last minute as it happens, all of it, or what was chosen."""

from __future__ import annotations

import math

from app.ui.tr import tr

FOLLOW_S = 60.0
"""How much of the session the live charts show."""

LEAST_S = 0.5
"""Shortest stretch that can be zoomed to."""

STEP_S = 2.0
"""The live charts move on by so much at a time: a curve that grows to the right is calmer than one that slides."""

CALM_STEP_S = 15.0
"""The same where less motion is wanted."""


class TimeRange:
    """The stretch shown, by the end of what there is."""

    def __init__(self, *, is_calm: bool = False) -> None:
        self.step_s = CALM_STEP_S if is_calm else STEP_S
        self._fixed: tuple[float, float] | None = None
        self._is_whole = False

    @property
    def is_following(self) -> bool:
        """Whether the end of what there is stays in view."""
        return self._fixed is None and not self._is_whole

    @property
    def words(self) -> str:
        """What is shown."""
        if self._fixed is not None:
            return tr("{begin:.1f} to {end:.1f} s of answering").format(begin=self._fixed[0], end=self._fixed[1])
        return tr("the whole session") if self._is_whole else tr("the last minute, live")

    def follow(self) -> None:
        """Show the last minute from now on."""
        self._fixed, self._is_whole = None, False

    def whole(self) -> None:
        """Show everything from now on."""
        self._fixed, self._is_whole = None, True

    def show(self, first_s: float, last_s: float) -> None:
        """Show this stretch."""
        middle, half = (first_s + last_s) / 2, max(LEAST_S, last_s - first_s) / 2
        first_s = max(0.0, middle - half)
        self._fixed, self._is_whole = (first_s, first_s + 2 * half), False

    def zoom(self, factor: float, at_s: float | None, ends_s: float) -> None:
        """Make the stretch ``factor`` times as long around a moment (the middle); no longer than there is."""
        first_s, last_s = self.limits(ends_s)
        at_s = (first_s + last_s) / 2 if at_s is None else at_s
        if (last_s - first_s) * factor >= max(ends_s, FOLLOW_S) * 1.05:
            self.whole()
            return
        self.show(at_s - (at_s - first_s) * factor, at_s + (last_s - at_s) * factor)

    def pan(self, by_s: float, ends_s: float) -> None:
        """Move the stretch, within what there is."""
        first_s, last_s = self.limits(ends_s)
        by_s = max(-first_s, min(by_s, max(0.0, ends_s - first_s - LEAST_S)))
        self.show(first_s + by_s, last_s + by_s)

    def limits(self, ends_s: float) -> tuple[float, float]:
        """Return the first and last moment shown."""
        if self._fixed is not None:
            return self._fixed
        if self._is_whole:
            step_s = max(self.step_s, 10 ** math.floor(math.log10(max(ends_s, 1.0))) / 4)
            return 0.0, max(5.0, math.ceil(ends_s / step_s) * step_s)
        last_s = max(FOLLOW_S / 4, math.ceil((ends_s + 1e-9) / self.step_s) * self.step_s)
        return max(0.0, last_s - FOLLOW_S), last_s
