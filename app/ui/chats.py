"""The conversations: between the database on one side, list, transcript and composer on the other.

A database that fails says so in a notice, with what to do; what is on the screen stays there, and the next save tries
again.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import structs
from PySide6.QtCore import QObject, QTimer, Signal

from app.chat.chat_settings import ConversationSettings
from app.chat.conversation import (
    AnswerStats,
    Conversation,
    Message,
    MessageState,
    can_go_on,
    text_for_model,
)
from app.chat.store import ChatStore
from app.errors import StoreError
from app.protocol import ChatMessage
from app.ui.aside import Aside
from app.ui.chats_export import ChatsExport
from app.ui.chats_tokens import read_trace
from app.ui.chats_writing import Writing
from app.ui.file_reading import FileReading
from app.ui.listing import Listing
from app.ui.parting import Parting
from app.ui.sending import Sending
from app.ui.shown import shown_of
from app.ui.told import Told
from app.ui.tr import tr
from app.ui.unsent import Unsent
from app.ui.wording import answer_words, interrupted_words

if TYPE_CHECKING:
    from app.ui.growing import GrowingAnswer
    from app.ui.main_window import MainWindow
    from app.ui.message import AnswerView

_STILL_SAVING = tr("The attached files are still being saved.")
_NOT_SAVED = tr("This conversation is not saved yet.")
_RETRY_MS = 5000
"""How long after a refusal the database is asked again."""


class Chats(QObject):
    """Opens, keeps and shows conversations."""

    shown_other = Signal()  # another conversation is on the screen, or a new one
    settings_changed = Signal()

    def __init__(self, window: MainWindow, store: ChatStore) -> None:
        super().__init__(window)
        self._window = window
        self._store = store
        self._writing = Writing(window, store)
        self.aside = Aside(store)
        self.unsent = Unsent(window, self)
        self.reading = FileReading(window, self)
        self.sending = Sending(window, self, self._writing)
        self.listing = Listing(window, self)
        self.parting = Parting(window, self, self._writing)
        self._is_closed = False
        self.retry = QTimer(self, singleShot=True, interval=_RETRY_MS)
        self.retry.timeout.connect(self.on_retry)
        sidebar = window.sidebar
        sidebar.conversation_chosen.connect(self.open)
        sidebar.new_requested.connect(self.new)
        sidebar.search_changed.connect(lambda _query: self.refresh())
        sidebar.renamed.connect(self.rename)
        self.exporting = ChatsExport(window, store)
        window.transcript.trace_of = lambda message_id: read_trace(store, message_id)

    @property
    def current(self) -> Conversation | None:
        """The open conversation; ``None`` until its first message is sent."""
        return self._writing.current

    @property
    def growing(self) -> GrowingAnswer | None:
        """The answer that is on its way, in this conversation or another."""
        return self._writing.growing

    def start(self, last_id: int = 0, made_at: str = "") -> None:
        """Mark what a crash left unfinished, and open the last conversation, or the newest.

        Args:
            last_id: the number of the last one.
            made_at: when it was made: a restored database may have another under that number; "" is not known.
        """
        with Told(self._window.notice, tr("Reading your conversations failed.")):
            self._store.recover()
            self.unsent.start()
        if self._store.damage is not None:
            self.tell(self._store.damage)
        elif (said := self._store.notice) is not None:
            self._window.notice.say("info" if self._store.is_on_disk else "warning", said.message, said.hint)
        elif not self._store.is_on_disk:
            self._window.notice.say(
                "warning", tr("Conversations are not being saved."), tr("They last until you close.")
            )
        heads = self.refresh()
        if heads:
            self.open(last_id if last_id in heads else heads[0])
            if self.current is not None and made_at not in ("", self.current.created_at.isoformat()):
                self.open(heads[0])
        else:
            self.new()

    # --- choosing -------------------------------------------------------------------------------------

    def refresh(self) -> list[int]:
        """List the conversations anew, as searched for; return their ids."""
        return self.listing.refresh()

    def new(self) -> None:
        """Begin an empty conversation; it enters the list with its first message."""
        if self.can_leave():
            self._leave()
            self._begin_new()

    def _begin_new(self) -> None:
        self._writing.current, self._writing.new_settings = None, ConversationSettings()
        self._window.transcript.clear()
        self.unsent.show()
        self._window.sidebar.show_current(None)
        self._window.show_title("")
        self._window.composer.take_focus()
        self.shown_other.emit()

    def open(self, conversation_id: int) -> None:
        """Show a conversation."""
        if self.current is not None and self.current.id == conversation_id:
            return
        if not self.can_leave():
            self._window.sidebar.show_current(self.current.id if self.current else None)
            return
        with Told(self._window.notice, tr("The conversation could not be opened.")):
            opened = self._writing.without_growing(self._store.load(conversation_id))
            kept = self.unsent.read(conversation_id)
            self._leave()
            self._writing.current = opened
            self._show(opened)
            self.unsent.show(kept)
            self._window.show_title(opened.title)
            if self.growing is not None and self.growing.conversation_id == conversation_id:
                self.growing.attach(self._window.transcript.begin_answer())
            self.shown_other.emit()
        self._window.sidebar.show_current(self.current.id if self.current else None)
        self._window.composer.take_focus()

    def _show(self, conversation: Conversation) -> None:
        self._window.transcript.show_messages([shown_of(m) for m in conversation.messages], finish_stored)
        self.show_alternatives()

    def can_leave(self) -> bool:
        """Save the open conversation and what is written in it; false if that is refused, and so it must stay."""
        self._window.composer.unqueue()
        self._window.composer.flush_draft()
        if self.sending.is_busy or self.unsent.is_saving:
            self._say_still_saving()
            return False
        with Told(self._window.notice, _NOT_SAVED):
            self.write()
            if self.growing is not None:
                self._writing.make_row(self.growing)
        return not (self._writing.is_open_behind or self.unsent.is_open_behind)

    def _say_still_saving(self) -> None:
        self._window.notice.say("info", _STILL_SAVING, tr("Try again in a moment."), expires_s=6)

    def can_change(self) -> bool:
        """Whether the open conversation may be changed; not while a question of it is saved, and that is said."""
        if self.sending.is_busy:
            self._say_still_saving()
        return not self.sending.is_busy

    def _leave(self) -> None:
        if self.growing is not None:
            self.growing.detach()
        self.unsent.leave()

    # --- changing -------------------------------------------------------------------------------------

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        with Told(self._window.notice, tr("The title was not saved.")):
            self._writing.rename(conversation_id, title)
            if self.current is not None and self.current.id == conversation_id:
                self._window.show_title(title)
        self.see_to_what_waits()
        self.refresh()

    def forget(self) -> None:
        """Leave the open conversation, which was deleted, for a new one."""
        self._window.composer.unqueue()
        self._window.composer.flush_draft()
        self._leave()
        self._begin_new()

    @property
    def settings(self) -> ConversationSettings:
        """What the open conversation sets for itself."""
        return self.current.settings if self.current is not None else self._writing.new_settings

    def change_settings(self, settings: ConversationSettings) -> None:
        """Let the open conversation set that for itself, from its next answer on."""
        if settings == self.settings:
            return
        with Told(self._window.notice, tr("The settings were not saved.")):
            self._writing.change_settings(settings)
        self.see_to_what_waits()
        self.settings_changed.emit()

    # --- branches -------------------------------------------------------------------------------------

    @property
    def store(self) -> ChatStore:
        """Where everything is kept."""
        return self._store

    @property
    def shown(self) -> tuple[Message, ...]:
        """The messages as they are numbered on the screen."""
        return tuple(m for m in self.current.messages if m.role != "system") if self.current is not None else ()

    def can_branch(self) -> bool:
        """Write down what was said and is not saved; false if that is refused: another branch would leave it behind."""
        if not self.can_change():
            return False
        with Told(self._window.notice, _NOT_SAVED):
            if self._writing.is_open_behind:
                self.write()
        return not self._writing.is_open_behind

    def cut(self, number: int) -> None:
        """Take the messages from the ``number``-th on from the screen; in the database they stay."""
        if self.current is not None and number < len(self.shown):
            at = self.current.messages.index(self.shown[number])
            self._writing.current = structs.replace(self.current, messages=self.current.messages[:at])
            self._window.transcript.cut(number)
            self.unsent.anchor()

    def reload(self) -> None:
        """Show the open conversation as it is in the database, where another branch may be chosen now."""
        if self.current is not None and self.current.id:
            self._writing.current = self._writing.without_growing(self._store.load(self.current.id))
            self._show(self.current)
            self.unsent.anchor()

    def show_alternatives(self) -> None:
        """Say at each message which of its alternatives it is."""
        for number, message in enumerate(self.shown):
            others = self.current.alternatives.get(message.id, ()) if self.current is not None else ()
            at = others.index(message.id) + 1 if message.id in others else 1
            self._window.transcript.show_alternatives(number, at, max(1, len(others)))

    def read_alternatives(self) -> None:
        """Look which alternatives there are now."""
        if self.current is not None and self.current.id:
            there = self._store.load(self.current.id).alternatives
            self._writing.current = structs.replace(self.current, alternatives=there)
            self.show_alternatives()

    # --- messages -------------------------------------------------------------------------------------

    def history(self, system_prompt: str = "") -> tuple[ChatMessage, ...]:
        """Return the open conversation as the model is to see it."""
        messages = [ChatMessage("system", system_prompt)] if system_prompt else []
        if self.current is not None:
            said = [(m.role, text_for_model(m)) for m in self.current.messages]
            messages += [ChatMessage(role, text) for role, text in said if text.strip()]
        return tuple(messages)

    def begin_answer(self, beside_id: int | None = None) -> GrowingAnswer:
        """Show an empty answer: behind all that was said, or as an alternative to a message."""
        return self._writing.begin_answer(beside_id)

    def go_on(self, number: int) -> GrowingAnswer:
        """Let the ``number``-th message, an answer, grow on.

        Raises:
            StoreError: the database refuses; what is on the screen stays.
        """
        before = self.shown[number]
        growing = self._writing.prepare_going_on(before, self._store.branches.resume(before.id))
        self.cut(number)
        self._writing.begin_going_on(growing)
        return growing

    def save_growing(self, growing: GrowingAnswer) -> None:
        """Write down what an answer has said so far, if that has changed."""
        self._writing.save_growing(growing)

    def end_answer(self, growing: GrowingAnswer, state: MessageState, stats: AnswerStats | None) -> None:
        """Show and write down an answer in its final form."""
        self._writing.end_answer(growing, state, stats)
        with Told(self._window.notice, tr("The alternatives could not be read.")):
            if (growing.beside_id is not None or growing.before is not None) and growing.view is not None:
                self.read_alternatives() if growing.text.strip() else self.reload()
        self.see_to_what_waits()
        self.refresh()

    def write(self) -> None:
        """Write down what is not yet.

        Raises:
            StoreError: the database refuses.
        """
        if self._writing.is_behind:
            self._writing.write_pending(self.unsent.write)
            self.unsent.note_kept()
        else:
            self.unsent.keep()

    def see_to_what_waits(self) -> None:
        """Try again later to save what the database has refused."""
        if (self._writing.is_behind or self.unsent.is_behind) and not self.retry.isActive():
            self.retry.start()

    def on_retry(self) -> None:
        """Try again to save what the database refused: a disk has room again, another program has ended."""
        with suppress(StoreError):  # that it is refused has been said
            if not self.sending.is_busy:
                self.write()
        if self._writing.is_behind or self.unsent.is_behind:
            self.retry.start()
            return
        self._window.notice.say("info", tr("What was not saved is saved now."), expires_s=8)
        self.refresh()

    def save_all(self) -> StoreError | None:
        """Save everything that is on the screen and not sent; return why the database refuses, if it does."""
        self.retry.stop()
        self._window.composer.unqueue()
        try:
            self.write()
            self.unsent.save()
        except StoreError as fault:
            return fault
        return None

    @property
    def n_unsaved(self) -> int:
        """How many messages only the memory holds."""
        return self._writing.n_unsaved

    async def settled(self) -> None:
        """Wait until nothing is read or written beside the window."""
        await self.reading.settled()
        self._window.composer.flush_draft()
        await self.unsent.settled()
        await self.sending.settled()

    def close(self) -> None:
        """Close the database; what :meth:`save_all` has not saved is lost."""
        self.retry.stop()
        if not self._is_closed:
            self.unsent.close()
            self.listing.close()
            self.aside.close()
        self._is_closed = True
        self._store.close()

    def tell(self, fault: StoreError) -> None:
        """Say what is wrong with the database."""
        self._window.notice.say("error", fault.message, fault.hint)


def finish_stored(view: AnswerView, message: Message) -> None:
    """Put the words around an answer that comes from the database."""
    view.show_status(answer_words(message.stats, message.model))
    view.show_mark(interrupted_words(message))
    view.offer_going_on(is_offered=can_go_on(message))
