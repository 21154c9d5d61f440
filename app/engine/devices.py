"""ggml's devices and the native library's identity; runs in a process that may die (``python -m app probe``).

llama-cpp-python describes llama.cpp's structs by hand. A library of another commit may load without a word and read our
fields at other offsets, so :func:`check_runtime` compares versions and default parameters before a model is touched.

Source of the signatures: ``ggml/include/ggml-backend.h`` of the pinned commit.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from importlib import metadata, util
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import psutil

from app.engine.probe import Answer, Device, DeviceKind, Question, Runtime
from app.engine.worker import claim_pipes, prepare_process
from app.errors import LoadError, SlipstreamError
from app.protocol import ErrorInfo


class Pinned(NamedTuple):
    """A native library that our struct layouts match."""

    llama_cpp_python: str
    llama_cpp: str
    ggml: str
    commit: str


PINNED: Final = Pinned("0.3.36", "0.5.0-dev", "0.25.3", "0c1e570")
"""The one that this program is made for."""

_KINDS: Final[tuple[DeviceKind, ...]] = ("cpu", "gpu", "igpu", "accelerator", "meta")  # enum ggml_backend_dev_type


class _Caps(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_bool) for name in ("async_", "host_buffer", "buffer_from_host_ptr", "events", "mmap_support")
    ]


class _Props(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("memory_free", ctypes.c_size_t),
        ("memory_total", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("device_id", ctypes.c_char_p),
        ("caps", _Caps),
    ]


_REINSTALL: Final = f"Reinstall it: pip install --force-reinstall llama-cpp-python=={PINNED.llama_cpp_python}"


def library_folder() -> Path:
    """Return the folder that the native libraries come from, as llama-cpp-python chooses it."""
    override = os.environ.get("LLAMA_CPP_LIB_PATH")
    spec = util.find_spec("llama_cpp")
    return Path(override) if override else Path(spec.origin if spec and spec.origin else "").parent / "lib"


@cache
def _llama() -> Any:  # noqa: ANN401 - the binding has no types
    """Load the native library: not before the streams are guarded, and its failure is an answer too.

    Raises:
        LoadError: it is missing, needs another one that is missing, or lacks a function of the pinned version.
    """
    try:
        from llama_cpp import llama_cpp
    except (ImportError, OSError, RuntimeError, AttributeError) as fault:
        message = f"The native library in {library_folder()} cannot be loaded: {fault}"
        raise LoadError(message, _REINSTALL) from fault
    return llama_cpp


def _open(name: str) -> ctypes.CDLL:
    """Open one of ggml's libraries beside llama's, so that the loader returns the one already mapped.

    Raises:
        LoadError: there is none.
    """
    names = {"win32": (f"{name}.dll", f"lib{name}.dll"), "darwin": (f"lib{name}.dylib", f"lib{name}.so")}
    for file in names.get(sys.platform, (f"lib{name}.so",)):
        path = library_folder() / file
        if path.is_file():
            return ctypes.CDLL(str(path))
    raise LoadError(f"The native library {name} is missing in {library_folder()}.", _REINSTALL)


def _bind(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:  # noqa: ANN401 - a ctypes function
    """Return a native function with its types set: the default result, an int, would cut a pointer in half."""
    function = getattr(library, name)
    function.restype, function.argtypes = result, list(arguments)
    return function


def find_devices() -> tuple[Device, ...]:
    """List the devices of all backends that are built in, in ggml's order."""
    _llama()  # brings the others along, found by its own rules
    ggml, base = _open("ggml"), _open("ggml-base")
    count = _bind(ggml, "ggml_backend_dev_count", ctypes.c_size_t)
    get = _bind(ggml, "ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
    get_props = _bind(base, "ggml_backend_dev_get_props", None, ctypes.c_void_p, ctypes.POINTER(_Props))
    registry_of = _bind(base, "ggml_backend_dev_backend_reg", ctypes.c_void_p, ctypes.c_void_p)
    registry_name = _bind(base, "ggml_backend_reg_name", ctypes.c_char_p, ctypes.c_void_p)
    found = []
    for index in range(count()):
        device = get(index)
        props = _Props()
        get_props(device, ctypes.byref(props))
        found.append(_describe(props, registry_name(registry_of(device))))
    return tuple(found)


def _describe(props: _Props, backend: bytes) -> Device:
    kind = _KINDS[props.type]
    free, total = props.memory_free, props.memory_total
    if kind == "cpu":  # ggml calls all of the memory free
        memory = psutil.virtual_memory()
        free, total = memory.available, memory.total
    text = (props.name or b"", props.description or b"", backend)
    name, description, registry = (part.decode(errors="replace").strip() for part in text)
    return Device(name, kind, description, registry, free, total)


def identify() -> Runtime:
    """Return what the loaded native library says about itself, with its devices."""
    llama, base = _llama(), _open("ggml-base")
    version, commit = (_bind(base, f"ggml_{what}", ctypes.c_char_p)().decode() for what in ("version", "commit"))
    return Runtime(
        llama_cpp_python=metadata.version("llama-cpp-python"),
        llama_cpp=llama.llama_version().decode(),
        ggml=version,
        commit=commit,
        features=llama.llama_print_system_info().decode().strip(),
        folder=str(library_folder()),
        devices=find_devices(),
    )


def check_runtime() -> Runtime:
    """Make sure that the native library is the one that our structs describe; return what it says about itself.

    Raises:
        LoadError: it is not, or it has no device at all.
    """
    runtime = identify()
    found = Pinned(runtime.llama_cpp_python, runtime.llama_cpp, runtime.ggml, runtime.commit.removesuffix("-dirty"))
    wrong = [f"{field} {has} instead of {want}" for field, has, want in zip(Pinned._fields, found, PINNED, strict=True)
             if not _matches(field, has, want)]  # fmt: skip
    wrong += _odd_defaults()
    if wrong:
        raise LoadError(f"The native library in {runtime.folder} is not the right one: {', '.join(wrong)}.", _REINSTALL)
    if not runtime.devices:
        raise LoadError(f"The native library in {runtime.folder} knows no device, not even the CPU.", _REINSTALL)
    return runtime


def _matches(field: str, has: str, want: str) -> bool:
    if field == "commit":  # "unknown" when it was built without git; git decides how many digits it shows
        return has == "unknown" or has.startswith(want) or (len(has) >= 7 and want.startswith(has))
    return has == want


def _odd_defaults() -> list[str]:
    """Tell which default parameters do not arrive where our structs expect them (``src/llama-context.cpp``)."""
    model, context = _llama().llama_model_default_params(), _llama().llama_context_default_params()
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
    try:
        runtime = check_runtime()
        if question.pair is None:
            return Answer(runtime=runtime)
        from app.engine.weighing import weigh  # needs the native library, which is only now known to be the right one

        return Answer(weighed=weigh(question.pair))
    except SlipstreamError as fault:
        return Answer(error=ErrorInfo(fault.code, fault.message, fault.hint))


def main() -> int:
    """Run the probe process: read one question, write one answer to standard output and leave."""
    commands, answer_fd = claim_pipes()
    line = b"" if commands.isatty() else commands.readline()
    commands.close()
    prepare_process()
    answer = _answer(msgspec.json.decode(line, type=Question) if line else Question())
    with os.fdopen(answer_fd, "wb") as out:
        out.write(msgspec.json.encode(answer))
    return 0
