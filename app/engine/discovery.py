"""What a runtime has to run on: the guard first, then each of its backends in a process of its own.

A backend that ends its process, hangs or refuses is named with the reason and left out; the others are found all the
same. Blocks for about a third of a second a backend, so not for the window's own thread.
"""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from app.engine.probe import Device, Runtime, look, probe
from app.engine.runtime_files import RPC, backend_libraries
from app.engine.surroundings import Surroundings
from app.errors import EngineDiedError, EngineError, LoadError
from app.placement import Backends

GUARD_LIMIT_S = 20.0
LOOK_LIMIT_S = 25.0
"""A library that sleeps for ever is given up after that: each below the half minute that a person may wait."""

BackendState = Literal["found", "refused", "died", "hung"]


class Backend(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One backend library of a runtime; ``reason`` says why it has no devices, or where they are."""

    name: str
    state: BackendState
    devices: tuple[Device, ...] = ()
    servers: tuple[str, ...] = ()
    reason: str = ""


class Found(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A runtime that passed the guard, with its backends; devices of the runtime itself are built into it."""

    runtime: Runtime
    backends: tuple[Backend, ...]

    @property
    def devices(self) -> tuple[Device, ...]:
        """All of them, the processor first."""
        return (*self.runtime.devices, *(device for backend in self.backends for device in backend.devices))

    def backend_of(self, device: str) -> Backend | None:
        """Return the backend that has a device; None for one that is built in, or not there."""
        return next((b for b in self.backends if device in [d.name for d in b.devices]), None)


def guard(surroundings: Surroundings, limit_s: float = GUARD_LIMIT_S) -> Runtime:
    """Make sure, in a throw-away process, that a runtime is the one that our structs describe.

    Raises:
        LoadError: it is another, or lacks a function.
        EngineError: it ended the process, or kept it busy for ever.
    """
    return probe(timeout_s=limit_s, surroundings=surroundings)


def discover(
    surroundings: Surroundings,
    *,
    servers: tuple[str, ...] = (),
    known: Collection[Backend] = (),
    limit_s: float = LOOK_LIMIT_S,
) -> Found:
    """Find what a runtime has to run on.

    Args:
        surroundings: which runtime, with which switches.
        servers: addresses whose devices llama.cpp's RPC backend borrows.
        known: backends that were looked at before and need no other look; one that ended its process stays as it is.
        limit_s: how long a backend may take.

    Raises:
        SlipstreamError: the runtime does not pass the guard.
    """
    runtime = guard(surroundings)
    present = {backend.name: backend for backend in known}
    own = {device.name for device in runtime.devices}
    found = []
    for name in backend_libraries(Path(runtime.folder)):
        if name in present and name != RPC:
            found.append(present[name])
        elif name == RPC:
            found.append(_look_at_servers(_Looker(surroundings, own, limit_s), servers))
        else:
            found.append(_Looker(surroundings, own, limit_s).look(Backends((name,))))
    return Found(runtime, tuple(found))


@dataclass(frozen=True, slots=True)
class _Looker:
    """Looks at backends of one runtime, beside the devices that it has anyway."""

    surroundings: Surroundings
    own: Collection[str]
    limit_s: float

    def look(self, backends: Backends) -> Backend:
        """Load backends in a process of their own, and say what came of it."""
        name = backends.libraries[0]
        try:
            devices = tuple(d for d in look(self.surroundings, backends, self.limit_s) if d.name not in self.own)
        except LoadError as fault:
            return Backend(name, "refused", reason=fault.message)
        except EngineDiedError as fault:
            return Backend(name, "died", reason=fault.message)
        except EngineError as fault:
            return Backend(name, "hung", reason=fault.message)
        reason = "" if devices else "It found no device: is the driver installed?"
        return Backend(name, "found", devices, backends.servers, reason)


_BUSY = ": it is off, out of reach, or busy with another program"


def _look_at_servers(looker: _Looker, servers: tuple[str, ...]) -> Backend:
    """Ask the servers for devices: all at once, and if that fails each by itself, to know which do not answer."""
    if not servers:
        return Backend(RPC, "found", reason="It lends devices of other processes; no server is named.")
    looker = replace(looker, limit_s=looker.limit_s / 2)  # twice, and nobody waits longer than for another backend
    together = looker.look(Backends((RPC,), servers))
    if together.state == "found" or len(servers) == 1:
        return _in_words(together, servers[0])
    with ThreadPoolExecutor(len(servers), "look") as pool:
        looks = list(pool.map(lambda server: looker.look(Backends((RPC,), (server,))), servers))
    alive = tuple(server for server, one in zip(servers, looks, strict=True) if one.state == "found")
    silent = ", ".join(server for server in servers if server not in alive)
    reason = f"No answer from {silent}{_BUSY}." if silent else ""
    if not alive:
        return Backend(RPC, "refused", reason=reason)
    return msgspec.structs.replace(looker.look(Backends((RPC,), alive)), reason=reason)


def _in_words(backend: Backend, server: str) -> Backend:
    """Name the one server that ended or hung the process, as several are named."""
    if backend.state in ("died", "hung"):
        return Backend(RPC, "refused", reason=f"No answer from {server}{_BUSY}.")
    return backend
