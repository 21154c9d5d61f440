"""The loads and answers that somebody has asked the host for, in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from app.engine.client import Engine
from app.errors import LoadError


@dataclass(slots=True, eq=False)
class Job:
    """A load or an answer that somebody asked for and that is not over.

    ``running`` is there while an engine carries it out, with the id that the command has there; before,
    ``is_cancelled`` keeps it from being sent, and so does nobody being there any more who wants it.
    ``is_watched``: somebody sees to it that the engine stops it.
    """

    running: tuple[Engine, int] | None = None
    is_cancelled: bool = False
    is_wanted: bool = True
    is_watched: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def stop(self) -> None:
        """Tell the engine that carries it out, if one does, to stop it; from any thread.

        It is told by the command's own id in that very engine: one that is over by then is nobody else's.
        """
        if (running := self.running) is not None:
            engine, command_id = running
            engine.cancel(command_id)

    def leave(self) -> None:
        """Want it no more; from any thread, and before the host's loop comes round to hear of it."""
        self.is_wanted = False
        self.stop()

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
        running = [job for job in self if job.running is not None] or self
        return running[0] if running else None
