"""Named prompts: built-in sets and files of JSON lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from app.errors import UsageError
from app.named_files import read_named
from app.paths import resource
from app.protocol import ChatMessage

MIXED = "mixed"
"""The first prompt of each short built-in set."""

NONE = "none"
"""No prompt at all: where only costs are measured."""

SHORT_SETS = ("code", "json", "prose", "chat", "edit", "quotes", "languages")
SETS = (*SHORT_SETS, "long")
"""The built-in sets; ``long`` has contexts of 1,500 tokens and more, which take a while to evaluate."""

MOST_BYTES = 64 << 20
Read = Callable[[Path, int], bytes]
"""Reads a file: of one that is longer one byte more than so many."""

_LINE_HINT = 'Each line is {"name": …, "prompt": …} or {"name": …, "messages": [{"role": …, "content": …}, …]}.'


@dataclass(frozen=True, slots=True)
class Prompt:
    """A conversation to answer, under a name, from a built-in set or a file of that name."""

    name: str
    messages: tuple[ChatMessage, ...]
    set_name: str = ""


class _Line(msgspec.Struct, frozen=True):
    name: str
    prompt: str | None = None
    messages: tuple[ChatMessage, ...] | None = None


def load_prompts(source: str, read: Read = read_named) -> tuple[Prompt, ...]:
    """Read built-in sets by their names and files by their paths, several separated by commas.

    Args:
        source: names and paths.
        read: how files are read; a terminal may wait for a pipe.

    Raises:
        UsageError: no such set or file, a line that is no prompt (its number is in the message), or a name used twice.
    """
    if source == NONE:
        return ()
    if Path(source).is_file():  # its name may hold a comma
        return _read_set(source, read)
    names = [word for part in source.split(",") if (word := part.strip())]
    prompts: dict[str, Prompt] = {}
    for prompt in (prompt for name in dict.fromkeys(names or [source]) for prompt in _read_sets(name, read)):
        if prompts.setdefault(prompt.name, prompt) != prompt:
            raise UsageError(f"The name {prompt.name!r} is in more than one of {source}.", "Names are used once.")
    return tuple(prompts.values())


def _read_sets(name: str, read: Read) -> tuple[Prompt, ...]:
    return tuple(_read_set(short, read)[0] for short in SHORT_SETS) if name == MIXED else _read_set(name, read)


def _read_set(source: str, read: Read) -> tuple[Prompt, ...]:
    """Read one built-in set or one file."""
    path = resource("bench", f"{source}.jsonl") if source in SETS else Path(source)
    try:
        data = read(path, MOST_BYTES)
        text = "" if len(data) > MOST_BYTES else data.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, ValueError) as fault:
        reason = "not UTF-8 text" if isinstance(fault, UnicodeDecodeError) else getattr(fault, "strerror", fault)
        known = ", ".join((MIXED, *SETS))
        raise UsageError(f"Cannot read the prompts {source}: {reason}.", f"Name a file or a set: {known}.") from fault
    if len(data) > MOST_BYTES:
        raise UsageError(f"{path.name} has more than {MOST_BYTES >> 20} MB.", "Name a file with fewer prompts.")
    prompts: dict[str, Prompt] = {}
    for number, line in enumerate(text.split("\n"), start=1):  # splitlines breaks inside of strings, at U+2028
        if not line.strip():
            continue
        prompt = replace(_prompt(line, f"{path.name} line {number}"), set_name=path.stem)
        if prompt.name in prompts:
            raise UsageError(f"{path.name} line {number}: the name {prompt.name!r} is taken.", "Names are used once.")
        prompts[prompt.name] = prompt
    if not prompts:
        raise UsageError(f"{path.name} holds no prompt.", _LINE_HINT)
    return tuple(prompts.values())


def _prompt(text: str, where: str) -> Prompt:
    try:
        line = msgspec.json.decode(text, type=_Line)
    except (msgspec.MsgspecError, RecursionError) as fault:
        raise UsageError(f"{where}: {fault}", _LINE_HINT) from fault
    if not line.name.strip():
        raise UsageError(f"{where}: the name is empty.", _LINE_HINT)
    if (line.prompt is None) == (line.messages is None):
        raise UsageError(f"{where}: it needs exactly one of prompt and messages.", _LINE_HINT)
    messages = line.messages if line.messages is not None else (ChatMessage("user", line.prompt or ""),)
    if not messages or messages[-1].role != "user" or not messages[-1].content.strip():
        raise UsageError(f"{where}: it does not end with something that a user says.", _LINE_HINT)
    return Prompt(line.name, messages)
