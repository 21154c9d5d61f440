"""The program's settings: the dialog about them, and what a change of one does at once, wherever it came from."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.errors import SlipstreamError
from app.models.hub_place import checked_endpoint
from app.settings import MAX_FONT_EXTRA_PT, MIN_FONT_EXTRA_PT, Settings
from app.ui import motion
from app.ui.actions import WindowAction
from app.ui.font_size import choose_font_size
from app.ui.formula_pictures import formula_pictures
from app.ui.latest import Latest
from app.ui.said import fault_words
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.host.hub_door import HubDoor
    from app.ui.choices import Choices
    from app.ui.data_control import DataControl
    from app.ui.main_window import MainWindow
    from app.ui.setting_fields import Page
    from app.ui.settings_dialog import SettingsDialog
    from app.ui.theme import ThemeSwitch


class SettingsControl(QObject):
    """Between the dialog on one side, settings and what they are about on the other."""

    def __init__(
        self, window: MainWindow, theme: ThemeSwitch, choices: Choices, door: HubDoor, data: DataControl
    ) -> None:
        super().__init__(window)
        self._window, self._theme, self._choices, self._door, self._data = window, theme, choices, door, data
        self._asking = Latest()
        self.dialog: SettingsDialog | None = None
        choices.watch(self.on_changed)
        self._apply(choices.settings)
        window.action_list.add(
            WindowAction(
                "program.settings", tr("Settings…"), self.open, "program", ("Ctrl+,",), also=tr("preferences options")
            ),
            WindowAction(
                "view.larger", tr("Larger font"), lambda: self.zoom(1), "view", ("Ctrl++", "Ctrl+="), in_menu=False
            ),
            WindowAction("view.smaller", tr("Smaller font"), lambda: self.zoom(-1), "view", ("Ctrl+-",), in_menu=False),
            WindowAction("view.usual", tr("Usual font size"), lambda: self.zoom(0), "view", ("Ctrl+0",), in_menu=False),
        )

    async def close(self) -> None:
        """Stop asking the hub, and close the dialog."""
        await self._asking.close()
        await asyncio.to_thread(formula_pictures().close())
        if self.dialog is not None:
            self.dialog.close()

    # --- the dialog -----------------------------------------------------------------------------------

    def open(self, page: Page = "appearance") -> None:
        """Show the settings."""
        from app.ui.settings_dialog import SettingsDialog

        if self.dialog is None:
            dialog = self.dialog = SettingsDialog(self._window)
            dialog.chosen.connect(self.on_chosen)
            dialog.reset_requested.connect(self.on_reset)
            dialog.models_folder_requested.connect(lambda: self._window.action_list.run("models.folder"))
            dialog.devices_requested.connect(lambda: self._window.action_list.run("models.devices"))
            dialog.token.token_given.connect(lambda token, _repo: self._asking.run(self._give(token)))
            dialog.token.forget_requested.connect(lambda: self._asking.run(self._forget()))
            dialog.data.asked.connect(self._data.do)
            dialog.data.where.setText(self._data.where())
            dialog.finished.connect(self.on_finished)
            dialog.show_settings(self._choices.settings)
            dialog.open()
        self.dialog.go_to(page)

    def on_finished(self) -> None:
        """Let go of the dialog."""
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    def on_chosen(self, name: str, value: object) -> None:
        """Take one setting, unless it is an address that is none."""
        if name == "hub_endpoint" and value and self.dialog is not None:
            try:
                value = checked_endpoint(str(value), "This")
            except SlipstreamError as fault:
                self.dialog.rows[name].show_fault(f"{fault_words(fault)}.")
                return
        self._choices.change(**{name: value})
        if self.dialog is not None:
            self.dialog.rows[name].show_value(value)

    def on_reset(self, names: tuple[str, ...]) -> None:
        """Take settings back to what they were in the beginning."""
        defaults = Settings()
        self._choices.change(**{name: getattr(defaults, name) for name in names})

    async def _give(self, token: str) -> None:
        try:
            words = await self._door.give_token(token)
        except SlipstreamError as fault:
            words = fault_words(fault)
        self._say_of_token(words)

    async def _forget(self) -> None:
        try:
            await self._door.forget_token()
        except SlipstreamError as fault:
            self._say_of_token(fault_words(fault))
        else:
            self._say_of_token(tr("The token is not kept here any more."))

    def _say_of_token(self, words: str) -> None:
        if self.dialog is not None:
            self.dialog.token.show_answer(words)

    # --- effects --------------------------------------------------------------------------------------

    def zoom(self, step: int) -> None:
        """Make all texts larger or smaller by a point; 0: as large as the system's."""
        wanted = self._choices.settings.font_extra_pt + step if step else 0
        self._choices.change(font_extra_pt=min(max(wanted, MIN_FONT_EXTRA_PT), MAX_FONT_EXTRA_PT))

    def on_changed(self, before: Settings, after: Settings) -> None:
        """Let a change take effect."""
        self._apply(after, before)
        if (before.font_extra_pt, before.formula_sources) != (after.font_extra_pt, after.formula_sources):
            self._window.transcript.rebuild()
        if before.token_colours != after.token_colours:
            self._window.transcript.show_tokens(is_on=after.token_colours)
        if (before.hub_endpoint, before.offline) != (after.hub_endpoint, after.offline):
            self._door.look_again()
        if self.dialog is not None:
            self.dialog.show_settings(after)

    def _apply(self, chosen: Settings, before: Settings | None = None) -> None:
        if before is None or (before.theme, before.contrast) != (chosen.theme, chosen.contrast):
            self._theme.choose(chosen.theme, chosen.contrast)  # has every widget drawn anew
        choose_font_size(chosen.font_extra_pt)
        motion.choose(chosen.motion)
        formula_pictures().choose(is_on=not chosen.formula_sources)
        self._window.composer.let_enter_send(is_on=chosen.enter_sends)
