"""Files that were dropped, pasted or chosen, read beside the window: a disk may be slow, a document large."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.errors import NotTextError
from app.ui.attaching import read_text_file
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.chats import Chats
    from app.ui.main_window import MainWindow

READING = tr("Reading…")
_ELSEWHERE = tr("“{name}” was not attached: another conversation was opened meanwhile.")
_AGAIN = tr("Attach it again where it belongs.")


class FileReading(QObject):
    """Lets files go with the message that is being written, in the order in which they came."""

    def __init__(self, window: MainWindow, chats: Chats) -> None:
        super().__init__(chats)
        self._composer, self._chats = window.composer, chats
        self._waiting: list[tuple[Path, int]] = []
        self._task: asyncio.Task[None] | None = None
        self._n_shown = 0
        chats.shown_other.connect(self.on_shown_other)
        window.composer.take_paths = self.read

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
                path, n_shown = self._waiting.pop(0)
                try:
                    file = await loop.run_in_executor(None, read_text_file, path)
                except NotTextError as fault:
                    self._composer.refused.emit(fault.message, fault.hint)
                    continue
                if n_shown == self._n_shown:
                    self._composer.files.add(file)
                else:
                    self._composer.refused.emit(_ELSEWHERE.format(name=path.name), _AGAIN)
        finally:
            self._composer.files.say("")

    async def settled(self) -> None:
        """Wait until all are read."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])
