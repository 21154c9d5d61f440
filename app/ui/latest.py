"""Work of a window where only the newest matters: what a person chose last replaces what is still being looked up."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class Latest:
    """Runs one piece of work; a newer one takes its place."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def is_running(self) -> bool:
        """Whether something is being done."""
        return self._task is not None and not self._task.done()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin, in place of what is running; nothing begins any more once this is closed."""
        if self._is_closed:
            work.close()
            return
        self.cancel()
        self._task = asyncio.get_running_loop().create_task(work)

    def cancel(self) -> None:
        """End what is running."""
        if self._task is not None and not self._task.done():
            self._task.cancel()

    async def close(self) -> None:
        """End what is running, wait for that, and begin nothing more."""
        self._is_closed = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
