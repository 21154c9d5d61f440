"""Who is asked in a step, and when a paused drafter is tried again."""

from __future__ import annotations

from dataclasses import dataclass, field

FIRST_TRY, LAST_TRY = 16, 256
"""Plain steps between two tries of a paused drafter: twice as many after each try. What an answer begins with is often
unlike the rest (a sentence before the code), so the first one waits a little."""

LAST_COPY = 512
"""The same of copies where rows are too dear for them, over answers."""

CEILING = 1.02
"""A drafter that could not reach this speed-up even if everything were accepted is not prefilled at all."""

WINDOW = 32
"""Fewest tokens that a drafter starts again on where catching up with all would cost too much."""

PAYS = 1.02
"""Expected speed-up from which a drafter is asked."""

MOSTLY = 0.7
"""Share of the text from which on a part in view is not worth having: it would soon be all of it."""


@dataclass(slots=True)
class Pause:
    """When a drafter that does not pay is tried again."""

    n_waited: int = 0
    interval: int = FIRST_TRY
    longest: int = LAST_TRY

    @property
    def is_over(self) -> bool:
        """Whether it has waited long enough."""
        return self.n_waited >= self.interval

    def begin_again(self) -> None:
        """Wait for longer than the last time."""
        self.n_waited, self.interval = 0, min(self.longest, 2 * self.interval)


@dataclass(slots=True)
class Asked:
    """Who is asked, after how much catching up, and what its words are worth to it.

    Attributes:
        probabilities, shares: of each drafted word: the drafter's own, and how often such ones are kept.
        is_look: whether it is asked for that alone, whatever is left for drafts.
        is_reviewed: whether it has said what it would have drafted while it was not asked.
    """

    name: str
    kind: str
    limit: int
    n_catch_up: int
    probabilities: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    is_look: bool = False
    is_reviewed: bool = False
