"""ggml's own libraries: backends loaded one by one, devices listed and found by name.

A runtime with *dynamic* backends has a library for each (``ggml-cpu``, ``ggml-opencl``, ``ggml-hexagon``, …).
Left alone, llama.cpp loads all that it finds, and some of them end the process that merely lists their devices; so they
are loaded here, each by name, and none that is not wanted.

Source of the signatures: ``ggml/include/ggml-backend.h`` of the pinned commit.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import psutil

from app.engine.probe import Device, DeviceKind
from app.engine.runtime_files import library_folder, processor_libraries
from app.engine.whole_files import require_whole, require_whole_with_needed
from app.errors import LoadError
from app.paths import bundle_dir, way_to_install

REINSTALL: Final = "Choose another runtime. For the built-in one: " + way_to_install(
    "--force-reinstall llama-cpp-python==0.3.36", bundle_dir()
)

MOST_LENT: Final = 32
"""No machine has as many devices; what claims to is no server of llama.cpp, or a hostile one."""

_KINDS: Final[tuple[DeviceKind, ...]] = ("cpu", "gpu", "igpu", "accelerator", "meta")  # enum ggml_backend_dev_type
_NPU: Final = "HTP"
"""The registry of Hexagon NPUs, which call themselves GPUs (``ggml-hexagon.cpp``)."""

_CAPABILITIES: Final = ("async", "host_buffer", "buffer_from_host_ptr", "events", "mmap_support")


class _Props(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("memory_free", ctypes.c_size_t),
        ("memory_total", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("device_id", ctypes.c_char_p),
        ("capabilities", ctypes.c_bool * len(_CAPABILITIES)),
    ]


@cache
def binding() -> Any:  # noqa: ANN401 - the binding has no types
    """Load the native library: not before the streams are guarded, and its failure is an answer too.

    Raises:
        LoadError: it is missing or cut off, needs another one that is, or lacks a function of the pinned version.
    """
    require_whole_with_needed(library_folder() / "libllama.so")
    bring_together()
    try:
        from llama_cpp import llama_cpp
    except (ImportError, OSError, RuntimeError, AttributeError) as fault:
        message = f"The native library in {library_folder()} cannot be loaded: {fault}"
        raise LoadError(message, REINSTALL) from fault
    return llama_cpp


def bring_together() -> None:
    """Load what the library of a pack needs of its own folder: on Linux a build need not say where that is.

    What does not load here is for llama's own loading to explain.
    """
    if sys.platform == "linux" and os.environ.get("LLAMA_CPP_LIB_PATH"):
        for name in ("libggml-base.so", "libggml.so"):
            with suppress(OSError, LoadError):
                require_whole_with_needed(library_folder() / name)
                ctypes.CDLL(str(library_folder() / name))


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    """Return where ggml's functions are found: elsewhere than on Windows, llama's own handle leads to all it needs.

    Raises:
        LoadError: a library is missing.
    """
    found = [binding()._lib]  # noqa: SLF001 - the same handle, not a second copy of the library
    if sys.platform == "win32":
        for name in ("ggml", "ggml-base"):
            paths = [library_folder() / file for file in (f"{name}.dll", f"lib{name}.dll")]
            path = next((path for path in paths if path.is_file()), None)
            if path is None:
                raise LoadError(f"The native library {name} is missing in {library_folder()}.", REINSTALL)
            found.append(ctypes.CDLL(str(path)))
    return tuple(found)


@cache
def native(name: str, result: Any, *arguments: Any) -> Any:  # noqa: ANN401 - a ctypes function
    """Return a native function with its types set: the default result, an int, would cut a pointer in half.

    Raises:
        LoadError: no library has it.
    """
    for library in _libraries():
        try:
            function: Any = library[name]
        except AttributeError:
            continue
        function.restype, function.argtypes = result, list(arguments)
        return function
    raise LoadError(f"The native library in {library_folder()} has no {name}.", "Choose another runtime.")


def n_backends() -> int:
    """Return how many backends are there: built in, or loaded."""
    count: int = native("ggml_backend_reg_count", ctypes.c_size_t)()
    return count


def load_processor() -> None:
    """Load the processor's backend of a runtime with dynamic ones: the best of its variants that runs here.

    Raises:
        LoadError: there is none.
    """
    folder = library_folder()
    best = max(processor_libraries(folder), key=_score, default=None)
    if best is None:
        raise LoadError(f"The runtime in {folder} has no library for the processor.", "Choose another runtime.")
    load_backend(best)


def _score(path: Path) -> int:
    """Return how well a variant suits this processor: 0 not at all; one without a score runs everywhere, slowly."""
    try:
        require_whole(path)
        score = ctypes.CDLL(str(path)).ggml_backend_score
    except (LoadError, OSError, AttributeError):
        return 0
    return int(score())


_loaded: dict[str, int] = {}


def load_backend(path: Path) -> int:
    """Load a backend, once; return its registry.

    Raises:
        LoadError: it is cut off, or ggml refuses it; its log says why.
    """
    if path.name not in _loaded:
        require_whole(path)
        registry = native("ggml_backend_load", ctypes.c_void_p, ctypes.c_char_p)(os.fsencode(path))
        if not registry:
            raise LoadError(f"ggml does not load {path.name}.", "Is it complete, and of the same build as the others?")
        _loaded[path.name] = registry
    return _loaded[path.name]


def add_servers(registry: int, servers: tuple[str, ...]) -> None:
    """Make the devices of llama.cpp's RPC servers known. One that does not answer ends the process.

    Raises:
        LoadError: a server lends no device, or the library is not that of RPC.
    """
    find = native("ggml_backend_reg_get_proc_address", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
    address = find(registry, b"ggml_backend_rpc_add_server")
    if not address:
        raise LoadError("This runtime's RPC library cannot add servers.", "Choose another runtime.")
    add = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)(address)
    register = native("ggml_backend_register", None, ctypes.c_void_p)
    count = native("ggml_backend_reg_dev_count", ctypes.c_size_t, ctypes.c_void_p)
    for server in servers:
        if server not in _loaded:
            known = add(server.encode())
            if not known:
                raise LoadError(f"The server {server} lends no device.", "Start it with a device, or take it out.")
            if (n_devices := count(known)) > MOST_LENT:
                raise LoadError(f"The server {server} claims to lend {n_devices} devices.", "Take it out.")
            register(known)
            _loaded[server] = known


def device_named(name: str) -> int:
    """Return the handle of a device.

    Raises:
        LoadError: there is none of that name; says which there are.
    """
    handle = native("ggml_backend_dev_by_name", ctypes.c_void_p, ctypes.c_char_p)(name.encode())
    if not handle:
        known = ", ".join(device.name for device in find_devices())
        raise LoadError(f"The device {name} is not there.", f"There are: {known}.")
    return int(handle)


def find_devices() -> tuple[Device, ...]:
    """List the devices of all backends that are there, in ggml's order."""
    count = native("ggml_backend_dev_count", ctypes.c_size_t)
    get = native("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
    get_props = native("ggml_backend_dev_get_props", None, ctypes.c_void_p, ctypes.POINTER(_Props))
    registry_of = native("ggml_backend_dev_backend_reg", ctypes.c_void_p, ctypes.c_void_p)
    registry_name = native("ggml_backend_reg_name", ctypes.c_char_p, ctypes.c_void_p)
    found = []
    for index in range(count()):
        device = get(index)
        props = _Props()
        get_props(device, ctypes.byref(props))
        found.append(_describe(props, registry_name(registry_of(device))))
    return tuple(found)


def _describe(props: _Props, backend: bytes) -> Device:
    text = (props.name or b"", props.description or b"", backend)
    name, description, registry = (part.decode(errors="replace").strip() for part in text)
    kind: DeviceKind = "npu" if registry == _NPU else _KINDS[props.type]
    free, total = props.memory_free, props.memory_total
    if kind == "cpu":  # ggml calls all of the memory free
        memory = psutil.virtual_memory()
        free, total = memory.available, memory.total
    able = tuple(name for name, has in zip(_CAPABILITIES, props.capabilities, strict=True) if has)
    return Device(name, kind, description, registry, free, total, able)
