"""Rows of the chat database as values, and values as rows."""

from __future__ import annotations

import sqlite3
from typing import TypeVar

import msgspec

from app.chat.chat_settings import ConversationSettings
from app.chat.conversation import AnswerStats, Attachment, Message
from app.chat.database import time_in, time_out

T = TypeVar("T")

MESSAGE_COLUMNS = (
    "role",
    "text",
    "state",
    "created_at",
    "stats",
    "reasoning",
    "reasoning_s",
    "model",
    "attachments",
)
"""What a message is besides its place in the tree."""


def message_of(row: sqlite3.Row) -> Message:
    """Make a message of its row."""
    return Message(
        id=row["id"],
        parent_id=row["parent_id"],
        role=row["role"],
        text=row["text"],
        state=row["state"],
        created_at=time_in(row["created_at"]),
        stats=json_in(row["stats"], AnswerStats),
        reasoning=row["reasoning"],
        reasoning_s=row["reasoning_s"],
        model=row["model"],
        attachments=json_in(row["attachments"], tuple[Attachment, ...]) or (),
    )


def message_values(message: Message) -> tuple[object, ...]:
    """Return the values of :data:`MESSAGE_COLUMNS`."""
    return (
        message.role,
        storable(message.text),
        message.state,
        time_out(message.created_at),
        json_out(message.stats),
        storable(message.reasoning),
        message.reasoning_s,
        storable(message.model),
        json_out(message.attachments or None),
    )


def settings_in(text: str | None) -> ConversationSettings:
    """Read the settings of a conversation; where a newer version wrote a field otherwise, the other fields."""
    whole = json_in(text, ConversationSettings)
    if whole is not None:
        return whole
    kept = ConversationSettings()
    for name, value in (json_in(text, dict[str, msgspec.Raw]) or {}).items():
        one = json_in(msgspec.json.encode({name: value}).decode(), ConversationSettings)
        if one is not None and name in one.__struct_fields__:
            kept = msgspec.structs.replace(kept, **{name: getattr(one, name)})
    return kept


def json_out(value: object) -> str | None:
    """Write a value as JSON; nothing stays nothing."""
    if value is None:
        return None
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(_all_storable(msgspec.to_builtins(value))).decode()


def storable(text: str) -> str:
    """Return a text that UTF-8 can hold: halves of a character, as a broken paste may have them, become ``?``."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _all_storable(value: object) -> object:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list | tuple):
        return [_all_storable(item) for item in value]
    if isinstance(value, dict):
        return {_all_storable(key): _all_storable(item) for key, item in value.items()}
    return value


def json_in(text: str | None, kind: type[T]) -> T | None:
    """Read a value; one that a newer version wrote in another shape is left out, never what it belongs to."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError):
        return None
