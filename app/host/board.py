"""What the host says about itself, and who wants to hear of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from app.host.turn import tell
from app.host.values import HostPhase, HostState


class Board:
    """The state of a host and those who are told of each new one."""

    def __init__(self) -> None:
        self.state = HostState()
        self._subscribers: list[Callable[[HostState], None]] = []

    def subscribe(self, callback: Callable[[HostState], None]) -> Callable[[], None]:
        """Call ``callback`` with every new state; return what ends that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback) if callback in self._subscribers else None

    def enter(self, phase: HostPhase, detail: str = "") -> None:
        """Change the phase; what is loaded stays so only where it can answer."""
        loaded = self.state.loaded if phase in ("idle", "answering") else None
        self.become(replace(self.state, phase=phase, detail=detail, loaded=loaded))

    def become(self, state: HostState) -> None:
        """Take on a state, and tell if it is a new one."""
        if state != self.state:
            self.state = state
            for callback in tuple(self._subscribers):
                tell(callback, state)

    @contextmanager
    def looking(self) -> Iterator[Callable[[str], None]]:
        """Say what is looked at before a load; what was there is there again behind it, whatever comes of it."""
        before = self.state
        try:
            yield lambda words: self.become(replace(before, phase="loading", detail=words))
        finally:
            if self.state.phase == "loading":
                self.become(before)
