"""What a conversation is: plain frozen values, and their two export forms.

A conversation is a tree of messages (``parent_id``); what a person reads is one path from the root to a
leaf. Today every path is the only one; branches need no new shape.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import msgspec

from app.protocol import Engagement, Role, StopReason

MessageState = Literal["complete", "streaming", "interrupted"]
"""``interrupted``: the text ends where the engine, the window or the power went away."""

UNTITLED = "New conversation"
TITLE_LENGTH = 60
EXPORT_SCHEMA = "slipstream.conversation/1"


class AnswerStats(msgspec.Struct, frozen=True, kw_only=True):
    """The facts shown under an answer; definitions as in the metrics (``None``: not measured)."""

    n_tokens: int = 0
    n_prompt_tokens: int = 0
    n_cached_tokens: int = 0
    decode_tps: float | None = None
    ttft_s: float | None = None
    answer_s: float | None = None
    n_proposed: int = 0
    n_accepted: int = 0
    engagement: Engagement | None = None
    stop_reason: StopReason | None = None
    run_id: str = ""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message; ``id`` is 0 until the store has given it one."""

    id: int = 0
    parent_id: int | None = None
    role: Role
    text: str
    state: MessageState = "complete"
    created_at: datetime
    stats: AnswerStats | None = None


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation with the messages of its current path, oldest first."""

    id: int = 0
    title: str = UNTITLED
    created_at: datetime
    updated_at: datetime
    messages: tuple[Message, ...] = ()


class ConversationHead(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the conversation list. ``snippet`` is where a search matched, "" otherwise."""

    id: int
    title: str
    updated_at: datetime
    n_messages: int
    snippet: str = ""


def now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


def title_from(text: str) -> str:
    """Make a title of a first message: its first line with words, cut at a word."""
    line = next((line.strip(" #>*`-\t") for line in text.splitlines() if line.strip(" #>*`-\t")), "")
    line = " ".join(line.split())
    if len(line) <= TITLE_LENGTH:
        return line or UNTITLED
    cut = line[:TITLE_LENGTH]
    head, space, _ = cut.rpartition(" ")
    return (head if space and len(head) > TITLE_LENGTH // 2 else cut).rstrip(" ,;:.") + "…"


class _Export(msgspec.Struct, frozen=True, kw_only=True):
    schema: str
    conversation: Conversation


def to_json(conversation: Conversation) -> bytes:
    """Return the whole conversation as JSON (schema ``slipstream.conversation/1``), indented."""
    export = _Export(schema=EXPORT_SCHEMA, conversation=conversation)
    return msgspec.json.format(msgspec.json.encode(export), indent=2) + b"\n"


def to_markdown(conversation: Conversation) -> str:
    """Return the conversation as Markdown for reading: a heading a message, the text as it was written."""
    names = {"system": "System", "user": "You", "assistant": "Assistant"}
    parts = [f"# {conversation.title}", f"*{conversation.created_at:%Y-%m-%d %H:%M} UTC*"]
    for message in conversation.messages:
        parts += [f"## {names[message.role]}", message.text.rstrip()]
        if message.state != "complete":
            parts.append("*(interrupted)*")
    return "\n\n".join(part for part in parts if part) + "\n"
