"""How a process ended, as a sentence for a person and the log line that tells most."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from app.errors import EngineDiedError

HINT = "Start the engine again; what was written so far is kept."

_SIGNALS = {
    "SIGABRT": "it stopped itself after an internal check failed",
    "SIGBUS": "it lost access to memory, as when a model file shrinks while it is in use",
    "SIGFPE": "it divided by zero",
    "SIGILL": "it was built for a processor with more instructions than this one has",
    "SIGKILL": "the system ended it, as it does when memory runs out",
    "SIGSEGV": "it crashed (segmentation fault)",
    "SIGTERM": "it was told to end",
    "SIGXCPU": "it used up its processor time",
}
_NT_STATUS = {
    0xC0000005: "it crashed (access violation)",
    0xC0000017: "memory ran out",
    0xC000001D: "it was built for a processor with more instructions than this one has",
    0xC00000FD: "it crashed (stack overflow)",
    0xC000012D: "memory ran out",
    0xC0000135: "a library that it needs is missing",
    0xC0000139: "a library that it needs is of another version",
    0xC000013A: "it was interrupted",
    0xC0000374: "it crashed (heap corruption)",
    0xC0000409: "it stopped itself at once, as graphics drivers do when they fail",
}
_TELLING = re.compile(
    r"GGML_ASSERT|GGML_ABORT|terminate called|what\(\):|out of memory|bad_alloc|cannot allocate|"
    r"\b\w*(Error|Exception)\b:|\berror\b|\bfailed\b|\bfatal\b",
    re.IGNORECASE,
)
_FOLDERS = re.compile(r"(?:[A-Za-z]:)?[/\\](?:[^:\"']*[/\\])?(?=[\w.-]+\.(?:c|cc|cpp|h|hpp|m|cu)\b)")
"""Folders in front of a source file: those of the machine that built the library tell a person nothing."""

_ABORTED = re.compile(r"\.(?:c|cc|cpp|h|hpp|m|cu):\d+: ")
"""What ggml prints before it ends its process: the source's file and line, then the reason."""

_STOPPED = re.compile(r"failed to decode, ret = 2$|failed with error 1$|compute status: 1$")
"""What llama.cpp prints of a decode that it was told to break off: no fault, and perhaps an hour ago."""

_LONGEST_LINE = 300


def describe_status(status: int) -> str:
    """Return why a process with this exit status ended; negative is a signal, as ``subprocess`` has it."""
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            return f"signal {-status} ended it"
        return f"{_SIGNALS[name]} [{name}]" if name in _SIGNALS else f"signal {name} ended it"
    if status > 0xFFFF:
        return f"{_NT_STATUS.get(status, 'it crashed')} [0x{status:08X}]"
    return "it left without being asked to" if status == 0 else f"it gave up [exit status {status}]"


def telling_line(lines: Sequence[str]) -> str:
    """Return the last log line that speaks of a fault, else "", without the folders of source files.

    An assertion counts more than what is printed about it afterwards.
    """
    lines = [line.strip() for line in lines if not _STOPPED.search(line.strip())]
    found = [_FOLDERS.sub("", line) for line in lines if _TELLING.search(line) or _ABORTED.search(line)]
    asserted = [line for line in found if "GGML_A" in line or _ABORTED.search(line)]
    best = (asserted or found or [""])[-1]
    return best if len(best) <= _LONGEST_LINE else best[: _LONGEST_LINE - 1] + "…"


def died(status: int, lines: Sequence[str]) -> EngineDiedError:
    """Return the error for an engine process that ended with this status after printing these lines."""
    message = f"The engine process has ended: {describe_status(status)}."
    line = telling_line(lines)
    return EngineDiedError(f"{message} Its last words: {line}" if line else message, HINT)
