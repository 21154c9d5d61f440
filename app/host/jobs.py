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
    ``is_watched``: somebody sees to it that the engine stops it. ``asked`` is what an answer was asked with.
    """

    asked: object = None
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

    @property
    def is_to_be(self) -> bool:
        """Whether nobody has cancelled it and somebody still waits for it."""
        return self.is_wanted and not self.is_cancelled

    def check_wanted(self) -> None:
        """Go on only if nobody has cancelled it and somebody still waits for it.

        Raises:
            LoadError: it is not to be.
        """
        if not self.is_to_be:
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

    def next(self, asked: object = None) -> Job | None:
        """Return the one that runs now, or else comes next; of those that were asked with that, if it is given."""
        meant = [job for job in self if asked is None or job.asked is asked]
        running = [job for job in meant if job.running is not None] or meant
        return running[0] if running else None
