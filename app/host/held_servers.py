"""Which servers the engines of this program are connected to.

llama.cpp's RPC server serves one client at a time: whoever else connects waits until that one leaves. So a server that
an engine of ours works on is not asked again what it lends, and no second engine waits for it for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable


class HeldServers:
    """Addresses by who is connected to them. Thread-safe."""

    def __init__(self) -> None:
        self._of: dict[object, frozenset[str]] = {}
        self._lock = threading.Lock()

    def take(self, owner: object, servers: Iterable[str]) -> None:
        """Note what an engine is connected to, from now on and in all."""
        with self._lock:
            self._of[owner] = frozenset(servers)

    def leave(self, owner: object) -> None:
        """Note that an engine is gone."""
        with self._lock:
            self._of.pop(owner, None)

    def all(self) -> frozenset[str]:
        """Return all that is connected to."""
        with self._lock:
            return frozenset().union(*self._of.values())

    def of_others(self, owner: object) -> frozenset[str]:
        """Return what other engines are connected to."""
        with self._lock:
            return frozenset().union(*(servers for one, servers in self._of.items() if one is not owner))


HELD = HeldServers()
"""Of this process."""
