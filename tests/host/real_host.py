"""A host with the real engine, for as long as a story takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.host import Host
from app.models.library import Library

T = TypeVar("T")


def run(body: Callable[[Host], Awaitable[T]], limit_s: float = 110.0) -> T:
    """Run ``body(host)`` on a loop of its own, then close the host."""

    async def with_host() -> T:
        host = Host()
        try:
            async with asyncio.timeout(limit_s):
                return await body(host)
        finally:
            await host.close()

    return asyncio.run(with_host())


def starter() -> str:
    """Return where the starter's file is."""
    return str(Library().resolve("starter").path)
