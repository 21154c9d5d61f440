"""What is written and not sent, kept per conversation: words, files, and a message that is being changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.chat.drafts import OpenEdit
from app.errors import StoreError
from app.ui.aside import are_large
from app.ui.composing import Editing
from app.ui.told import Told
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.chat.conversation import Attachment
    from app.chat.store import ChatStore
    from app.ui.chats import Chats
    from app.ui.main_window import MainWindow

Change = Callable[["ChatStore"], None]

NOT_SAVED = tr("What you are typing was not saved.")
SAVING = tr("Saving the files…")


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a conversation that is not sent."""

    text: str = ""
    files: tuple[Attachment, ...] = ()
    edit: OpenEdit | None = None


class Unsent(QObject):
    """Between the composer and the database.

    What the database refuses stays here or in the composer; :meth:`keep` tries again.
    """

    def __init__(self, window: MainWindow, chats: Chats) -> None:
        super().__init__(chats)
        self._window, self._chats, self._store = window, chats, chats.store
        self._new = Kept()
        self._is_behind = False  # with what is in the composer for the open conversation
        self._is_new_behind = False
        self._to_save: dict[int | None, tuple[Attachment, ...]] = {}  # beside the window
        self._in_work: tuple[int | None, ...] = ()  # of which conversation the files are being saved, if any are
        self._are_large: dict[int | None, bool] = {}
        self._saving: asyncio.Task[None] | None = None
        composer = window.composer
        composer.draft_changed.connect(self.on_draft_changed)
        composer.draft_files_changed.connect(self.on_files_changed)
        composer.edit_changed.connect(self.on_edit_changed)

    def start(self) -> None:
        """Give what a program that was killed left of a new conversation one of its own.

        Raises:
            StoreError: the database refuses; it is the new conversation's then.
        """
        composer, kept = self._window.composer, Kept(self._store.draft(None), self._store.drafts.files(None))
        try:
            self._begin_new(kept)
        except StoreError:
            text = "\n\n".join(part for part in (kept.text, composer.text) if part)
            self._new = Kept(text, (*kept.files, *composer.files.files))
            self.show()
            raise

    def close(self) -> None:
        """Keep nothing any more: the database is about to be closed."""
        composer = self._window.composer
        composer.draft_changed.disconnect(self.on_draft_changed)
        composer.draft_files_changed.disconnect(self.on_files_changed)
        composer.edit_changed.disconnect(self.on_edit_changed)

    @property
    def _conversation_id(self) -> int | None:
        return self._chats.current.id if self._chats.current is not None else None

    @property
    def is_behind(self) -> bool:
        """Whether something that is written has been refused by the database so far."""
        return self._is_behind or self._is_new_behind

    @property
    def is_open_behind(self) -> bool:
        """Whether that is so in the open conversation, and only the composer holds it."""
        return self._is_behind

    @property
    def new_in_memory(self) -> Kept:
        """What only the memory holds of a conversation that has not begun, while another is open."""
        return self._new if self._is_new_behind and self._chats.current is not None else Kept()

    # --- from the composer ----------------------------------------------------------------------------

    def on_draft_changed(self, text: str) -> None:
        """Keep what is typed."""
        if self._chats.current is None:
            self._new = replace(self._new, text=text)
        self._keep_here(lambda: self._store.save_draft(self._conversation_id, text))

    def on_files_changed(self, files: tuple[Attachment, ...]) -> None:
        """Keep the files that go with it."""
        conversation_id = self._conversation_id
        if self._chats.current is None:
            self._new = replace(self._new, files=files)
        were_large = self._are_large.pop(conversation_id, False)  # giving back what they take is work, too
        if are_large(files):
            self._are_large[conversation_id] = True
        is_in_line = conversation_id in self._to_save or conversation_id in self._in_work  # and would be newer then
        if conversation_id != 0 and self._chats.aside.is_possible and (were_large or are_large(files) or is_in_line):
            self._save_aside(conversation_id, files)
        else:
            self._keep_here(lambda: self._store.drafts.save_files(self._conversation_id, files))

    def on_edit_changed(self, message_id: int, text: str) -> None:
        """Keep how far a message has been changed, or that none is."""
        if (conversation_id := self._conversation_id) is not None:
            edit = OpenEdit(message_id, text) if message_id else None
            self._keep_here(lambda: self._store.drafts.save_edit(conversation_id, edit))

    def _save_aside(self, conversation_id: int | None, files: tuple[Attachment, ...]) -> None:
        self._to_save[conversation_id] = files  # in place of what has not begun
        self._window.composer.files.say(SAVING if files else "")
        if self._saving is None or self._saving.done():
            self._saving = asyncio.get_running_loop().create_task(self._save_all_aside())

    async def _save_all_aside(self) -> None:
        bar = self._window.composer.files
        try:
            while self._to_save:
                conversation_id, files = self._to_save.popitem()
                self._in_work = (conversation_id,)
                bar.say(SAVING if files else "")
                is_kept = False
                with Told(self._window.notice, NOT_SAVED):
                    await self._chats.aside.run(partial(_save_files, conversation_id, files))
                    is_kept = True
                if not is_kept:
                    self._is_behind = self._is_behind or conversation_id == self._conversation_id
                    self._is_new_behind = self._is_new_behind or conversation_id is None
                    self._chats.see_to_what_waits()
        finally:
            self._in_work = ()
            bar.say("")

    @property
    def is_saving(self) -> bool:
        """Whether files of the open conversation are on their way into the database."""
        return self._saving is not None and not self._saving.done() and self._conversation_id is not None

    async def settled(self) -> None:
        """Wait until no files are on their way into the database."""
        if self._saving is not None and not self._saving.done():
            await asyncio.wait([self._saving])

    def _keep_here(self, save: Callable[[], None]) -> None:
        """Save a part; where that is refused, or the conversation has no row yet, everything is tried later."""
        is_kept = False
        with Told(self._window.notice, NOT_SAVED):
            if self._conversation_id != 0 and not self._chats.sending.is_busy:
                save()
                is_kept = True
        if not is_kept:
            self._note_behind()
            self._chats.see_to_what_waits()

    def _note_behind(self) -> None:
        if self._chats.current is None:
            self._is_new_behind = True
        else:
            self._is_behind = True

    # --- another conversation -------------------------------------------------------------------------

    def read(self, conversation_id: int) -> Kept:
        """Read what is kept of a conversation.

        Raises:
            StoreError: the database refuses.
        """
        drafts = self._store.drafts
        return Kept(self._store.draft(conversation_id), drafts.files(conversation_id), drafts.edit(conversation_id))

    def leave(self) -> None:
        """Make ready to show what is not sent of another conversation."""
        if self._chats.current is None:
            self._new = Kept(self._window.composer.text, self._window.composer.files.files)
        self._is_behind = False

    def show(self, kept: Kept | None = None) -> None:
        """Put what is not sent of the conversation that is shown now into the composer: that, or of a new one."""
        composer = self._window.composer
        kept = kept or self._new
        composer.show_draft(kept.text, kept.files)
        if kept.edit is None:
            return
        found = ((number, m) for number, m in enumerate(self._chats.shown) if m.id == kept.edit.message_id)
        number, message = next(found, (-1, None))
        editing = Editing(number, kept.edit.message_id, message.text if message is not None else "")
        composer.begin_edit(editing, kept.edit.text, is_answer=message is not None and message.role == "assistant")
        self.anchor()

    def anchor(self) -> None:
        """Make a draft of the change of a message that is not on the screen any more: it is on another branch now."""
        edit = self._window.composer.edit
        if edit is not None and all(m.id != edit.message_id for m in self._chats.shown):
            self._window.composer.turn_edit_into_draft()
            self.note_sent()
            with Told(self._window.notice, NOT_SAVED):
                self.keep()
            self._chats.see_to_what_waits()

    # --- into the database ----------------------------------------------------------------------------

    def note_sent(self, *, has_begun: bool = False) -> None:
        """Note that the composer holds something else now; :meth:`keep` is to come with what was sent.

        Args:
            has_begun: what was sent is a conversation's first message.
        """
        self._note_behind()
        conversation_id = None if has_begun else self._conversation_id
        self._to_save.pop(conversation_id, None)
        if conversation_id in self._in_work:  # that was before; what is left is to come after it
            self._to_save[conversation_id] = () if has_begun else self._window.composer.waiting_files
        if has_begun:
            self._new, self._is_new_behind = Kept(), True

    def keep(self) -> None:
        """Keep everything that is not sent and not kept yet, at once.

        Raises:
            StoreError: the database refuses.
        """
        if changes := self.changes():
            with self._store.transaction():
                for change in changes:
                    change(self._store)
        self.note_kept()

    def write(self) -> None:
        """Do the same as a part of something greater; :meth:`note_kept` is to come when that is done.

        Raises:
            StoreError: the database refuses.
        """
        for change in self.changes():
            change(self._store)

    def note_kept(self) -> None:
        """Note that the database has it all."""
        self._is_behind = self._is_behind and not self._conversation_id
        self._is_new_behind = False

    def changes(self) -> list[Change]:
        """Return what is to be done so that everything that is not sent is kept.

        Raises:
            StoreError: the database refuses.
        """
        store, composer, changes = self._store, self._window.composer, list[Change]()
        if self._is_behind and (conversation_id := self._conversation_id):
            text, edit, files = composer.waiting_text, composer.edit, composer.waiting_files
            if text != store.draft(conversation_id):
                changes.append(lambda store: store.save_draft(conversation_id, text))
            if not store.drafts.has_files(conversation_id, files):
                changes.append(partial(_keep_files, conversation_id, files))
            if edit != store.drafts.edit(conversation_id):
                changes.append(lambda store: store.drafts.save_edit(conversation_id, edit))
        if self._is_new_behind:
            new = self._new
            changes.append(lambda store: store.save_draft(None, new.text))
            changes.append(partial(_keep_files, None, new.files))
        return changes

    def for_new(self) -> Callable[[int, ChatStore], None]:
        """Return what keeps what is in the composer now, for a conversation that is being made."""
        text, files = self._window.composer.waiting_text, self._window.composer.waiting_files

        def keep(conversation_id: int, store: ChatStore) -> None:
            store.save_draft(conversation_id, text)
            _keep_files(conversation_id, files, store)

        return keep

    def save(self) -> None:
        """Keep everything that is not sent, as far as it is not kept yet; what was to be new begins.

        Raises:
            StoreError: the database refuses.
        """
        store, composer = self._store, self._window.composer
        if self._conversation_id is not None:
            self._is_behind = True
            self.keep()
            if not store.is_on_disk:  # no next start will find it
                self._begin_new(self._new)
                self._new = Kept()
            return
        self._new = Kept(composer.text, composer.files.files)
        if self._new.text.strip() or self._new.files or store.draft(None) or store.drafts.files(None):
            self._begin_new(self._new)
        self._is_new_behind = False

    def take_edit(self, message_id: int, text: str, *, keep_following: bool) -> None:
        """Let a message of the open conversation say something else; its change is not under way any more.

        Raises:
            StoreError: the database refuses.
        """
        with self._store.transaction():
            self._store.branches.edit(message_id, text, keep_following=keep_following)
            if (conversation_id := self._conversation_id) is not None:
                self._store.drafts.save_edit(conversation_id, None)

    def _begin_new(self, kept: Kept) -> None:
        """Give a conversation of its own to what was written into one that has not begun."""
        with self._store.transaction():
            if kept.text.strip() or kept.files:
                made = self._store.create()
                self._store.save_draft(made.id, kept.text)
                self._store.drafts.save_files(made.id, kept.files)
            self._store.save_draft(None, "")
            self._store.drafts.save_files(None, ())


def _keep_files(conversation_id: int | None, files: tuple[Attachment, ...], store: ChatStore) -> None:
    """Keep these files as a part of something greater; what they took that are gone is given back another time."""
    if files:
        store.drafts.save_files(conversation_id, files)
    else:
        store.drafts.forget_files(conversation_id)


def _save_files(conversation_id: int | None, files: tuple[Attachment, ...], store: ChatStore) -> None:
    store.drafts.save_files(conversation_id, files)
