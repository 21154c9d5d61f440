"""The memories of the devices that a pair would be loaded on: what judging whether it fits needs to know."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

from app.engine.discovery import Found
from app.engine.probe import Device
from app.errors import SlipstreamError
from app.host.addresses import is_this_computer
from app.host.computing import choose, kind_of
from app.host.device_book import DeviceBook
from app.host.runtimes import Runtimes
from app.host.values import PairChoice
from app.models.device_memory import ON_PROCESSOR, Spread
from app.models.memory import Room

logger = logging.getLogger(__name__)

KNOWN_FOR_S = 20.0
"""Whoever looks at a list of pairs asks often; looking at what servers lend takes a second each time."""


class Rooms:
    """Asks the devices of the runtime in use. Blocks; thread-safe."""

    def __init__(self, runtimes: Runtimes | None = None, book: DeviceBook | None = None) -> None:
        self._runtimes, self._book = runtimes or Runtimes(), book or DeviceBook()
        self._known: tuple[object, float, Found] | None = None
        self._lock = threading.Lock()

    def spread(self, how: PairChoice) -> Spread:
        """Return which devices a pair would share; the processor alone where those that it asks for are not here.

        A load says so in words; what fits can be judged all the same.
        """
        if how.is_on_processor:
            return ON_PROCESSOR
        try:
            found = self._devices()
            target = choose(how.compute, found)
            draft = choose(how.draft_compute or how.compute, found)
        except SlipstreamError as fault:
            logger.info("judged for the processor: %s", fault.message)
            return Spread(kind=_kind_of_words(how.compute))
        return Spread(rooms_of(target), rooms_of(draft), how.n_device_layers, kind_of(target))

    def _devices(self) -> Found:
        with self._lock:
            shelf, runtime = self._runtimes.shelf(), self._runtimes.in_use()
            of = (runtime, shelf.servers)
            if self._known is None or self._known[0] != of or time.monotonic() - self._known[1] > KNOWN_FOR_S:
                self._known = of, time.monotonic(), self._book.find(runtime, shelf.servers)
            return self._known[2]


_ROOMS = Rooms()
spread_of = _ROOMS.spread
"""As :meth:`Rooms.spread`, of this machine."""


def rooms_of(devices: Sequence[Device]) -> tuple[Room, ...]:
    """Return the memories of devices."""
    return tuple(
        Room(device.name, device.memory_free_bytes, device.memory_total_bytes, _is_shared(device)) for device in devices
    )


def _is_shared(device: Device) -> bool:
    """Whether a device's memory is this computer's own: in the processor, as Adreno and Hexagon are, or lent by it."""
    if device.backend == "RPC":
        return is_this_computer(device.description)
    return device.kind in ("npu", "igpu") or device.backend == "OpenCL"


def _kind_of_words(words: str) -> str:
    return words if words in ("gpu", "npu") else "npu" if words == "hybrid" else "cpu"
