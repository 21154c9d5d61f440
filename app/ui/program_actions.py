"""What can be done with the program as a whole, for the window's list of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.ui.actions import WindowAction
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow
    from app.ui.updates import UpdatesControl


class ProgramActions(QObject):
    """Says what the program can do, and tells about it."""

    def __init__(self, window: MainWindow, updates: UpdatesControl) -> None:
        super().__init__(window)
        self._window, self._updates = window, updates
        window.action_list.add(
            WindowAction("program.update", tr("Look for a newer version…"), updates.open, "program", also=tr("update")),
            WindowAction("program.about", tr("About Slipstream"), self.about, "program", also=tr("version")),
            WindowAction("program.quit", tr("Quit"), window.close, "program", ("Ctrl+Q",), also=tr("exit close")),
        )

    def about(self) -> None:
        """Say what this is, where it keeps things, and what it is made of."""
        from app.ui.about import AboutDialog

        dialog = AboutDialog(self._window)
        dialog.updates_wanted.connect(self._updates.open)
        dialog.open()
