"""Downloads: items with one progress each, several at once, paused by closing and gone on with at any time.

``Downloads.get(item)`` is an async iterator of :class:`Progress`; a window draws them, a command prints them. Closing
it pauses: the connection ends at once, what has arrived stays on the disk, and the next ``get`` of that item, in this
process or another one, goes on there. A file gets into the library whole and checked (:mod:`app.models.shelf`).

    get ── locks ── room ──┬─ Transfer (a thread a file) ─ Follower (hash) ─┬─ all right: into their places
                           └─ …                                             ┘
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.models.disk_room import SPARE_BYTES, check_room
from app.models.hub import Hub
from app.models.job import Job
from app.models.meter import STALL_S, Meter
from app.models.models_folder import models_folder
from app.models.part_file import PartFile
from app.models.relocation import check_not_moving
from app.models.remote import Item
from app.models.removal import discard
from app.models.shelf import Shelf
from app.models.unfinished import Unfinished, unfinished

Phase = Literal["waiting", "checking", "downloading", "stalled", "retrying", "verifying", "done"]

TICK_S = 0.2
N_AT_ONCE = 3
"""How many files come at the same time; more only share the line."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an item has come.

    Attributes:
        rate_bytes_s: bandwidth of the last seconds.
        eta_s: seconds until it is there at this pace; None while nobody can tell.
        detail: a sentence that a person should see now; may be empty.
        paths: where its files are, in the item's order; empty before the end.
    """

    title: str
    phase: Phase
    n_bytes: int
    n_total_bytes: int
    rate_bytes_s: float = 0.0
    eta_s: float | None = None
    detail: str = ""
    paths: tuple[Path, ...] = ()


class Downloads:
    """The queue of one process; for one event loop."""

    def __init__(
        self, hub: Hub, folder: Path | None = None, *, n_at_once: int = N_AT_ONCE, spare_bytes: int = SPARE_BYTES
    ) -> None:
        self._hub = hub
        self._folder = folder
        self._slots = asyncio.Semaphore(n_at_once)
        self._spare_bytes = spare_bytes
        self._jobs: list[Job] = []

    @property
    def _shelf(self) -> Shelf:
        """The folder that is ours now: it may be moved while the program runs."""
        return Shelf(models_folder() if self._folder is None else self._folder)

    async def get(self, item: Item) -> AsyncGenerator[Progress, None]:
        """Get an item; yields at least every 0.2 s, the last with the phase ``done`` and the paths.

        Raises:
            SlipstreamError: it cannot be had; what has arrived is kept unless the message says otherwise.
        """
        job = Job(self._hub, self._shelf, item)
        loop = asyncio.get_running_loop()
        pool = ThreadPoolExecutor(len(item.files) + 1, thread_name_prefix="download")
        self._jobs.append(job)
        try:
            await loop.run_in_executor(pool, self._prepare, job)
            async with aclosing(self._running(job, pool)) as steps:
                async for progress in steps:
                    yield progress
            await loop.run_in_executor(pool, job.finish)
            yield Progress(item.title, "done", item.n_bytes, item.n_bytes, detail=job.detail, paths=job.places)
        finally:
            job.stop()
            self._jobs.remove(job)
            await asyncio.shield(loop.run_in_executor(None, _end, pool, job))

    def unfinished(self) -> list[Unfinished]:
        """List what was begun and is not there yet, also by earlier runs of the program."""
        return unfinished(self._shelf)

    def discard(self, item: Item) -> None:
        """Drop an item that is not finished, and what has arrived of it.

        Raises:
            DownloadError: somebody is getting it just now, or it cannot be deleted.
        """
        discard(self._shelf, item)

    def _prepare(self, job: Job) -> None:
        job.prepare()
        check_not_moving()  # after our locks: of the two, one sees the other
        queued = sum(other.n_left_bytes for other in self._jobs if other is not job)
        queued += self._n_left_elsewhere(job)
        check_room(job.folder, job.n_left_bytes, queued, self._spare_bytes)

    def _n_left_elsewhere(self, job: Job) -> int:
        """Count what other processes are still to write to the same folder."""
        ours = {file.digest for each in (job, *self._jobs) for file in each.item.files}
        return sum(
            max(0, file.n_bytes - part.n_bytes)
            for item in Shelf(job.folder).unfinished()
            for file, part in ((file, PartFile(job.folder, file)) for file in item.files)
            if file.digest not in ours and part.is_taken()
        )

    async def _running(self, job: Job, pool: ThreadPoolExecutor) -> AsyncGenerator[Progress, None]:
        meter = Meter()
        tasks = {asyncio.ensure_future(self._one(pool, job, index)) for index in range(len(job.fetches))}
        try:
            waiting = set(tasks)
            while waiting:
                yield _progress(job, meter)
                ended, waiting = await asyncio.wait(waiting, timeout=TICK_S, return_when=asyncio.FIRST_EXCEPTION)
                for task in ended:
                    task.result()
        except BaseException:
            job.stop()
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _one(self, pool: ThreadPoolExecutor, job: Job, index: int) -> None:
        async with self._slots:
            running: Future[None] = pool.submit(job.fetches[index].run)
            await asyncio.wrap_future(running)


def _end(pool: ThreadPoolExecutor, job: Job) -> None:
    """Wait for the threads, then give the locks back: another process must not write beside us."""
    pool.shutdown()
    job.release()


def _progress(job: Job, meter: Meter) -> Progress:
    meter.count(job.n_received_bytes)
    phase: Phase = job.phase
    detail = job.detail
    if phase == "downloading" and meter.silence_s >= STALL_S:
        phase, detail = "stalled", f"No bytes have come for {meter.silence_s:.0f} s."
    eta_s = meter.eta_s(job.n_left_bytes) if phase == "downloading" else None
    rate = 0.0 if phase == "stalled" else meter.rate_bytes_s
    return Progress(job.item.title, phase, job.n_bytes, job.item.n_bytes, rate, eta_s, detail)
