"""What is known of the devices here: what was found, what a tiny model proved, and what failed at work.

Kept in the cache folder, by runtime, switches and drivers: where one of them changes, all is looked at again. Servers
come and go, so their devices are looked for each time. Every verb may take seconds: not for the window's own thread.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec
import psutil

from app.engine.discovery import Backend, Found, discover
from app.engine.probe import LENT_LIMIT_S, PROOF_LIMIT_S, Device, prove
from app.engine.runtime_files import RPC, library_folder
from app.engine.surroundings import LIBRARY_FOLDERS, Surroundings
from app.errors import SlipstreamError
from app.host.held_servers import HELD
from app.host.one_writer import one_writer
from app.host.runtimes import InUse, files_stamp
from app.host.system_facts import system_facts
from app.metrics.atomic import replacing
from app.paths import cache_dir
from app.placement import Backends

MOST_RECORDS = 8
_HELD = (
    "the loaded model is connected to its server, which serves one at a time: load it on the CPU first, then try again."
)

DeviceState = Literal["works", "untried", "wrong", "failing"]
"""Proved; listed only; it did not answer rightly; it ended the engine at work."""

logger = logging.getLogger(__name__)


class Standing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of one device, with the reason where it does not work."""

    state: DeviceState = "untried"
    reason: str = ""


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    found: Found
    standings: dict[str, Standing] = {}


_Records = dict[str, _Record]


class DeviceBook:
    """The devices of the runtime in use. Thread-safe."""

    def __init__(self, path: Path | None = None, drivers: Mapping[str, str] | None = None) -> None:
        """Open it.

        Args:
            path: the file; in the cache folder if not given.
            drivers: versions by name; those of this machine if not given.
        """
        self._path, self._drivers = path, drivers
        self._lock = threading.RLock()

    def find(self, runtime: InUse, servers: tuple[str, ...] = (), *, again: bool = False) -> Found:
        """Return what a runtime has to run on; from the book, where nothing has changed.

        Args:
            runtime: which one, and how it is started.
            servers: whose devices are borrowed.
            again: look at everything anew, also at what ended its process before; what is proved stays so.

        Raises:
            SlipstreamError: the runtime does not pass the guard.
        """
        with self._lock:
            key, records = self._key(runtime.surroundings), self._read()
            before = records.get(key)
            record = None if again else before
            lends = record is not None and any(backend.name == RPC for backend in record.found.backends)
            if record is not None and not lends:
                return _now(record.found)
            known = () if record is None else _settled(record.found)
            held = HELD.all()
            asked = tuple(server for server in servers if server not in held)
            found = discover(runtime.surroundings, servers=asked, known=known)
            if before is not None and held.intersection(servers):
                found = _with_held(found, before.found, servers, held)
            self._change(key, lambda now: _Record(found, {} if now is None else now.standings))
            return found

    def standing(self, runtime: InUse, device: Device) -> Standing:
        """Return what is known of a device."""
        with self._lock:
            record = self._read().get(self._key(runtime.surroundings))
            return record.standings.get(known_as(device, record.found), Standing()) if record else Standing()

    def prove(self, runtime: InUse, found: Found, device: Device) -> Standing:
        """Have the tiny model answer on a device, and keep what came of it; not on one that an engine of ours holds."""
        if device.backend == "RPC" and device.description in HELD.all():
            known = self.standing(runtime, device)
            return Standing(known.state, known.reason or _HELD)
        backend = found.backend_of(device.name)
        backends, name = Backends() if backend is None else Backends((backend.name,)), device.name
        limit_s = PROOF_LIMIT_S
        if backend is not None and backend.name == RPC:  # its own server alone: another may be busy
            backends, limit_s = Backends((RPC,), (device.description,)), LENT_LIMIT_S
            name = f"RPC{[d.name for d in _lent_by(device.description, found)].index(device.name)}"
        try:
            proof = prove(runtime.surroundings, backends, name, limit_s)
        except SlipstreamError as fault:
            standing = Standing("wrong", fault.message)
        else:
            standing = Standing("wrong", f"With a tiny model {proof.fault}.") if proof.fault else Standing("works")
        self._note(runtime, device, standing)
        return standing

    def note_failure(self, runtime: InUse, device: Device, reason: str) -> None:
        """Mark a device that ended the engine: it is proved again before it is used again."""
        self._note(runtime, device, Standing("failing", reason))

    def _note(self, runtime: InUse, device: Device, standing: Standing) -> None:
        def noted(record: _Record | None) -> _Record | None:
            if record is None:
                return None
            standings = record.standings | {known_as(device, record.found): standing}
            return msgspec.structs.replace(record, standings=standings)

        with self._lock:
            self._change(self._key(runtime.surroundings), noted)

    def _key(self, surroundings: Surroundings) -> str:
        folder = Path(surroundings.runtime) if surroundings.runtime else library_folder()
        stamp = _stamp(folder)
        if self._drivers is None:
            self._drivers = {driver.device: driver.version for driver in system_facts().drivers}
        own = {name: value for name, value in surroundings.switches.items() if name not in LIBRARY_FOLDERS}
        facts = (str(folder), stamp, sorted(own.items()), sorted(self._drivers.items()))
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]

    def _file(self) -> Path:
        return self._path or cache_dir() / "devices.json"

    def _read(self) -> _Records:
        try:
            return msgspec.json.decode(self._file().read_bytes(), type=_Records)
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError, RecursionError) as fault:
            logger.info("what is known of the devices cannot be read: %s", fault)
            return {}

    def _change(self, key: str, change: Callable[[_Record | None], _Record | None]) -> None:
        """Change what is kept *now*: another program may have proved a device since this one looked."""
        try:
            with one_writer(self._file()):
                records = self._read()
                if (record := change(records.pop(key, None))) is None:
                    return
                kept = dict(list(records.items())[-(MOST_RECORDS - 1) :]) | {key: record}
                with replacing(self._file()) as file:
                    file.write(msgspec.json.encode(kept))
        except SlipstreamError as fault:  # it is found again the next time
            logger.info("what is known of the devices cannot be kept: %s", fault)


def _stamp(folder: Path) -> str:
    try:
        return files_stamp(folder)
    except OSError:  # a file went away meanwhile: the guard will say what that means
        return ""


def _now(found: Found) -> Found:
    """Return what was found with the processor's memory as it is now; what else knows its memory was asked then."""
    free = psutil.virtual_memory().available
    devices = tuple(
        msgspec.structs.replace(device, memory_free_bytes=free) if device.kind == "cpu" else device
        for device in found.runtime.devices
    )
    return msgspec.structs.replace(found, runtime=msgspec.structs.replace(found.runtime, devices=devices))


def _lent_by(server: str, found: Found) -> list[Device]:
    return [device for device in found.devices if device.backend == "RPC" and device.description == server]


def _with_held(found: Found, before: Found, servers: tuple[str, ...], held: frozenset[str]) -> Found:
    """Return what was found with what is known of the servers that could not be asked, numbered as an engine does."""
    devices: list[Device] = []
    for server in servers:
        for device in _lent_by(server, before if server in held else found):
            devices.append(msgspec.structs.replace(device, name=f"RPC{len(devices)}"))
    there = tuple(server for server in servers if server in {device.description for device in devices})

    def merged(backend: Backend) -> Backend:
        if backend.name != RPC:
            return backend
        silent = "" if held.issuperset(servers) else backend.reason
        return Backend(RPC, "found" if devices else backend.state, tuple(devices), there, silent)

    return msgspec.structs.replace(found, backends=tuple(map(merged, found.backends)))


def _settled(found: Found) -> tuple[Backend, ...]:
    """Return the backends that need no other look; servers come and go."""
    return tuple(backend for backend in found.backends if backend.name != RPC)


def known_as(device: Device, found: Found) -> str:
    """Return what a device is known by: one of a server by that, by which of its devices it is, and by its memory.

    The address is all that a server tells of itself, and whatever answers there next may be another machine.
    """
    if device.backend != "RPC":
        return device.name
    lent = _lent_by(device.description, found)
    names = [one.name for one in lent]
    index = names.index(device.name) if device.name in names else 0
    known = lent[index] if device.name in names else device
    return f"RPC {device.description} {index} {known.memory_total_bytes}"
