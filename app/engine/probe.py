"""Asks a throw-away process which devices and which runtime are here, and how much memory a pair would take.

Looking for devices can end the process that looks: a shipped graphics driver fails fast when OpenCL is merely listed;
so can a file that lies about itself.
So the window and the command line ask through here, and never load the native library themselves.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from app.engine import leash
from app.engine.death import describe_status, telling_line
from app.engine.hearing import hear
from app.engine.surroundings import Surroundings
from app.errors import EngineDiedError, EngineError, from_code
from app.placement import Backends
from app.protocol import ErrorInfo, Load

TIMEOUT_S = 30.0
"""A first look at a GPU may compile its kernels; a look at the CPU takes a third of a second."""

PROOF_LIMIT_S = 600.0
"""The first run on an Adreno GPU compiles kernels for minutes; ggml keeps them for the next."""

LENT_LIMIT_S = 120.0
"""What a server lends is tried over a network, by a server that says nothing of what it does meanwhile."""

HINT = "Try again; if it stays so, reinstall the program or update the driver of the device."

_AS_WE_ARE = Surroundings()

DeviceKind = Literal["cpu", "gpu", "igpu", "npu", "accelerator", "meta"]


class Device(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One device as ggml tells it; a backend that does not know its memory says 0.

    ``capabilities`` are ggml's: ``async``, ``events``, ``host_buffer``, ``buffer_from_host_ptr``, ``mmap_support``.
    """

    name: str
    kind: DeviceKind
    description: str
    backend: str
    memory_free_bytes: int
    memory_total_bytes: int
    capabilities: tuple[str, ...] = ()


class Runtime(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The native library and what it runs on. ``commit`` is llama.cpp's, ``features`` its line about the processor."""

    llama_cpp_python: str
    llama_cpp: str
    ggml: str
    commit: str
    features: str
    folder: str
    devices: tuple[Device, ...]


class Sizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much memory a model takes, as llama.cpp lays it out; all bytes.

    ``kv_bytes`` is the memory of attention layers, ``state_bytes`` that of recurrent ones with all snapshots,
    ``compute_bytes`` what an evaluation needs at most, rows of logits included.
    """

    weights_bytes: int
    kv_bytes: int = 0
    state_bytes: int = 0
    compute_bytes: int = 0

    @property
    def n_bytes(self) -> int:
        """All of it."""
        return self.weights_bytes + self.kv_bytes + self.state_bytes + self.compute_bytes


class Weighed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a pair would take, by a dry load of both; ``why_no_draft`` says why the draft could not be laid out."""

    n_ctx: int
    target: Sizes
    draft: Sizes | None = None
    why_no_draft: str = ""


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the probe is asked: which runtime this is and what is built into it, unless it is asked for more.

    With ``look`` the backends are loaded and their devices listed; with ``prove`` a tiny model must answer rightly on
    that device; with ``pair`` a pair is laid out.
    """

    surroundings: Surroundings = Surroundings()
    backends: Backends = Backends()
    look: bool = False
    prove: str = ""
    pair: Load | None = None


class Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came of the tiny model: "" if all tokens were right, else what was wrong; and how long it took."""

    fault: str
    load_s: float
    run_s: float


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the probe process writes: exactly one of them."""

    runtime: Runtime | None = None
    devices: tuple[Device, ...] | None = None
    proof: Proof | None = None
    weighed: Weighed | None = None
    error: ErrorInfo | None = None


def probe(
    command: Sequence[str] | None = None, timeout_s: float = TIMEOUT_S, surroundings: Surroundings = _AS_WE_ARE
) -> Runtime:
    """Ask which runtime this is and which devices are built into it; blocks, so not for the window's own thread.

    Args:
        command: the command line of the process that answers; ours by default.
        timeout_s: how long it may take.
        surroundings: which runtime to ask; ours by default.

    Raises:
        LoadError: the native library is not the one that this program was made for.
        EngineDiedError: the process ended without an answer.
        EngineError: it took too long, or could not be started.
    """
    what = "Looking for devices"
    answer = _ask(Question(surroundings), what, command, timeout_s)
    if answer.runtime is None:
        raise EngineDiedError(f"{what} gave no answer.", HINT)
    return answer.runtime


def look(surroundings: Surroundings, backends: Backends, timeout_s: float = TIMEOUT_S) -> tuple[Device, ...]:
    """Ask which devices are there once these backends are loaded, the processor among them; blocks.

    Raises:
        LoadError: a backend refuses.
        EngineDiedError: it ended the process.
        EngineError: it took too long.
    """
    what = f"Loading {', '.join(Path(library).name for library in backends.libraries)}"
    answer = _ask(Question(surroundings, backends, look=True), what, None, timeout_s)
    if answer.devices is None:
        raise EngineDiedError(f"{what} gave no answer.", HINT)
    return answer.devices


def prove(surroundings: Surroundings, backends: Backends, device: str, timeout_s: float = PROOF_LIMIT_S) -> Proof:
    """Have a tiny model answer on a device and its tokens compared; blocks.

    Raises:
        LoadError: the model does not load there.
        EngineDiedError: the device ended the process.
        EngineError: it took too long.
    """
    what = f"Trying {device}"
    answer = _ask(Question(surroundings, backends, prove=device), what, None, timeout_s)
    if answer.proof is None:
        raise EngineDiedError(f"{what} gave no answer.", HINT)
    return answer.proof


def weigh(pair: Load, command: Sequence[str] | None = None, timeout_s: float = TIMEOUT_S) -> Weighed:
    """Ask how much memory a pair of files would take; blocks for about half a second.

    Args:
        pair: what would be loaded, and how.
        command: the command line of the process that answers; ours by default.
        timeout_s: how long it may take.

    Raises:
        ModelFileError: llama.cpp refuses the target.
        LoadError: it could make no context of it, or the native library is not the right one.
        EngineDiedError: the process ended without an answer: a file lies about itself.
        EngineError: it took too long, or could not be started.
    """
    what = "Laying out the pair"
    answer = _ask(Question(pair=pair), what, command, timeout_s)
    if answer.weighed is None:
        raise EngineDiedError(f"{what} gave no answer.", HINT)
    return answer.weighed


def _ask(question: Question, what: str, command: Sequence[str] | None, timeout_s: float) -> Answer:
    """Start the probe process and wait for its answer.

    Raises:
        SlipstreamError: the error that it answers with, or what became of it.
    """
    try:
        child = leash.spawn(list(command or leash.command("probe")), stderr=subprocess.PIPE)
    except OSError as fault:
        raise EngineError(f"The device probe could not be started: {fault.strerror}.", HINT) from fault
    heard = hear(child, msgspec.json.encode(question) + b"\n", timeout_s)
    if heard.is_late:
        raise EngineError(f"{what} took longer than {timeout_s:g} seconds.", HINT)
    try:
        answer = msgspec.json.decode(heard.output, type=Answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        answer = Answer()
    if answer.error is not None:
        raise from_code(answer.error.code, answer.error.message, answer.error.hint)
    if answer == Answer():
        end = "it wrote without end" if heard.is_flood else describe_status(heard.status)
        message, line = f"{what} ended the process that did it: {end}.", telling_line(heard.lines)
        raise EngineDiedError(f"{message} Its last words: {line}" if line else message, HINT)
    return answer
