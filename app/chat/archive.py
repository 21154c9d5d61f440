"""``slipstream.chats/1``: conversations as one JSON document that loses nothing, branches included.

Ids in a document count from 1 within each conversation, so that what is exported, imported and exported again is the
same. ``resources/chats.schema.json`` describes it for others; the schema only ever gains fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from app.chat.branches import choose, insert_message, read_tree
from app.chat.chat_settings import ConversationSettings, Preset
from app.chat.conversation import UNTITLED, AnswerStats, Attachment, Conversation, Message, MessageState
from app.chat.database import now, time_out
from app.chat.progress import Progress, no_progress
from app.chat.shelving import folder_name
from app.chat.store import ChatStore
from app.chat.token_marks import StoredToken
from app.errors import StoreError
from app.protocol import Role

SCHEMA: Literal["slipstream.chats/1"] = "slipstream.chats/1"


class MessageRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message; ``parent`` and ``chosen`` (the child read last) are numbers of messages in the same conversation."""

    id: int
    parent: int | None = None
    chosen: int | None = None
    role: Role
    text: str
    state: MessageState = "complete"
    created_at: datetime
    stats: AnswerStats | None = None
    reasoning: str = ""
    reasoning_s: float | None = None
    model: str = ""
    attachments: tuple[Attachment, ...] = ()
    tokens: tuple[StoredToken, ...] = ()


class ConversationRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A conversation with the messages of all its branches; ``leaf`` is the end of the path that is read."""

    title: str = UNTITLED
    is_named: bool = False
    is_pinned: bool = False
    created_at: datetime
    updated_at: datetime
    folder: str = ""
    draft: str = ""
    draft_files: tuple[Attachment, ...] = ()
    settings: ConversationSettings = ConversationSettings()
    leaf: int | None = None
    messages: tuple[MessageRecord, ...] = ()


class Shelf(msgspec.Struct, frozen=True, kw_only=True):
    """What a document may hold beside conversations: folders by name, those without any, too, and presets."""

    folders: tuple[str, ...] = ()
    presets: tuple[Preset, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.folders or self.presets)


class Archive(msgspec.Struct, frozen=True, kw_only=True):
    """The document."""

    schema: Literal["slipstream.chats/1"] = SCHEMA
    exported_at: datetime
    conversations: tuple[ConversationRecord, ...]
    folders: tuple[str, ...] = ()
    presets: tuple[Preset, ...] = ()


class Added(NamedTuple):
    """What came in of it and was not there, by its number here."""

    conversation_ids: tuple[int, ...] = ()
    folder_ids: tuple[int, ...] = ()
    preset_ids: tuple[int, ...] = ()

    def joined(self, other: Added) -> Added:
        """Return what both are."""
        return Added(*(ours + theirs for ours, theirs in zip(self, other, strict=True)))


def archive_json(records: Iterable[ConversationRecord], shelf: Shelf | None = None) -> bytes:
    """Return the document, indented."""
    there = shelf or Shelf()
    presets = tuple(msgspec.structs.replace(preset, id=0) for preset in there.presets)
    archive = Archive(exported_at=now(), conversations=tuple(records), folders=there.folders, presets=presets)
    return msgspec.json.format(msgspec.json.encode(archive), indent=2) + b"\n"


def record_of(store: ChatStore, conversation_id: int) -> ConversationRecord:
    """Read a conversation with everything that belongs to it.

    Raises:
        StoreError: it does not exist.
    """
    conversation = store.load(conversation_id)
    tree = store.branches.tree(conversation_id)
    numbers: dict[int | None, int] = {message: n for n, message in enumerate(tree.parents, 1)}
    folders = {folder.id: folder.name for folder in store.folders.all()}
    return ConversationRecord(
        title=conversation.title,
        is_named=conversation.is_named,
        is_pinned=conversation.is_pinned,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        folder=folders.get(conversation.folder_id or 0, ""),
        draft=store.draft(conversation_id),
        draft_files=store.drafts.files(conversation_id),
        settings=conversation.settings,
        leaf=numbers[conversation.messages[-1].id] if conversation.messages else None,
        messages=tuple(
            msgspec.structs.replace(
                _record_of(message, numbers[message.id], numbers.get(message.parent_id)),
                chosen=numbers.get(tree.chosen.get(message.id)),
                tokens=store.tokens(message.id),
            )
            for message in store.all_messages(conversation_id)
        ),
    )


def record_in_memory(
    conversation: Conversation, draft: str = "", draft_files: tuple[Attachment, ...] = ()
) -> ConversationRecord:
    """Return the open path of a conversation as it is held in memory, where the store may hold less of it."""
    messages = conversation.messages
    return ConversationRecord(
        title=conversation.title,
        is_named=conversation.is_named,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        draft=draft,
        draft_files=draft_files,
        settings=conversation.settings,
        leaf=len(messages) or None,
        messages=tuple(_record_of(message, n, n - 1 or None) for n, message in enumerate(messages, 1)),
    )


def _record_of(message: Message, n: int, parent: int | None) -> MessageRecord:
    return MessageRecord(
        id=n,
        parent=parent,
        role=message.role,
        text=message.text,
        state=message.state if message.state != "streaming" else "interrupted",
        created_at=message.created_at,
        stats=message.stats,
        reasoning=message.reasoning,
        reasoning_s=message.reasoning_s,
        model=message.model,
        attachments=message.attachments,
    )


def add_records(store: ChatStore, records: Sequence[ConversationRecord]) -> Added:
    """Add conversations beside those that are there, all or none.

    A folder of the same name takes them, or is made. Parents that do not exist, or come later, are the message before.
    """
    with store.transaction():
        return show_records(store, [(add_aside(store, record), record.folder) for record in records])


def add_aside(store: ChatStore, record: ConversationRecord) -> int:
    """Add a conversation as if it had been deleted: nobody sees it, or writes into it, before :func:`show_records`."""
    with store.transaction():
        made = _add_record(store, record)
        store.delete(made)
    return made


def show_records(store: ChatStore, aside: Sequence[tuple[int, str]]) -> Added:
    """Show conversations that were added aside, each in its folder, all or none.

    Args:
        store: where.
        aside: the number of each, and the name of its folder, "" for none.

    Raises:
        StoreError: somebody has erased one meanwhile, or brought it back.
    """
    with store.transaction() as db:
        deleted = {row["id"] for row in db.execute("SELECT id FROM conversation WHERE deleted_at IS NOT NULL")}
        if not deleted.issuperset(conversation_id for conversation_id, _ in aside):
            raise StoreError(
                "A conversation that came in was erased or brought back before all were there.",
                "Import again, and leave the deleted conversations as they are meanwhile.",
            )
        folders = {folder.name: folder.id for folder in store.folders.all()}
        made = []
        for conversation_id, folder in aside:
            name = folder_name(folder)
            if name and name not in folders:
                folders[name] = store.folders.create(name).id
                made.append(folders[name])
            store.move([conversation_id], folders.get(name))
            store.undelete(conversation_id)
        return Added(tuple(conversation_id for conversation_id, _ in aside), tuple(made))


def add_shelf(store: ChatStore, shelf: Shelf, note: Progress = no_progress) -> Added:
    """Make the folders that are not there, and add the presets; what has the same name and is another is kept.

    Args:
        store: where.
        shelf: what.
        note: is told how far that is; what it raises leaves nothing of it.
    """
    made = []
    with store.transaction():
        there = {folder.name for folder in store.folders.all()}
        for n_done, name in enumerate(dict.fromkeys(map(folder_name, shelf.folders))):
            note(n_done, len(shelf.folders))
            if name and name not in there:
                made.append(store.folders.create(name).id)
        presets = store.presets.add(shelf.presets, note)
    return Added((), tuple(made), tuple(preset.id for preset in presets))


def shelf_of(store: ChatStore) -> Shelf:
    """Return what a store holds beside its conversations."""
    return Shelf(folders=tuple(folder.name for folder in store.folders.all()), presets=store.presets.all())


def _add_record(store: ChatStore, record: ConversationRecord) -> int:
    made = store.create(record.title or UNTITLED, settings=record.settings)
    ids: dict[int | None, int] = {}
    with store.transaction() as db:
        before: int | None = None
        for message in record.messages:
            parent = before if message.parent is not None and message.parent not in ids else ids.get(message.parent)
            before = ids[message.id] = insert_message(db, made.id, parent, _message_of(message)).id
            if message.tokens:
                store.save_tokens(before, message.tokens)
        chosen = [(ids[m.chosen], ids[m.id]) for m in record.messages if m.chosen in ids]
        choose(db, [(child, parent) for child, parent in chosen if child > parent])
        tree = read_tree(db, made.id)
        leaf = ids.get(record.leaf, before)
        db.execute(
            "UPDATE conversation SET is_named = ?, pinned_at = ?, created_at = ?, updated_at = ?, draft = ?,"
            " leaf_id = ? WHERE id = ?",
            (
                record.is_named,
                time_out(record.updated_at) if record.is_pinned else None,
                time_out(record.created_at),
                time_out(record.updated_at),
                record.draft,
                tree.leaf_below(leaf) if leaf is not None else None,
                made.id,
            ),
        )
    if record.draft_files:
        store.drafts.save_files(made.id, record.draft_files)
    return made.id


def _message_of(record: MessageRecord) -> Message:
    return Message(
        role=record.role,
        text=record.text,
        state=record.state if record.state != "streaming" else "interrupted",
        created_at=record.created_at,
        stats=record.stats,
        reasoning=record.reasoning,
        reasoning_s=record.reasoning_s,
        model=record.model,
        attachments=record.attachments,
    )
