"""The engine on the runtime in use; on the built-in one, with the reason, where a pack does not even start."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from app.engine import leash
from app.engine.client import EngineClient
from app.engine.gathering import Gathering
from app.engine.surroundings import Surroundings
from app.errors import EngineDiedError, LoadError, SlipstreamError
from app.host.packs import BUILT_IN
from app.host.runtimes import InUse, Runtimes
from app.protocol import Command, Event, Hello, Load, Loaded, NoticeInfo

logger = logging.getLogger(__name__)


class RuntimeEngine:
    """An engine process with the runtime that was in use when it started."""

    def __init__(self, runtimes: Runtimes | None = None, *, gathering: Gathering | None = None) -> None:
        """Prepare it; ``gathering`` as for :class:`EngineClient`."""
        self._runtimes, self._gathering = runtimes or Runtimes(), gathering
        self._client = EngineClient(gathering=gathering)
        self._is_closed = False
        self._why_not = ""

    async def start(self) -> Hello:
        """Start it; once.

        Raises:
            EngineDiedError: not even the built-in runtime starts.
        """
        runtime = await asyncio.to_thread(self._runtimes.in_use)
        self._why_not = runtime.why_not
        if runtime.name == BUILT_IN:
            return await self._start(runtime.surroundings)
        try:
            return await self._start(runtime.surroundings)
        except EngineDiedError as fault:
            if self._is_closed:
                raise
            await self._client.close()
            self._why_not = await asyncio.to_thread(self._give_up, runtime, fault.message)
            return await self._start(Surroundings())

    async def _start(self, surroundings: Surroundings) -> Hello:
        if not self._is_closed:
            self._client = EngineClient(
                [*leash.command("worker"), *surroundings.arguments()], gathering=self._gathering
            )
        return await self._client.start()

    def _give_up(self, runtime: InUse, reason: str) -> str:
        try:
            self._runtimes.fail(runtime.name, reason)
        except SlipstreamError as fault:
            logger.info("that %s does not start cannot be kept: %s", runtime.name, fault)
        return f"The runtime {runtime.name} is not used, the built-in one is: {reason}"

    def next_id(self) -> int:
        """Return an id for a command that no other has."""
        return self._client.next_id()

    def send(self, command: Command) -> AsyncGenerator[Event, None]:
        """Carry out a command and yield its events; what is loaded says if this is not the runtime that was chosen.

        Raises:
            SlipstreamError: as for :class:`EngineClient`.
        """
        events = self._client.send(command)
        return self._telling(events) if self._why_not and isinstance(command, Load) else events

    async def _telling(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, Loaded):
                        notice = NoticeInfo("runtime", self._why_not, "Choose another runtime, or this one again.")
                        yield msgspec.structs.replace(event, notices=(notice, *event.notices))
                    else:
                        yield event
        except LoadError as fault:  # perhaps for want of a device that only the pack has
            raise LoadError(f"{fault.message} {self._why_not}", fault.hint) from fault

    def cancel(self, command_id: int) -> None:
        """Ask the command with that id to stop."""
        self._client.cancel(command_id)

    async def lost(self) -> EngineDiedError:
        """Return when the process is gone, with the reason."""
        return await self._client.lost()

    @property
    def alive(self) -> bool:
        """Whether it takes commands."""
        return self._client.alive

    async def close(self) -> None:
        """End it; as often as you like."""
        self._is_closed = True
        await self._client.close()
