"""The downloads of the window: each item has one state, whoever looks at it; for one event loop.

    pulls = Pulls(HubDoor())
    unsubscribe = pulls.subscribe(show)     # called on the loop with every new state of a pull
    pulls.get(catalog_pair)                 # a curated pair, or an Item: begins it, or goes on with it
    pulls.pause(title); pulls.resume(title); await pulls.remove(title); await pulls.close()

A curated pair's title is the title of its pull. Ends are states too: ``done`` with the paths, ``paused``, ``failed``
with the fact in ``detail`` and the next step in ``hint``. What an earlier run of the program has begun comes with
:meth:`Pulls.look` as ``paused``. Closing pauses everything; nothing that has arrived is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app.errors import HubAccessError, SlipstreamError
from app.host.background import beside
from app.host.hub_door import HubDoor

if TYPE_CHECKING:
    from app.models.catalog import CatalogPair
    from app.models.download import Downloads, Progress
    from app.models.hub import Hub
    from app.models.remote import Item
    from app.models.shelf import Shelf
    from app.models.unfinished import Unfinished

PullPhase = Literal[
    "asking",
    "waiting",
    "checking",
    "downloading",
    "stalled",
    "retrying",
    "verifying",
    "done",
    "paused",
    "failed",
    "removed",
]

ENDED: frozenset[PullPhase] = frozenset(("done", "paused", "failed", "removed"))


@dataclass(frozen=True, slots=True)
class Pull:
    """How far an item has come.

    Attributes:
        title: what it is; no two pulls have the same.
        rate_bytes_s: bandwidth of the last seconds.
        eta_s: seconds until it is there at this pace; None while nobody can tell.
        detail: a fact that a person should see now; may be empty.
        hint: what to do next; may be empty.
        gated_repo: the repository that wants a token or a yes to its terms, "" if that is not what is wrong.
        paths: where its files are, the target's first; empty before the end.
    """

    title: str
    phase: PullPhase
    n_bytes: int = 0
    n_total_bytes: int = 0
    rate_bytes_s: float = 0.0
    eta_s: float | None = None
    detail: str = ""
    hint: str = ""
    gated_repo: str = ""
    paths: tuple[Path, ...] = ()

    @property
    def is_running(self) -> bool:
        """Tell whether something is being done for it."""
        return self.phase not in ENDED


class Pulls:
    """All downloads of this program, running or not."""

    def __init__(self, door: HubDoor, folder: Path | None = None) -> None:
        self._door = door
        self._folder = folder
        self._downloads: dict[Path, Downloads] = {}  # one a folder: a person may move it meanwhile
        self._pulls: dict[str, Pull] = {}
        self._what: dict[str, Item | CatalogPair] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._subscribers: list[Callable[[Pull], None]] = []

    @property
    def pulls(self) -> tuple[Pull, ...]:
        """All of them, in the order in which they were asked for."""
        return tuple(self._pulls.values())

    def find(self, title: str) -> Pull | None:
        """Return the pull of that title."""
        return self._pulls.get(title)

    def subscribe(self, callback: Callable[[Pull], None]) -> Callable[[], None]:
        """Call ``callback`` with every new state of a pull; return what ends that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback) if callback in self._subscribers else None

    async def look(self) -> None:
        """Add what was begun and is not there yet, also by earlier runs of the program."""
        found = await beside(lambda: _unfinished(self._folder), "unfinished downloads")
        for one in found:
            item = one.item
            if item.title in self._pulls:
                continue
            self._what[item.title] = item
            detail = "Another program of ours is getting it now." if one.is_running else ""
            self._set(Pull(item.title, "paused", one.n_bytes, item.n_bytes, detail=detail))

    def get(self, what: Item | CatalogPair) -> Pull:
        """Begin a pull, or go on with it; what runs already goes on running."""
        title = what.title
        pull = self._pulls.get(title)
        if pull is not None and (pull.is_running or title in self._tasks):  # or its threads still end
            return pull
        self._what[title] = what
        n_bytes, n_total = (pull.n_bytes, pull.n_total_bytes) if pull is not None else (0, 0)
        pull = Pull(title, "asking", n_bytes, n_total, detail="Asking the hub for the files.")
        self._set(pull)
        self._tasks[title] = asyncio.get_running_loop().create_task(self._run(title))
        return pull

    def pause(self, title: str) -> None:
        """Stop it; what has arrived is kept."""
        if (task := self._tasks.get(title)) is not None:
            task.cancel()

    def resume(self, title: str) -> None:
        """Go on where it stopped."""
        if (what := self._what.get(title)) is not None:
            self.get(what)

    def resume_refused(self) -> None:
        """Go on with what the hub did not give for want of a token, as after one was given."""
        for pull in self.pulls:
            if pull.phase == "failed" and pull.gated_repo:
                self.resume(pull.title)

    async def remove(self, title: str) -> None:
        """Cancel it and drop what has arrived; a finished one only leaves the list.

        Raises:
            DownloadError: another program is getting it just now, or a part cannot be deleted.
        """
        await self._stopped(title)
        pull, what = self._pulls.get(title), self._what.get(title)
        if pull is None:
            return
        if pull.phase != "done":
            await beside(lambda: _discard(self._folder, title, what), "downloads")
        self._set(replace(pull, phase="removed"))

    async def close(self) -> None:
        """Pause everything."""
        for title in list(self._tasks):
            await self._stopped(title)

    # --- one pull -------------------------------------------------------------------------------------

    async def _stopped(self, title: str) -> None:
        task = self._tasks.get(title)
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])

    async def _run(self, title: str) -> None:
        try:
            item = await self._item(title)
            self._what[title] = item
            downloads = await self._door.ask(self._downloads_of)
            async with aclosing(downloads.get(item)) as steps:
                async for step in steps:
                    self._set(_pull_of(title, step))
        except asyncio.CancelledError:
            self._end(title, "paused")
        except SlipstreamError as fault:
            repo = self._repo_of(title, fault) if isinstance(fault, HubAccessError) else ""
            self._end(title, "failed", fault.message, fault.hint, repo)
        except OSError as fault:
            words = f"The download stopped: {fault.strerror or fault}."
            self._end(title, "failed", words, "Check the disk, then go on: nothing is lost.")
        except Exception:  # a fault of ours: the row must not say for ever that something is coming
            self._end(title, "failed", "The download stopped by a fault of this program.", "Go on: nothing is lost.")
            raise
        finally:
            self._tasks.pop(title, None)

    async def _item(self, title: str) -> Item:
        from app.models.remote import Item

        what = self._what[title]
        if isinstance(what, Item):
            return what
        from app.models.pair_item import item_of

        pair = what
        return await self._door.ask(lambda hub: item_of(pair, hub))

    def _downloads_of(self, hub: Hub) -> Downloads:
        from app.models.download import Downloads

        folder = _shelf(self._folder).folder
        return self._downloads.setdefault(folder, Downloads(hub, folder))

    def _repo_of(self, title: str, fault: HubAccessError) -> str:
        """Return the repository that a refusal is about: the one that its words name."""
        from app.models.remote import Item

        what = self._what[title]
        if isinstance(what, Item):
            repos = [file.repo for file in what.files]
        else:
            repos = [model.repo for model in (what.target, what.draft) if model is not None]
        said = f"{fault.message} {fault.hint}"
        return next((repo for repo in repos if repo in said), repos[0] if repos else "")

    def _end(self, title: str, phase: PullPhase, detail: str = "", hint: str = "", gated_repo: str = "") -> None:
        last = self._pulls[title]
        if last.phase == "done":  # its files are in their places, whatever became of the threads that brought them
            return
        self._set(Pull(title, phase, last.n_bytes, last.n_total_bytes, 0.0, None, detail, hint, gated_repo))

    def _set(self, pull: Pull) -> None:
        if pull.phase == "removed":
            self._pulls.pop(pull.title, None)
            self._what.pop(pull.title, None)
        else:
            self._pulls[pull.title] = pull
        for callback in tuple(self._subscribers):
            callback(pull)


def _pull_of(title: str, step: Progress) -> Pull:
    return Pull(
        title,
        step.phase,
        step.n_bytes,
        step.n_total_bytes,
        step.rate_bytes_s,
        step.eta_s,
        step.detail,
        paths=step.paths,
    )


# The imports below take a quarter of a second: they are done on the threads that call these.


def _shelf(folder: Path | None) -> Shelf:
    from app.models.models_folder import models_folder
    from app.models.shelf import Shelf

    return Shelf(folder or models_folder())


def _discard(folder: Path | None, title: str, what: Item | CatalogPair | None) -> None:
    from app.models.remote import Item
    from app.models.removal import discard

    shelf = _shelf(folder)
    item = what if isinstance(what, Item) else shelf.remembered(title)
    if item is not None:
        discard(shelf, item)


def _unfinished(folder: Path | None) -> list[Unfinished]:
    from app.models.unfinished import unfinished

    return unfinished(_shelf(folder))
