"""One request on its way through the host, from the call to its end."""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, TypeVar

from app.engine.client import Engine
from app.errors import EngineError, SlipstreamError
from app.host.jobs import Job
from app.host.patience import Patience
from app.host.values import AnswerEvent, ChatRequest
from app.metrics.power import PowerSource
from app.metrics.recorder import RunRecorder
from app.metrics.values import Run
from app.protocol import Chunk, Command, Done, Event, Generate, Last, LoadProgress, Prefill, Sampling, Started

T = TypeVar("T")
Ending = TypeVar("Ending", bound=Last)

logger = logging.getLogger(__name__)

LOOK_S = 1.0
"""How long an engine that was told to stop is waited for at a time."""


class Turn:
    """A request, and the events of its answer between the task that fetches them and the one that wants them.

    They are two tasks so that an answer is fetched, stopped and recorded properly whatever becomes of its reader.
    """

    def __init__(self, request: ChatRequest) -> None:
        self.sampling = request.sampling or Sampling(seed=secrets.randbits(31))
        self.request = request
        self.job = Job(asked=request)
        if request.leaving is not None:
            request.leaving.then(self.job.leave)
        self._items: asyncio.Queue[AnswerEvent | SlipstreamError | None] = asyncio.Queue()

    def command(self, command_id: int) -> Generate:
        """Return the command for the engine."""
        request = self.request
        return Generate(
            id=command_id,
            sampling=self.sampling,
            messages=request.messages,
            prompt=request.prompt,
            speculation=request.speculation,
            max_tokens=request.max_tokens,
            stop=request.stop,
            reuse_memory=request.reuse_memory,
            token_details=request.token_details,
            slide=request.slide,
            templating=request.templating,
            n_top_logprobs=request.n_top_logprobs,
        )

    def recorder(self, power: PowerSource | None = None) -> RunRecorder:
        """Return what counts the events of the answer; ``power`` tells how the machine is powered."""
        request = self.request
        asked = next((m.content for m in reversed(request.messages) if m.role == "user"), "")
        question = request.prompt if isinstance(request.prompt, str) else asked
        recorder = RunRecorder(
            label=request.label,
            speculation=request.speculation,
            sampling=self.sampling,
            question=question,
            power=power,
        )
        recorder.told = told_words(request)
        return recorder

    def cancel_unsent(self) -> Run:
        """Tell the reader that it was cancelled before the engine heard of it; return the record of that."""
        done = Done(0, "cancelled", "", prefill_s=0.0, draft_prefill_s=0.0)
        recorder = self.recorder()
        recorder.on_event(done)
        self.put(done)
        return recorder.finish()

    def record(self, run: Run) -> None:
        """Hand the record of the answer to whoever wants it."""
        if self.request.on_recorded is not None:
            tell(self.request.on_recorded, run)

    def put(self, event: AnswerEvent) -> None:
        """Hand an event to the reader, if there still is one."""
        if self.job.is_wanted:
            self._items.put_nowait(event)

    async def fetch(self, events: AsyncGenerator[Event, None], *listeners: Callable[[Event], None]) -> None:
        """Pass events on to the listeners, each before the next comes, and to the reader."""
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Started) and not self.job.is_wanted:
                    self.job.stop()  # who left just before the engine heard of it told it of a command it had not
                for listen in listeners:
                    listen(event)
                if isinstance(event, Started | Prefill | Chunk | Done):
                    self.put(event)

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


async def last_event(
    engine: Engine, command: Command, kind: type[Ending], on_progress: Callable[[LoadProgress], None] | None = None
) -> Ending:
    """Have a command carried out and return what it ends with; of a load, tell how far it has come.

    Raises:
        SlipstreamError: it could not be, or ended with something else.
    """
    async with aclosing(engine.send(command)) as events:
        async for event in events:
            if isinstance(event, kind):
                return event
            if isinstance(event, LoadProgress) and on_progress is not None:
                tell(on_progress, event)
    raise EngineError(f"The engine did not answer ({type(command).__name__}).", "Start the engine again.")


def watch_stop(job: Job, patience: Patience, spawn: Callable[[Coroutine[Any, Any, None]], object]) -> None:
    """See to it, once, that the engine stops a job; nobody does where no loop runs any more."""
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        if not job.is_watched and job.running is not None:
            job.is_watched = True
            spawn(end_if_stuck(job.running[0], job, patience))


async def end_if_stuck(engine: Engine, job: Job, patience: Patience) -> None:
    """End an engine that goes on with what it was told to stop: whoever comes next would wait for ever."""
    wait_s = patience.seconds
    for _look in range(math.ceil(wait_s / LOOK_S)):  # a loop that stood, or a machine that slept, costs one of them
        with suppress(TimeoutError):
            await asyncio.wait_for(job.over.wait(), min(LOOK_S, wait_s))
        if job.over.is_set():
            return
    patience.end(wait_s)
    logger.warning("%s", patience.why)
    await engine.close()


def tell(callback: Callable[[T], None], value: T) -> None:
    """Call what somebody else gave us; its fault is not ours."""
    try:
        callback(value)
    except Exception:
        logger.exception("a callback failed")


def told_words(request: ChatRequest) -> tuple[str, ...]:
    """Say what else than its text is wanted of each token: a pass over the whole vocabulary each, so it takes time."""
    told = ["token colours"] if request.token_details else []
    if request.n_top_logprobs >= 0:
        told.append(f"log-probabilities of {request.n_top_logprobs}")
    return tuple(told)
