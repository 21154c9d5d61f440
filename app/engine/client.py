"""The engine as the rest of the program sees it: commands in, streams of events out.

:class:`EngineClient` runs the engine process. It knows nothing of Qt and uses nothing of asyncio's subprocess support,
so it works alike under qasync, ``asyncio.run`` and a server's loop. Events come in on a thread; however many have
arrived, the loop is woken once and takes them all.
"""

from __future__ import annotations

import asyncio
import collections
import itertools
import logging
import threading
from collections.abc import AsyncGenerator, Sequence
from typing import Protocol, TypeVar

import msgspec

from app.engine import leash
from app.engine.death import HINT, died
from app.engine.gathering import Gathering
from app.engine.link import Link
from app.errors import EngineDiedError, EngineError, SlipstreamError, UsageError, from_code
from app.protocol import (
    Cancel,
    Chunk,
    Command,
    Event,
    Failed,
    Generate,
    Hello,
    Last,
    decode_event,
    encode,
)

START_LIMIT_S = 60.0
CLOSE_LIMIT_S = 2.0
WATCHED_S = 1 / 12
"""How far apart text that comes faster is handed on to somebody who reads it as it comes."""

UNWATCHED_S = 0.25
"""The same where nobody does, and the engine is to have the machine for itself: a measurement."""

_BREATH = 128  # events that a consumer takes at a stretch before others get their turn on the loop

logger = logging.getLogger(__name__)
native_log = logging.getLogger("app.engine.native")


class Engine(Protocol):
    """The seam: what the host needs of an engine. :class:`EngineClient`, or a scripted one in tests."""

    async def start(self) -> Hello:
        """Start it; once."""

    def next_id(self) -> int:
        """Return an id for a command that no other has."""

    def send(self, command: Command) -> AsyncGenerator[Event, None]:
        """Carry out a command and yield its events up to the last one. Closing the iterator cancels it.

        Raises:
            SlipstreamError: what ``Failed`` said, as its own class.
            EngineDiedError: the process is gone.
        """

    def cancel(self, command_id: int) -> None:
        """Ask the command with that id to stop, from any thread; its last event still comes."""

    async def lost(self) -> EngineDiedError:
        """Return when the process is gone, with the reason."""

    @property
    def alive(self) -> bool:
        """Whether it takes commands."""

    async def close(self) -> None:
        """End it; as often as you like."""


class _Garbled(msgspec.Struct, frozen=True):
    """A line that is no event but says whose it is."""

    id: int


T = TypeVar("T")
Item = Event | _Garbled | EngineDiedError


class EngineClient:
    """The engine process, its life and its streams. All verbs but :meth:`cancel` belong to the loop that started it."""

    def __init__(self, argv: Sequence[str] | None = None, *, gathering: Gathering | None = None) -> None:
        """Prepare it.

        Args:
            argv: the command line of the process; our own worker if not given.
            gathering: text that comes faster is handed on that far apart, ``WATCHED_S`` if not given; all times in it
                are the engine's own. A cancel ends it, and so does what else is asked meanwhile, until that is over.
        """
        self._gathering = gathering or Gathering(WATCHED_S)
        self._link = Link(argv or leash.command("worker"), self, native_log, self._gathering)
        self._ids = itertools.count(1)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._hello: asyncio.Future[Hello | EngineDiedError] | None = None
        self._lost: asyncio.Future[EngineDiedError] | None = None
        self._streams: dict[int, asyncio.Queue[Item]] = {}
        self._hurries = threading.Lock()  # over the next two
        self._open: set[int] = set()  # commands whose last event has not come
        self._urgent: set[int] = set()  # those of them that are waited for
        self._arrived: collections.deque[Item] = collections.deque()
        self._woken = False
        self._closing = False

    # --- for the loop ---------------------------------------------------------------------------------

    async def start(self) -> Hello:
        """Start the process and wait for its first word.

        Raises:
            EngineDiedError: it ended before that, or said nothing for ``START_LIMIT_S``.
        """
        if self._loop is not None or self._closing:
            raise RuntimeError("an engine client starts once")
        self._loop = asyncio.get_running_loop()
        self._hello, self._lost = self._loop.create_future(), self._loop.create_future()
        self._gathering.calm()  # another engine's end was in a hurry
        self._link.start()
        try:
            await asyncio.wait({self._hello}, timeout=START_LIMIT_S)
        finally:
            if not self._hello.done():
                self._link.kill()
        if not self._hello.done():
            raise EngineDiedError(f"The engine did not answer within {START_LIMIT_S:.0f} seconds of its start.", HINT)
        match self._hello.result():
            case Hello() as hello:
                return hello
            case error:
                raise _as_error(error)

    def next_id(self) -> int:
        """Return an id for a command that no other has."""
        return next(self._ids)

    @property
    def alive(self) -> bool:
        """Whether it takes commands."""
        if self._hello is None or self._lost is None:
            return False
        return self._hello.done() and not self._lost.done() and not self._closing

    async def send(self, command: Command) -> AsyncGenerator[Event, None]:
        """Carry out a command and yield its events up to the last one. Closing the iterator cancels it.

        Nothing in here awaits once the iterator is being closed: not every loop finalises generators.

        Raises:
            SlipstreamError: what ``Failed`` said, as its own class.
            EngineDiedError: the process is gone.
        """
        self._require_alive()
        line = _line_of(command)
        items: asyncio.Queue[Item] = asyncio.Queue()
        self._streams[command.id] = items
        with self._hurries:
            self._open.add(command.id)
        if not isinstance(command, Generate):  # its answer comes through the pipe in which text gathers
            self._hurry(command.id)
        self._link.write(line)
        over = False
        try:
            for count in itertools.count(1):
                item = await items.get()
                if isinstance(item, Failed | _Garbled | EngineDiedError):
                    over = not isinstance(item, _Garbled)  # a garbled one need not be the last
                    raise _as_error(item)
                over = isinstance(item, Last)
                yield item
                if over:
                    return
                if count % _BREATH == 0:
                    await asyncio.sleep(0)
        finally:
            del self._streams[command.id]
            if not over:
                self.cancel(command.id)

    def cancel(self, command_id: int) -> None:
        """Ask the command with that id to stop, from any thread; its last event still comes."""
        if self.alive:
            self._link.write(encode(Cancel(command_id)), is_urgent=True)
            self._hurry(command_id)

    async def lost(self) -> EngineDiedError:
        """Return when the process is gone, with the reason."""
        if self._lost is None:
            raise RuntimeError("the engine client was never started")
        return await asyncio.shield(self._lost)

    async def close(self) -> None:
        """End the process: by the end of its input, and if that is not enough, by force. Idempotent."""
        self._closing = True
        if self._lost is None:
            return
        self._gathering.hurry()
        self._link.hang_up()
        try:
            await asyncio.wait({self._lost}, timeout=CLOSE_LIMIT_S)
        finally:
            if not self._lost.done():
                self._link.kill()
        await asyncio.wait({self._lost}, timeout=CLOSE_LIMIT_S)
        self._link.join(CLOSE_LIMIT_S)

    def _hurry(self, command_id: int) -> None:
        """Let nothing gather until a command is over; it may be over already, and its end not yet looked at."""
        with self._hurries:
            if command_id in self._open:
                self._urgent.add(command_id)
                self._gathering.hurry()

    def _note_end(self, command_id: int) -> None:
        with self._hurries:
            self._open.discard(command_id)
            if command_id in self._urgent:
                self._urgent.remove(command_id)
                if not self._urgent and not self._closing:
                    self._gathering.calm()

    def _require_alive(self) -> None:
        if self._lost is not None and self._lost.done():
            raise _as_error(self._lost.result())
        if not self.alive:
            raise EngineDiedError("The engine is not running.", HINT)

    # --- for the reader thread --------------------------------------------------------------------------

    def on_lines(self, lines: Sequence[bytes]) -> bool:
        """Take lines that the process wrote; return whether the next may wait a moment: text may, answers may not."""
        items = [item for line in lines if (item := _understood(line)) is not None]
        self._arrive(*items)
        return bool(items) and isinstance(items[-1], Chunk)

    def on_end(self, status: int | OSError, log: Sequence[str]) -> None:
        """Take note that the process is over, behind all that it said before."""
        if isinstance(status, OSError):
            error = EngineDiedError(f"The engine process could not be started: {status}.", "Is the program complete?")
        elif self._closing or (self._loop is not None and self._loop.is_closed()):  # nobody is there to be warned
            error = EngineDiedError("The engine was stopped.", HINT)
        else:
            error = died(status, log)
            logger.warning("%s", error.message)
        self._arrive(error)

    def _arrive(self, *items: Item) -> None:
        # Append, then look: the loop lowers the flag before it takes, so either it will see these items or we wake it.
        self._arrived.extend(items)
        if self._loop is None or not items:
            return
        if self._loop.is_closed():  # perhaps with a wake-up that it never took: there is nobody to work for
            self._link.kill()
            return
        if self._woken:
            return
        self._woken = True
        try:
            self._loop.call_soon_threadsafe(self._deliver)
        except RuntimeError:  # it was closed in between
            self._link.kill()

    # --- on the loop again ------------------------------------------------------------------------------

    def _deliver(self) -> None:
        self._woken = False
        while self._arrived:
            match self._arrived.popleft():
                case Hello() as hello:
                    _settle(self._hello, hello)
                case EngineDiedError() as error:
                    _settle(self._hello, error)
                    _settle(self._lost, error)
                    for items in self._streams.values():
                        items.put_nowait(error)
                case item:  # a stream that was closed early is not waited for
                    if isinstance(item, Last | Failed | _Garbled):  # a garbled one can be the last
                        self._note_end(item.id)
                    if (stream := self._streams.get(item.id)) is not None:
                        stream.put_nowait(item)


def _line_of(command: Command) -> bytes:
    try:
        return encode(command)
    except UnicodeEncodeError as fault:
        raise UsageError(
            f"The text is not valid: it holds half a character ({fault.object[fault.start]!a}).",
            "Remove that character.",
        ) from fault


def _understood(line: bytes) -> Event | _Garbled | None:
    try:
        return decode_event(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        logger.warning("not an event: %r: %s", line[:200], fault)
    try:
        return msgspec.json.decode(line, type=_Garbled)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        logger.info("nobody is told: the line has no id")
        return None


def _settle(future: asyncio.Future[T] | None, value: T) -> None:
    if future is not None and not future.done():
        future.set_result(value)


def _as_error(item: Failed | _Garbled | EngineDiedError) -> SlipstreamError:
    match item:
        case Failed(error=error):
            return from_code(error.code, error.message, error.hint)
        case _Garbled():
            return EngineError("The engine's answer was not understood.", "Are all parts of the same version?")
        case EngineDiedError():  # a new one each time: an exception carries the traceback of where it was raised
            return EngineDiedError(item.message, item.hint)
