"""Deleted conversations: undo, the list of those that can be brought back, and the end of those that are old.

Old ones are erased for good on a thread of its own with a connection of its own, one at a time: the window's saves
come in between.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.chat.erasing import Erasing
from app.chat.store import KEEP_DELETED_S
from app.host.background import beside
from app.ui.chats_deleted_dialog import DeletedDialog
from app.ui.question import Question
from app.ui.told import Told
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.chats import Chats
    from app.ui.main_window import MainWindow

NOT_DELETED = tr("The conversation was not deleted: a part of it is not saved yet and could not be brought back.")

UNDO_S = 12.0
CHECK_MS = 1_000
ERASE_AFTER_MS = 5_000
"""The start has better things to do."""


class ChatsDeleting(QObject):
    """Deletes, brings back, erases; and says what the test of the database file finds late."""

    def __init__(self, window: MainWindow, chats: Chats) -> None:
        super().__init__(window)
        self._window, self._chats, self._store = window, chats, chats.store
        self.dialog: DeletedDialog | None = None
        self._erasing: Erasing | None = None
        self._task: asyncio.Task[None] | None = None
        self._begin = QTimer(self, singleShot=True, interval=ERASE_AFTER_MS)
        self._begin.timeout.connect(self.erase_old)
        self._look = QTimer(self, interval=CHECK_MS)
        self._look.timeout.connect(self.on_look)
        window.sidebar.delete_requested.connect(self.delete)

    def start(self) -> None:
        """Erase later what was deleted long ago, and wait for the result of the file's test."""
        if self._store.is_on_disk:
            self._begin.start()
        if not self._store.check.is_done:
            self._look.start()

    async def close(self) -> None:
        """Stop erasing."""
        self._begin.stop()
        self._look.stop()
        if self._erasing is not None:
            self._erasing.stop()
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def on_look(self) -> None:
        """Say what the test of the database has found, once it is over."""
        is_over = self._store.check.is_done
        if (fault := self._store.check.damage()) is not None:
            self._chats.tell(fault)
            is_over = True
        if is_over:
            self._look.stop()

    # --- deleting -------------------------------------------------------------------------------------

    def delete(self, conversation_id: int) -> None:
        """Delete a conversation, with a chance to take that back."""
        current = self._chats.current
        growing = self._chats.growing
        if growing is not None and growing.conversation_id == conversation_id:
            self._window.notice.say(
                "info", tr("An answer is being written there."), tr("Stop it first (Esc)."), expires_s=6
            )
            return
        if current is not None and current.id == conversation_id and not self._chats.can_leave():
            if not (self._chats.sending.is_busy or self._chats.unsent.is_saving):  # else that is said, and ends soon
                self._window.notice.say("warning", NOT_DELETED, tr("Delete it again once that is saved."))
            return
        with Told(self._window.notice, tr("The conversation was not deleted.")):
            title = self._store.load(conversation_id).title
            self._store.delete(conversation_id)
            if current is not None and current.id == conversation_id:
                self._chats.forget()
            self._window.notice.say(
                "info",
                tr("“{title}” was deleted.").format(title=title),
                action=(tr("Undo"), lambda: self.undelete(conversation_id)),
                expires_s=UNDO_S,
            )
        self._chats.refresh()

    def undelete(self, conversation_id: int) -> None:
        """Take a deletion back and show the conversation."""
        with Told(self._window.notice, tr("The conversation could not be brought back.")):
            self._store.undelete(conversation_id)
        self._chats.refresh()
        self._chats.open(conversation_id)

    # --- those that can be brought back ---------------------------------------------------------------

    def open_dialog(self) -> None:
        """List the deleted conversations."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        dialog = self.dialog = DeletedDialog(self._window, KEEP_DELETED_S)
        dialog.bring_back_requested.connect(self.on_bring_back)
        dialog.erase_requested.connect(self.on_erase)
        dialog.finished.connect(self.on_dialog_closed)
        self._list()
        dialog.open()

    def on_dialog_closed(self) -> None:
        """Forget the dialog."""
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    def _list(self) -> None:
        with Told(self._window.notice, tr("The deleted conversations could not be read.")):
            if self.dialog is not None:
                self.dialog.show_heads(self._store.deleted())

    def on_bring_back(self, conversation_ids: list[int]) -> None:
        """Bring conversations back, and show the first."""
        with Told(self._window.notice, tr("The conversation could not be brought back.")):
            for conversation_id in conversation_ids:
                self._store.undelete(conversation_id)
        self._list()
        self._chats.refresh()
        if conversation_ids:
            self._chats.open(conversation_ids[0])

    def on_erase(self, conversation_ids: list[int]) -> None:
        """Erase conversations for good, after asking."""
        if self.dialog is None or not conversation_ids:
            return
        n = len(conversation_ids)
        question = (
            tr("Erase this conversation for good?")
            if n == 1
            else tr("Erase these {n:,} conversations for good?").format(n=n)
        )
        Question(self.dialog, question, tr("It cannot be brought back after that."), tr("Erase")).ask(
            lambda: self._erase(Erasing(self._store.path, only=tuple(conversation_ids))), lambda: None
        )

    # --- erasing --------------------------------------------------------------------------------------

    def erase_old(self) -> None:
        """Erase what was deleted long ago."""
        self._erase(Erasing(self._store.path, older_than_s=KEEP_DELETED_S))

    def _erase(self, erasing: Erasing) -> None:
        if self._task is not None and not self._task.done():
            self._window.notice.say(
                "info", tr("Conversations are being erased."), tr("Try again in a moment."), expires_s=6
            )
            return
        if not self._store.is_on_disk:
            with Told(self._window.notice, tr("The conversations were not erased.")):
                self._store.erase(erasing.only)
            self._list()
            return
        self._erasing = erasing
        self._task = asyncio.get_running_loop().create_task(self._run(erasing))

    async def _run(self, erasing: Erasing) -> None:
        with Told(self._window.notice, tr("Deleted conversations were not erased.")):
            await beside(erasing.run, "erasing")
        self._list()
