"""The button below the composer that names the conversation's settings and offers presets."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.chat.chat_settings import Preset
from app.ui.theme import colours, follow, icon, text_font
from app.ui.tr import tr

AS_PROGRAM = tr("Default settings")
OPEN = tr("Conversation settings…")
_ICON_PX = 14
_MOST_CHARS = 28


def settings_words(name: str, n_changed: int) -> str:
    """Name the settings of a conversation: a preset's name, how many differ from the program's, or that none does."""
    if name:
        return name if len(name) <= _MOST_CHARS else name[: _MOST_CHARS - 1] + "…"
    if not n_changed:
        return AS_PROGRAM
    return tr("%n setting(s) changed", None, n_changed)


class SettingsButton(QToolButton):
    """Says what holds for this conversation; its menu has the presets and the way to all settings."""

    preset_chosen = Signal(int)  # 0: the program's settings
    settings_requested = Signal()
    filling = Signal()  # the menu is about to be shown: offer what there is

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoRaise(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setIconSize(QSize(_ICON_PX, _ICON_PX))
        self.setFont(text_font(-1.0))
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self.filling)
        self.setMenu(self._menu)
        self.show_settings("", 0)
        follow(self._tint)

    def show_settings(self, name: str, n_changed: int) -> None:
        """Say what holds: a preset's name, or how many settings differ from the program's."""
        words = settings_words(name, n_changed)
        self.setText(words)
        said = tr("Settings of this conversation: {name}").format(name=name or words)
        self.setToolTip(said)
        self.setAccessibleName(said)

    def offer(self, presets: Sequence[Preset], chosen: int | None) -> None:
        """Fill the menu."""
        self._menu.clear()
        group = QActionGroup(self._menu)
        for number, name in ((0, AS_PROGRAM), *((preset.id, preset.name) for preset in presets)):
            action = QAction(name.replace("&", "&&"), group, checkable=True)
            action.setChecked(number == chosen)
            action.triggered.connect(lambda _checked=False, n=number: self.preset_chosen.emit(n))
            self._menu.addAction(action)
        self._menu.addSeparator()
        action = QAction(OPEN, self._menu)
        action.triggered.connect(lambda: self.settings_requested.emit())
        self._menu.addAction(action)

    def _tint(self) -> None:
        self.setIcon(icon("options", colours().muted, _ICON_PX))
