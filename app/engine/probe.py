"""Asks a throw-away process which devices and which runtime are here.

Looking for devices can end the process that looks: a shipped graphics driver fails fast when OpenCL is merely listed.
So the window and the command line ask through here, and never load the native library themselves.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Literal

import msgspec

from app.engine import leash
from app.engine.death import describe_status, telling_line
from app.errors import EngineDiedError, EngineError, from_code
from app.protocol import ErrorInfo

TIMEOUT_S = 30.0
"""A first look at a GPU may compile its kernels; a look at the CPU takes a third of a second."""

HINT = "Try again; if it stays so, reinstall the program or update the driver of the device."

DeviceKind = Literal["cpu", "gpu", "igpu", "accelerator", "meta"]


class Device(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One device as ggml tells it; a backend that does not know its memory says 0."""

    name: str
    kind: DeviceKind
    description: str
    backend: str
    memory_free_bytes: int
    memory_total_bytes: int


class Runtime(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The native library and what it runs on. ``commit`` is llama.cpp's, ``features`` its line about the processor."""

    llama_cpp_python: str
    llama_cpp: str
    ggml: str
    commit: str
    features: str
    folder: str
    devices: tuple[Device, ...]


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the probe process writes: exactly one of the two."""

    runtime: Runtime | None = None
    error: ErrorInfo | None = None


def probe(command: Sequence[str] | None = None, timeout_s: float = TIMEOUT_S) -> Runtime:
    """Start the probe process and wait for its answer; blocks, so not for the window's own thread.

    Args:
        command: the command line of the process that answers; ours by default.
        timeout_s: how long it may take.

    Raises:
        LoadError: the native library is not the one that this program was made for.
        EngineDiedError: the process ended without an answer.
        EngineError: it took too long, or could not be started.
    """
    try:
        child = leash.spawn(list(command or leash.command("probe")), stderr=subprocess.PIPE)
    except OSError as fault:
        raise EngineError(f"The device probe could not be started: {fault.strerror}.", HINT) from fault
    late = False
    try:
        output, log = child.process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        late = True
        child.kill()
        output, log = child.process.communicate()
    finally:
        status = child.reap(1.0)
    if late:
        raise EngineError(f"Looking for devices took longer than {timeout_s:g} seconds.", HINT)
    try:
        answer = msgspec.json.decode(output, type=Answer)
    except msgspec.MsgspecError:
        answer = Answer()
    if answer.error is not None:
        raise from_code(answer.error.code, answer.error.message, answer.error.hint)
    if answer.runtime is None:
        message = f"Looking for devices ended the process that looked: {describe_status(status)}."
        line = telling_line(log.decode(errors="replace").splitlines())
        raise EngineDiedError(f"{message} Its last words: {line}" if line else message, HINT)
    return answer.runtime
