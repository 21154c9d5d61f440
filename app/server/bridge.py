"""Between the server's loop and the host's, which run in two threads.

Events come over in batches: however many have arrived, the server's loop is woken once and takes them all.
"""

from __future__ import annotations

import asyncio
import collections
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from dataclasses import replace
from typing import Any, TypeVar

from app.errors import EngineDiedError, SlipstreamError
from app.host import AnswerEvent, ChatRequest, Host, HostState
from app.host.leaving import Leaving
from app.metrics.values import Run

T = TypeVar("T")

STOPPED = "The server is being stopped."


class Bridge:
    """The host as the server's loop sees it."""

    def __init__(self, host: Host, loop: asyncio.AbstractEventLoop) -> None:
        """Prepare it.

        Args:
            host: the one host.
            loop: the loop that it lives on.
        """
        self._host, self._loop = host, loop

    @property
    def state(self) -> HostState:
        """What the host is doing; a value that never changes."""
        return self._host.state

    async def answer(self, request: ChatRequest, leaving: Leaving) -> AsyncGenerator[list[AnswerEvent | Run], None]:
        """Have a request answered; yield what has come since the last time, the record of it last.

        Leaving stops the engine within a step, whatever the host's loop is doing, and so does closing the iterator.

        Raises:
            SlipstreamError: it could not be answered, or not to its end.
        """
        feed = _Feed(asyncio.get_running_loop())
        work = self._begin(feed.fill(self._host, replace(request, leaving=leaving)))
        try:
            while batch := await feed.take():
                yield batch
        finally:
            leaving.say()
            work.cancel()

    async def unload(self) -> None:
        """Free the models."""
        await self._ask(self._host.unload())

    async def _ask(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(self._begin(work))

    def _begin(self, work: Coroutine[Any, Any, T]) -> Any:  # noqa: ANN401 - a future of T
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the host's loop is closed
            work.close()
            raise EngineDiedError(STOPPED) from None


class _Feed:
    """Events on their way from one loop to the other."""

    def __init__(self, to: asyncio.AbstractEventLoop) -> None:
        self._to = to
        self._arrived: collections.deque[AnswerEvent | Run] = collections.deque()
        self._stirred = asyncio.Event()
        self._woken = False
        self._is_over = False
        self._fault: BaseException | None = None

    async def take(self) -> list[AnswerEvent | Run]:
        """Return what has arrived, waiting for something; nothing once all has been taken.

        Raises:
            SlipstreamError: what ended the answer, behind all that came before.
        """
        await self._stirred.wait()
        self._stirred.clear()
        self._woken = False  # lowered before the look, so either it is seen now or there is another wake-up
        is_over = self._is_over
        batch: list[AnswerEvent | Run] = []
        while self._arrived:
            batch.append(self._arrived.popleft())
        if is_over:
            self._stirred.set()
            if not batch and self._fault is not None:
                raise self._fault
        elif not batch:
            return await self.take()
        return batch

    # --- on the host's loop -----------------------------------------------------------------------------

    async def fill(self, host: Host, request: ChatRequest) -> None:
        """Fetch an answer; whatever becomes of it, the other side hears of the end."""
        try:
            async with aclosing(host.answer(replace(request, on_recorded=self._put))) as events:
                async for event in events:
                    self._put(event)
        except SlipstreamError as fault:
            self._fault = fault
        except asyncio.CancelledError:
            self._fault = EngineDiedError(STOPPED)
            raise
        finally:
            self._is_over = True
            self._wake()

    def _put(self, item: AnswerEvent | Run) -> None:
        self._arrived.append(item)
        self._wake()

    def _wake(self) -> None:
        if self._woken and not self._is_over:
            return
        self._woken = True
        try:
            self._to.call_soon_threadsafe(self._stirred.set)
        except RuntimeError:  # the server's loop is closed: nobody reads any more
            self._arrived.clear()
