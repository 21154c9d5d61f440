"""Where a person types: with history, several lines and completion on a terminal, else a line at a time."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from app.cli.terminal import is_simple_terminal, note
from app.paths import data_dir

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer

QUOTES = '"""'
"""A message that begins so goes on over lines until it ends so."""

LEAVING = "Press Ctrl-C again to leave, or go on typing."

Completions = Mapping[str, Callable[[], Iterable[str]]]
"""The commands that a line may begin with, each with what may follow it."""


class Editor(Protocol):
    """Asks for a message."""

    async def read(self) -> str | None:
        """Return what was typed; ``None`` when nobody types any more."""


def make_editor(completions: Completions) -> Editor:
    """Return the editor that fits the terminal."""
    return RichEditor(completions) if reads_keys() else PlainEditor()


def reads_keys() -> bool:
    """Whether the editor for this terminal takes keys one by one, rather than lines."""
    return not is_simple_terminal() and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()


class PlainEditor:
    """A line at a time, as the terminal itself edits it."""

    async def read(self) -> str | None:
        """Return a message: a line, or all from three quotes to three quotes."""
        first = self._line("> ")
        if first is None or not first.startswith(QUOTES):
            return first
        lines = [first]
        while not _is_closed("\n".join(lines)):
            more = self._line(". ")
            if more is None:
                return None
            lines.append(more)
        return unquoted("\n".join(lines))

    def _line(self, prompt: str) -> str | None:
        """Ask for a line; two Ctrl-C in a row end it."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        has_interrupted = False
        try:
            while True:
                try:
                    return input(prompt)
                except KeyboardInterrupt:
                    if has_interrupted:
                        return None
                    has_interrupted = True
                    note(f"\n{LEAVING}")
        except (EOFError, OSError):  # no more input, or no terminal any more
            return None
        finally:
            signal.signal(signal.SIGINT, before)


class RichEditor:
    """Several lines, with history and completion (prompt_toolkit)."""

    def __init__(self, completions: Completions) -> None:
        os.environ.setdefault("PROMPT_TOOLKIT_NO_CPR", "1")  # not every terminal answers where its cursor is
        self._session = _session(completions)

    async def read(self) -> str | None:
        """Return a message; Ctrl-C clears it, and on an empty line leaves when pressed twice."""
        has_interrupted = False
        while True:
            try:
                return unquoted(await self._session.prompt_async())
            except KeyboardInterrupt:
                if self._session.default_buffer.text:
                    has_interrupted = False
                elif has_interrupted:
                    return None
                else:
                    has_interrupted = True
                    note(LEAVING)
            except (EOFError, OSError):
                return None


def _session(completions: Completions) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import InMemoryHistory
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    from app.cli.typed_history import TypedHistory

    keys = KeyBindings()

    @keys.add("enter")
    def _send(event: KeyPressEvent) -> None:
        text = event.current_buffer.text
        if text.startswith(QUOTES) and not _is_closed(text):
            event.current_buffer.insert_text("\n")
        else:
            event.current_buffer.validate_and_handle()

    # Not Ctrl+J: an Enter that was typed into an answer comes as that.
    @keys.add("escape", "enter")
    @keys.add("c-o")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    try:
        history = TypedHistory(data_dir() / "typed.jsonl")
    except OSError:
        history = InMemoryHistory()  # type: ignore[assignment]  # either is a History
    return PromptSession(
        "> ",
        multiline=True,
        key_bindings=keys,
        history=history,
        completer=_completer(completions),
        complete_while_typing=False,
        prompt_continuation=lambda width, _number, _is_soft: ". ".rjust(width),
        enable_open_in_editor=False,
        enable_suspend=True,
    )


def _completer(completions: Completions) -> Completer:
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    class Commands(Completer):
        """Completes a command's name, then what may follow it."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002 - its signature
            before = document.text_before_cursor
            if not before.startswith("/") or "\n" in before:
                return
            word, blank, rest = before.partition(" ")
            begun, choices = (rest, completions.get(word, tuple)()) if blank else (word, completions)
            for choice in choices:
                if choice.startswith(begun):
                    yield Completion(choice, start_position=-len(begun))

    return Commands()


def _is_closed(text: str) -> bool:
    return len(text) >= 2 * len(QUOTES) and text.rstrip().endswith(QUOTES)


def unquoted(text: str) -> str:
    """Take the three quotes off a message that is between them."""
    if text.startswith(QUOTES) and _is_closed(text):
        return text.rstrip()[len(QUOTES) : -len(QUOTES)].strip("\n")
    return text
