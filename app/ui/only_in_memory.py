"""What would be lost at the end of the program: what the disk refuses, or everything where it did so at the start."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from app.chat.archive import ConversationRecord, Shelf, record_in_memory, record_of
from app.chat.conversation import UNTITLED, Conversation, now

if TYPE_CHECKING:
    from app.chat.conversation import ConversationHead
    from app.chat.store import ChatStore
    from app.ui.chats_writing import Writing
    from app.ui.composer import Composer
    from app.ui.unsent import Unsent


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
        self._shelf_before = Shelf() if store.is_on_disk else self._shelf()

    def _states(self) -> dict[int, State]:
        folders = {folder.id: folder.name for folder in self._store.folders.all()}
        return {head.id: self._state(head, folders) for head in self._store.heads(limit=-1)}

    def _shelf(self) -> Shelf:
        folders = tuple(folder.name for folder in self._store.folders.all())
        return Shelf(folders=folders, presets=self._store.presets.all())

    def shelf(self) -> Shelf:
        """Return the folders and presets that were made or changed since the start.

        Raises:
            StoreError: they cannot be read.
        """
        if self._store.is_on_disk:
            return Shelf()
        there, before = self._shelf(), self._shelf_before
        folders = tuple(name for name in there.folders if name not in before.folders)
        return Shelf(folders=folders, presets=tuple(one for one in there.presets if one not in before.presets))

    def _state(self, head: ConversationHead, folders: Mapping[int, str]) -> State:
        store = self._store
        unsent = (store.draft(head.id).strip(), store.drafts.files(head.id), store.drafts.edit(head.id))
        settings = store.settings(head.id)
        is_begun = any((head.n_messages, *unsent))
        what = (head.title, head.is_pinned, folders.get(head.folder_id or 0), settings, *unsent)
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


def unsaved_records(composer: Composer, unsent: Unsent, writing: Writing) -> tuple[ConversationRecord, ...]:
    """Return what the database refuses, with what was said before it."""
    draft, files = composer.everything, composer.waiting_files
    current, records = writing.current, [record_in_memory(one) for one in writing.unsaved()]
    if current is None and (draft or files):
        current = Conversation(title=UNTITLED, created_at=now(), updated_at=now())
        records.insert(0, record_in_memory(current))
    if records and current is not None:
        records[0] = structs.replace(records[0], draft=draft, draft_files=files)
    if (new := unsent.new_in_memory).text.strip() or new.files:
        begun = record_in_memory(Conversation(title=UNTITLED, created_at=now(), updated_at=now()))
        records.append(structs.replace(begun, draft=new.text, draft_files=new.files))
    return tuple(records)
