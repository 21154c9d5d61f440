"""What a runtime is and what runs on it, asked in a process that may die (``python -m app probe``).

llama-cpp-python describes llama.cpp's structs by hand. A library of another commit may load without a word and read our
fields at other offsets, so :func:`check_runtime` compares versions and default parameters before a model is touched.
"""

from __future__ import annotations

import ctypes
import os
from importlib import metadata
from typing import Final, NamedTuple

import msgspec

from app.engine import ggml, leash
from app.engine.probe import Answer, Question, Runtime
from app.engine.runtime_files import RPC, backend_libraries, library_folder
from app.engine.worker import claim_pipes, prepare_process
from app.errors import LoadError, SlipstreamError
from app.placement import Backends
from app.protocol import ErrorInfo


class Pinned(NamedTuple):
    """A native library that our struct layouts match."""

    llama_cpp_python: str
    llama_cpp: str
    ggml: str
    commit: str


_LENT_BYTES: Final = 8 << 30
"""Memory that the look at servers may take: llama.cpp makes room for as many devices as one claims to lend."""

PINNED: Final = Pinned("0.3.36", "0.5.0-dev", "0.25.3", "0c1e570")
"""The one that this program is made for."""


def load_backends(wanted: Backends) -> None:
    """Load backends of the runtime that this process has, and the devices that servers lend, unless they are there.

    Raises:
        LoadError: the runtime does not have one, or ggml refuses it.
    """
    start_llama()
    known = backend_libraries(library_folder())
    for name in wanted.libraries:
        if name not in known:
            raise LoadError(f"This runtime has no {name} backend.", f"It has: {', '.join(known) or 'none'}.")
        registry = ggml.load_backend(known[name])
        if name == RPC:
            ggml.add_servers(registry, wanted.servers)


def start_llama() -> None:
    """Load the native library and its backend for the processor.

    Raises:
        LoadError: one of them does not load.
    """
    ggml.binding()
    from app.engine.llama.backend import init_backend  # imports the library: only now is it known to load

    init_backend()


def check_runtime() -> Runtime:
    """Make sure that the native library is the one that our structs describe; return what it says about itself.

    Raises:
        LoadError: it is not, or it has no device at all.
    """
    found = _identity()
    wrong = [f"{field} {has} instead of {want}" for field, has, want in zip(Pinned._fields, found, PINNED, strict=True)
             if not _matches(field, has.removesuffix("-dirty"), want)]  # fmt: skip
    wrong += _odd_defaults()
    folder = library_folder()
    if wrong:
        raise LoadError(f"The native library in {folder} is not the right one: {', '.join(wrong)}.", ggml.REINSTALL)
    start_llama()
    devices = ggml.find_devices()
    if not devices:
        raise LoadError(f"The native library in {folder} knows no device, not even the CPU.", ggml.REINSTALL)
    features = ggml.binding().llama_print_system_info().decode().strip()
    return Runtime(*found, features=features, folder=str(folder), devices=devices)


def _identity() -> Pinned:
    llama = ggml.binding()
    version, commit = (ggml.native(f"ggml_{what}", ctypes.c_char_p)().decode() for what in ("version", "commit"))
    return Pinned(metadata.version("llama-cpp-python"), llama.llama_version().decode(), version, commit)


def _matches(field: str, has: str, want: str) -> bool:
    if field == "commit":  # "unknown" when it was built without git; git decides how many digits it shows
        return has == "unknown" or has.startswith(want) or (len(has) >= 7 and want.startswith(has))
    return has == want


def _odd_defaults() -> list[str]:
    """Tell which default parameters do not arrive where our structs expect them (``src/llama-context.cpp``)."""
    llama = ggml.binding()
    model, context = llama.llama_model_default_params(), llama.llama_context_default_params()
    expected = {
        "n_gpu_layers": (model.n_gpu_layers, -1),
        "use_extra_bufts": (model.use_extra_bufts, True),
        "load_mtp": (model.load_mtp, False),
        "n_ctx": (context.n_ctx, 512),
        "n_batch": (context.n_batch, 2048),
        "n_ubatch": (context.n_ubatch, 512),
        "type_k": (context.type_k, 1),
        "swa_full": (context.swa_full, True),
    }
    return [f"default {name} {has} instead of {want}" for name, (has, want) in expected.items() if has != want]


def _answer(question: Question) -> Answer:
    """Answer; what needs the native library is imported only once it is known to be the right one."""
    try:
        runtime = check_runtime()
        load_backends(question.backends)
        if question.pair is not None:
            from app.engine.weighing import weigh

            return Answer(weighed=weigh(question.pair))
        if question.prove:
            from app.engine.proof import prove

            return Answer(proof=prove(question.prove))
        return Answer(devices=ggml.find_devices()) if question.look else Answer(runtime=runtime)
    except SlipstreamError as fault:
        return Answer(error=ErrorInfo(fault.code, fault.message, fault.hint))


def main() -> int:
    """Run the probe process: read one question, write one answer to standard output and leave."""
    commands, answer_fd = claim_pipes()
    line = b"" if commands.isatty() else commands.readline()
    commands.close()
    question = msgspec.json.decode(line, type=Question) if line else Question()
    question.surroundings.enter()
    prepare_process()
    if question.look and question.backends.libraries == (RPC,):
        leash.limit_memory(_LENT_BYTES)
    answer = _answer(question)
    with os.fdopen(answer_fd, "wb") as out:
        out.write(msgspec.json.encode(answer))
        out.flush()
        os._exit(0)  # not through the libraries' own ends: a driver that crashes there has answered all the same
