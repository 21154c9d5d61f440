"""One answer on its way to a client: its place in the queue, its stream, its end when the client leaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from starlette.responses import Response

from app.errors import SlipstreamError
from app.host import AnswerEvent, ChatRequest
from app.host.leaving import Leaving
from app.metrics.values import Run
from app.protocol import Chunk, Done, NoticeInfo, Prefill, Started
from app.server.bridge import Bridge
from app.server.connection import OnGone
from app.server.desk import Desk
from app.server.faults import Fault, fault_of
from app.server.guard import Receive, Scope, Send
from app.server.request_log import Entry, RequestLog
from app.server.shapes import End, Shape

_encode = msgspec.json.Encoder().encode

Batches = AsyncIterator[list[AnswerEvent | Run]]


@dataclass(frozen=True, slots=True)
class Way:
    """Where answers come from, and who is told of them."""

    bridge: Bridge
    desk: Desk
    log: RequestLog


class Ready(NamedTuple):
    """What the host is asked, in which form the client gets it, and where it is noted."""

    request: ChatRequest
    shape: Shape
    entry: Entry


class AnswerResponse(Response):
    """Answers as a stream of server-sent events, or as one JSON document.

    Nothing is sent before the engine has taken the request, so that what is wrong with it still has its own status.
    A client that leaves, at any moment, cancels the answer; the engine hears of it from the connection itself, before
    this task or the host comes round to it. It takes a place in the queue once it is ready: what comes
    before that, which may be a model that is pulled for an hour, is nobody else's business.
    """

    def __init__(self, way: Way, make_ready: Callable[[], Awaitable[Ready]], *, is_stream: bool) -> None:
        super().__init__()
        self._way, self._make_ready = way, make_ready
        self._is_stream = is_stream
        self._leaving = Leaving()
        self._is_gone = False
        self._ready: Ready | None = None
        self._started: Started | None = None
        self._done: Done | None = None
        self._run: Run | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, until it is done or nobody is there any more."""
        on_gone: OnGone = scope.get("state", {}).get("on_gone", set())
        on_gone.add(self._go)
        work = asyncio.ensure_future(self._answer(send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait((work, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            # The engine hears of it from the connection: the answer may be over before this task hears of it.
            is_broken_off = self._done is None or self._done.stop_reason == "cancelled"
            is_gone = not work.done() or (self._is_gone and is_broken_off)
            failed = None if is_gone or work.cancelled() else work.exception()
            on_gone.discard(self._go)
            for task in (work, leaving):
                task.cancel()
            await asyncio.gather(work, leaving, return_exceptions=True)
            if self._ready is not None:
                self._way.log.end(self._ready.entry, self._run, "left" if is_gone else _noted(failed))
        if not work.cancelled() and (fault := work.exception()) is not None:
            raise fault

    def _go(self) -> None:
        """Take note that the connection is gone, and tell the engine."""
        self._is_gone = True
        self._leaving.say()

    async def _answer(self, send: Send) -> None:
        ready: Ready | None = None
        try:
            ready = self._ready = await self._make_ready()
            with self._way.desk.place():
                async with aclosing(self._way.bridge.answer(ready.request, self._leaving)) as batches:
                    await (self._stream(ready, batches, send) if self._is_stream else self._whole(ready, batches, send))
        except SlipstreamError as error:
            fault = fault_of(error)
            if ready is not None:
                ready.entry.fault = fault.code or fault.kind
            if self._started is None or not self._is_stream:
                raise fault from None
            await send(_body(b"data: " + fault.body() + b"\n\n", more=False))

    async def _stream(self, ready: Ready, batches: Batches, send: Send) -> None:
        async for batch in batches:
            if self._started is None and any(isinstance(event, Started) for event in batch):
                headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
            if chunks := [chunk for event in batch for chunk in self._take(ready, event)]:
                await send(_body(b"".join(b"data: " + _encode(chunk) + b"\n\n" for chunk in chunks)))
        last = [b"data: " + _encode(chunk) + b"\n\n" for chunk in ready.shape.end(self._end())]
        await send(_body(b"".join((*last, b"data: [DONE]\n\n")), more=False))

    async def _whole(self, ready: Ready, batches: Batches, send: Send) -> None:
        async for batch in batches:
            for event in batch:
                self._take(ready, event)
        body = _encode(ready.shape.whole(self._end()))
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send(_body(body, more=False))

    def _take(self, ready: Ready, event: AnswerEvent | Run) -> list[dict[str, Any]]:
        match event:
            case Started():
                self._started = event
                return ready.shape.begin(event.prompt_end)
            case Chunk():
                if ready.entry.first_s is None:
                    ready.entry.first_s = time.monotonic()
                return ready.shape.feed(event.text, event.logprobs)
            case Done():
                self._done = event
                return ready.shape.feed(event.text, ()) if event.text else []
            case Run():
                self._run = event
            case Prefill():
                pass
        return []

    def _end(self) -> End:
        notices: tuple[NoticeInfo, ...] = (*(self._started.notices if self._started else ()),)
        notices += self._done.notices if self._done else ()
        stop = self._done.stop_reason if self._done else "cancelled"
        return End(stop, self._run, self._started.engagement if self._started else None, notices)


def _body(body: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}


def _noted(failed: BaseException | None) -> str:
    """Return what is noted of an answer whose fault is not in its entry: a client that does not read has left."""
    if failed is None or isinstance(failed, Fault):
        return ""
    return "left" if isinstance(failed, TimeoutError | ConnectionError) else "internal"


async def _left(receive: Receive) -> None:
    """Return when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
