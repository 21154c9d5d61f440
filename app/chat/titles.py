"""A title for a conversation from its first exchange, by rules; whoever has a better idea passes a :data:`Titler`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from app.chat.conversation import TITLE_LENGTH, UNTITLED, Message

Titler = Callable[[Sequence[Message]], str]
"""Makes a title of the messages so far; "" if it has no idea."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*\s*$|\Z)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_MARKS = re.compile(r"(?<!\w)[*_~`]{1,3}|[*_~`]{1,3}(?!\w)")
_LINE_START = re.compile(r"^\s*(?:[#>]+\s*|[-*+]\s+|\d{1,9}[.)]\s+)+")
_GREETING = re.compile(
    r"^(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|dear \w+|hallo|hola|bonjour|salut|ciao|thanks|thank you)"
    r"(?: there| everyone| all)?\b[\s,!.:;–-]*",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"^(?:(?:please|kindly)[,\s]+"
    r"|(?:can|could|would|will) you (?:please |kindly )?(?:help me (?:to )?|tell me (?:about )?)?"
    r"|(?:i(?:'d| would) like|i want|i need) (?:you )?to |help me (?:to )?)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[\u3002\uff01\uff1f])|[\r\n]")
_ENOUGH_LETTERS = 4
_READ_AHEAD = 4000


def title_of(messages: Sequence[Message]) -> str:
    """Title the first exchange: what was asked; if that says nothing ("hi"), what was answered; else the file given."""
    said = [m for m in messages if m.role != "system"][:2]
    for message in said:
        if title := title_of_text(message.text):
            return title
    names = [attachment.name for message in said for attachment in message.attachments]
    return cut_at_words(names[0]) if names else UNTITLED


def title_of_text(text: str) -> str:
    """Make a title of a text: its first sentence or heading without greeting, marks and code; "" if it has none."""
    text = _FENCE.sub("\n", text[:_READ_AHEAD])
    for sentence in _SENTENCE_END.split(text):
        words = " ".join(_LINK.sub(r"\1", _LINE_START.sub("", sentence)).split())
        words = _MARKS.sub("", words).strip(" |:-–—")
        words = _without_preamble(words)
        if sum(character.isalnum() for character in words) >= _needed(words):
            return cut_at_words(words[:1].upper() + words[1:])
    return ""


def cut_at_words(line: str, length: int = TITLE_LENGTH) -> str:
    """Cut a line to ``length`` characters at a word's end, if that is not too far back."""
    if len(line) <= length:
        return line.rstrip(" .,;:。") or line
    head, space, _ = line[: length + 1].rpartition(" ")
    return (head if space and len(head) > length // 2 else line[:length]).rstrip(" ,;:.–-") + "…"


def _without_preamble(words: str) -> str:
    before = ""
    while words != before:
        before = words
        words = _PREAMBLE.sub("", _GREETING.sub("", words))
    return words


def _needed(words: str) -> int:
    """Letters that make a title: one character of a script without spaces says as much as a word."""
    return 2 if any(ord(character) > 0x2E7F for character in words) else _ENOUGH_LETTERS
