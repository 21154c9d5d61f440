"""An answer as it streams, told apart: what is thought, what is said, and which tools are called."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec

from app.chat.reasoning import Reasoning, Run
from app.engine.thinking import begun_mark
from app.engine.tool_words import CLOSE, OPEN
from app.protocol import ToolCall


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer; ``reset``: a thought that takes the place of all that was said before."""

    kind: Literal["said", "thought", "call", "reset"]
    text: str = ""
    call: ToolCall | None = None


class _Call(msgspec.Struct, frozen=True):
    """What stands between the marks of a call; some models say ``parameters``."""

    name: str
    arguments: msgspec.Raw = msgspec.Raw()
    parameters: msgspec.Raw = msgspec.Raw()


def read_call(text: str) -> ToolCall | None:
    """Return the call that a model has written, None if it is none. Its arguments stay as they were written."""
    try:
        call = msgspec.json.decode(text.strip(), type=_Call)
        raw = bytes(call.arguments) or bytes(call.parameters) or b"{}"
        arguments = msgspec.json.decode(raw)
        if isinstance(arguments, str):  # the object as a text, as in the API itself
            raw, arguments = arguments.encode(), msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    if not isinstance(arguments, dict):
        return None
    return ToolCall(call.name, raw.decode("utf-8", "replace"), f"call_{secrets.token_hex(12)}")


class Pieces:
    """Cuts an answer; how its text was chunked does not matter. Without thoughts they stay in what is said."""

    def __init__(self, *, has_tools: bool, has_thoughts: bool = True) -> None:
        self._reasoning = Reasoning() if has_thoughts else None
        self._has_tools = has_tools
        self._held = ""
        self._is_in_call = self._is_behind_call = False
        self._is_start = {"said": True, "thought": True}

    def begin(self, prompt_end: str) -> None:
        """Take note of a thought that the prompt has begun."""
        if self._reasoning is not None and (mark := begun_mark(prompt_end)):
            self._reasoning.feed(mark)

    def feed(self, text: str) -> list[Piece]:
        """Take text; return what is decided."""
        runs = [Run(text, is_thought=False)] if self._reasoning is None else self._reasoning.feed(text)
        return [piece for run in runs for piece in self._told(run)]

    def close(self) -> list[Piece]:
        """Return what was held back; a call that has no end is text."""
        runs = [] if self._reasoning is None else self._reasoning.close()
        pieces = [piece for run in runs for piece in self._told(run)]
        rest = (OPEN if self._is_in_call else "") + self._held
        self._held, self._is_in_call = "", False
        return [*pieces, *self._plain("said", rest)]

    def _told(self, run: Run) -> Iterator[Piece]:
        text, is_thought, is_reset = run.text, run.is_thought, run.is_reset
        if is_reset:
            yield Piece("reset", text.lstrip("\n"))
        elif is_thought:
            yield from self._plain("thought", text)
        elif self._has_tools:
            self._held += text
            while (found := self._step()) is not None:
                yield from found
        else:
            yield from self._plain("said", text)

    def _step(self) -> list[Piece] | None:
        """Decide a little more of what is held; None when that takes more text."""
        mark = CLOSE if self._is_in_call else OPEN
        before, found, after = self._held.partition(mark)
        if not found:
            if self._is_in_call:
                return None
            n_open = next((n for n in range(min(len(mark) - 1, len(before)), 0, -1) if before.endswith(mark[:n])), 0)
            kept = before[len(before) - n_open :] if n_open else ""
            blank = before[: len(before) - n_open]
            self._held = blank[len(blank.rstrip()) :] + kept  # blanks before a call are none of the answer
            said = blank.rstrip()
            return list(self._plain("said", said)) if said else None
        self._held = after
        self._is_in_call = not self._is_in_call
        if self._is_in_call:
            return list(self._plain("said", before.rstrip()))
        if (call := read_call(before)) is None:
            return list(self._plain("said", f"{OPEN}{before}{CLOSE}"))
        self._is_behind_call = True
        return [Piece("call", call=call)]

    def _plain(self, kind: Literal["said", "thought"], text: str) -> Iterator[Piece]:
        if self._is_start[kind]:
            text = text.lstrip("\n") if kind == "thought" or not self._is_start["thought"] else text
            self._is_start[kind] = not text
        if kind == "said" and self._is_behind_call:
            text = text.lstrip()
            self._is_behind_call = not text
        if text:
            yield Piece(kind, text)
