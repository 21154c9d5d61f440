"""What was asked of the server, for a person to look at: when, by which path, how it ended. Never what it said."""

from __future__ import annotations

import collections
import itertools
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from app.metrics.values import Run, is_lossy

KEPT = 200
"""Requests that can be looked at."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Entry:
    """One request for an answer; ``fault`` is the code of an error, ``left`` if the client went away, or "" .

    ``lossy``: lenient acceptance may have changed the answer.
    """

    number: int
    at: datetime
    path: str
    model: str
    began_s: float = field(default_factory=time.monotonic)
    first_s: float | None = None
    ended_s: float | None = None
    n_prompt: int = 0
    n_tokens: int = 0
    tps: float | None = None
    n_drafted: int = 0
    n_accepted: int = 0
    lossy: bool = False
    fault: str = ""


class RequestLog:
    """The last requests, oldest first; written on the server's loop, read from anywhere."""

    def __init__(self) -> None:
        self._entries: collections.deque[Entry] = collections.deque(maxlen=KEPT)
        self._numbers = itertools.count(1)
        self.on_change: list[Callable[[Entry], None]] = []
        self.on_end: list[Callable[[Entry, Run | None], None]] = []

    def begin(self, path: str, model: str) -> Entry:
        """Note a request."""
        entry = Entry(next(self._numbers), datetime.now(UTC), path, model)
        self._entries.append(entry)
        self._tell(entry)
        return entry

    def end(self, entry: Entry, run: Run | None, fault: str = "") -> None:
        """Note how it ended."""
        entry.ended_s, entry.fault = time.monotonic(), entry.fault or fault
        if run is not None:
            entry.n_prompt, entry.n_tokens, entry.tps = run.prompt_tokens, run.tokens, run.decode_tps
            entry.n_drafted, entry.n_accepted, entry.lossy = run.proposed, run.accepted, is_lossy(run)
        logger.info(
            "%s %s: %s, %d + %d tokens in %.2f s",
            entry.path,
            entry.model,
            entry.fault or "done",
            entry.n_prompt,
            entry.n_tokens,
            entry.ended_s - entry.began_s,
        )
        self._tell(entry)
        for callback in tuple(self.on_end):
            callback(entry, run)

    def entries(self) -> tuple[Entry, ...]:
        """Return copies of the last ones."""
        return tuple(replace(entry) for entry in self._entries.copy())

    def _tell(self, entry: Entry) -> None:
        for callback in tuple(self.on_change):
            callback(replace(entry))
