"""How soon a thread that has something to do gets the interpreter from one that has more to do.

A server's thread and the window's are of one process. Python lets a thread that waits ask for the interpreter after
5 ms, and each of a thread's calls that lets go of it (a read, a write, most of Qt's) may have to wait for it again: a
client that leaves is then heard of three such waits later, which is longer than a step of a small model takes, and a
redraw that begins while requests arrive takes dozens of them.
"""

from __future__ import annotations

import sys
import threading

SERVED_S = 0.0005
"""How long a thread waits until it asks, while anything is served."""


class _Sharing:
    """Counts those who want it; what was set before the first comes back behind the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n = 0
        self._before_s = 0.0

    def begin(self) -> None:
        """Want it."""
        with self._lock:
            if self._n == 0:
                self._before_s = sys.getswitchinterval()
                sys.setswitchinterval(min(SERVED_S, self._before_s))
            self._n += 1

    def end(self) -> None:
        """Want it no more; as often as :meth:`begin`."""
        with self._lock:
            self._n -= 1
            if self._n == 0:
                sys.setswitchinterval(self._before_s)


sharing = _Sharing()
"""The interpreter's, which is one."""
