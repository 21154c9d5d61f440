"""Counts tokens for the composer: of what is typed, of each file, and of the conversation as far as it fits.

Counting goes through the engine, which answers also while it generates. It waits for a pause in typing, one count runs
at a time, and what was counted once is remembered.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.chat.conversation import Attachment, text_for_model
from app.errors import SlipstreamError
from app.ui.context_gauge import ContextUse

if TYPE_CHECKING:
    from app.chat.conversation import Message
    from app.host import Host
    from app.ui.chats import Chats
    from app.ui.choices import Choices
    from app.ui.main_window import MainWindow

PAUSE_MS = 350
TURN_TOKENS = 6
"""About what a template writes around a message."""
_REMEMBERED = 4_000


class TokenCounts(QObject):
    """Keeps the sizes of files and the gauge below the composer right."""

    def __init__(self, window: MainWindow, host: Host, chats: Chats, choices: Choices) -> None:
        super().__init__(window)
        self._window, self._host, self._chats, self._choices = window, host, chats, choices
        self._known: OrderedDict[int, int] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.on_pause)
        self._is_closed = False
        window.composer.changed.connect(self.note_change)
        self._unsubscribe = host.subscribe(lambda _state: self.note_change(is_other_model=True))

    def note_change(self, *, is_other_model: bool = False) -> None:
        """Count again soon: something was said, or another model counts otherwise."""
        if is_other_model:
            self._known.clear()
        if not self._is_closed:
            self._pause.start()

    def on_pause(self) -> None:
        """Count now, or after the count that is running."""
        if self._task is not None and not self._task.done():
            self._pause.start()
        else:
            self._task = asyncio.get_running_loop().create_task(self._count())

    async def close(self) -> None:
        """Stop counting."""
        self._is_closed = True
        self._unsubscribe()
        self._pause.stop()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _count(self) -> None:
        composer, loaded = self._window.composer, self._host.state.loaded
        if loaded is None or self._choices.remote is not None:  # a server counts in its own way
            composer.gauge.show_use(None)
            return
        try:
            sizes: dict[Attachment, int] = {file: await self._size(file.text) for file in composer.files.files}
            composer.files.show_sizes(sizes)
            n_typed = (await self._size(composer.text) if composer.text.strip() else 0) + sum(sizes.values())
            use = await self._use(n_typed, loaded.n_ctx)
        except SlipstreamError:  # the engine has gone, and says so elsewhere
            composer.gauge.show_use(None)
        else:
            composer.gauge.show_use(use, is_sliding=self._choices.settings.slide)

    async def _use(self, n_typed: int, n_ctx: int) -> ContextUse:
        """Add up the conversation from its end; what does not fit any more is what would be cut."""
        settings = self._choices.settings
        orders = self._choices.system_prompt
        n_fixed = await self._size(orders) + TURN_TOKENS if orders else 0
        room = n_ctx - n_typed - n_fixed
        messages, n_before, n_cut = self._chats.shown, n_fixed, 0
        for number in range(len(messages) - 1, -1, -1):
            size = await self._size_of(messages[number])
            if n_before - n_fixed + size > room:
                n_cut = number + 1
                n_before += size
                break
            n_before += size
        is_over = n_cut > 0 or n_typed + n_fixed >= n_ctx
        fits = n_typed + n_fixed < n_ctx and (settings.slide or not is_over)
        if n_cut and not settings.slide:
            n_cut = 0
        return ContextUse(n_typed, n_before, n_ctx, self._choices.max_tokens, n_cut, fits=fits)

    async def _size_of(self, message: Message) -> int:
        return await self._size(text_for_model(message)) + TURN_TOKENS

    async def _size(self, text: str) -> int:
        key = hash(text)
        if key not in self._known:
            self._known[key] = len(await self._host.tokenise(text))
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]
