"""Conversations that other programs wrote, as records of ours.

The formats are read leniently (a field that is missing or of another kind is left out, never the message), and what
has no place here (images, tool calls) is counted, so that it can be said. Nothing here follows a link or runs anything.

- OpenAI: a list of ``{role, content}``, a chat-completions request, JSON lines of either.
- ChatGPT's export: ``conversations.json``, a tree of nodes (``mapping``) for each conversation.
- LM Studio: ``*.conversation.json``, each message with its ``versions``.
- Jan: ``messages.jsonl``, with ``thread.json`` beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from app.chat.archive import ConversationRecord, MessageRecord
from app.chat.chat_settings import ConversationSettings
from app.chat.conversation import UNTITLED, Message
from app.chat.database import now
from app.chat.rows import settings_in
from app.chat.titles import title_of
from app.protocol import Role

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "gpt": "assistant",
}
_MAX_MOMENT_S = 32_503_680_000  # the year 3000: more are milliseconds


@dataclass(slots=True)
class Draft:
    """A conversation while it is read; ``left_out`` counts what has no place, by name."""

    left_out: Counter[str]
    title: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    model: str = ""
    settings: ConversationSettings = field(default_factory=ConversationSettings)
    is_pinned: bool = False
    messages: list[MessageRecord] = field(default_factory=list)

    def add(self, role: object, text: str, parent: int | None, **facts: object) -> int | None:
        """Add a message below ``parent``; return its number, or the parent where it has no place here."""
        known = _ROLES.get(str(role))
        reasoning = str(facts.get("reasoning") or "")
        if known is None or not (text.strip() or reasoning.strip()):
            if known is None:
                self.left_out[f"messages of the role “{str(role)[:40]}”"] += 1
            return parent
        at = facts.get("at")
        record = MessageRecord(
            id=len(self.messages) + 1,
            parent=parent,
            role=known,
            text=text,
            created_at=at if isinstance(at, datetime) else self.created_at or now(),
            reasoning=reasoning,
            model=str(facts.get("model") or (self.model if known == "assistant" else "")),
        )
        self.messages.append(record)
        return record.id

    def record(self, leaf: int | None) -> ConversationRecord | None:
        """Return the conversation; nothing if it has no message."""
        if not self.messages:
            return None
        at = self.created_at or min(message.created_at for message in self.messages)
        said = [Message(role=m.role, text=m.text, created_at=m.created_at) for m in self.messages[:4]]
        return ConversationRecord(
            title=" ".join(self.title.split()) or title_of(said) or UNTITLED,
            is_named=bool(self.title.strip()),
            is_pinned=self.is_pinned,
            created_at=at,
            updated_at=self.updated_at or max(message.created_at for message in self.messages),
            settings=self.settings,
            leaf=leaf,
            messages=tuple(self.messages),
        )


# --- OpenAI -------------------------------------------------------------------------------------------


def is_message_list(value: object) -> bool:
    """Whether this is a list of ``{role, content}``."""
    return isinstance(value, list) and bool(value) and all(isinstance(m, dict) and "role" in m for m in value)


def from_messages(messages: object, left_out: Counter[str], facts: Mapping[str, object]) -> ConversationRecord | None:
    """Read ``{role, content}`` messages; ``facts`` are what stands beside them in a request."""
    draft = Draft(left_out, title=_str(facts.get("title") or facts.get("name")), model=_str(facts.get("model")))
    draft.created_at = moment(facts.get("created_at") or facts.get("created") or facts.get("create_time"))
    draft.settings = _request_settings(facts)
    parent: int | None = None
    for message in items(messages):
        text = content_text(message.get("content"), left_out)
        reasoning = _str(message.get("reasoning_content") or message.get("reasoning"))
        if message.get("tool_calls"):
            left_out["tool calls"] += 1
        at = moment(message.get("created_at") or message.get("timestamp"))
        parent = draft.add(message.get("role"), text, parent, reasoning=reasoning, at=at)
    return draft.record(parent)


def _request_settings(facts: Mapping[str, object]) -> ConversationSettings:
    """Take over the sampling of a request, as far as it is within our ranges."""
    chosen: dict[str, object] = {}
    names = {"max_completion_tokens": "max_tokens"}
    for name in ("temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty", "seed",
                 "max_tokens", "max_completion_tokens"):  # fmt: skip
        if isinstance(facts.get(name), int | float) and not isinstance(facts.get(name), bool):
            chosen[names.get(name, name)] = facts[name]
    stop = facts.get("stop")
    if isinstance(stop, str):
        chosen["stop"] = [stop]
    elif isinstance(stop, list):
        chosen["stop"] = [text for text in stop if isinstance(text, str)]
    return checked_settings(chosen)


def checked_settings(chosen: Mapping[str, object]) -> ConversationSettings:
    """Return these settings, each that is within our ranges."""
    return settings_in(msgspec.json.encode(chosen).decode())


def content_text(content: object, left_out: Counter[str]) -> str:
    """Return the text of a ``content``: a string, or parts of which those with text count."""
    if isinstance(content, str):
        return content
    found = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict):
            text = part.get("text", part.get("input_text"))
            text = text.get("value") if isinstance(text, dict) else text
            if isinstance(text, str):
                found.append(text)
            else:
                left_out[f"parts of the kind “{_str(part.get('type') or part.get('content_type'))[:40]}”"] += 1
    return "\n\n".join(found)


# --- ChatGPT ------------------------------------------------------------------------------------------


def from_mapping(conversation: Mapping[str, object], left_out: Counter[str]) -> ConversationRecord | None:
    """Read one conversation of ChatGPT's export: a tree of which some nodes say nothing to a person."""
    nodes = {str(k): v for k, v in _dict(conversation.get("mapping")).items() if isinstance(v, dict)}
    draft = Draft(left_out, title=_str(conversation.get("title")))
    draft.created_at = moment(conversation.get("create_time"))
    draft.updated_at = moment(conversation.get("update_time"))
    numbers: dict[str, int | None] = {}
    thoughts: dict[str, str] = {}
    for node_id in _parents_first(nodes):
        above = _str(nodes[node_id].get("parent"))
        parent, thought = numbers.get(above), thoughts.get(above, "")
        message = _dict(nodes[node_id].get("message"))
        role = _dict(message.get("author")).get("role")
        content = _dict(message.get("content"))
        kind = _str(content.get("content_type"))
        if kind == "thoughts":
            parts = [_str(part.get("content") or part.get("summary")) for part in items(content.get("thoughts"))]
            thoughts[node_id] = "\n\n".join(filter(None, [thought, *parts]))
            numbers[node_id] = parent
            continue
        text = _mapping_text(message, kind, content, left_out)
        metadata = _dict(message.get("metadata"))
        at = moment(message.get("create_time"))
        reasoning = thought if role == "assistant" else ""
        is_said = bool(message) and not (role == "tool" and not text)
        number = (
            draft.add(role, text, parent, reasoning=reasoning, at=at, model=metadata.get("model_slug"))
            if is_said
            else parent
        )
        numbers[node_id] = number
        if number == parent and thought:
            thoughts[node_id] = thought
    return draft.record(numbers.get(_str(conversation.get("current_node")), len(draft.messages) or None))


def _mapping_text(
    message: Mapping[str, object], kind: str, content: Mapping[str, object], left_out: Counter[str]
) -> str:
    hidden = _dict(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    if hidden or kind in ("user_editable_context", "model_editable_context", "reasoning_recap"):
        return ""
    if kind in ("code", "execution_output"):
        return _str(content.get("text"))
    return content_text(content.get("parts"), left_out) if "parts" in content else _str(content.get("text"))


def _parents_first(nodes: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    """Yield every node after its parent, alternatives in their order; rings are entered once."""
    beginnings = [node for node, value in nodes.items() if _str(value.get("parent")) not in nodes]
    seen: set[str] = set()
    for beginning in [*beginnings, *nodes]:
        waiting = [beginning]
        while waiting:
            node = waiting.pop()
            if node in seen or node not in nodes:
                continue
            seen.add(node)
            yield node
            children = nodes[node].get("children")
            waiting += [str(child) for child in reversed(children)] if isinstance(children, list) else []


# --- LM Studio ----------------------------------------------------------------------------------------


def is_lm_studio(value: object) -> bool:
    """Whether this is a conversation of LM Studio's."""
    messages = _dict(value).get("messages")
    return isinstance(messages, list) and bool(messages) and all("versions" in _dict(m) for m in messages)


def from_lm_studio(conversation: Mapping[str, object], left_out: Counter[str]) -> ConversationRecord | None:
    """Read a conversation of LM Studio's; versions of a message become alternatives below the chosen one before."""
    draft = Draft(left_out, title=_str(conversation.get("name")), is_pinned=conversation.get("pinned") is True)
    draft.created_at = moment(conversation.get("createdAt"))
    draft.updated_at = moment(conversation.get("userLastMessagedAt") or conversation.get("assistantLastMessagedAt"))
    draft.model = _str(_dict(conversation.get("lastUsedModel")).get("identifier"))
    if prompt := _str(conversation.get("systemPrompt")):
        draft.settings = ConversationSettings(system_prompt=prompt)
    parent: int | None = None
    for message in items(conversation.get("messages")):
        versions = items(message.get("versions"))
        selected = message.get("currentlySelected")
        chosen = selected if isinstance(selected, int) and 0 <= selected < len(versions) else len(versions) - 1
        following = parent
        for n, version in enumerate(versions):
            text, reasoning, model = _lm_studio_version(version, left_out)
            number = draft.add(version.get("role"), text, parent, reasoning=reasoning, model=model)
            following = number if n == chosen else following
        parent = following
    return draft.record(parent)


def _lm_studio_version(version: Mapping[str, object], left_out: Counter[str]) -> tuple[str, str, str]:
    """Return text, reasoning and model of one version of a message."""
    if "steps" not in version:
        return content_text(version.get("content"), left_out), "", ""
    texts, thoughts, model = list[str](), list[str](), ""
    for step in items(version.get("steps")):
        if step.get("type") != "contentBlock":
            if step.get("type") == "toolStatus":
                left_out["tool calls"] += 1
            continue
        text = content_text(step.get("content"), left_out)
        is_thought = _dict(step.get("style")).get("type") == "thinking"
        (thoughts if is_thought else texts).append(text)
        model = _str(_dict(step.get("genInfo")).get("identifier")) or model
    return "\n\n".join(filter(None, texts)), "\n\n".join(filter(None, thoughts)), model


# --- Jan ----------------------------------------------------------------------------------------------


def is_jan(values: Sequence[object]) -> bool:
    """Whether these are the lines of a ``messages.jsonl`` of Jan's."""
    return bool(values) and all(_dict(value).get("object") == "thread.message" for value in values)


def from_jan(
    messages: Sequence[object], thread: Mapping[str, object], left_out: Counter[str]
) -> ConversationRecord | None:
    """Read the messages of a thread of Jan's, and what its ``thread.json`` says."""
    draft = Draft(left_out, title=_str(thread.get("title")))
    draft.created_at = moment(thread.get("created"))
    draft.updated_at = moment(thread.get("updated"))
    for assistant in items(thread.get("assistants"))[:1]:
        draft.model = _str(_dict(assistant.get("model")).get("id"))
        if prompt := _str(assistant.get("instructions")):
            draft.settings = ConversationSettings(system_prompt=prompt)
    parent: int | None = None
    for message in items(list(messages)):
        text = content_text(message.get("content"), left_out)
        parent = draft.add(message.get("role"), text, parent, at=moment(message.get("created_at")))
    return draft.record(parent)


# --- values -------------------------------------------------------------------------------------------


def moment(value: object) -> datetime | None:
    """Read seconds or milliseconds since 1970, or ISO 8601; nothing if it is neither."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > _MAX_MOMENT_S else value, UTC)
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            return read if read.tzinfo else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def items(value: object) -> list[Mapping[str, object]]:
    """Return the objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _dict(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""
