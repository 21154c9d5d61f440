"""Decides for a pair where target and draft run, and makes sure before that the devices work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from app.engine.discovery import Found
from app.engine.probe import Device
from app.engine.threads import default_threads
from app.errors import EngineDiedError, LoadError
from app.host.computing import choose, fitting_memory, manner_of, placement
from app.host.device_book import DeviceBook
from app.host.held_servers import HELD
from app.host.runtimes import InUse, Runtimes
from app.host.values import PairChoice
from app.placement import Backends
from app.protocol import Load

logger = logging.getLogger(__name__)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a pair goes: devices for each of its models (none: the processor), and what an engine loads for them."""

    target: tuple[Device, ...] = ()
    draft: tuple[Device, ...] = ()
    backends: Backends = field(default_factory=Backends)
    runtime: InUse | None = None
    n_layers: int = -1

    def command(self, command: Load) -> Load:
        """Return a load command with the places, and what suits the devices where nobody chose."""
        if self.runtime is None:
            return command
        manner, draft_manner = manner_of(self.target), manner_of(self.draft)
        return msgspec.structs.replace(
            command,
            placement=placement(self.target, n_layers=self.n_layers),
            draft_placement=placement(self.draft, is_draft=True),
            backends=self.backends,
            memory=fitting_memory(command.memory, manner),
            draft_memory=fitting_memory(command.draft_memory, draft_manner),
            n_threads=command.n_threads or _threads(manner.n_threads_most),
            draft_n_threads=command.draft_n_threads or _threads(draft_manner.n_threads_most),
        )


class Placing:
    """The devices of the runtime in use, for pairs that ask for them. Its verbs block; the processor costs nothing."""

    def __init__(self, runtimes: Runtimes | None = None, book: DeviceBook | None = None) -> None:
        self._runtimes, self._book = runtimes or Runtimes(), book or DeviceBook()
        self._placed = Placed()
        self._died: tuple[str, EngineDiedError] | None = None

    def place(self, pair: PairChoice, say: Say) -> Placed:
        """Find the devices that a pair asks for; prove those that nobody has tried, or that failed; tell each first.

        Raises:
            UsageError: there is none of that kind or name.
            LoadError: one does not work.
            SlipstreamError: the runtime cannot be asked.
        """
        draft_words = pair.draft_compute or pair.compute
        if pair.is_on_processor:
            return Placed()
        shelf, runtime = self._runtimes.shelf(), self._runtimes.in_use()
        say("Looking for devices…")
        found = self._book.find(runtime, shelf.servers)
        target = choose(pair.compute, found)
        draft = choose(draft_words, found) if pair.draft is not None else ()
        self._check_free(_backends(found, (*target, *draft)))
        backends = _backends(found, (*target, *draft))
        self._try_neighbours(runtime, found, backends, say)
        for device in dict.fromkeys((*target, *draft)):
            self._ensure_works(runtime, found, device, say)
        return Placed(target, draft, backends, runtime, pair.n_device_layers)

    def needs_new_engine(self, placed: Placed | None) -> bool:
        """Whether the engine that runs has loaded what this pair does not want: a library is never let go again."""
        if placed is None:
            return False
        has, wants = self._placed.backends, placed.backends
        is_begun_alike = wants.servers[: len(has.servers)] == has.servers  # devices are numbered as servers come
        return not set(has.libraries) <= set(wants.libraries) or not is_begun_alike

    def command(self, placed: Placed, command: Load) -> Load:
        """Return the load command for these places; from now on the engine works on them."""
        self._placed, self._died = placed, None
        HELD.take(self, placed.backends.servers)
        return placed.command(command)

    def note_death(self, fault: EngineDiedError) -> EngineDiedError:
        """Mark the devices that the engine worked on when it died; return the error that says so, too."""
        if self._died is None or fault.message not in (self._died[0], self._died[1].message):
            self._died = (fault.message, self._mark(fault))
        return self._died[1]  # told again, by who waited for an answer and by who watches the process

    def note_end(self) -> None:
        """Note that the engine is gone: it is connected to no server any more."""
        HELD.leave(self)

    def _mark(self, fault: EngineDiedError) -> EngineDiedError:
        placed, self._placed = self._placed, Placed()
        self.note_end()
        devices = tuple(dict.fromkeys((*placed.target, *placed.draft)))
        if placed.runtime is None or not devices:
            return fault
        for device in devices:
            self._book.note_failure(placed.runtime, device, fault.message)
        names = " and ".join(device.name for device in devices)
        words = "is marked as failing and is" if len(devices) == 1 else "are marked as failing and are"
        return EngineDiedError(
            f"{fault.message.rstrip('.')}. It worked on {names}, which {words} tried anew before the next use.",
            "Start the engine again on the CPU; what was written so far is kept.",
        )

    def _check_free(self, backends: Backends) -> None:
        """Refuse a server that another engine of ours is connected to: it would be waited for without end.

        Raises:
            LoadError: names it.
        """
        busy = sorted(HELD.of_others(self).intersection(backends.servers))
        if busy:
            raise LoadError(
                f"The loaded model uses what {' and '.join(busy)} lends, which serves one at a time.",
                "Load that model on the CPU first.",
            )

    def _try_neighbours(self, runtime: InUse, found: Found, backends: Backends, say: Say) -> None:
        """Try all that servers lend before an engine is connected to them: nobody else is served afterwards."""
        for device in found.devices:
            is_there = device.backend == "RPC" and device.description in backends.servers
            if is_there and self._book.standing(runtime, device).state == "untried":
                say(f"Trying {device.name} with a tiny model…")
                self._book.prove(runtime, found, device)

    def _ensure_works(self, runtime: InUse, found: Found, device: Device, say: Say) -> None:
        if self._book.standing(runtime, device).state == "works":
            return
        say(f"Trying {device.name} with a tiny model; the first time on a GPU can take minutes…")
        standing = self._book.prove(runtime, found, device)
        if standing.state != "works":
            raise LoadError(
                f"{device.name} does not work here: {standing.reason}",
                "Use the CPU, or another device; python -m app doctor says what may help.",
            )


def _threads(n_most: int) -> int:
    return min(n_most, default_threads()) if n_most else 0


def _backends(found: Found, devices: Sequence[Device]) -> Backends:
    homes = [backend for device in devices if (backend := found.backend_of(device.name)) is not None]
    libraries = tuple(dict.fromkeys(backend.name for backend in homes))
    return Backends(libraries, tuple(dict.fromkeys(server for backend in homes for server in backend.servers)))


async def in_thread(place: Callable[[PairChoice, Say], Placed], pair: PairChoice, say: Say) -> Placed:
    """Place a pair on a thread, and have what it tells told on this loop, as long as somebody waits for it."""
    if pair.is_on_processor:
        return Placed()
    loop, is_over = asyncio.get_running_loop(), False

    def tell(words: str) -> None:
        if not is_over:
            say(words)

    def pass_on(words: str) -> None:
        loop.call_soon_threadsafe(tell, words)

    try:
        return await asyncio.to_thread(place, pair, pass_on)
    finally:
        is_over = True
