"""Files that were dropped, pasted or chosen, read beside the window: a disk may be slow, a document large."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.chat.pdf_text import Watch
from app.errors import NotTextError
from app.ui.attaching import read_text_file
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.chats import Chats
    from app.ui.main_window import MainWindow

READING = tr("Reading…")
_READING_PAGE = tr("Reading “{name}”, page {page:,} of {n_pages:,}…")
_READING_PDF = tr("Reading “{name}”…")
_LONGEST_NAME = 32
_LAST_S = 2.0
"""How long PDFs may take that are being read when the program ends."""

_ELSEWHERE = tr("“{name}” was not attached: another conversation was opened meanwhile.")
_AGAIN = tr("Attach it again where it belongs.")
_STILL_READING = tr("Still reading “{name}”: your message is not sent yet.")
_SEND_THEN = tr("Send it when the file is there.")


class FileReading(QObject):
    """Lets files go with the message that is being written, in the order in which they came."""

    def __init__(self, window: MainWindow, chats: Chats) -> None:
        super().__init__(chats)
        self._composer, self._chats = window.composer, chats
        self._waiting: list[tuple[Path, int]] = []
        self._task: asyncio.Task[None] | None = None
        self._now: tuple[Path, int] | None = None
        self._n_shown = 0
        self._is_stopped = threading.Event()
        self._is_ending = False
        chats.shown_other.connect(self.on_shown_other)
        window.composer.take_paths = self.read
        window.composer.may_send = self.may_send
        window.composer.files.stop_wanted.connect(self.on_stop)

    def on_shown_other(self) -> None:
        """Note that what is written now is for another conversation."""
        self._n_shown += 1

    def read(self, paths: list[Path]) -> None:
        """Read these, behind those that are being read."""
        self._waiting += [(path, self._n_shown) for path in paths]
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._read_all())

    async def _read_all(self) -> None:
        loop = asyncio.get_running_loop()
        self._composer.files.say(READING)
        try:
            while self._waiting:
                path, n_shown = self._now = self._waiting.pop(0)
                try:
                    file = await loop.run_in_executor(None, read_text_file, path, self._watch_of(path))
                except NotTextError as fault:
                    self._composer.refused.emit(fault.message, fault.hint)
                    continue
                finally:
                    self._composer.files.say(READING)
                if n_shown == self._n_shown:
                    self._composer.files.add(file)
                else:
                    self._composer.refused.emit(_ELSEWHERE.format(name=path.name), _AGAIN)
        finally:
            self._now = None
            self._composer.files.say("")

    def _watch_of(self, path: Path) -> Watch:
        """Return what tells the pages of a file from the thread that reads it, and ends that reading."""
        loop, told = asyncio.get_running_loop(), (-1, -1)
        is_stopped = self._is_stopped = threading.Event()
        name = path.name if len(path.name) <= _LONGEST_NAME else path.name[: _LONGEST_NAME - 1] + "…"

        def watch(page: int, n_pages: int) -> bool:
            nonlocal told
            if told != (page, n_pages):
                told = page, n_pages
                words = (_READING_PAGE if n_pages else _READING_PDF).format(name=name, page=page, n_pages=n_pages)
                loop.call_soon_threadsafe(lambda: self._composer.files.say(words, can_stop=True))
            return not (is_stopped.is_set() or self._is_ending)

        return watch

    def on_stop(self) -> None:
        """Do without the file that is being read."""
        self._is_stopped.set()
        self._composer.take_focus()

    def may_send(self) -> bool:
        """Whether the message has its files; where one is still being read, that is said."""
        all_left = self._waiting if self._now is None else [self._now, *self._waiting]
        names = [path.name for path, n_shown in all_left if n_shown == self._n_shown]
        if names:
            self._composer.refused.emit(_STILL_READING.format(name=names[0]), _SEND_THEN)
        return not names

    async def settled(self) -> None:
        """Wait until all are read."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def end(self) -> None:
        """Let what is being read come to its end, but no PDF that takes long."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=_LAST_S)
        self._is_ending = True
        await self.settled()
