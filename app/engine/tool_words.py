"""Tools for models whose chat template knows none: in words, and calls in the marks that most models have seen.

Answers that call tools are written as Qwen's and Hermes' templates have it::

    <tool_call>
    {"name": "weather", "arguments": {"city": "Oslo"}}
    </tool_call>
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec import structs

from app.protocol import ChatMessage, Templating, Tool, ToolCall

OPEN, CLOSE = "<tool_call>", "</tool_call>"
PLAIN = Templating()
"""Nothing but the messages."""


def described(tool: Tool) -> dict[str, object]:
    """Return a tool as chat templates want it."""
    function = {"name": tool.name, "description": tool.description, "parameters": json.loads(tool.parameters)}
    return {"type": "function", "function": function}


def call_text(call: ToolCall) -> str:
    """Return a call as a model writes it."""
    name = json.dumps(call.name, ensure_ascii=False)
    return f'{OPEN}\n{{"name": {name}, "arguments": {call.arguments or "{}"}}}\n{CLOSE}'


def in_words(messages: Sequence[ChatMessage], tools: Sequence[Tool]) -> list[ChatMessage]:
    """Return the conversation with tools, calls and what they returned as plain text."""
    plain = [_plain(message) for message in messages]
    if not tools:
        return plain
    words = "\n".join(json.dumps(described(tool)["function"], ensure_ascii=False) for tool in tools)
    text = (
        "You can call functions. They are described here, one a line:\n"
        f"<tools>\n{words}\n</tools>\n"
        "To call one, write its name and arguments as JSON between marks:\n"
        f'{OPEN}\n{{"name": "…", "arguments": {{…}}}}\n{CLOSE}'
    )
    if plain and plain[0].role == "system":
        return [structs.replace(plain[0], content=f"{plain[0].content}\n\n{text}"), *plain[1:]]
    return [ChatMessage("system", text), *plain]


def _plain(message: ChatMessage) -> ChatMessage:
    if message.role == "tool":
        return ChatMessage("user", f"<tool_response>\n{message.content}\n</tool_response>")
    if message.tool_calls:
        parts = [message.content, *map(call_text, message.tool_calls)]
        return ChatMessage(message.role, "\n".join(part for part in parts if part))
    return message
