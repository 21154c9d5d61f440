"""A host with a loaded pair for the time of a command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.cli.terminal import LoadLine, note_notices
from app.engine.client import WATCHED_S
from app.engine.gathering import Gathering
from app.host import Host, PairChoice
from app.host.runtime_engine import RuntimeEngine
from app.protocol import Loaded


@asynccontextmanager
async def host(gather_s: float = WATCHED_S) -> AsyncIterator[Host]:
    """Start a host; close it, and its engine, at the end; text gathers for ``gather_s``."""
    owner = Host(make_engine=lambda: RuntimeEngine(gathering=Gathering(gather_s)))
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
        loaded = await owner.load(pair, line.on_progress)
    finally:
        line.clear()
    note_notices(loaded.notices)
    return loaded
