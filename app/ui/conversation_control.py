"""The settings of the open conversation: keeps what is chosen, checks it before it is sent, and takes presets over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs
from PySide6.QtCore import QObject, QTimer

from app.chat.chat_settings import ConversationSettings, Preset, changed_fields
from app.chat.grammar import grammar_of
from app.errors import UsageError
from app.ui.conversation_dialog import ConversationDialog
from app.ui.conversation_presets import Presets
from app.ui.conversation_prompt import PromptControl
from app.ui.said import fault_words
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.host import Host
    from app.ui.answering import Answering
    from app.ui.chats import Chats
    from app.ui.choices import Choices
    from app.ui.main_window import MainWindow

CHECK_MS = 250
UNDO_S = 8.0


class ConversationControl(QObject):
    """Between the dialog and the button at the composer on one side, conversation and presets on the other."""

    def __init__(self, window: MainWindow, host: Host, chats: Chats, choices: Choices, answering: Answering) -> None:
        super().__init__(window)
        self._window, self._host, self._chats, self._choices = window, host, chats, choices
        self.dialog: ConversationDialog | None = None
        self.prompt = PromptControl(window, host, chats, choices)
        self.presets = Presets(window, chats.store.presets)
        self.presets.changed.connect(self.refresh)
        self._check = QTimer(self, singleShot=True, interval=CHECK_MS)
        self._check.timeout.connect(self.check)
        chats.shown_other.connect(self.refresh)
        chats.settings_changed.connect(self.refresh)
        answering.settings_wanted.connect(lambda: self.open("constraint"))
        button = window.composer.settings
        button.preset_chosen.connect(self.take_preset)
        button.settings_requested.connect(self.open)
        button.filling.connect(lambda: button.offer(self._presets(), self._chosen()))
        self.prompt.template_changed.connect(self.refresh)
        self.refresh()

    async def close(self) -> None:
        """Close what is open."""
        self._check.stop()
        await self.prompt.close()
        if self.dialog is not None:
            self.dialog.reject()

    # --- showing --------------------------------------------------------------------------------------

    def open(self, field: str = "system_prompt") -> None:
        """Show the settings, with the keyboard at one of them."""
        if self.dialog is None:
            dialog = self.dialog = ConversationDialog(self._window)
            dialog.changed.connect(self.on_changed)
            dialog.reset_requested.connect(self.reset)
            dialog.preset_chosen.connect(self.take_preset)
            dialog.preset_action.connect(self.on_preset_action)
            dialog.prompt_requested.connect(self.prompt.open)
            dialog.finished.connect(self.on_closed)
            self.refresh()
            self.check()
            dialog.open()
            self.prompt.ask_reasoning(self.on_reasoning_known)
        self.dialog.go_to(field)

    def on_closed(self) -> None:
        """Forget the dialog."""
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None
        self._window.composer.take_focus()

    def on_reasoning_known(self, switch_words: str, effort_words: str) -> None:
        """Say whether the model's template has a switch for reasoning, and knows how much of it is wanted."""
        if self.dialog is not None:
            self.dialog.show_known("reasoning", switch_words)
            self.dialog.show_known("reasoning_effort", effort_words)

    def refresh(self) -> None:
        """Show the settings of the open conversation, at the composer and in the dialog."""
        own = self._choices.own = self._chats.settings
        chosen = self._chosen()
        self._window.composer.settings.show_settings(self._name(chosen), len(changed_fields(own)))
        self._window.composer.changed.emit()  # the gauge counts the system prompt, too
        if self.dialog is not None:
            loaded = self._host.state.loaded
            n_ctx_train = loaded.target.n_ctx_train if loaded is not None else 0
            self.dialog.show_settings(own, self._choices.settings, n_ctx_train=n_ctx_train)
            self.dialog.show_presets(self._presets(), chosen)
            self._check.start()

    def _presets(self) -> tuple[Preset, ...]:
        return self.presets.all()

    def _chosen(self) -> int | None:
        """Return the preset that the settings are; 0 for the program's, ``None`` for neither."""
        own = self._chats.settings
        if own == ConversationSettings():
            return 0
        return next((preset.id for preset in self._presets() if preset.settings == own), None)

    def _name(self, chosen: int | None) -> str:
        return next((preset.name for preset in self._presets() if preset.id == chosen), "") if chosen else ""

    # --- changing -------------------------------------------------------------------------------------

    def on_changed(self, name: str, value: object) -> None:
        """Keep a setting from the next answer on."""
        self._chats.change_settings(structs.replace(self._chats.settings, **{name: value}))

    def check(self) -> None:
        """Say at the field what is wrong with a schema or a grammar, before anything is sent."""
        if self.dialog is None:
            return
        fault = ""
        try:
            grammar_of(self._chats.settings.constraint)
        except UsageError as refusal:
            fault = fault_words(refusal)
        self.dialog.show_fault("constraint", fault)

    def reset(self) -> None:
        """Let the program's settings hold, with a chance to take that back."""
        self._replace(ConversationSettings(), tr("This conversation has the program's settings again."))

    def take_preset(self, preset_id: int) -> None:
        """Let the conversation have the settings of a preset, or with 0 the program's."""
        if not preset_id:
            self.reset()
            return
        preset = next((preset for preset in self._presets() if preset.id == preset_id), None)
        if preset is not None:
            self._replace(
                preset.settings, tr("This conversation has the settings of “{name}”.").format(name=preset.name)
            )

    def _replace(self, settings: ConversationSettings, words: str) -> None:
        before, current = self._chats.settings, self._chats.current
        if before == settings:
            return

        def undo() -> None:
            now = self._chats.current
            if (now.id if now is not None else None) == (current.id if current is not None else None):
                self._chats.change_settings(before)

        self._chats.change_settings(settings)
        self._window.notice.say("info", words, action=(tr("Undo"), undo), expires_s=UNDO_S)

    def on_preset_action(self, action: str) -> None:
        """Do something with presets."""
        if self.dialog is None:
            return
        self.dialog.say("")
        self.presets.do(action, self.dialog, self._chats.settings, self.dialog.preset)
