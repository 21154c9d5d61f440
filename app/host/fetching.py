"""Fetches an official build of llama.cpp as a runtime: found, fetched, checked by its hash, unpacked, guarded.

tag ─▶ commit, size, sha256 ─▶ Transfer (goes on where it was) ─▶ unpacked ─▶ guard ─▶ on the list of runtimes
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from pathlib import Path

from app.errors import DownloadError
from app.host.background import beside
from app.host.packs import Pack
from app.host.runtimes import NEW, Runtimes
from app.models.disk_room import SPARE_BYTES, check_room
from app.models.download import TICK_S, Progress
from app.models.meter import STALL_S, Meter
from app.models.part_file import PartFile
from app.models.release import Build, Releases
from app.models.remote import RemoteFile
from app.models.transfer import Transfer
from app.paths import data_dir

UNPACKED_TIMES = 6
"""How much larger than its archive a runtime is, at most."""


async def fetch(
    build: Build, runtimes: Runtimes, releases: Releases, tag: str = "", *, spare_bytes: int = SPARE_BYTES
) -> AsyncGenerator[Progress, None]:
    """Fetch a build and add it; yields at least every 0.2 s, the last with the phase ``done`` and the pack's name.

    Closing it stops; what has arrived is kept, and the next one goes on there.

    Args:
        build: which of the builds.
        runtimes: where it is added; it is not chosen.
        releases: where it comes from.
        tag: of which release; of the one that fits if not given.
        spare_bytes: what is left free on the disk.

    Raises:
        SlipstreamError: it cannot be had, is not what the release says, or does not pass the guard.
    """
    yield Progress(build.name, "waiting", 0, 0, detail="Asking for the release…")
    file = await beside(partial(releases.find, build, tag), "release")
    arrival = _Arrival(file, releases)
    async with aclosing(arrival.steps(spare_bytes)) as steps:
        async for step in steps:
            yield step
    words = "Unpacking it, and trying whether it fits…"
    yield Progress(file.path, "checking", file.n_bytes, file.n_bytes, detail=words)
    pack = await beside(partial(_add, runtimes, arrival.archive), "runtime")
    yield Progress(file.path, "done", file.n_bytes, file.n_bytes, detail=pack.name, paths=(Path(pack.folder),))


class _Arrival:
    """An archive on its way; ``archive`` is where it is afterwards, in a folder of its own."""

    def __init__(self, file: RemoteFile, releases: Releases) -> None:
        self.archive = Path()
        self._file, self._home = file, data_dir() / "runtimes"
        self._part = PartFile(self._home, file)
        self._transfer = Transfer(releases.open, file, self._part, releases.patience)

    async def steps(self, spare_bytes: int) -> AsyncGenerator[Progress, None]:
        """Fetch it; closing stops, and returns when the thread has ended.

        Raises:
            SlipstreamError: it cannot be had.
        """
        loop, meter = asyncio.get_running_loop(), Meter()
        pool = ThreadPoolExecutor(1, thread_name_prefix="runtime")
        try:
            await loop.run_in_executor(pool, self._prepare, spare_bytes)
            running = asyncio.wrap_future(pool.submit(self._transfer.run))
            try:
                while not running.done():
                    yield _progress(self._transfer, meter)
                    await asyncio.wait({running}, timeout=TICK_S)
                running.result()
            finally:
                self._transfer.stop()
                running.cancel()
            self.archive = await loop.run_in_executor(pool, self._take)
        finally:
            await asyncio.shield(loop.run_in_executor(None, self._end, pool))

    def _prepare(self, spare_bytes: int) -> None:
        self._part.acquire()
        n_left = UNPACKED_TIMES * self._file.n_bytes - self._part.n_bytes
        check_room(self._home, n_left, 0, spare_bytes)

    def _take(self) -> Path:
        """Move the whole archive to a place of its own, under the name that the runtime gets."""
        try:
            place = Path(tempfile.mkdtemp(prefix=NEW, dir=self._home)) / self._file.name
            self._part.move(place)
        except OSError as fault:
            message = f"{self._home} cannot be written: {fault.strerror}."
            raise DownloadError(message, "Check that folder's permissions.") from fault
        return place

    def _end(self, pool: ThreadPoolExecutor) -> None:
        pool.shutdown()
        self._part.release()


def _add(runtimes: Runtimes, archive: Path) -> Pack:
    try:
        return runtimes.add(archive)
    finally:
        shutil.rmtree(archive.parent, ignore_errors=True)


def _progress(transfer: Transfer, meter: Meter) -> Progress:
    file = transfer.file
    meter.count(transfer.n_received_bytes)
    if transfer.stage == "downloading" and meter.silence_s >= STALL_S:
        detail = f"No bytes have come for {meter.silence_s:.0f} s."
        return Progress(file.path, "stalled", transfer.n_bytes, file.n_bytes, detail=detail)
    phase = transfer.stage if transfer.stage in ("downloading", "retrying", "verifying") else "waiting"
    eta_s = meter.eta_s(file.n_bytes - transfer.n_bytes) if phase == "downloading" else None
    return Progress(file.path, phase, transfer.n_bytes, file.n_bytes, meter.rate_bytes_s, eta_s, transfer.detail)
