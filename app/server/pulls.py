"""Models that requests have pulled: each once, however many wait for it, and none that nobody waits for any more.

So many are downloaded at once; others wait, and more than may wait are told to come back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import BusyError, ModelNotFoundError
from app.host.background import beside

if TYPE_CHECKING:
    from app.models.hub import Hub
    from app.models.remote import Item

_Files = tuple[str, ...]
"""The digests of what is pulled: names differ, and mean the same."""


@dataclass(slots=True)
class _Pull:
    """A download, and how many requests wait for it."""

    task: asyncio.Task[Path]
    n_waiting: int = 0


class Pulls:
    """The downloads of one server; for its loop. What was begun and given up goes on with the next who asks."""

    def __init__(self, n_at_once: int, n_waiting: int) -> None:
        self._running: dict[_Files, _Pull] = {}
        self._places = asyncio.Semaphore(n_at_once)
        self._n_most = n_at_once + n_waiting

    @property
    def n_wanted(self) -> int:
        """How many models are being downloaded or wait for that."""
        return len(self._running)

    async def get(self, words: str) -> Path:
        """Return the first file of what a repository has under a name, once all of it is here.

        Raises:
            BusyError: too many others are being pulled.
            SlipstreamError: it is not there, or cannot be got.
        """
        hub, item = await _found(words)
        pull = await self._begun(hub, item)
        pull.n_waiting += 1
        try:
            return await asyncio.shield(pull.task)
        finally:
            pull.n_waiting -= 1
            if not pull.n_waiting:
                pull.task.cancel()

    async def look(self, words: str) -> None:
        """Ask the hub whether it has something of a name.

        Raises:
            SlipstreamError: it has not, or does not answer.
        """
        await _found(words)

    async def _begun(self, hub: Hub, item: Item) -> _Pull:
        files = tuple(file.digest for file in item.files)
        while (pull := self._running.get(files)) is not None:
            if not pull.task.cancelling():
                return pull
            await asyncio.wait((pull.task,))  # it was given up just now, and still has its files
        if self.n_wanted >= self._n_most:
            raise BusyError(
                f"{self.n_wanted} models are being pulled already.", "Try again when some of them are here."
            )
        pull = self._running[files] = _Pull(asyncio.ensure_future(self._pulled(hub, item)))
        pull.task.add_done_callback(lambda task: self._end(files, task))
        return pull

    def _end(self, files: _Files, task: asyncio.Task[Path]) -> None:
        del self._running[files]
        if not task.cancelled():
            task.exception()  # told to those who wait, if there still are any

    async def _pulled(self, hub: Hub, item: Item) -> Path:
        async with self._places:
            return await _pulled(hub, item)


async def _found(words: str) -> tuple[Hub, Item]:
    from app.models.hub import Hub

    hub = await beside(Hub, "asking the hub")
    return hub, await beside(lambda: hub.resolve(words), "asking the hub")


async def _pulled(hub: Hub, item: Item) -> Path:
    from app.models.download import Downloads

    paths: Sequence[Path] = ()
    async with aclosing(Downloads(hub).get(item)) as steps:
        async for step in steps:
            paths = step.paths or paths
    if not paths:
        raise ModelNotFoundError(f"{item.title} holds no model.")
    return paths[0]
