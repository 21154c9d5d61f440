"""How long an engine may take to stop before it is taken for one that hangs."""

from __future__ import annotations

import time

from app.engine.death import HINT
from app.errors import EngineDiedError
from app.protocol import Event, Prefill, Started

LEAST_S = 30.0
"""On the processor a step is broken off within a layer; elsewhere, where steps were seen to be shorter than that."""

UNSEEN_S = 180.0
"""Until a long step was seen, where none can be broken off in its middle: kernels may be compiled in the first."""

TIMES = 4.0
"""How many times the longest step seen: a context that is fuller, or a machine that is busier, makes it longer."""

MOST_S = 600.0
"""However long a step seemed: the machine may have slept meanwhile."""

N_LONG = 256
"""Tokens of a prompt at once that are as long a step as any."""


class Patience:
    """What the steps of the loaded pair have taken; a new one for each load. A load itself is as a step not yet seen.

    Attributes:
        why: what was said of an engine that did not stop and was ended; "" while none was.
    """

    def __init__(self, can_break_off: bool) -> None:
        """Prepare it; on the processor, steps can be broken off."""
        self._is_known = can_break_off
        self._longest_s = 0.0
        self._heard_s = time.monotonic()
        self._n_done = 0
        self.why = ""

    def note(self, event: Event) -> None:
        """Take note of what an answering engine says: a step took the time since it said something last."""
        now_s = time.monotonic()
        if isinstance(event, Started):
            self._n_done = 0
        else:
            self._longest_s = max(self._longest_s, now_s - self._heard_s)
        if isinstance(event, Prefill):
            self._is_known = self._is_known or event.done - self._n_done >= N_LONG
            self._n_done = event.done
        self._heard_s = now_s

    @property
    def seconds(self) -> float:
        """How long a step may take that was told to stop."""
        return max(LEAST_S if self._is_known else UNSEEN_S, min(MOST_S, TIMES * self._longest_s))

    def end(self, waited_s: float) -> None:
        """Take note that it was waited for so long, in vain."""
        self.why = f"The engine did not stop within {waited_s:.0f} s of being told to, and was ended."

    def explained(self, fault: EngineDiedError) -> EngineDiedError:
        """Return why the engine is gone: what was said of it, or what it was taken for."""
        return EngineDiedError(self.why, HINT) if self.why else fault
