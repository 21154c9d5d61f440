"""llama.cpp as a whole: started once, its log caught, its build known."""

from __future__ import annotations

import collections
import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import llama_cpp.llama_cpp as lc

from app.engine.cancel import CancelFlag
from app.engine.ggml import load_processor, n_backends

LLAMA_CPP_COMMIT = "0c1e570"
"""The llama.cpp commit that llama-cpp-python 0.3.36 vendors and that our struct layouts match."""


_CAUSE = "error loading model: "
_WARNING = 3  # ggml_log_level: none 0, debug 1, info 2, warn 3, error 4, continue 5

_log_lines: collections.deque[str] = collections.deque(maxlen=200)
_log_level = _WARNING
_listeners: list[Callable[[str], None]] = []


def _on_native_log(level: int, text: bytes, _data: object) -> None:
    global _log_level
    if level != 5:
        _log_level = level
    line = text.decode("utf-8", "replace")
    _log_lines.append(line)
    for listener in _listeners:
        listener(line)
    if _log_level >= _WARNING:
        sys.stderr.write(line)
        sys.stderr.flush()


_log_callback = lc.llama_log_callback(_on_native_log)
_ready = False


def init_backend() -> None:
    """Start llama.cpp once for this process; its warnings go to stderr.

    Of a runtime whose backends are libraries of their own only the processor's is loaded: left alone, llama.cpp would
    load all that lie beside the interpreter or in the current folder.

    Raises:
        LoadError: such a runtime has none for the processor.
    """
    global _ready
    if not _ready:
        lc.llama_log_set(_log_callback, ctypes.c_void_p(0))
        if not n_backends():
            load_processor()
        lc.llama_backend_init()
        _ready = True


def forget_log() -> None:
    """Drop the native log lines kept so far, so that :func:`last_log` speaks of what comes."""
    _log_lines.clear()


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Let a function see every native log line within the block; most are informative and go nowhere else."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def system_info() -> str:
    """Return llama.cpp's line about the processor features it was built for."""
    text: bytes = lc.llama_print_system_info()
    return text.decode("utf-8", "replace").strip()


def extra_buffers_are_safe() -> bool:
    """Tell whether weights may be repacked for this processor.

    ggml's AMX kernels end the process with a segmentation fault in ``ggml_backend_amx_mul_mat`` when GCC 12 built
    them: its ``_tile_loadconfig`` tells the optimiser that it reads 8 of the 64 bytes, so most of the tile
    configuration is never stored. The AMX buffer is one of the "extra" ones, so where AMX is compiled in, they
    are all left out. ARM, where repacking matters, has no AMX.
    """
    return "AMX_INT8 = 1" not in system_info()


def last_log(default: str) -> str:
    """Return the most telling recent native log line: the cause, rather than who says after it that it failed."""
    lines = [line.strip() for line in "".join(_log_lines).splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line.lower() for word in ("error", "failed", "unknown"))]
    causes = [line for line in telling if _CAUSE in line]
    return (causes or telling or lines or [default])[-1].split(_CAUSE)[-1]


@contextmanager
def aborting(handle: Callable[[], Any], cancel: CancelFlag) -> Iterator[None]:
    """Let the flag stop the decodes of a context, which ``handle`` returns (None once it is freed)."""
    lc.llama_set_abort_callback(handle(), cancel.callback, cancel.address)
    try:
        yield
    finally:
        if handle():
            lc.llama_set_abort_callback(handle(), lc.ggml_abort_callback(), None)
