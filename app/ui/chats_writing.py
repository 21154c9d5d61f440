"""The open conversation and the answer on its way, from the screen into the database.

A database that refuses is told in a notice; what was said stays in memory, and the next save tries again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import structs

from app.chat.chat_settings import ConversationSettings
from app.chat.conversation import UNTITLED, AnswerStats, Conversation, Message, MessageState, can_go_on, now
from app.chat.going_on import joined, parts_of, with_marks
from app.chat.store import ChatStore
from app.chat.titles import title_of
from app.errors import StoreError
from app.ui.chats_tokens import read_trace, stored_tokens
from app.ui.growing import GrowingAnswer
from app.ui.told import Told
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow

NOT_SAVED = tr("The answer is not saved yet.")


class Writing:
    """What is on the screen, and how much of it is in the database.

    Attributes:
        current: the open conversation; ``None`` until its first message is sent.
        growing: the answer that is on its way, in this conversation or another.
        new_settings: what a conversation that has not begun sets for itself.
    """

    def __init__(self, window: MainWindow, store: ChatStore) -> None:
        self._window, self._store = window, store
        self.current: Conversation | None = None
        self.growing: GrowingAnswer | None = None
        self.new_settings = ConversationSettings()
        self._unwritten: list[tuple[int, Message]] = []  # ended answers that the database refused, with their place
        self._titles: dict[int, str] = {}  # and what else it refused, by conversation
        self._settings: dict[int, ConversationSettings] = {}

    @property
    def is_behind(self) -> bool:
        """Whether something has been refused by the database so far."""
        return self.is_open_behind or bool(self._titles)

    @property
    def is_open_behind(self) -> bool:
        """Whether that is so with what the open conversation needs, as it stands on the screen."""
        return bool(self._pending() or self._unwritten or self._settings)

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation another title; one that is refused is tried again with everything else.

        Raises:
            StoreError: the database refuses.
        """
        self._titles[conversation_id] = title
        self._store.rename(conversation_id, title)
        del self._titles[conversation_id]

    def change_settings(self, settings: ConversationSettings) -> None:
        """Let the open conversation set that for itself; what is refused is tried again with everything else.

        Raises:
            StoreError: the database refuses.
        """
        if self.current is None:
            self.new_settings = settings
            return
        self.current = structs.replace(self.current, settings=settings)
        if conversation_id := self.current.id:
            self._settings[conversation_id] = settings
            self._store.save_settings(conversation_id, settings)
            del self._settings[conversation_id]

    def _pending(self) -> list[Message]:
        return [m for m in self.current.messages if not m.id] if self.current is not None else []

    @property
    def n_unsaved(self) -> int:
        """How many messages only the memory holds, in whole or in part."""
        return len(self._pending()) + len(self._unwritten)

    def unsaved(self) -> tuple[Conversation, ...]:
        """Return the conversations that have such messages, as they are in memory; the open one in any case."""
        open_id = self.current.id if self.current is not None else None
        others = dict.fromkeys(n for n, _ in self._unwritten) | dict.fromkeys(self._titles)
        found = [self.current] if self.current is not None else []
        found += [self._whole(n) for n in others if n != open_id]
        titled = (structs.replace(one, title=self._titles.get(one.id, one.title)) for one in found)
        return tuple(structs.replace(one, is_named=one.is_named or one.id in self._titles) for one in titled)

    def _whole(self, conversation_id: int) -> Conversation:
        """Read a conversation and put the ends of its answers into it; what cannot be read is left out."""
        try:
            there = self._store.load(conversation_id)
        except StoreError:
            there = Conversation(id=conversation_id, title=UNTITLED, created_at=now(), updated_at=now())
        for number, message in self._unwritten:
            if number == conversation_id:
                others = tuple(m for m in there.messages if not m.id or m.id != message.id)
                there = structs.replace(there, messages=(*others, message))
        return there

    def without_growing(self, conversation: Conversation) -> Conversation:
        """Leave out the row of the answer that is on its way: it joins when it is complete."""
        if self.growing is None or self.growing.message is None:
            return conversation
        row = self.growing.message.id
        return structs.replace(conversation, messages=tuple(m for m in conversation.messages if m.id != row))

    def extend(self, message: Message) -> None:
        """Add a message to the open conversation as it is held in memory."""
        at = message.created_at
        current = self.current or Conversation(title=UNTITLED, created_at=at, updated_at=at, settings=self.new_settings)
        self.current = structs.replace(current, updated_at=at, messages=(*current.messages, message))

    def write_pending(self, also: Callable[[], None] = lambda: None) -> None:
        """Write down what is not yet: usually the message just sent; after a full disk, all since then.

        Args:
            also: what is to be written with it, if there is anything: that a draft has been sent.

        Raises:
            StoreError: the database refuses; nothing of it has been written.
        """
        if not self.is_behind:  # a transaction would wait for the database, if only to do nothing
            return
        before = self.current, list(self._unwritten), dict(self._titles), dict(self._settings)
        try:
            with self._store.transaction():
                self._write_all()
                also()
        except StoreError:
            self.current, self._unwritten, self._titles, self._settings = before
            raise

    def _write_all(self) -> None:
        while self._unwritten:
            self._write_ended(*self._unwritten[0])
            del self._unwritten[0]
        while self._titles:
            self._store.rename(*self._titles.popitem())
        while self._settings:
            self._store.save_settings(*self._settings.popitem())
        if self.current is None:
            return
        if not self.current.id:
            made = self._store.create(title_of(self.current.messages[:1]), settings=self.current.settings)
            self.current = structs.replace(made, messages=self.current.messages)
            self._window.show_title(made.title)
        for n, message in enumerate(self.current.messages):
            if not message.id:
                row = self._store.add(self.current.id, message)
                messages = (*self.current.messages[:n], row, *self.current.messages[n + 1 :])
                self.current = structs.replace(self.current, messages=messages)

    def question_aside(self) -> Callable[[ChatStore], tuple[Conversation, Message]]:
        """Return what writes down the newest message where another connection does so: the work, for a thread."""
        current = self.current
        if current is None:
            raise RuntimeError("nothing was said")

        def write(store: ChatStore) -> tuple[Conversation, Message]:
            made = current if current.id else store.create(title_of(current.messages[:1]), settings=current.settings)
            return made, store.add(made.id, current.messages[-1])

        return write

    def take_written(self, made: Conversation, asked: Message, row: Message) -> bool:
        """Take in that the newest message has been written down so; false if its conversation is not open any more."""
        current = self.current
        if current is None or not current.messages or current.messages[-1] is not asked:
            return False
        if not current.id:
            self.current = current = structs.replace(made, settings=current.settings, messages=current.messages)
            self._window.show_title(made.title)
            if current.settings != made.settings:
                self._settings[made.id] = current.settings
        self.current = structs.replace(current, messages=(*current.messages[:-1], row))
        return True

    # --- answers --------------------------------------------------------------------------------------

    def begin_answer(self, beside_id: int | None = None) -> GrowingAnswer:
        """Show an empty answer, and make its row: behind all that was said, or as an alternative to a message."""
        growing = self.growing = GrowingAnswer(None)
        growing.beside_id = beside_id
        growing.attach(self._window.transcript.begin_answer())
        if not self._pending():  # else it was refused a moment ago
            with Told(self._window.notice, NOT_SAVED):
                self.make_row(growing)
        return growing

    def prepare_going_on(self, before: Message, resumed: Message) -> GrowingAnswer:
        """Make an answer ready to grow on in a row that begins as it does.

        Args:
            before: the answer as it was.
            resumed: its row; another one where something follows the answer.

        Raises:
            StoreError: the database refuses.
        """
        growing = GrowingAnswer(self.current.id if self.current is not None else None)
        growing.before, growing.message = before, resumed
        growing.beside_id = before.id if resumed.id != before.id else None
        growing.begin_with(with_marks(before).removesuffix("\ufffd"))  # half a character is written anew
        known = read_trace(self._store, before.id)
        growing.tokens_before = [t for t in known.tokens if t.start < len(growing.text)] if known is not None else []
        beginning = structs.replace(resumed, text=growing.text, reasoning="", state="streaming")
        self._store.save(beginning)
        return growing

    def begin_going_on(self, growing: GrowingAnswer) -> None:
        """Show an answer that grows on."""
        self.growing = growing
        growing.attach(self._window.transcript.begin_answer())

    def make_row(self, growing: GrowingAnswer) -> None:
        """Make the row of an answer, unless it has one, behind all that was said before it.

        Raises:
            StoreError: the database refuses.
        """
        if growing.view is not None and growing.message is None:  # it belongs to the open conversation
            self.write_pending()
            growing.conversation_id = self.current.id if self.current is not None else None
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
        with Told(self._window.notice, NOT_SAVED):
            self.make_row(growing)
            if growing.message is not None:
                self._store.update(growing.message.id, growing.text, "streaming")
                growing.is_saved = True

    def end_answer(self, growing: GrowingAnswer, state: MessageState, stats: AnswerStats | None) -> None:
        """Show and write down an answer in its final form; one without a word leaves no trace in the database."""
        if growing.view is not None:
            self._window.transcript.end_answer(growing.view)
        message = self._ended(growing, state, stats)
        if growing.view is not None:
            growing.view.offer_going_on(is_offered=can_go_on(message))
            if message.reasoning:
                growing.view.show_thought_time(message.reasoning_s)
        self.growing = None
        self._window.transcript.keep_tokens(growing.message.id if growing.message else 0, growing.trace)
        if growing.conversation_id is not None and (message.id or growing.view is None):
            self._unwritten.append((growing.conversation_id, message))
        if growing.view is not None and growing.text.strip():
            self.extend(message)
        with Told(self._window.notice, NOT_SAVED):
            self.write_pending()
            self._save_tokens(growing)

    def _ended(self, growing: GrowingAnswer, state: MessageState, stats: AnswerStats | None) -> Message:
        row = growing.message or Message(role="assistant", text="", created_at=now())
        parts = parts_of(growing.text)
        growing.end()
        thought_s = growing.thought_s
        if growing.before is not None:
            stats = joined(growing.before.stats, stats)
            known_s = [s for s in (growing.before.reasoning_s, thought_s) if s is not None]
            thought_s = sum(known_s) if known_s else None
        if parts.is_unusual:
            stats = structs.replace(stats or AnswerStats(), thought_marks=(parts.opening, parts.closing))
        elif stats is not None:
            stats = structs.replace(stats, thought_marks=None)
        return structs.replace(
            row,
            text=parts.said,
            state=state,
            stats=stats,
            reasoning=parts.thought,
            reasoning_s=thought_s if parts.thought else None,
            model=growing.model or row.model,
        )

    def _save_tokens(self, growing: GrowingAnswer) -> None:
        """Keep which tokens an answer came with, if that is known."""
        tokens = stored_tokens(growing.trace) if growing.trace is not None else []
        if not growing.text.strip() or not (tokens or growing.tokens_before):
            return
        row = growing.message.id if growing.message is not None else 0
        if not row and growing.view is not None and self.current is not None and self.current.messages:
            row = self.current.messages[-1].id  # it could not be made before
        if row:
            self._store.save_tokens(row, tokens)  # none: those of its beginning alone would mislead

    def _write_ended(self, conversation_id: int, message: Message) -> None:
        """Write down an answer in its final form, in its row if it has one."""
        if not (message.text + message.reasoning).strip():
            self._store.remove_message(message.id)
        elif message.id:
            self._store.save(message)
        else:
            self._store.add(conversation_id, message)
