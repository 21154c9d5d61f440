"""Keeps what people write from being read as control tokens.

A prompt is tokenised with its control tokens (``<|im_end|>``, …) recognised, since the template writes them. One that
stands in a message, in a pasted page say, would end the turn there and begin another. So a mark is put behind its
first character, the template is rendered, and the text is tokenised in the pieces between the marks: the model sees
the very same characters, and no control token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import structs

from app.protocol import ChatMessage

MARKS = range(0xFDD0, 0xFDF0)
"""Code points that Unicode keeps free for use inside a program."""


def finder(texts: Iterable[str]) -> re.Pattern[str] | None:
    """Return what finds the first character of every control token's text, also where two overlap; None for none."""
    found = sorted({text for text in texts if len(text) > 1}, key=len, reverse=True)
    return re.compile(f"(?=(?:{'|'.join(map(re.escape, found))}))(.)", re.DOTALL) if found else None


def marked(messages: Sequence[ChatMessage], find: re.Pattern[str] | None) -> tuple[Sequence[ChatMessage], str]:
    """Return the messages with a mark in every control token's text, and the mark; "" if there was nothing to mark."""
    if find is None or not any(find.search(message.content) for message in messages):
        return messages, ""
    mark = next((chr(n) for n in MARKS if not any(chr(n) in message.content for message in messages)), "")
    if not mark:
        return messages, ""
    return [structs.replace(message, content=find.sub(rf"\1{mark}", message.content)) for message in messages], mark
