"""One question to a throw-away process and its answer, whatever the process does instead of answering.

It may hang, end, write without end, close its output and live on, or leave children behind that hold its pipes. None
of that makes the one who asks wait longer than said, or keep more than a little of what was written.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from app.engine import leash

MOST_BYTES = 16 << 20
"""An answer is some kilobytes; what says more than this is not answering."""

KEPT_LOG_BYTES = 256 << 10
_PIECE_BYTES = 64 << 10
_LOOK_S = 0.05
_LAST_WORDS_S = 1.0


@dataclass(frozen=True, slots=True)
class Heard:
    """What a process wrote, the end of its log, its exit status, and whether it had to be ended."""

    output: bytes
    log: str
    status: int
    is_late: bool = False
    is_flood: bool = False

    @property
    def lines(self) -> list[str]:
        """The end of its log."""
        return self.log.splitlines()


def hear(
    child: leash.Child, question: bytes, timeout_s: float, goes_on: Callable[[str], bool] = lambda _log: True
) -> Heard:
    """Ask a process and wait for its end; it is ended after ``timeout_s``, or when it writes without end.

    Args:
        child: the process, with pipes for all its streams.
        question: what it reads; no more than a pipe holds.
        timeout_s: how long it may take.
        goes_on: is given the end of its log some times a second; where it says no, the process is ended as a late one.
    """
    process, until_s = child.process, time.monotonic() + timeout_s
    answer, log = _Ear(process.stdout, child, MOST_BYTES), _Ear(process.stderr, None, KEPT_LOG_BYTES)
    ears = (answer, log)
    try:
        _tell(process.stdin, question)
        while process.poll() is None and (left_s := until_s - time.monotonic()) > 0:
            if not goes_on(log.said.decode(errors="replace")):
                break
            if answer.is_alive():
                answer.join(min(_LOOK_S, left_s))  # the end of its output is nearly always its end
            else:
                time.sleep(min(_LOOK_S, left_s) / 10)
        is_late = process.poll() is None and not answer.is_full
    finally:
        child.kill()
        child.end_group()  # what it has left behind may hold its pipes
        for ear in ears:
            ear.join(_LAST_WORDS_S)
        if answer.is_alive():  # still held: to close a pipe under a reading thread would wait for that
            process.stdout = None
        if log.is_alive():
            process.stderr = None
        status = child.reap(1.0)
    return Heard(answer.said, log.said.decode(errors="replace"), status, is_late, answer.is_full)


def _tell(pipe: IO[bytes] | None, question: bytes) -> None:
    try:
        if pipe is not None:
            pipe.write(question)
            pipe.flush()
    except OSError:  # it has ended already, or reads nothing: that is for its end to tell
        pass
    leash.close_quietly(pipe)


class _Ear(threading.Thread):
    """Reads a pipe to its end on a thread: all of it up to a bound and no further, or (a log) only its last part."""

    def __init__(self, pipe: IO[bytes] | None, to_end: leash.Child | None, n_most_bytes: int) -> None:
        super().__init__(name="probe-ear", daemon=True)
        self._pipe, self._to_end, self._n_most_bytes = pipe, to_end, n_most_bytes
        self._kept = bytearray()
        self.is_full = False
        self.start()

    @property
    def said(self) -> bytes:
        """What was kept so far."""
        return bytes(self._kept)

    def run(self) -> None:
        """Read."""
        try:
            while self._pipe is not None and (piece := self._pipe.read1(_PIECE_BYTES)):  # type: ignore[attr-defined]
                self._kept += piece
                if len(self._kept) <= self._n_most_bytes:
                    continue
                if self._to_end is not None:
                    self.is_full = True
                    self._to_end.kill()
                    return
                del self._kept[: -self._n_most_bytes]
        except OSError:
            return
        finally:
            leash.close_quietly(self._pipe)
