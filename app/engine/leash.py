"""Child processes that cannot outlive us, whatever ends us.

A child of ours reads commands from its standard input and leaves at the end of it. That is enough as long as it
comes round to reading. For a child that is stuck in native code or in an endless template there is a second tie:

- Linux: the kernel kills it when the *thread* that started it ends (``PR_SET_PDEATHSIG``); so a child is started by
  the thread that reads from it until its end (:func:`tie`, called by the child).
- Windows: it is in a Job that is closed, and kills, with the last handle, which is ours (:class:`Child`).
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

Word = Literal["worker", "template", "probe", "trial", "bandwidth", "doctor", "pdf", "formula"]

logger = logging.getLogger(__name__)


def command(word: Word) -> list[str]:
    """Return the command line of one of our own processes."""
    return [str(_interpreter()), "-m", "app", word]


def _environment() -> dict[str, str]:
    """Return our environment in which a child finds this very package, wherever it was started."""
    root = Path(__file__).resolve().parents[2]
    if root.name == "site-packages":
        return dict(os.environ)
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{others}" if others else str(root)}


def _interpreter() -> Path:
    """Return the console interpreter: a window program's ``pythonw`` has no standard streams to start with."""
    current = Path(sys.executable)
    console = current.with_name(current.name.lower().replace("pythonw", "python"))
    return console if console.is_file() else current


@dataclass(frozen=True, slots=True)
class Child:
    """A started child process and the handle that ties it to us."""

    process: subprocess.Popen[bytes]
    _release: Callable[[], None]

    def kill(self) -> None:
        """End the process now, and what it has started in its group; it may be gone already."""
        if self.process.returncode is None:
            self.end_group()
        self.process.kill()

    def end_group(self) -> None:
        """End what the process has left behind; right after its end, while its number is nobody else's."""
        if sys.platform != "win32":  # there the Job has them all
            with suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def reap(self, timeout_s: float) -> int:
        """Close its input, wait for its end (forced after ``timeout_s``), let go of all; return the exit status."""
        close_quietly(self.process.stdin)
        try:
            status = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            close_quietly(pipe)
        self._release()
        return status


def _nothing() -> None:
    """Release nothing: only Windows has a handle."""


def close_quietly(pipe: IO[bytes] | None) -> None:
    """Close a pipe whose other side may be gone."""
    try:
        if pipe is not None:
            pipe.close()
    except OSError:  # bytes in the buffer for a process that reads no more
        logger.debug("a pipe closed with bytes in it")


def spawn(argv: list[str], *, stderr: int | None = None, memory_bytes: int = 0) -> Child:
    """Start a child with pipes for its standard input and output, tied to this process.

    Args:
        argv: the command line.
        stderr: as for ``subprocess.Popen``; ``None`` shares ours.
        memory_bytes: memory cap that is set from outside (Windows; elsewhere the child calls :func:`limit_memory`).

    Raises:
        OSError: the program could not be started.
    """
    flags = 0
    release: Callable[[], None] = _nothing
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=_environment(),
        creationflags=flags,
        start_new_session=True,  # Ctrl-C in the terminal is for the program in front, which decides what it means
    )
    if sys.platform == "win32":
        from app.engine.win_job import put_in_job

        release = put_in_job(process, memory_bytes)
    return Child(process, release)


def tie() -> None:
    """Tie the calling child to its parent; the first thing that a child does.

    A parent that is gone before this has closed the pipe on our standard input, so the first read ends us.
    """
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)


def limit_memory(n_bytes: int) -> None:
    """Cap the address space of the calling child and leave no core file (POSIX; Windows caps by the Job)."""
    if sys.platform != "win32":
        import resource

        for kind, limit in ((resource.RLIMIT_AS, n_bytes), (resource.RLIMIT_CORE, 0)):
            try:
                resource.setrlimit(kind, (limit, limit))
            except (OSError, ValueError) as fault:  # some systems know the limit and do not let it be set
                logger.warning("no limit %s: %s", kind, fault)


def step_back() -> None:
    """Let the calling process have less of the processor than others while they need it."""
    if sys.platform == "win32":
        import psutil

        with suppress(psutil.Error):
            psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        with suppress(OSError):
            os.nice(5)


def end_after(seconds: float) -> None:
    """Let the system end the calling process after that time; 0 calls it off (POSIX).

    This is for work that cannot be trusted to end, in a process whose parent may be gone before it does.
    """
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)
