"""What is written and not sent, kept per conversation: words, files, and a message that is being changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.chat.drafts import OpenEdit
from app.ui.told import Told
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.chat.conversation import Attachment
    from app.ui.chats import Chats
    from app.ui.main_window import MainWindow

NOT_SAVED = tr("What you are typing was not saved.")


class Unsent(QObject):
    """Between the composer and the database."""

    def __init__(self, window: MainWindow, chats: Chats) -> None:
        super().__init__(chats)
        self._window, self._chats, self._store = window, chats, chats.store
        self._new_text = ""
        self._new_files: tuple[Attachment, ...] = ()
        composer = window.composer
        composer.draft_changed.connect(self.on_draft_changed)
        composer.draft_files_changed.connect(self.on_files_changed)
        composer.edit_changed.connect(self.on_edit_changed)

    def close(self) -> None:
        """Keep nothing any more: the database is about to be closed."""
        composer = self._window.composer
        composer.draft_changed.disconnect(self.on_draft_changed)
        composer.draft_files_changed.disconnect(self.on_files_changed)
        composer.edit_changed.disconnect(self.on_edit_changed)

    @property
    def _conversation_id(self) -> int | None:
        return self._chats.current.id if self._chats.current is not None else None

    def on_draft_changed(self, text: str) -> None:
        """Keep what is typed."""
        if self._chats.current is None:
            self._new_text = text
        with Told(self._window.notice, NOT_SAVED):
            self._store.save_draft(self._conversation_id, text)

    def on_files_changed(self, files: tuple[Attachment, ...]) -> None:
        """Keep the files that go with it."""
        if self._chats.current is None:
            self._new_files = files
        with Told(self._window.notice, NOT_SAVED):
            self._store.drafts.save_files(self._conversation_id, files)

    def on_edit_changed(self, number: int, text: str) -> None:
        """Keep how far a message has been changed, or that none is."""
        if (conversation_id := self._conversation_id) is None:
            return
        with Told(self._window.notice, NOT_SAVED):
            self._store.drafts.save_edit(conversation_id, self._edit_of(number, text))

    def leave(self) -> None:
        """Make ready to show what is not sent of another conversation."""
        if self._chats.current is None:
            self._new_text, self._new_files = self._window.composer.text, self._window.composer.files.files

    def show(self) -> None:
        """Put what is not sent of the conversation that is shown now into the composer."""
        if (conversation_id := self._conversation_id) is None:
            self._window.composer.show_draft(self._new_text, self._new_files)
            return
        text, files = self._store.draft(conversation_id), self._store.drafts.files(conversation_id)
        self._window.composer.show_draft(text, files)
        edit = self._store.drafts.edit(conversation_id)
        if edit is None:
            return
        found = ((number, m) for number, m in enumerate(self._chats.shown) if m.id == edit.message_id)
        number, message = next(found, (-1, None))
        if message is not None:
            self._window.composer.begin_edit(number, edit.text, is_answer=message.role == "assistant")
        else:  # it is on another branch now: what was written is a draft like any other
            self._window.composer.set_text("\n\n".join(part for part in (text, edit.text) if part))
            self._store.drafts.save_edit(conversation_id, None)
            self.on_draft_changed(self._window.composer.text)

    def save(self) -> None:
        """Keep everything that is not sent, as far as it is not kept yet.

        Raises:
            StoreError: the database refuses.
        """
        text, files = self._window.composer.draft, self._window.composer.files.files
        conversation_id, store = self._conversation_id, self._store
        if conversation_id is None:
            if text.strip() or files or store.draft(None) or store.drafts.files(None):
                with store.transaction():
                    self.keep_new(text, files)
            return
        number, words = self._window.composer.edit or (-1, "")
        edit = self._edit_of(number, words)
        if store.draft(conversation_id) != text:
            store.save_draft(conversation_id, text)
        if store.drafts.files(conversation_id) != files:
            store.drafts.save_files(conversation_id, files)
        if store.drafts.edit(conversation_id) != edit:
            store.drafts.save_edit(conversation_id, edit)

    def _edit_of(self, number: int, text: str) -> OpenEdit | None:
        shown = self._chats.shown
        return OpenEdit(shown[number].id, text) if 0 <= number < len(shown) else None

    def forget_new(self) -> None:
        """Forget what was to go into a new conversation: it has begun."""
        self._new_text, self._new_files = "", ()

    def forget_sent(self) -> None:
        """Forget what has just been sent.

        Raises:
            StoreError: the database refuses.
        """
        for conversation_id in (self._conversation_id, None):
            self._store.save_draft(conversation_id, "")
            self._store.drafts.save_files(conversation_id, ())

    def keep_new(self, text: str, files: tuple[Attachment, ...]) -> None:
        """Give a conversation of its own to what was written into one that has not begun.

        Raises:
            StoreError: the database refuses.
        """
        if text.strip() or files:
            made = self._store.create()
            self._store.save_draft(made.id, text)
            self._store.drafts.save_files(made.id, files)
        self._store.save_draft(None, "")
        self._store.drafts.save_files(None, ())
