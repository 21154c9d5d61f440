"""The end of the program where the database refuses: nothing that is only in memory goes without being asked about."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QMessageBox, QPushButton, QWidget

from app.chat.archive import archive_json
from app.chat.export import write_whole
from app.errors import SlipstreamError, StoreError
from app.ui.font_size import font_scale
from app.ui.only_in_memory import OnlyInMemory, unsaved_records
from app.ui.said import said
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.chats import Chats
    from app.ui.chats_writing import Writing
    from app.ui.main_window import MainWindow

Choice = Literal["again", "file", "quit"]
Document = Callable[[], bytes]

_LARGE = 1.3
FILE_NAME = tr("Slipstream, not saved.json")


class PartingQuestion(QMessageBox):
    """Tries again, saves elsewhere, or lets go what is not saved; Esc does what loses nothing.

    Trying again is not offered where it cannot help.
    """

    def __init__(self, parent: QWidget, n_messages: int, why: str, *, can_try_again: bool = True) -> None:
        question = tr("%n message(s) could not be saved.", None, n_messages)
        if not n_messages:
            question = tr("What you typed or changed could not be saved.")
        super().__init__(QMessageBox.Icon.Warning, "Slipstream", question, parent=parent)
        self.setInformativeText(why)
        self.again = QPushButton(tr("Try again"))
        self.file = QPushButton(tr("Save to a file…"))
        self.quit = QPushButton(
            tr("Quit and lose %n message(s)", None, n_messages) if n_messages else tr("Quit and lose it")
        )
        if can_try_again:
            self.addButton(self.again, QMessageBox.ButtonRole.AcceptRole)
        self.addButton(self.file, QMessageBox.ButtonRole.ActionRole)
        self.addButton(self.quit, QMessageBox.ButtonRole.DestructiveRole)
        harmless = self.again if can_try_again else self.file
        self.setDefaultButton(harmless)
        self.setEscapeButton(harmless)
        box = self.findChild(QDialogButtonBox)
        if box is not None and font_scale() > _LARGE:  # side by side they would be cut
            box.setOrientation(Qt.Orientation.Vertical)

    @property
    def choice(self) -> Choice:
        """What was answered."""
        clicked = self.clickedButton()
        return "file" if clicked is self.file else "quit" if clicked is self.quit else "again"


def _settle(answered: asyncio.Future[str], words: str = "") -> None:
    if not answered.done():
        answered.set_result(words)


class Parting(QObject):
    """Asks until everything is saved, here or elsewhere, or let go."""

    def __init__(self, window: MainWindow, chats: Chats, writing: Writing) -> None:
        super().__init__(window)
        self._window, self._chats, self._writing = window, chats, writing
        self.question: PartingQuestion | None = None
        self.dialog: QFileDialog | None = None
        self._is_settled = False
        self._only_in_memory: OnlyInMemory | None = None

    def start(self) -> None:
        """Take what is there now as saved, or as not to be saved."""
        with suppress(StoreError):  # that it cannot be read is said by whoever shows it
            self._only_in_memory = OnlyInMemory(self._chats.store)

    async def settle(self) -> None:
        """Return when nothing is left that only the memory holds."""
        if self._is_settled:
            return
        self._is_settled = True
        was_hidden = not self._window.isVisible()
        try:
            await self._settle_all()
        finally:
            if was_hidden:
                self._window.hide()

    async def _settle_all(self) -> None:
        await self._chats.reading.end()
        await self._chats.settled()
        fault = self._chats.save_all()
        while fault is not None:
            why = f"{said(fault.message)} {said(fault.hint)}".strip()
            choice = await self._ask(self._chats.n_unsaved, why)
            if choice == "quit" or (choice == "file" and await self._save_to_file(self._unsaved)):
                return
            fault = self._chats.save_all()
        if self._only_in_memory is not None:
            await self._settle_memory(self._only_in_memory)

    async def _settle_memory(self, memory: OnlyInMemory) -> None:
        """Ask about what was saved into memory, where the disk refused at the start."""
        changed, shelf, reason = memory.changed(), memory.shelf(), self._chats.store.notice
        why = tr("Conversations are not being saved.")
        if reason is not None:
            why = f"{said(reason.message)} {said(reason.hint)}".strip()

        def document() -> bytes:
            return archive_json(memory.records(), shelf)

        while changed or shelf:
            choice = await self._ask(sum(changed.values()), why, can_try_again=False)
            if choice == "quit" or (choice == "file" and await self._save_to_file(document)):
                return

    def _unsaved(self) -> bytes:
        return archive_json(unsaved_records(self._window.composer, self._chats.unsent, self._writing))

    async def _ask(self, n_messages: int, why: str, *, can_try_again: bool = True) -> Choice:
        if not self._window.isVisible():
            self._window.show()  # so that what it is about can be seen
        answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        question = self.question = PartingQuestion(self._window, n_messages, why, can_try_again=can_try_again)
        question.finished.connect(lambda: _settle(answered))
        question.open()
        try:
            await answered
            return question.choice
        finally:
            self.question = None
            question.deleteLater()

    async def _save_to_file(self, document: Document) -> bool:
        """Ask where to, and write; false if that was given up or failed."""
        answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        dialog = self.dialog = QFileDialog(self._window, tr("Save what is not saved"), FILE_NAME)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.fileSelected.connect(lambda name: _settle(answered, name))
        dialog.rejected.connect(lambda: _settle(answered))
        dialog.open()
        try:
            name = await answered
        finally:
            self.dialog = None
            dialog.deleteLater()
        return bool(name) and self._write(Path(name), document)

    def _write(self, path: Path, document: Document) -> bool:
        """Write what is not saved; false if that fails, which is said."""
        try:
            write_whole(path, document())
        except SlipstreamError as fault:
            self._window.notice.say("error", fault.message, fault.hint)
            return False
        return True
