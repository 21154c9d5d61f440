"""Keeps what people write from being read as control tokens.

A prompt is tokenised with its control tokens (``<|im_end|>``, …) recognised, since the template writes them. One that
stands in a message, in a pasted page say, would end the turn there and begin another. So a mark is put behind its
first character, the template is rendered, and the text is tokenised in the pieces between the marks: the model sees
the very same characters, and no control token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import structs

from app.protocol import ChatMessage, Templating

MARKS = range(0xFDD0, 0xFDF0)
"""Code points that Unicode keeps free for use inside a program."""


def finder(texts: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds the first character of every control token's text, also where two overlap; None for none."""
    found = sorted({text for text in texts if len(text) > 1}, key=len, reverse=True)
    return re.compile(f"(?=(?:{'|'.join(map(re.escape, found))}))(.)", re.DOTALL) if found else None


def marked(
    messages: Sequence[ChatMessage], templating: Templating, find: re.Pattern[str] | None
) -> tuple[Sequence[ChatMessage], Templating, str]:
    """Return both with a mark in every control token's text, and the mark; "" if there was nothing to mark."""
    texts = [*(text for message in messages for text in _texts(message)), *_tool_texts(templating)]
    if find is None or not any(find.search(text) for text in texts):
        return messages, templating, ""
    mark = next((chr(n) for n in MARKS if not any(chr(n) in text for text in texts)), "")
    if not mark:
        return messages, templating, ""

    def put(text: str) -> str:
        return find.sub(rf"\1{mark}", text)

    tools = tuple(
        structs.replace(tool, name=put(tool.name), description=put(tool.description), parameters=put(tool.parameters))
        for tool in templating.tools
    )
    return [_with(message, put) for message in messages], structs.replace(templating, tools=tools), mark


def _texts(message: ChatMessage) -> Iterator[str]:
    yield message.content
    for call in message.tool_calls:
        yield from (call.name, call.arguments)


def _tool_texts(templating: Templating) -> Iterator[str]:
    for tool in templating.tools:
        yield from (tool.name, tool.description, tool.parameters)


def _with(message: ChatMessage, put: Callable[[str], str]) -> ChatMessage:
    calls = tuple(
        structs.replace(call, name=put(call.name), arguments=put(call.arguments)) for call in message.tool_calls
    )
    return structs.replace(message, content=put(message.content), tool_calls=calls)
