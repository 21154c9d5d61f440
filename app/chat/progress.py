"""How far long work is, told to whoever started it, who may stop it there."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Is told how much of how much is done; what it raises ends the work, with nothing half done."""


Look = Callable[[], None]
"""Is called now and then by work that cannot say how far it is; what it raises ends the work, as with progress."""


def no_look() -> None:
    """Let it go on."""


def no_progress(_n_done: int, _n_all: int) -> None:
    """Tell nobody."""


def part_of(note: Progress, n_before: int, n_parts: int) -> Progress:
    """Return what tells of one of several parts that count alike, so many of which are done before it."""
    fine = 1000
    return lambda n_done, n_all: note(fine * n_before + (fine * n_done // n_all if n_all else fine), fine * n_parts)
