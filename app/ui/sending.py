"""A question from the screen into the database, before the engine sees it; with large files beside the window."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from app.chat.conversation import Attachment, Conversation, Message, now
from app.errors import StoreError
from app.ui.aside import are_large
from app.ui.shown import shown_of
from app.ui.told import Told
from app.ui.tr import tr
from app.ui.unsent import SAVING

if TYPE_CHECKING:
    from app.chat.store import ChatStore
    from app.ui.chats import Chats
    from app.ui.chats_writing import Writing
    from app.ui.main_window import MainWindow

EDIT_NOT_SAVED = tr("The change was not saved.")
_NOT_SAVED = tr("Your message is not saved yet.")


class Sending:
    """Shows questions and writes them down. While it is busy nothing else of the open conversation is to be written."""

    def __init__(self, window: MainWindow, chats: Chats, writing: Writing) -> None:
        self._window, self._chats, self._writing = window, chats, writing
        self._task: asyncio.Task[bool] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a question is on its way into the database."""
        return self._task is not None and not self._task.done()

    async def settled(self) -> None:
        """Wait until none is."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def send(self, text: str, attachments: tuple[Attachment, ...] = ()) -> asyncio.Task[bool] | None:
        """Show a question and write it down, before anything else happens to it.

        Returns:
            What is still to be waited for, where writing its files would hold the window up, and then whether it may be
            answered; it is not to be cancelled.
        """
        message = Message(role="user", text=text, created_at=now(), attachments=attachments)
        before = self._chats.current
        with_it = attachments if before is not None else (*attachments, *self._window.composer.waiting_files)
        is_aside = are_large(with_it) and self._chats.aside.is_possible and not self._writing.is_behind
        try:
            self._window.transcript.add_question(shown_of(message).text)
        except BaseException:  # the program's folder was moved meanwhile, and what shows it is not there
            self._window.composer.set_text(text)
            self._window.composer.files.set_files(attachments)
            raise
        self._writing.extend(message)
        self._chats.unsent.note_sent(has_begun=before is None)
        if is_aside:
            self._window.composer.files.say(SAVING)
            work = self._send_aside(message, before.id if before is not None else None)
            self._task = asyncio.get_running_loop().create_task(work)
            return self._task
        with Told(self._window.notice, _NOT_SAVED):
            self._chats.write()
        self._chats.see_to_what_waits()
        self._chats.refresh()
        return None

    async def _send_aside(self, asked: Message, before_id: int | None) -> bool:
        is_kept, is_open = False, True
        with Told(self._window.notice, _NOT_SAVED):
            write, changes = self._writing.question_aside(), self._chats.unsent.changes()
            keep = self._chats.unsent.for_new() if before_id is None else None

            def work(store: ChatStore) -> tuple[Conversation, Message]:
                with store.transaction():
                    written = write(store)
                    for change in changes:
                        change(store)
                    if keep is not None:
                        keep(written[0].id, store)
                with suppress(StoreError):  # the question is saved, whatever becomes of the room its draft took
                    store.drafts.sweep(before_id)
                return written

            made, row = await self._chats.aside.run(work)
            is_kept, is_open = True, self._writing.take_written(made, asked, row)
        self._end(is_kept=is_kept)
        return is_open

    def can_edit_aside(self, message: Message) -> bool:
        """Whether a message has files that are to be written once more, beside the window."""
        return are_large(message.attachments) and self._chats.aside.is_possible

    def edit(self, message: Message, text: str, put_back: Callable[[], None]) -> asyncio.Task[bool]:
        """Let a question with large files say something else, as :meth:`Unsent.take_edit` does.

        Args:
            message: the question.
            text: what it is to say.
            put_back: what is to be done where the database refuses.

        Returns:
            What is to be waited for, and then whether it may be answered; it is not to be cancelled.
        """
        self._window.composer.files.say(SAVING)
        self._task = asyncio.get_running_loop().create_task(self._edit_aside(message, text, put_back))
        return self._task

    async def _edit_aside(self, message: Message, text: str, put_back: Callable[[], None]) -> bool:
        current = self._chats.current

        def work(store: ChatStore) -> None:
            with store.transaction():
                store.branches.edit(message.id, text)
                if current is not None:
                    store.drafts.save_edit(current.id, None)

        is_kept = False
        with Told(self._window.notice, EDIT_NOT_SAVED):
            await self._chats.aside.run(work)
            is_kept = True
            self._chats.reload()
        self._end(is_kept=is_kept)
        if not is_kept:
            put_back()
        return is_kept

    def _end(self, *, is_kept: bool) -> None:
        self._window.composer.files.say("")
        if is_kept:
            with Told(self._window.notice, _NOT_SAVED):
                self._chats.unsent.keep()  # what was typed meanwhile
        self._chats.see_to_what_waits()
        self._chats.refresh()
