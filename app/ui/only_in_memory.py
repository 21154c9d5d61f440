"""What would be lost at the end of a program that has its conversations in memory: a disk that refused at the start."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from app.chat.archive import ConversationRecord, record_of

if TYPE_CHECKING:
    from app.chat.conversation import ConversationHead
    from app.chat.store import ChatStore


class State(NamedTuple):
    """What a conversation is like; ``what`` is all of it that a file of conversations keeps, but its messages."""

    n_messages: int
    updated_at: datetime
    is_begun: bool
    what: tuple[object, ...]


class OnlyInMemory:
    """Knows what was in the store at the start, and so what was written since."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._before: dict[int, State] = {} if store.is_on_disk else self._states()

    def _states(self) -> dict[int, State]:
        return {head.id: self._state(head) for head in self._store.heads(limit=-1)}

    def _state(self, head: ConversationHead) -> State:
        store = self._store
        unsent = (store.draft(head.id).strip(), store.drafts.files(head.id), store.drafts.edit(head.id))
        settings = store.settings(head.id)
        is_begun = any((head.n_messages, *unsent))
        what = (head.title, head.is_pinned, head.folder_id, settings, *unsent)
        return State(head.n_messages, head.updated_at, is_begun, what)

    def changed(self) -> dict[int, int]:
        """Return the conversations that were written in since the start, each with how many messages it gained.

        Raises:
            StoreError: they cannot be read.
        """
        if self._store.is_on_disk:
            return {}
        found = {}
        for number, state in self._states().items():
            before = self._before.get(number)
            if state != before and (before is not None or state.is_begun):
                found[number] = max(0, state.n_messages - (before.n_messages if before is not None else 0))
        return found

    def records(self) -> tuple[ConversationRecord, ...]:
        """Return these conversations as a whole; a change of a message that is under way joins the draft.

        Raises:
            StoreError: they cannot be read.
        """
        return tuple(self._record(number) for number in self.changed())

    def _record(self, number: int) -> ConversationRecord:
        record, edit = record_of(self._store, number), self._store.drafts.edit(number)
        if edit is None:
            return record
        return structs.replace(record, draft="\n\n".join(part for part in (record.draft, edit.text) if part))
