"""A child process as lines in and lines out, for whichever event loop (or none) is on this side.

Three threads, each blocking on one pipe: the reader (which starts the process, see :mod:`app.engine.leash`, and sees
its end), the writer, and the drain of its standard error, without which the process would stand still after 64 KiB of
log. A fourth waits for the process itself: a library may have left a child behind that holds its pipes, and then the
reader would see no end.

Where lines come faster than a :class:`Gathering` says, they are left to gather in the pipe for that long. Each look
takes one of the cores that the engine's threads compute on, and those wait for each other at every layer: on two cores,
with a model of 85 tokens a second, 30 looks a second cost 3 % of its decode speed, 5 cost nothing that can be measured.
They never gather so long that the pipe is full: the engine would stand still until somebody looks.

What is written goes through the writer, which may wait for the process to read. What is urgent goes into the pipe at
once where nothing is before it, on the thread of whoever says it: a cancel that waits for another comes a step late.
"""

from __future__ import annotations

import collections
import logging
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from io import BufferedReader
from typing import IO, Protocol

from app.engine import leash
from app.engine.gathering import Gathering
from app.engine.lines import gathered

if sys.platform == "linux":
    import fcntl

KEPT_LOG_LINES = 200
_END_LIMIT_S = 5.0
_LONGEST_LOG_LINE = 64 * 1024
_LEAST_PIPE_BYTES = 4096
"""What a pipe is taken to hold where the system does not tell: some 15 steps. Windows' default is said to be this."""

logger = logging.getLogger(__name__)


def _room_bytes(pipe: BufferedReader) -> int:
    """Return what may gather in a pipe: half of what it holds, as the engine may soon say more in the same time."""
    n_bytes = _LEAST_PIPE_BYTES
    if sys.platform == "linux":
        n_bytes = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
    return n_bytes // 2


def is_written_at_once(pipe: IO[bytes], line: bytes) -> bool:
    """Write a whole line without waiting, or nothing of it; why it cannot be is the writer's to find out."""
    if sys.platform == "win32" or len(line) > select.PIPE_BUF:  # so much fits in wherever anything does
        return False
    room = select.poll()
    room.register(pipe, select.POLLOUT)
    try:
        return any(event == select.POLLOUT for _, event in room.poll(0)) and os.write(pipe.fileno(), line) > 0
    except OSError:
        return False


class Listener(Protocol):
    """Who is told; both verbs are called on the reader thread."""

    def on_lines(self, lines: Sequence[bytes]) -> bool:
        """Take lines that the process wrote; return whether what comes next may wait for company."""

    def on_end(self, status: int | OSError, log: Sequence[str]) -> None:
        """Take note that the process is over: its exit status, or why it never started, and its last log lines."""


class Link:
    """A process that is started, written to, and listened to until its end."""

    def __init__(
        self, argv: Sequence[str], listener: Listener, native_log: logging.Logger, gathering: Gathering
    ) -> None:
        self._argv = list(argv)
        self._gathering = gathering
        self._listener = listener
        self._native_log = native_log
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._order = threading.Lock()  # over the next two
        self._n_before = 0  # lines that are given to the writer and not written
        self._pipe: IO[bytes] | None = None
        self._log: collections.deque[str] = collections.deque(maxlen=KEPT_LOG_LINES)
        self._lock = threading.Lock()
        self._child: leash.Child | None = None
        self._unwanted = False
        self._reader = threading.Thread(target=self._live, name="engine-reader", daemon=True)

    def start(self) -> None:
        """Start the process; returns at once."""
        self._reader.start()

    def write(self, line: bytes, *, is_urgent: bool = False) -> None:
        """Send a line, behind those before it; from any thread, never waits."""
        with self._order:
            pipe = self._pipe if is_urgent and not self._n_before else None
            if pipe is None or not is_written_at_once(pipe, line):
                self._put(line)

    def hang_up(self) -> None:
        """End the input of the process, after what is still to be written: it is expected to leave."""
        with self._order:
            self._put(None)

    def kill(self) -> None:
        """End the process now."""
        with self._lock:
            self._unwanted = True
            if self._child is not None:
                self._child.kill()

    def join(self, timeout_s: float) -> None:
        """Wait until nothing of it is left, once its end has been reported."""
        self._reader.join(timeout_s)

    def _put(self, line: bytes | None) -> None:
        self._n_before += 1
        self._outgoing.put(line)

    # --- threads --------------------------------------------------------------------------------------

    def _live(self) -> None:
        try:
            child = leash.spawn(self._argv, stderr=subprocess.PIPE)
        except OSError as fault:
            self._listener.on_end(fault, ())
            return
        with self._lock:
            self._child = child
            unwanted = self._unwanted
        if unwanted:
            child.kill()
        drain = threading.Thread(target=self._drain, args=(child.process.stderr,), name="engine-log", daemon=True)
        writer = threading.Thread(target=self._write, args=(child,), name="engine-writer", daemon=True)
        for thread in (drain, writer, threading.Thread(target=_watch, args=(child,), name="engine-watch", daemon=True)):
            thread.start()
        try:
            self._read(child.process.stdout)
        except Exception:
            logger.exception("reading from process %d failed", child.process.pid)
            child.kill()
        self._finish(child, drain, writer)

    def _read(self, pipe: IO[bytes] | None) -> None:
        if not isinstance(pipe, BufferedReader):
            raise TypeError("the process was started without a buffered pipe")
        read_s = 0.0
        for lines in gathered(pipe):
            before_s, read_s = read_s, time.monotonic()
            took_s = read_s - before_s
            is_fast = took_s / len(lines) < self._gathering.seconds
            if self._listener.on_lines(lines) and is_fast:
                n_bytes = sum(map(len, lines)) + len(lines)
                self._gathering.wait(took_s * _room_bytes(pipe) / n_bytes)

    def _finish(self, child: leash.Child, drain: threading.Thread, writer: threading.Thread) -> None:
        """Wait for the end of the process and the threads, then report."""
        try:
            status = child.process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:  # it closed its output and lives on
            child.kill()
            status = child.process.wait()
        self.hang_up()
        writer.join()
        drain.join(1.0)
        if drain.is_alive():  # a grandchild holds the pipe; to close it under a reading thread would wait for that
            child.process.stderr = None
        child.reap(0.0)
        self._listener.on_end(status, tuple(self._log))

    def _write(self, child: leash.Child) -> None:
        pipe = child.process.stdin
        with self._order:
            self._pipe = pipe
        try:
            while pipe is not None and (line := self._outgoing.get()) is not None:
                pipe.write(line)
                pipe.flush()
                with self._order:
                    self._n_before -= 1
        except OSError as fault:  # it reads no more: whatever it is doing is for nobody
            logger.info("writing to process %d failed: %s", child.process.pid, fault)
            child.kill()
        with self._order:
            self._pipe = None
        leash.close_quietly(pipe)

    def _drain(self, pipe: IO[bytes] | None) -> None:
        try:
            while pipe is not None and (raw := pipe.readline(_LONGEST_LOG_LINE)):
                line = raw.decode("utf-8", "replace").rstrip()
                if line:
                    self._log.append(line)
                    self._native_log.info("%s", line)
        except OSError as fault:
            logger.info("the log pipe is closed: %s", fault)
        leash.close_quietly(pipe)


def _watch(child: leash.Child) -> None:
    child.process.wait()
    child.end_group()
