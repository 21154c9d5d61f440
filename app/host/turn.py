"""One request on its way through the host."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator

from app.errors import SlipstreamError
from app.host.values import AnswerEvent, ChatRequest
from app.protocol import Generate, Sampling


class Turn:
    """A request, and the events of its answer between the task that fetches them and the one that wants them.

    They are two tasks so that an answer is fetched, stopped and recorded properly whatever becomes of its reader.
    """

    def __init__(self, request: ChatRequest) -> None:
        self.sampling = request.sampling or Sampling(seed=secrets.randbits(31))
        self.request = request
        self.command_id: int | None = None
        self.wanted = True
        self._items: asyncio.Queue[AnswerEvent | SlipstreamError | None] = asyncio.Queue()

    def command(self, command_id: int) -> Generate:
        """Return the command for the engine, and remember its id."""
        self.command_id = command_id
        request = self.request
        return Generate(
            id=command_id,
            sampling=self.sampling,
            messages=request.messages,
            prompt=request.prompt,
            speculation=request.speculation,
            max_tokens=request.max_tokens,
            stop=request.stop,
        )

    def put(self, event: AnswerEvent) -> None:
        """Hand an event to the reader, if there still is one."""
        if self.wanted:
            self._items.put_nowait(event)

    def end(self, fault: SlipstreamError | None) -> None:
        """Tell the reader that this was all, or why it was."""
        self._items.put_nowait(fault)

    async def events(self) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events as they come.

        Raises:
            SlipstreamError: what :meth:`end` was given.
        """
        while (item := await self._items.get()) is not None:
            if isinstance(item, SlipstreamError):
                raise item
            yield item
