"""A flag that stops a decode from another thread without Python being asked.

llama.cpp polls its abort callback between graph nodes, hundreds of times per token, from its own
threads. A Python callback would take the interpreter lock each time (milliseconds per token). So the
callback is C's ``strlen`` on a one-character buffer: 0 while the buffer is empty, 1 after :meth:`set`.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

_ABORT = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)
_libc = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)


class CancelFlag:
    """Set once, from any thread; calling it tells whether it is set."""

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(2)

    def set(self) -> None:
        """Ask whoever holds this flag to stop."""
        self._buffer[0] = b"!"

    def __call__(self) -> bool:
        """Tell whether the flag is set."""
        return bool(self._buffer.value)

    @property
    def callback(self) -> Any:  # noqa: ANN401 - ctypes makes the type at run time
        """``strlen`` as a ``ggml_abort_callback``."""
        return ctypes.cast(_libc.strlen, _ABORT)

    @property
    def address(self) -> ctypes.c_void_p:
        """The callback's argument; valid while this flag lives."""
        return ctypes.cast(self._buffer, ctypes.c_void_p)
