"""What takes the database long, off the event loop: in a thread, with a connection of its own, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from app.chat.conversation import Attachment
    from app.chat.store import ChatStore

T = TypeVar("T")

_LARGE_CHARS = 200_000
"""What is smaller is written within a few milliseconds."""


def are_large(files: Sequence[Attachment]) -> bool:
    """Whether writing these files would hold the window up."""
    return sum(len(file.text) for file in files) > _LARGE_CHARS


class Aside:
    """Works beside the window. What has begun is done, whoever waits for it or gives up waiting."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._pool: ThreadPoolExecutor | None = None
        self._last: asyncio.Future[Any] | None = None

    @property
    def is_possible(self) -> bool:
        """Whether there is a file that another connection could write."""
        return self._store.is_on_disk

    @property
    def is_busy(self) -> bool:
        """Whether something is being done."""
        return self._last is not None and not self._last.done()

    async def run(self, work: Callable[[ChatStore], T]) -> T:
        """Do it when all that was asked before is done; return what it returns.

        Raises:
            StoreError: the database refuses.
        """
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="chat database")
        done = asyncio.get_running_loop().run_in_executor(self._pool, self._do, work)
        done.add_done_callback(lambda one: one.cancelled() or one.exception())  # who waited may have given up
        self._last = done
        return await asyncio.shield(done)

    def _do(self, work: Callable[[ChatStore], T]) -> T:
        with closing(self._store.beside()) as store:
            return work(store)

    async def settled(self) -> None:
        """Wait until nothing is being done."""
        while self._last is not None and not self._last.done():
            await asyncio.wait([self._last])

    def close(self) -> None:
        """End the thread; what is being done is done first."""
        if self._pool is not None:
            self._pool.shutdown()
