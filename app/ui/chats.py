"""The conversations: between the database on one side, list, transcript and composer on the other.

A database that fails says so in a notice, with what to do; what is on the screen stays there, and the next save tries
again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs
from PySide6.QtWidgets import QFileDialog

from app.chat import export
from app.chat.conversation import (
    UNTITLED,
    AnswerStats,
    Attachment,
    Conversation,
    Message,
    MessageState,
    now,
    text_for_model,
    title_from,
)
from app.chat.export import kind_of
from app.chat.reasoning import split_reasoning
from app.chat.store import ChatStore
from app.errors import SlipstreamError, StoreError
from app.protocol import ChatMessage
from app.ui.growing import GrowingAnswer
from app.ui.shown import shown_of
from app.ui.told import Told
from app.ui.wording import interrupted_words, speed_words

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow
    from app.ui.message import AnswerView

UNDO_S = 12.0


class Chats:
    """Opens, keeps and shows conversations."""

    def __init__(self, window: MainWindow, store: ChatStore) -> None:
        self._window = window
        self._store = store
        self._current: Conversation | None = None
        self._unsaved_draft = ""
        self._growing: GrowingAnswer | None = None
        self._unwritten: list[tuple[int, Message]] = []  # ended answers that the database refused, with their place
        sidebar = window.sidebar
        sidebar.conversation_chosen.connect(self.open)
        sidebar.new_requested.connect(self.new)
        sidebar.search_changed.connect(lambda _query: self.refresh())
        sidebar.renamed.connect(self.rename)
        sidebar.delete_requested.connect(self.delete)
        sidebar.export_requested.connect(self.export)
        window.composer.draft_changed.connect(self.on_draft_changed)

    @property
    def current(self) -> Conversation | None:
        """The open conversation; ``None`` until its first message is sent."""
        return self._current

    def start(self) -> None:
        """Mark what a crash left unfinished, erase what was deleted, and open the newest conversation."""
        with Told(self._window.notice, "Reading your conversations failed."):
            self._store.recover()
            self._store.purge()
            self._keep_new_draft(self._store.draft(None))  # of a program that was killed
        if self._store.damage is not None:
            self.tell(self._store.damage)
        elif (said := self._store.notice) is not None:
            self._window.notice.say("info" if self._store.is_on_disk else "warning", said.message, said.hint)
        elif not self._store.is_on_disk:
            self._window.notice.say("warning", "Conversations are not being saved.", "They last until you close.")
        heads = self.refresh()
        if heads:
            self.open(heads[0])
        else:
            self.new()

    # --- choosing -------------------------------------------------------------------------------------

    def refresh(self) -> list[int]:
        """List the conversations anew, as searched for; return their ids."""
        with Told(self._window.notice, "Reading your conversations failed."):
            heads = self._store.heads(self._window.sidebar.query)
            self._window.sidebar.show_folders(self._store.folders.all())
            self._window.sidebar.show_heads(heads, self._current.id if self._current else None, now())
            return [head.id for head in heads]
        return []

    def new(self) -> None:
        """Begin an empty conversation; it enters the list with its first message."""
        if not self._leave():
            return
        self._current = None
        self._window.transcript.clear()
        self._window.composer.set_text(self._unsaved_draft)
        self._window.sidebar.show_current(None)
        self._window.show_title("")
        self._window.composer.take_focus()

    def open(self, conversation_id: int) -> None:
        """Show a conversation."""
        if self._current is not None and self._current.id == conversation_id:
            return
        if not self._leave():
            self._window.sidebar.show_current(self._current.id if self._current else None)
            return
        with Told(self._window.notice, "The conversation could not be opened."):
            self._current = self._without_growing(self._store.load(conversation_id))
            self._show(self._current)
            self._window.composer.set_text(self._store.draft(conversation_id))
            self._window.show_title(self._current.title)
            if self._growing is not None and self._growing.conversation_id == conversation_id:
                self._growing.attach(self._window.transcript.begin_answer())
        self._window.sidebar.show_current(self._current.id if self._current else None)
        self._window.composer.take_focus()

    def _show(self, conversation: Conversation) -> None:
        self._window.transcript.show_messages([shown_of(m) for m in conversation.messages], finish_stored)
        self.show_alternatives()

    def _without_growing(self, conversation: Conversation) -> Conversation:
        """Leave out the row of the answer that is on its way: it joins when it is complete."""
        if self._growing is None or self._growing.message is None:
            return conversation
        row = self._growing.message.id
        return structs.replace(conversation, messages=tuple(m for m in conversation.messages if m.id != row))

    def _leave(self) -> bool:
        """Make ready to show another conversation; false if this one cannot be saved, and so must stay."""
        self._window.composer.end_edit()
        self._window.composer.unqueue()
        self._window.composer.flush_draft()
        with Told(self._window.notice, "This conversation is not saved yet."):
            self._write_pending()
            if self._growing is not None:
                self._make_row(self._growing)
        if self._pending() or self._unwritten:
            return False
        if self._growing is not None:
            self._growing.detach()
        if self._current is None:
            self._unsaved_draft = self._window.composer.text
        return True

    # --- changing -------------------------------------------------------------------------------------

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title."""
        with Told(self._window.notice, "The title was not saved."):
            self._store.rename(conversation_id, title)
            if self._current is not None and self._current.id == conversation_id:
                self._window.show_title(title)
        self.refresh()

    def delete(self, conversation_id: int) -> None:
        """Delete a conversation, with a chance to take that back."""
        is_current = self._current is not None and self._current.id == conversation_id
        if self._growing is not None and self._growing.conversation_id == conversation_id:
            self._window.notice.say("info", "An answer is being written there.", "Stop it first (Esc).", expires_s=6)
            return
        with Told(self._window.notice, "The conversation was not deleted."):
            title = self._store.load(conversation_id).title
            self._store.delete(conversation_id)
            if is_current:
                self._current = None
                self._unsaved_draft = ""
                self.new()
            self._window.notice.say(
                "info",
                f"“{title}” was deleted.",
                action=("Undo", lambda: self.undelete(conversation_id)),
                expires_s=UNDO_S,
            )
        self.refresh()

    def undelete(self, conversation_id: int) -> None:
        """Take a deletion back and show the conversation."""
        with Told(self._window.notice, "The conversation could not be brought back."):
            self._store.undelete(conversation_id)
        self.refresh()
        self.open(conversation_id)

    def on_draft_changed(self, text: str) -> None:
        """Keep what is typed but not sent."""
        if self._current is None:
            self._unsaved_draft = text
        with Told(self._window.notice, "What you are typing was not saved."):
            self._store.save_draft(self._current.id if self._current is not None else None, text)

    def _keep_new_draft(self, text: str) -> None:
        """Give a conversation of its own to what was typed into one that had not begun."""
        if text.strip():
            self._store.save_draft(self._store.create().id, text)
        self._store.save_draft(None, "")

    def export(self, conversation_id: int, kind: str) -> None:
        """Ask where to, then write a conversation in one of the kinds of :mod:`app.chat.export`."""
        with Told(self._window.notice, "The conversation could not be read."):
            name = export.file_name(self._store.load(conversation_id).title, kind_of(kind))
            dialog = QFileDialog(self._window, "Export conversation", name)
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix(kind)
            dialog.fileSelected.connect(lambda path: self.write_export(conversation_id, Path(path)))
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def write_export(self, conversation_id: int, path: Path) -> None:
        """Write a conversation to a file; the ending of its name says how."""
        try:
            export.write_whole(path, export.export(self._store, [conversation_id], kind_of(path.suffix)))
        except SlipstreamError as fault:
            self._window.notice.say("error", fault.message, fault.hint)
        else:
            self._window.notice.say("info", f"Exported to {path}.", expires_s=8)

    # --- branches -------------------------------------------------------------------------------------

    @property
    def store(self) -> ChatStore:
        """Where everything is kept."""
        return self._store

    @property
    def shown(self) -> tuple[Message, ...]:
        """The messages as they are numbered on the screen."""
        return tuple(m for m in self._current.messages if m.role != "system") if self._current is not None else ()

    def cut(self, number: int) -> None:
        """Take the messages from the ``number``-th on from the screen; in the database they stay."""
        if self._current is not None and number < len(self.shown):
            at = self._current.messages.index(self.shown[number])
            self._current = structs.replace(self._current, messages=self._current.messages[:at])
            self._window.transcript.cut(number)

    def reload(self) -> None:
        """Show the open conversation as it is in the database, where another branch may be chosen now."""
        if self._current is not None and self._current.id:
            self._current = self._without_growing(self._store.load(self._current.id))
            self._show(self._current)

    def show_alternatives(self) -> None:
        """Say at each message which of its alternatives it is."""
        for number, message in enumerate(self.shown):
            others = self._current.alternatives.get(message.id, ()) if self._current is not None else ()
            at = others.index(message.id) + 1 if message.id in others else 1
            self._window.transcript.show_alternatives(number, at, max(1, len(others)))

    def read_alternatives(self) -> None:
        """Look which alternatives there are now."""
        if self._current is not None and self._current.id:
            there = self._store.load(self._current.id).alternatives
            self._current = structs.replace(self._current, alternatives=there)
            self.show_alternatives()

    # --- messages -------------------------------------------------------------------------------------

    def history(self, system_prompt: str = "") -> tuple[ChatMessage, ...]:
        """Return the open conversation as the model is to see it."""
        messages = [ChatMessage("system", system_prompt)] if system_prompt else []
        if self._current is not None:
            said = [(m.role, text_for_model(m)) for m in self._current.messages]
            messages += [ChatMessage(role, text) for role, text in said if text.strip()]
        return tuple(messages)

    def add_question(self, text: str, attachments: tuple[Attachment, ...] = ()) -> None:
        """Show a question and write it down, before anything else happens to it."""
        message = Message(role="user", text=text, created_at=now(), attachments=attachments)
        self._window.transcript.add_question(shown_of(message).text)
        self._extend(message)
        self._unsaved_draft = ""
        with Told(self._window.notice, "Your message is not saved yet."):
            self._write_pending()
            if self._current is not None:
                self._store.save_draft(self._current.id, "")
                self._store.save_draft(None, "")
        self.refresh()

    def begin_answer(self, beside_id: int | None = None) -> GrowingAnswer:
        """Show an empty answer, and make its row: behind all that was said, or as an alternative to a message."""
        growing = self._growing = GrowingAnswer(None)
        growing.beside_id = beside_id
        growing.attach(self._window.transcript.begin_answer())
        if not self._pending():  # else it was refused a moment ago
            with Told(self._window.notice, "The answer is not saved yet."):
                self._make_row(growing)
        return growing

    def _make_row(self, growing: GrowingAnswer) -> None:
        """Make the row of an answer, unless it has one, behind all that was said before it.

        Raises:
            StoreError: the database refuses.
        """
        if growing.view is not None and growing.message is None:  # it belongs to the open conversation
            self._write_pending()
            growing.conversation_id = self._current.id if self._current is not None else None
        if growing.message is None and growing.conversation_id is not None:
            if growing.beside_id is None:
                growing.message = self._store.append(growing.conversation_id, "assistant", "", "streaming")
            else:
                message = Message(role="assistant", text="", state="streaming", created_at=now())
                growing.message = self._store.branches.add_beside(growing.beside_id, message)

    def save_growing(self, growing: GrowingAnswer) -> None:
        """Write down what an answer has said so far, if that has changed."""
        if growing.is_saved:
            return
        with Told(self._window.notice, "The answer is not saved yet."):
            self._make_row(growing)
            if growing.message is not None:
                self._store.update(growing.message.id, growing.text, "streaming")
                growing.is_saved = True

    def end_answer(self, growing: GrowingAnswer, state: MessageState, stats: AnswerStats | None) -> None:
        """Show and write down an answer in its final form; one without a word leaves no trace in the database."""
        if growing.view is not None:
            self._window.transcript.end_answer(growing.view)
        self._growing = None
        self._window.transcript.keep_tokens(growing.message.id if growing.message else 0, growing.trace)
        row = growing.message or Message(role="assistant", text="", created_at=now())
        thought, said = split_reasoning(growing.text)
        thought_s = growing.view.thought_s if growing.view is not None else None
        message = structs.replace(
            row, text=said, state=state, stats=stats, reasoning=thought, reasoning_s=thought_s if thought else None
        )
        if growing.conversation_id is not None and (message.id or growing.view is None):
            self._unwritten.append((growing.conversation_id, message))
        if growing.view is not None and growing.text.strip():
            self._extend(message)
        with Told(self._window.notice, "The answer is not saved yet."):
            self._write_pending()
            if growing.beside_id is not None and growing.view is not None:
                self.read_alternatives() if growing.text.strip() else self.reload()
        self.refresh()

    def _write_ended(self, conversation_id: int, message: Message) -> None:
        """Write down an answer in its final form, in its row if it has one."""
        if not (message.text + message.reasoning).strip():
            self._store.remove_message(message.id)
        elif message.id:
            self._store.save(message)
        else:
            self._store.add(conversation_id, message)

    def _extend(self, message: Message) -> None:
        """Add a message to the open conversation as it is held in memory."""
        at = message.created_at
        current = self._current or Conversation(title=UNTITLED, created_at=at, updated_at=at)
        self._current = structs.replace(current, updated_at=at, messages=(*current.messages, message))

    def _pending(self) -> list[Message]:
        """The messages on the screen that the database has refused so far."""
        return [m for m in self._current.messages if not m.id] if self._current is not None else []

    def _write_pending(self) -> None:
        """Write down what is not yet: usually the message just sent; after a full disk, all since then."""
        while self._unwritten:
            self._write_ended(*self._unwritten[0])
            del self._unwritten[0]
        if self._current is None:
            return
        if not self._current.id:
            made = self._store.create(title_from(self._current.messages[0].text))
            self._current = structs.replace(made, messages=self._current.messages)
            self._window.show_title(made.title)
        for n, message in enumerate(self._current.messages):
            if not message.id:
                row = self._store.add(self._current.id, message)
                messages = (*self._current.messages[:n], row, *self._current.messages[n + 1 :])
                self._current = structs.replace(self._current, messages=messages)

    def close(self) -> None:
        """Keep the draft and close the database."""
        self._window.composer.end_edit()
        self._window.composer.unqueue()
        self._window.composer.flush_draft()
        with Told(self._window.notice, "This conversation is not saved."):
            self._write_pending()
        if self._current is None:
            with Told(self._window.notice, "What you were typing was not saved."):
                self._keep_new_draft(self._window.composer.text)
        self._store.close()

    def tell(self, fault: StoreError) -> None:
        """Say what is wrong with the database."""
        self._window.notice.say("error", fault.message, fault.hint)


def finish_stored(view: AnswerView, message: Message) -> None:
    """Put the words around an answer that comes from the database."""
    view.show_status(speed_words(message.stats) if message.stats else "")
    view.show_mark(interrupted_words(message))
