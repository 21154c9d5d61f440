"""How far long work is, told to whoever started it, who may stop it there."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Is told how much of how much is done; what it raises ends the work, with nothing half done."""


def no_progress(_n_done: int, _n_all: int) -> None:
    """Tell nobody."""
