"""Gets an official build of llama.cpp for ``runtime --fetch``, with a line that says how far it is."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from app.cli.pull import ProgressLine, resumable
from app.cli.terminal import note
from app.host import fetching
from app.host.runtimes import Runtimes
from app.models.release import Releases, build_named


def fetch(runtimes: Runtimes, build: str, tag: str) -> str:
    """Get a build and add it; return the name that it has among the runtimes.

    Raises:
        SlipstreamError: it cannot be had, or does not fit.
    """
    return asyncio.run(_fetch(runtimes, build, tag))


async def _fetch(runtimes: Runtimes, build: str, tag: str) -> str:
    releases, line = Releases(), ProgressLine()
    return await resumable(_follow(runtimes, releases, build, tag, line), line)


async def _follow(runtimes: Runtimes, releases: Releases, build: str, tag: str, line: ProgressLine) -> str:
    name = ""
    async with aclosing(fetching.fetch(build_named(releases.known, build), runtimes, releases, tag)) as steps:
        async for step in steps:
            if step.n_total_bytes:
                line.show(step)
            else:
                note(step.detail)
            name = step.detail if step.phase == "done" else name
    return name
