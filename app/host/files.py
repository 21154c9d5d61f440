"""From the names of a pair to files that the engine may be given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from app.host.values import PairChoice
from app.models.library import Library, LibraryEntry
from app.models.tried import Tried

_State = tuple[int, int]


class PairFiles:
    """Finds the files of a pair, and has those that are new tried in a process that may die of them.

    Both look at disks, so they do it on a thread: the loop is the window's.
    """

    def __init__(self, library: Library, tried: Tried | None = None) -> None:
        self._library = library
        self._tried = tried or Tried()
        self._found: dict[Path, _State] = {}

    async def find(self, pair: PairChoice, on_trial: Callable[[str], None]) -> tuple[LibraryEntry, LibraryEntry | None]:
        """Return target and draft; tell the name of each file that is tried first.

        Raises:
            ModelError: a name is unknown, or a file is not one that llama.cpp can load.
        """
        target = await asyncio.to_thread(self._library.resolve, pair.target)
        draft = None if pair.draft is None else await asyncio.to_thread(self._library.resolve, pair.draft)
        for entry in (target, draft):
            if entry is not None:
                await self._try(entry, on_trial)
        self._found = await asyncio.to_thread(_states, [entry.path for entry in (target, draft) if entry is not None])
        return target, draft

    async def are_same(self) -> bool:
        """Tell whether no other file has come into the place of one that was found last; what is gone is loaded yet."""
        now = await asyncio.to_thread(_states, list(self._found))
        return all(self._found[path] == state for path, state in now.items())

    async def _try(self, entry: LibraryEntry, on_trial: Callable[[str], None]) -> None:
        trial = await asyncio.to_thread(self._tried.needed, entry)
        if trial is None:
            return
        on_trial(entry.name)
        try:
            await asyncio.to_thread(trial.run)
        except asyncio.CancelledError:
            trial.stop()
            raise
        await asyncio.to_thread(self._tried.passed, entry)


def _states(paths: Sequence[Path]) -> dict[Path, _State]:
    """Return what changes with a file, of those that are there."""
    found: dict[Path, _State] = {}
    for path in paths:
        with suppress(OSError):
            facts = path.stat()
            found[path] = (facts.st_size, facts.st_mtime_ns)
    return found
