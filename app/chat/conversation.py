"""What a conversation is: plain frozen values.

A conversation is a tree of messages (``parent_id``); what a person reads is one path from the root to a
leaf. Messages with the same parent are alternatives of each other; nothing is ever written over.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal

import msgspec

from app.chat.chat_settings import ConversationSettings
from app.chat.reported import RemoteFigures
from app.protocol import Engagement, Role, StopReason, is_lossy_name

MessageState = Literal["complete", "streaming", "interrupted"]
"""``interrupted``: the text ends where the engine, the window or the power went away."""

UNTITLED = "New conversation"
TITLE_LENGTH = 60


class AnswerStats(msgspec.Struct, frozen=True, kw_only=True):
    """The facts shown under an answer; definitions as in the metrics (``None``: not measured).

    ``thought_marks`` are what the model wrote before and behind its thoughts, if it is not the usual. ``seed`` is that
    of the sampling. An answer of a server has only ``server``, where that is, and what it ``reported``: nothing of it
    was measured. ``lossy_before``: it went on from a piece that was lossy.
    """

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
    draft_model: str = ""
    thought_marks: tuple[str, str] | None = None
    seed: int | None = None
    server: str = ""
    reported: RemoteFigures | None = None
    lossy_before: bool = False

    @property
    def is_lossy(self) -> bool:
        """Whether lenient acceptance may have changed its words, in whichever piece."""
        drafter = self.engagement.drafter if self.engagement is not None else ""
        reported = self.reported.drafter if self.reported is not None else ""
        return self.lossy_before or is_lossy_name(drafter) or is_lossy_name(reported)


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A text file that was pasted or dropped into a message, as it was at that time."""

    name: str
    text: str

    @property
    def n_bytes(self) -> int:
        """Its size as UTF-8."""
        return len(self.text.encode("utf-8", "surrogatepass"))


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message; ``id`` is 0 until the store has given it one.

    ``reasoning`` is what the model thought before it answered, and ``reasoning_s`` how long; ``model`` is who answered.
    """

    id: int = 0
    parent_id: int | None = None
    role: Role
    text: str
    state: MessageState = "complete"
    created_at: datetime
    stats: AnswerStats | None = None
    reasoning: str = ""
    reasoning_s: float | None = None
    model: str = ""
    attachments: tuple[Attachment, ...] = ()


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation with the messages of its current path, oldest first.

    ``alternatives`` holds, for each message of the path that has any, the ids of all messages in its place (itself
    too), oldest first. ``is_named`` is whether a person chose the title, which no automatic one replaces.
    """

    id: int = 0
    title: str = UNTITLED
    created_at: datetime
    updated_at: datetime
    messages: tuple[Message, ...] = ()
    alternatives: dict[int, tuple[int, ...]] = {}
    is_named: bool = False
    is_pinned: bool = False
    folder_id: int | None = None
    settings: ConversationSettings = ConversationSettings()


class ConversationHead(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the conversation list.

    ``snippet`` is where a search matched, "" otherwise; ``marks`` are the start and end of each word that was searched
    for in it, and ``message_id`` is the message that it is from.
    """

    id: int
    title: str
    updated_at: datetime
    n_messages: int
    snippet: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    message_id: int | None = None
    is_pinned: bool = False
    folder_id: int | None = None
    deleted_at: datetime | None = None


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of conversations; ``is_open`` is whether the list shows what is in it."""

    id: int
    name: str
    is_open: bool = True
    n_conversations: int = 0


def now() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


def counted(number: int, name: str) -> str:
    """Say how many of something: ``1 message``, ``2 messages``."""
    return f"{number} {name}{'' if number == 1 else 's'}"


def can_go_on(message: Message) -> bool:
    """Whether a message is an answer that stopped before its end: interrupted, at the length limit, stopped, failed."""
    if message.role != "assistant" or message.state == "streaming":
        return False
    reason = message.stats.stop_reason if message.stats is not None else None
    return message.state == "interrupted" or reason in ("length", "cancelled", "failed")


def text_for_model(message: Message) -> str:
    """Return what the model is given of a message: its files, each in a fence that nothing in it closes, then its text.

    Reasoning is left out: templates of reasoning models drop it from earlier turns as well.
    """
    parts = [f"{attachment.name}:\n{fenced(attachment.text)}" for attachment in message.attachments]
    return "\n\n".join([*parts, message.text] if message.text else parts)


def fenced(text: str) -> str:
    """Put a text into a code fence that nothing in it closes."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2) if "```" in text else 2
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"
