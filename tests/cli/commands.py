"""Running commands as a person does: a process of its own, in a data folder of its own."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.__main__ import _guarded as guarded
from app.cli.program import run as run_command

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "app"]


def environment(**more: str) -> dict[str, str]:
    """What every command gets; the data folder is that of the test."""
    return {**os.environ, "PYTHONWARNINGS": "error", "COLUMNS": "100", "NO_COLOR": "1", **more}


def run(*arguments: object, timeout: float = 90, text_in: str | None = None, **how: object):
    """Run a command to its end; return its exit code, output and errors as text."""
    source = {"stdin": subprocess.DEVNULL} if text_in is None else {"input": text_in}
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
        **source,
        **how,
    )


def run_here(*arguments: object, text_in: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command to its end in this process: what it says is what :func:`run` would see, half a second earlier.

    What a process of its own matters for (signals, closed streams, its last words) is tested with that.
    """
    given, out, err = (_stream(data) for data in (text_in.encode(), b"", b""))
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = given, out, err
    try:
        code = guarded(lambda: run_command([*map(str, arguments)]))
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))
    return subprocess.CompletedProcess(arguments, code, *texts)


def _stream(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace", newline="")


def wait_until_heard(pid: int, limit_s: float = 30) -> None:
    """Wait until a process has taken the signals that were sent to it: two of a kind that wait are one (Linux)."""
    deadline = time.monotonic() + limit_s
    while True:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        facts = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        if facts["State"].startswith("S") and not int(facts["SigPnd"], 16) | int(facts["ShdPnd"], 16):
            return
        assert time.monotonic() < deadline, facts
        time.sleep(0.02)


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(*arguments: object, **how: object) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command in a session of its own, as a terminal does, with pipes for what is not said; end it after.

    A shell starts background jobs with Ctrl-C ignored, and that is inherited; what a terminal starts heeds it.
    """
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=ROOT,
        env=environment(),
        start_new_session=True,
        preexec_fn=_heed_ctrl_c if sys.platform != "win32" else None,
        **pipes,
    )
    try:
        yield process
    finally:
        process.kill()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        process.wait()
