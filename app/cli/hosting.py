"""A host with a loaded pair for the time of a command, and one answer of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from app.cli.terminal import LoadLine, note_notices
from app.engine.client import WATCHED_S
from app.host import ChatRequest, Host, PairChoice
from app.host.runtime_engine import RuntimeEngine
from app.metrics.values import Run
from app.protocol import Chunk, Done, Loaded, Prefill, Started


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: what was measured and what was said."""

    run: Run
    text: str
    token_ids: tuple[int, ...]


@asynccontextmanager
async def host(gather_s: float = WATCHED_S) -> AsyncIterator[Host]:
    """Start a host; close it, and its engine, at the end; ``gather_s`` as for :class:`RuntimeEngine`."""
    owner = Host(make_engine=lambda: RuntimeEngine(gather_s=gather_s))
    try:
        await owner.start()
        yield owner
    finally:
        await owner.close()


async def load(owner: Host, pair: PairChoice) -> Loaded:
    """Load a pair and say what a person should know about it.

    Raises:
        SlipstreamError: it cannot be loaded.
    """
    line = LoadLine()
    try:
        loaded = await owner.load(pair, line.show)
    finally:
        line.clear()
    note_notices(loaded.notices)
    return loaded


async def ask(owner: Host, request: ChatRequest, show: Callable[[str], None]) -> Said:
    """Have a request answered to its end; ``show`` gets the text as it comes.

    Raises:
        SlipstreamError: the engine could not answer, or is gone.
    """
    parts: list[str] = []
    token_ids: list[int] = []

    def say(text: str) -> None:
        if text:
            parts.append(text)
            show(text)

    async with aclosing(owner.answer(request)) as events:
        async for event in events:
            match event:
                case Started():
                    note_notices(event.notices)
                case Chunk():
                    token_ids += event.token_ids
                    say(event.text)
                case Done():
                    say(event.text)
                    note_notices(event.notices)
                case Prefill():
                    pass
    return Said(owner.session.runs[-1], "".join(parts), tuple(token_ids))
