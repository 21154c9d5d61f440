"""The prompt as the model gets it, and the chat template that makes it: looks, counts, overrides per model, resets.

What is shown is rendered in the template process, which ends what never ends; a template that does not work costs a
sentence here and a notice with the answer, and the model's own is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.errors import EngineError, SlipstreamError
from app.host.remote_wire import read_address
from app.protocol import ChatMessage, Rendered, Templating
from app.ui.conversation_boxes import read_text, unread_words
from app.ui.conversation_prompt_dialog import PromptDialog
from app.ui.said import fault_words
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.host import Host
    from app.ui.chats import Chats
    from app.ui.choices import Choices
    from app.ui.main_window import MainWindow

HAS_SWITCH = tr("This model's template has a switch for it.")
NO_SWITCH = tr("This model's template has no switch for it, so the setting changes nothing.")
HAS_EFFORT = tr("This model's template can be asked for it.")
NO_EFFORT = tr("This model's template cannot be asked for it, so the setting changes nothing.")
MOST_CHARS, MOST_LINE_CHARS = 200_000, 20_000
TOO_LONG = tr("That is longer than any chat template. It was not taken over.")
NEXT_MESSAGE = tr("(your next message)")
THEIR_PROMPT = tr("The server at {place} makes the prompt, with its own template.")
THEIR_TEMPLATE = tr("Choose a model of this computer to see one.")


def is_possible(text: str) -> bool:
    """Tell whether a text is no longer, nor its lines, than a chat template ever was."""
    return len(text) <= MOST_CHARS and all(len(line) <= MOST_LINE_CHARS for line in text.split("\n"))


class PromptControl(QObject):
    """Renders the open conversation, and keeps templates by the names of models."""

    template_changed = Signal()

    def __init__(self, window: MainWindow, host: Host, chats: Chats, choices: Choices) -> None:
        super().__init__(window)
        self._window, self._host, self._chats, self._choices = window, host, chats, choices
        self.dialog: PromptDialog | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_stale = False
        self._unsubscribe = host.subscribe(lambda _state: self.look() if self.dialog is not None else None)

    async def close(self) -> None:
        """Stop what is being rendered."""
        self._unsubscribe()
        if self.dialog is not None:
            self.dialog.reject()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    def open(self) -> None:
        """Show the prompt of the open conversation."""
        if self.dialog is not None:
            return
        dialog = self.dialog = PromptDialog(QApplication.activeModalWidget() or self._window)
        dialog.template_changed.connect(self.on_template)
        dialog.reset_requested.connect(self.on_reset)
        dialog.file_chosen.connect(self.on_file)
        dialog.finished.connect(self.on_closed)
        dialog.show_model(self._choices.settings.target)
        dialog.show_template(self._override() or "", is_own=self._override() is not None)
        dialog.open()
        self.look()

    def on_closed(self) -> None:
        """Forget the dialog."""
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    def _override(self) -> str | None:
        return self._choices.template

    # --- looking --------------------------------------------------------------------------------------

    def look(self) -> None:
        """Render anew, after the look that is running."""
        self._is_stale = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        while self._is_stale and self.dialog is not None:
            self._is_stale = False
            try:
                seen = await self._rendered()
            except SlipstreamError as fault:
                if self.dialog is not None:
                    self.dialog.show_refusal(fault_words(fault))
            else:
                if self.dialog is not None:
                    loaded = self._host.state.loaded
                    self.dialog.show_prompt(seen, loaded.n_ctx if loaded is not None else 0)
                    self.dialog.offer_own(seen.template, is_override=self._override() is not None)

    async def _rendered(self) -> Rendered:
        if (remote := self._choices.remote) is not None:
            raise EngineError(THEIR_PROMPT.format(place=read_address(remote.url).words), THEIR_TEMPLATE)
        own = self._chats.settings
        form = Templating(template=self._override(), reasoning=own.reasoning, reasoning_effort=own.reasoning_effort)
        return await self._host.render(self._messages(), form)

    def _messages(self) -> tuple[ChatMessage, ...]:
        """Return what would be sent next: the conversation, and what is typed."""
        messages = self._chats.history(self._choices.system_prompt)
        if typed := self._window.composer.text.strip():
            return (*messages, ChatMessage("user", typed))
        if not messages or messages[-1].role != "user":
            return (*messages, ChatMessage("user", NEXT_MESSAGE))
        return messages

    def ask_reasoning(self, then: Callable[[str, str], None]) -> None:
        """Say, once it is known, whether the template can be asked for reasoning."""

        async def ask() -> None:
            with suppress(SlipstreamError):  # no model: nothing is known
                seen = await self._rendered()
                then(
                    HAS_SWITCH if seen.has_reasoning_switch else NO_SWITCH,
                    HAS_EFFORT if seen.has_reasoning_effort else NO_EFFORT,
                )
            await self._look()  # if the prompt was asked for meanwhile

        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(ask())

    # --- templates ------------------------------------------------------------------------------------

    def on_template(self, text: str) -> None:
        """Use a template in place of the model's own, from the next answer on."""
        if not is_possible(text):
            if self.dialog is not None:
                self.dialog.show_refusal(TOO_LONG)
            return
        if self._chats.settings.template is not None:
            self._chats.change_settings(structs.replace(self._chats.settings, template=text or None))
        else:
            templates = dict(self._choices.settings.templates)
            if text.strip():
                templates[self._choices.settings.target] = text
            else:
                templates.pop(self._choices.settings.target, None)
            self._choices.change(templates=templates)
        self.template_changed.emit()
        self.look()

    def on_reset(self) -> None:
        """Let the model's own template hold again."""
        if self._chats.settings.template is not None:
            self._chats.change_settings(structs.replace(self._chats.settings, template=None))
        templates = dict(self._choices.settings.templates)
        if templates.pop(self._choices.settings.target, None) is not None:
            self._choices.change(templates=templates)
        if self.dialog is not None:
            self.dialog.show_template("", is_own=False)
        self.template_changed.emit()
        self.look()

    def on_file(self, path: Path) -> None:
        """Take a template from a file."""
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError, ValueError) as fault:
            if self.dialog is not None:
                self.dialog.show_refusal(unread_words(path, fault))
            return
        if self.dialog is not None and is_possible(text):
            self.dialog.show_template(text, is_own=True)
        self.on_template(text)
