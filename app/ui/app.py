"""The start of the window: look for a screen, become the one instance, paint, and only then load the rest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from app.ui.display import require_display

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.ui.main_window import MainWindow
    from app.ui.theme import ThemeSwitch


def main() -> int:
    """Open the window and run until it is closed; return the exit code.

    Raises:
        NoDisplayError: there is no screen.
    """
    require_display()
    from PySide6.QtCore import QTimer

    from app.paths import data_dir
    from app.ui.one_instance import OneInstance

    app = make_application()
    instance = OneInstance(data_dir())
    if not instance.claim() and instance.call():
        return 0
    theme, window = open_window(app)
    instance.raise_requested.connect(window.come_to_front)
    QTimer.singleShot(0, instance.listen)
    try:
        _run(app, window, theme)
    finally:
        instance.release()
    return 0


def make_application() -> QApplication:
    """Make the one QApplication."""
    from PySide6.QtWidgets import QApplication

    app = QApplication(sys.argv[:1])
    app.setApplicationName("Slipstream")
    app.setDesktopFileName("slipstream")
    app.setQuitOnLastWindowClosed(False)
    return app


def open_window(app: QApplication) -> tuple[ThemeSwitch, MainWindow]:
    """Show the window and return when it has been painted."""
    from PySide6.QtCore import QEventLoop

    from app.ui.main_window import MainWindow, remembered_theme, window_geometry
    from app.ui.theme import ThemeSwitch

    geometry = window_geometry()
    theme = ThemeSwitch(app)
    theme.choose(remembered_theme(geometry))
    window = MainWindow(geometry)
    window.show()
    while not window.is_painted:
        app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    return theme, window


def _run(app: QApplication, window: MainWindow, theme: ThemeSwitch) -> None:
    window.build()
    import qasync

    from app.ui.controller import run

    loop = qasync.QEventLoop(app)
    with loop:
        loop.run_until_complete(run(window, theme))
