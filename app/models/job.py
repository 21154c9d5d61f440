"""One item on its way: its files, their locks, and one progress of them all."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import Literal

from app.errors import DownloadError
from app.models.cached import in_caches, is_the_file, seed, torn
from app.models.hub import Hub
from app.models.part_file import PartFile
from app.models.places import shared_caches
from app.models.remote import Item, RemoteFile
from app.models.shelf import Shelf, in_the_way
from app.models.transfer import StoppedError, Transfer

logger = logging.getLogger(__name__)

JobPhase = Literal["waiting", "checking", "downloading", "retrying", "verifying"]


class Fetch:
    """One file of an item: there already, to be compared with what is in its place or in a cache, or to be fetched.

    ``cached`` is where a cache seems to have it; ``in_place`` is that, once it was compared, and the file stays there.
    """

    def __init__(self, hub: Hub, shelf: Shelf, file: RemoteFile) -> None:
        self.file = file
        self.part = PartFile(shelf.folder, file)
        self.transfer = Transfer(hub.open, file, self.part, hub.patience)
        self.is_there = False
        self.is_checking = False
        self.cached: Path | None = None
        self.in_place: Path | None = None
        self._shelf = shelf
        self._is_stopped = False

    @property
    def n_bytes(self) -> int:
        """How many bytes of it are there, or on this disk and need only be compared."""
        return self.file.n_bytes if self.is_there or self.cached is not None else self.transfer.n_bytes

    @property
    def place(self) -> Path:
        """Where it is, or will be."""
        return self.in_place or self._shelf.place(self.file)

    @property
    def is_over(self) -> bool:
        """Tell whether nothing is left to do."""
        return self.is_there or self.transfer.stage == "done"

    def run(self) -> None:
        """Get the file into its part; in a thread of its own.

        Raises:
            StoppedError: :meth:`stop` was called.
            SlipstreamError: it cannot be had.
        """
        self.is_there = self.is_there or self._shelf.is_there(self.file) or self._is_in_place()
        if not self.is_there and self.cached is not None:
            self.is_there = self._is_in_cache(self.cached)
        if not self.is_there:
            self.transfer.run()

    def stop(self) -> None:
        """End it soon."""
        self._is_stopped = True
        self.transfer.stop()

    def _is_in_place(self) -> bool:
        """Compare with a file that somebody else put there; it is kept whatever comes out.

        Raises:
            DownloadError: it is another one.
        """
        if not self._shelf.is_in_the_way(self.file):
            return False
        place = self._shelf.place(self.file)
        self.is_checking = True
        try:
            if is_the_file(place, self.file, self._check_stop):
                self._shelf.adopt(self.file)
                return True
        except OSError as fault:
            raise DownloadError(
                f"{place} cannot be read: {fault.strerror}.", "Move it away, then pull again."
            ) from fault
        finally:
            self.is_checking = False
        raise in_the_way(self.file, place)

    def _is_in_cache(self, cached: Path) -> bool:
        """Compare with what a cache has; a file that is another one, or cannot be read, is fetched as if none were."""
        self.is_checking = True
        self.transfer.detail = "It is on this disk already: comparing it with the hub's hash."
        try:
            if is_the_file(cached, self.file, self._check_stop):
                self.in_place = cached
                self.transfer.detail = f"Used where it is: {cached.parent}"
                return True
        except OSError as fault:
            logger.info("not used: %s: %s", cached, fault.strerror)
        finally:
            self.is_checking = False
            self.cached = None
        self.transfer.detail = ""
        return False

    def take_in(self) -> None:
        """Copy a file that was to stay in a cache into its part.

        Raises:
            StoppedError: :meth:`stop` was called.
            DownloadError: the disk does not take it.
        """
        if self.in_place is not None:
            seed(self.part, self.in_place, self.file, self._check_stop)
            self.in_place, self.is_there = None, False

    def _check_stop(self) -> None:
        if self._is_stopped:
            raise StoppedError


class Job:
    """All files of an item."""

    def __init__(self, hub: Hub, shelf: Shelf, item: Item) -> None:
        self.item = item
        self.fetches = [Fetch(hub, shelf, file) for file in item.files]
        self.note = ""
        self._shelf = shelf

    @property
    def folder(self) -> Path:
        """The models folder that it goes to."""
        return self._shelf.folder

    @property
    def places(self) -> tuple[Path, ...]:
        """Where the files belong."""
        return tuple(fetch.place for fetch in self.fetches)

    @property
    def n_bytes(self) -> int:
        """How many bytes of all files are there."""
        return sum(fetch.n_bytes for fetch in self.fetches)

    @property
    def n_left_bytes(self) -> int:
        """How many are still to come."""
        return max(0, self.item.n_bytes - self.n_bytes)

    @property
    def n_received_bytes(self) -> int:
        """How many came over the line in this run."""
        return sum(fetch.transfer.n_received_bytes for fetch in self.fetches)

    @property
    def phase(self) -> JobPhase:
        """What is going on, in a word: bytes coming count for more than another file's wait."""
        stages = {fetch.transfer.stage for fetch in self.fetches if not fetch.is_over}
        if any(fetch.is_checking for fetch in self.fetches):
            return "checking"
        for stage in ("downloading", "retrying", "verifying"):
            if stage in stages:
                return stage
        return "waiting"

    @property
    def detail(self) -> str:
        """What a person should know now."""
        return next((fetch.transfer.detail for fetch in self.fetches if fetch.transfer.detail), self.note)

    def prepare(self) -> None:
        """Take the locks, and put the item down as begun.

        Raises:
            DownloadError: a file is being downloaded elsewhere, or the folder cannot be written.
        """
        for fetch in sorted(self.fetches, key=lambda fetch: fetch.file.digest):
            self._shelf.place(fetch.file)
            fetch.part.acquire()
            fetch.is_there = self._shelf.is_there(fetch.file)
            fetch.transfer.n_bytes = fetch.part.n_bytes
        cached = in_caches(self.item, shared_caches())
        for fetch in self.fetches:
            fetch.cached = None if fetch.is_there else cached.get(fetch.file)
        self._drop_older()
        if not all(fetch.is_there for fetch in self.fetches):
            self._shelf.remember(self.item)

    def finish(self) -> None:
        """Put the files into their places, but for those that stay in a cache.

        Raises:
            DownloadError: a place cannot be written.
        """
        in_place = {fetch.file for fetch in self.fetches if fetch.in_place is not None}
        for file in torn(self.item.files, in_place):
            next(fetch for fetch in self.fetches if fetch.file == file).take_in()
        self._shelf.finish(self.item, [(fetch.file, fetch.part) for fetch in self.fetches if not fetch.is_there])

    def stop(self) -> None:
        """End all transfers soon."""
        for fetch in self.fetches:
            fetch.stop()

    def release(self) -> None:
        """Give the locks back; the transfers have ended."""
        for fetch in self.fetches:
            fetch.part.release()

    def _drop_older(self) -> None:
        """Delete the parts of a version that the hub no longer has under this name."""
        older = self._shelf.remembered(self.item.title)
        kept = {file.digest for file in self.item.files}
        gone = [file for file in older.files if file.digest not in kept] if older else []
        for file in gone:
            part = PartFile(self._shelf.folder, file)
            with suppress(DownloadError, OSError):
                part.acquire()
                part.discard()
                self.note = f"{file.path} changed on the hub since this download was begun: it starts anew."
            part.release()
