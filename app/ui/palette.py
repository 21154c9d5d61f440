"""The command palette and the list of shortcuts: every action of the window by name, found as one types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout

from app.ui.actions import GROUPS, WindowAction, keys_words
from app.ui.dialog_size import fit
from app.ui.finder import Finder, Found
from app.ui.theme import GRID, named
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.actions import ActionList
    from app.ui.main_window import MainWindow

_WIDTH_PX, _HEIGHT_PX = 560, 420
_SHORTCUTS_PX = 620


class PaletteControl(QObject):
    """Opens the palette and the list of shortcuts, and does what is picked."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._actions = window, window.action_list
        self.dialog: FinderDialog | None = None
        self._actions.add(
            WindowAction(
                "palette.open", tr("All actions…"), self.open, "program", ("Ctrl+Shift+P",), also=tr("command palette")
            ),
            WindowAction(
                "shortcuts.open",
                tr("Keyboard shortcuts…"),
                self.open_shortcuts,
                "program",
                ("F1",),
                also=tr("keys help"),
            ),
        )

    def open(self) -> None:
        """Show all that can be done now; what was picked lately comes first."""
        dialog = FinderDialog(
            self._window, tr("All actions"), tr("Type what you want to do"), tr("Enter does it, Esc closes.")
        )
        self._show(dialog, rows_of(self._actions))

    def open_shortcuts(self) -> None:
        """Show every key that does something, and where."""
        dialog = FinderDialog(
            self._window,
            tr("Keyboard shortcuts"),
            tr("Find a key or an action"),
            tr("Enter does what works anywhere."),
        )
        fit(dialog, _SHORTCUTS_PX, _SHORTCUTS_PX)  # before it is shown, or it stands too low
        self._show(dialog, keys_of(self._actions))

    def _show(self, dialog: FinderDialog, rows: list[Found]) -> None:
        if self.dialog is not None:
            self.dialog.reject()
        self.dialog = dialog
        dialog.finder.picked.connect(self.on_picked)
        dialog.finished.connect(self.on_finished)
        dialog.open()
        dialog.finder.setFocus(Qt.FocusReason.PopupFocusReason)
        dialog.finder.show_rows(rows)

    def on_picked(self, name: str) -> None:
        """Close, and then do it: it may open something of its own."""
        if self.dialog is not None and self._actions.find(name) is not None:
            self.dialog.accept()
            QTimer.singleShot(0, self, lambda: self._actions.pick(name))

    def on_finished(self) -> None:
        """Let go of what was shown."""
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None


class FinderDialog(QDialog):
    """A field, the list below it, and a line about the keys."""

    def __init__(self, window: MainWindow, title: str, hint: str, help_words: str) -> None:
        super().__init__(window)
        self.setWindowTitle(title)
        self.finder = Finder(hint, title)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        for button in buttons.buttons():
            button.setAutoDefault(False)  # type: ignore[attr-defined]
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addWidget(self.finder, 1)
        column.addWidget(named(QLabel(help_words), "muted"))
        column.addWidget(buttons)
        fit(self, _WIDTH_PX, _HEIGHT_PX)


def rows_of(actions: ActionList) -> list[Found]:
    """Return all that can be done now, for the palette: what was picked lately, then by groups."""
    recent = {name: number for number, name in enumerate(actions.recent)}
    offered = [action for action in actions.offered() if action.name != "palette.open"]
    order = {group: number for number, group in enumerate(GROUPS)}
    offered.sort(key=lambda action: (recent.get(action.name, len(recent)), order[action.group]))
    return [_row(action, tr("Recent") if action.name in recent else GROUPS[action.group]) for action in offered]


def _row(action: WindowAction, place: str) -> Found:
    is_on = action.is_on is not None and action.is_on()
    words = tr("{words} (on)").format(words=action.words) if is_on else action.words
    return Found(action.name, words, keys_words(action.keys), place, f"{action.also} {GROUPS[action.group]}")


def keys_of(actions: ActionList) -> list[Found]:
    """Return every key there is, those that work anywhere first."""
    anywhere = [action for action in actions.all() if action.keys]
    order = {group: number for number, group in enumerate(GROUPS)}
    anywhere.sort(key=lambda action: order[action.group])
    between = f" {tr('or')} "
    rows = [Found(a.name, a.words, between.join(map(keys_words, a.keys)), GROUPS[a.group], a.also) for a in anywhere]
    return rows + [Found("", key.words, keys_words(key.keys), key.where) for key in actions.local_keys]
