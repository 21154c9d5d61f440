"""Presets of conversation settings: saved under a name, renamed, deleted, read from and written to a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QInputDialog

from app.chat.chat_settings import PRESET_NAME_LENGTH, ConversationSettings, Preset, presets_from_json, presets_json
from app.chat.export import write_whole
from app.errors import SlipstreamError, StoreError
from app.named_files import read_named
from app.ui.question import Question
from app.ui.said import fault_words, said
from app.ui.told import Told
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.chat.shelving import Presets as StoredPresets
    from app.ui.conversation_dialog import ConversationDialog
    from app.ui.main_window import MainWindow

FILE_NAME = "slipstream-presets.json"
_MOST_FILE_BYTES = 16 * 1024 * 1024
_FILTER = tr("Presets (*.json)")


class Presets(QObject):
    """The presets of the store, for whoever shows them."""

    changed = Signal()

    def __init__(self, window: MainWindow, stored: StoredPresets) -> None:
        super().__init__(window)
        self._window, self._stored = window, stored
        self._known: tuple[Preset, ...] | None = None

    def all(self) -> tuple[Preset, ...]:
        """List them by name."""
        if self._known is None:
            with Told(self._window.notice, tr("The presets could not be read.")):
                self._known = self._stored.all()
        return self._known or ()

    def forget(self) -> None:
        """Read them anew when they are next asked for: others were added."""
        self._known = None
        self.changed.emit()

    def do(self, action: str, dialog: ConversationDialog, settings: ConversationSettings, chosen: int | None) -> None:
        """Save, rename, delete, import or export, after asking what that takes.

        Args:
            action: which of these.
            dialog: where to ask, and to say how it went.
            settings: those that are shown.
            chosen: the preset that they are, if any.
        """
        preset = next((preset for preset in self.all() if preset.id == chosen), None)
        if action == "save":
            self._ask_name(dialog, tr("Save preset"), "", lambda name: self.save(dialog, name, settings))
        elif action == "import":
            self._ask_file(dialog, tr("Import presets"), lambda path: self.read(dialog, path), is_save=False)
        elif action == "export":
            self._ask_file(dialog, tr("Export presets"), lambda path: self.write(dialog, path), is_save=True)
        elif preset is not None and action == "rename":
            self._ask_name(dialog, tr("Rename preset"), preset.name, lambda name: self.rename(dialog, preset, name))
        elif preset is not None and action == "delete":
            question = tr("Delete the preset “{name}”?").format(name=preset.name)
            words = tr("Conversations that took it over keep its settings.")
            Question(dialog, question, words, tr("Delete")).ask(lambda: self.delete(dialog, preset), lambda: None)

    def _ask_name(self, dialog: ConversationDialog, title: str, name: str, then: Callable[[str], None]) -> None:
        ask = QInputDialog(dialog)
        ask.setWindowTitle(title)
        ask.setLabelText(tr("Name of the preset"))
        ask.setTextValue(name)
        ask.textValueSelected.connect(then)
        ask.finished.connect(ask.deleteLater)
        ask.open()

    def _ask_file(self, dialog: ConversationDialog, title: str, then: Callable[[Path], None], *, is_save: bool) -> None:
        ask = QFileDialog(dialog, title, FILE_NAME if is_save else "")
        ask.setNameFilters([_FILTER, tr("All files (*)")])
        if is_save:
            ask.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            ask.setDefaultSuffix("json")
        else:
            ask.setFileMode(QFileDialog.FileMode.ExistingFile)
        ask.fileSelected.connect(lambda name: then(Path(name)))
        ask.finished.connect(ask.deleteLater)
        ask.open()

    # --- doing it -------------------------------------------------------------------------------------

    def save(self, dialog: ConversationDialog, name: str, settings: ConversationSettings) -> None:
        """Keep settings under a name; a preset of that name is replaced only after asking."""
        name = " ".join(name.split())[:PRESET_NAME_LENGTH]
        present = next((preset for preset in self.all() if preset.name.casefold() == name.casefold()), None)
        if present is not None and present.settings != settings:
            question = tr("Replace the preset “{name}”?").format(name=present.name)
            Question(dialog, question, tr("Its settings are lost then."), tr("Replace")).ask(
                lambda: self._keep(dialog, name, settings), lambda: None
            )
        else:
            self._keep(dialog, name, settings)

    def _keep(self, dialog: ConversationDialog, name: str, settings: ConversationSettings) -> None:
        def save() -> str:
            self._stored.save(name, settings)
            return tr("Saved as “{name}”.").format(name=name)

        self._do(dialog, save)

    def rename(self, dialog: ConversationDialog, preset: Preset, name: str) -> None:
        """Give a preset another name."""
        self._do(dialog, lambda: self._stored.rename(preset.id, name))

    def delete(self, dialog: ConversationDialog, preset: Preset) -> None:
        """Delete a preset."""

        def delete() -> str:
            self._stored.delete(preset.id)
            return tr("The preset “{name}” was deleted.").format(name=preset.name)

        self._do(dialog, delete)

    def read(self, dialog: ConversationDialog, path: Path) -> None:
        """Add the presets of a file."""
        try:
            found = presets_from_json(read_named(path, _MOST_FILE_BYTES))
        except SlipstreamError as fault:
            dialog.say(fault_words(fault))
        except OSError as fault:
            dialog.say(
                tr("{name} cannot be read: {strerror}.").format(name=path.name, strerror=said(fault.strerror or ""))
            )
        else:
            self._do(dialog, lambda: tr("%n preset(s) (was|were) added.", None, len(self._stored.add(found))))

    def write(self, dialog: ConversationDialog, path: Path) -> None:
        """Write all presets to a file."""
        try:
            write_whole(path, presets_json(self.all()))
        except SlipstreamError as fault:
            dialog.say(fault_words(fault))
        else:
            dialog.say(tr("Exported to {path}.").format(path=path))

    def _do(self, dialog: ConversationDialog, work: Callable[[], str | None]) -> None:
        """Do something and say what it says, or why it could not be done."""
        try:
            words = work() or ""
        except StoreError as fault:
            words = fault_words(fault)
        self.forget()
        dialog.say(words)
