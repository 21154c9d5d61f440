"""The menu behind the three dots: what the window's list of actions says, as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from app.ui.actions import GROUPS, WindowAction
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow


class WindowMenu(QObject):
    """Builds the menu whenever it is asked for."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        window.pair_bar.menu_requested.connect(self.pop_up)
        window.action_list.add(WindowAction("menu.open", tr("Menu"), self.pop_up, "program", ("Alt+M",), in_menu=False))

    def pop_up(self) -> None:
        """Show the menu below its button."""
        button = self._window.pair_bar.menu_button
        menu = self.make()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def make(self) -> QMenu:
        """Build the menu, a section a group; what has a submenu goes there."""
        menu = QMenu(self._window)
        offered = [action for action in self._window.action_list.offered() if action.in_menu]
        for group in GROUPS:
            rows = [action for action in offered if action.group == group]
            if rows and menu.actions():
                menu.addSeparator()
            places: dict[str, tuple[QMenu, QActionGroup]] = {}
            for action in rows:
                if not action.submenu:
                    menu.addAction(self._entry(action, menu))
                    continue
                if action.submenu not in places:
                    places[action.submenu] = (menu.addMenu(action.submenu), QActionGroup(menu))
                place, choices = places[action.submenu]
                entry = self._entry(action, place)
                if action.is_on is not None:
                    choices.addAction(entry)
                place.addAction(entry)
        return menu

    def _entry(self, action: WindowAction, menu: QMenu) -> QAction:
        entry = QAction(action.choice or action.words, menu)
        if action.keys:
            entry.setShortcut(QKeySequence(action.keys[0]))
            entry.setShortcutVisibleInContextMenu(True)
        if action.is_on is not None:
            entry.setCheckable(True)
            entry.setChecked(action.is_on())
        entry.triggered.connect(lambda: self._window.action_list.run(action.name))
        return entry
