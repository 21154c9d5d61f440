"""What would be lost at the end of a program that has its conversations in memory: a disk that refused at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from app.chat.archive import ConversationRecord, record_of

if TYPE_CHECKING:
    from datetime import datetime

    from app.chat.conversation import Attachment
    from app.chat.drafts import OpenEdit
    from app.chat.store import ChatStore

State = tuple[int, "datetime", str, "tuple[Attachment, ...]", "OpenEdit | None"]


class OnlyInMemory:
    """Knows what was in the store at the start, and so what was written since."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        self._before: dict[int, State] = {} if store.is_on_disk else self._states()

    def _states(self) -> dict[int, State]:
        store = self._store
        return {
            head.id: (
                head.n_messages,
                head.updated_at,
                store.draft(head.id),
                store.drafts.files(head.id),
                store.drafts.edit(head.id),
            )
            for head in store.heads(limit=-1)
        }

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
            is_worth_it = any((state[0], state[2].strip(), state[3], state[4]))
            if state != before and (before is not None or is_worth_it):
                found[number] = max(0, state[0] - (before[0] if before is not None else 0))
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
