"""Fetches one file into its part, in a thread: ranges, retries, hash. It ends right, with a fault, or stopped.

A connection that breaks is made anew and goes on at the next byte. A server that does not know ranges begins from the
start; what is there already is passed over, so that another break loses nothing. Waits double, with jitter, as long as
nothing arrives, and end after some tries in a row without a byte.
"""

from __future__ import annotations

import errno
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Literal

from app.errors import DiskFullError, DownloadError, SlipstreamError
from app.models.deadline import within
from app.models.follower import Follower
from app.models.hub_faults import PassingError
from app.models.hub_http import Reply
from app.models.part_file import PartFile
from app.models.patience import Patience
from app.models.remote import RemoteFile

logger = logging.getLogger(__name__)

Open = Callable[[RemoteFile, int], AbstractContextManager[Reply]]
Stage = Literal["waiting", "downloading", "retrying", "verifying", "done"]

NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_POLL_S = 0.1


class StoppedError(Exception):
    """Somebody asked the transfer to stop; what has arrived stays."""


class Transfer:
    """One file on its way. The plain attributes may be read from any thread.

    Attributes:
        n_bytes: how many bytes of the file are there.
        n_received_bytes: how many bytes came over the line, those that were passed over too.
        last_byte_s: when the last of them came (``time.monotonic``).
        detail: what a person should know now; may be empty.
    """

    def __init__(self, open_at: Open, file: RemoteFile, part: PartFile, patience: Patience) -> None:
        self.file = file
        self.part = part
        self.stage: Stage = "waiting"
        self.n_bytes = part.n_bytes
        self.n_received_bytes = 0
        self.last_byte_s = time.monotonic()
        self.detail = ""
        self._open_at = open_at
        self._patience = patience
        self._stop = threading.Event()
        self._cut: Callable[[], None] | None = None

    def stop(self) -> None:
        """End the transfer soon, from any thread."""
        self._stop.set()
        if (cut := self._cut) is not None:
            cut()

    def run(self) -> None:
        """Fetch what is missing and check the whole; the caller holds the part's lock.

        Raises:
            StoppedError: :meth:`stop` was called.
            SlipstreamError: it cannot be done; what has arrived stays, unless it was damaged.
        """
        self._check_stop()
        self.last_byte_s = time.monotonic()
        try:
            with self.part.open() as out:
                try:
                    self._get(out)
                except BaseException:
                    with suppress(OSError):
                        self._sync(out, self.n_bytes)
                    raise
        except OSError as fault:
            raise _cannot_write(self.part.path, fault) from fault
        self.stage, self.detail = "done", ""

    def _get(self, out: FileIO) -> None:
        with Follower(self.part.path, self.file, lambda n_bytes: self._sync(out, n_bytes)) as follower:
            self._begin(out, follower)
            self._fill(out, follower)
            self._verify(out, follower)

    def _sync(self, out: FileIO, n_bytes: int) -> None:
        """Have what is written put onto the disk, of which ``n_bytes`` are known to be written."""
        os.fsync(out.fileno())
        if self.part.path.exists():  # it was not damaged
            self.part.note_synced(n_bytes)

    def _begin(self, out: FileIO, follower: Follower) -> None:
        self.n_bytes = out.seek(0, os.SEEK_END)
        if self.n_bytes > self.file.n_bytes:  # no download of ours makes that
            out.truncate(0)
            self.n_bytes = 0
        follower.advance(self.n_bytes)

    def _fill(self, out: FileIO, follower: Follower) -> None:
        n_failures = 0
        while self.n_bytes < self.file.n_bytes:
            before = self.n_bytes
            try:
                self._receive(out, follower)
                fault = PassingError(DownloadError("The connection ended early.", "Start it again: nothing is lost."))
            except PassingError as passing:
                fault = passing
            self._check_stop()
            if self.n_bytes >= self.file.n_bytes:
                break
            n_failures = 0 if self.n_bytes > before else n_failures + 1
            if n_failures >= self._patience.n_tries:
                raise fault.fault from None
            self._wait(fault, n_failures)

    def _receive(self, out: FileIO, follower: Follower) -> None:
        self.stage = "downloading"
        with self._opened() as reply:
            self._cut = reply.cut
            try:
                self._check_stop()  # it may have been called just before there was something to cut
                self._take_all(reply, out, follower)
            finally:
                self._cut = None

    @contextmanager
    def _opened(self) -> Iterator[Reply]:
        """Open the file where it is to go on; a stop does not wait for a server that says nothing."""
        with ExitStack() as stack:
            opening = self._open_at(self.file, self.n_bytes)
            try:
                reply = within(math.inf, opening.__enter__, lambda _late: _close(opening), self._stop.is_set)
            except SlipstreamError:
                self._check_stop()
                raise
            stack.push(opening)
            yield reply

    def _take_all(self, reply: Reply, out: FileIO, follower: Follower) -> None:
        n_passed_over = self.n_bytes - reply.first
        self.detail = "The server cannot resume: what is here already comes again." if n_passed_over else ""
        for block in reply.blocks:
            self.n_received_bytes += len(block)
            self.last_byte_s = time.monotonic()
            self._check_stop()
            new = memoryview(block)[min(n_passed_over, len(block)) :]
            n_passed_over -= len(block) - len(new)
            self._write(out, new[: self.file.n_bytes - self.n_bytes])
            follower.advance(self.n_bytes)
            if self.n_bytes >= self.file.n_bytes:
                return

    def _write(self, out: FileIO, new: memoryview) -> None:
        while new:
            n = out.write(new)
            self.n_bytes += n
            new = new[n:]

    def _verify(self, out: FileIO, follower: Follower) -> None:
        self.stage, self.detail = "verifying", ""
        while not follower.wait(_POLL_S):
            self._check_stop()
        value = follower.value()
        if value != self.file.digest.partition(":")[2]:
            logger.warning("%s of %s arrived damaged", self.file.path, self.file.repo)
            self.part.discard()
            raise DownloadError(
                f"{self.file.path} arrived damaged: its hash is not the one that was named for it. It was deleted.",
                "Get it again; if that happens twice, something on the way changes the bytes.",
            )
        os.fsync(out.fileno())

    def _wait(self, fault: PassingError, n_failures: int) -> None:
        delay_s = self._patience.delay_s(n_failures, fault.asked_s)
        self.stage, self.detail = "retrying", f"{fault.fault.message} Next try in {delay_s:.0f} s."
        logger.info("%s: %s", self.file.path, self.detail)
        if self._stop.wait(delay_s):
            raise StoppedError

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise StoppedError


def _close(opening: AbstractContextManager[Reply]) -> None:
    opening.__exit__(None, None, None)


def _cannot_write(path: Path, fault: OSError) -> DownloadError:
    if fault.errno in NO_ROOM:
        return DiskFullError(
            "The disk is full. What has arrived is kept.", "Make room, then pull again: it goes on where it was."
        )
    return DownloadError(f"{path} cannot be written: {fault.strerror or fault}.", "Check that folder's permissions.")
