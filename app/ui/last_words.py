"""Why the program cannot start, in a window: who started it from a menu has no terminal to read it on."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from app.errors import NoDisplayError
from app.ui.app import make_application
from app.ui.display import require_display


def show(message: str, hint: str) -> None:
    """Show it until it has been read; nothing where there is no screen."""
    try:
        require_display()
    except NoDisplayError:
        return
    _application = QApplication.instance() or make_application()  # held while the window is shown
    if QGuiApplication.platformName() in ("offscreen", "minimal"):
        return
    box(message, hint).exec()


def box(message: str, hint: str) -> QMessageBox:
    """Return the message with its hint."""
    made = QMessageBox(QMessageBox.Icon.Critical, "Slipstream", message, QMessageBox.StandardButton.Close)
    made.setInformativeText(hint)
    return made
