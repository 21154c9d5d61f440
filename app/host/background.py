"""Blocking work beside the event loop, on threads that never keep the program from ending.

A question to the hub may hang for minutes. A pool's threads are waited for when the interpreter ends; these are not:
whoever waits is cancelled, and what comes afterwards is dropped.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def beside(work: Callable[[], T], name: str = "beside the loop") -> T:
    """Run blocking work on a thread of its own and return what it does; cancelling leaves it to end by itself."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def give(value: T | None, fault: BaseException | None) -> None:
        if result.done():
            return
        if fault is not None:
            result.set_exception(fault)
        else:
            result.set_result(value)  # type: ignore[arg-type]  # T may be None

    def run() -> None:
        value, fault = None, None
        try:
            value = work()
        except Exception as raised:  # handed over to whoever waits
            fault = raised
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(give, value, fault)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await result
