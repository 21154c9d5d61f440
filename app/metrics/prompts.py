"""Named prompts: built-in sets and files of JSON lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.errors import UsageError
from app.paths import resource
from app.protocol import ChatMessage

MIXED = "mixed"
"""The first prompt of each built-in set."""

SETS = ("code", "prose", "chat", "edit", "quotes")

_LINE_HINT = 'Each line is {"name": …, "prompt": …} or {"name": …, "messages": [{"role": …, "content": …}, …]}.'


@dataclass(frozen=True, slots=True)
class Prompt:
    """A conversation to answer, under a name."""

    name: str
    messages: tuple[ChatMessage, ...]


class _Line(msgspec.Struct, frozen=True):
    name: str
    prompt: str | None = None
    messages: tuple[ChatMessage, ...] | None = None


def load_prompts(source: str) -> tuple[Prompt, ...]:
    """Read a built-in set by its name, or a file.

    Raises:
        UsageError: no such set or file, or a line that is no prompt (its number is in the message).
    """
    if source == MIXED:
        return tuple(load_prompts(name)[0] for name in SETS)
    path = resource("bench", f"{source}.jsonl") if source in SETS else Path(source)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "not UTF-8 text"
        known = ", ".join((MIXED, *SETS))
        raise UsageError(f"Cannot read the prompts {source}: {reason}.", f"Name a file or a set: {known}.") from fault
    prompts: dict[str, Prompt] = {}
    for number, line in enumerate(text.split("\n"), start=1):  # splitlines breaks inside of strings, at U+2028
        if not line.strip():
            continue
        prompt = _prompt(line, f"{path.name} line {number}")
        if prompt.name in prompts:
            raise UsageError(f"{path.name} line {number}: the name {prompt.name!r} is taken.", "Names are used once.")
        prompts[prompt.name] = prompt
    if not prompts:
        raise UsageError(f"{path.name} holds no prompt.", _LINE_HINT)
    return tuple(prompts.values())


def _prompt(text: str, where: str) -> Prompt:
    try:
        line = msgspec.json.decode(text, type=_Line)
    except msgspec.MsgspecError as fault:
        raise UsageError(f"{where}: {fault}", _LINE_HINT) from fault
    if not line.name.strip():
        raise UsageError(f"{where}: the name is empty.", _LINE_HINT)
    if (line.prompt is None) == (line.messages is None):
        raise UsageError(f"{where}: it needs exactly one of prompt and messages.", _LINE_HINT)
    messages = line.messages if line.messages is not None else (ChatMessage("user", line.prompt or ""),)
    if not messages or messages[-1].role != "user" or not messages[-1].content.strip():
        raise UsageError(f"{where}: it does not end with something that a user says.", _LINE_HINT)
    return Prompt(line.name, messages)
