"""The loads and answers that somebody has asked the host for, in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from app.errors import LoadError


@dataclass(slots=True, eq=False)
class Job:
    """A load or an answer that somebody asked for and that is not over.

    ``command_id`` is there while the engine carries it out; before, ``is_cancelled`` keeps it from being sent, and so
    does nobody being there any more who wants it.
    ``is_watched``: somebody sees to it that the engine stops it.
    """

    command_id: int | None = None
    is_cancelled: bool = False
    is_wanted: bool = True
    is_watched: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def check_wanted(self) -> None:
        """Go on only if nobody has cancelled it and somebody still waits for it.

        Raises:
            LoadError: it is not to be.
        """
        if self.is_cancelled or not self.is_wanted:
            raise LoadError("The load was cancelled.")


class Jobs(list[Job]):
    """Those that are not over, oldest first."""

    @contextmanager
    def begun(self) -> Iterator[Job]:
        """Have a new one among them for the time of a block."""
        job = Job()
        self.append(job)
        try:
            yield job
        finally:
            self.end(job)

    def end(self, job: Job) -> None:
        """Take one out that is over."""
        self.remove(job)
        job.over.set()

    def next(self) -> Job | None:
        """Return the one that is running now, or else comes next."""
        running = [job for job in self if job.command_id is not None] or self
        return running[0] if running else None
