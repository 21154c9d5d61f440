"""The start of the window: look for a screen, become the one instance, paint, and only then load the rest."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.ui.display import require_display, show_qt_its_plugins

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.ui.main_window import MainWindow
    from app.ui.restoring import Said
    from app.ui.theme import ThemeSwitch


IDENTITY = "Slipstream.Slipstream"
"""What Windows groups windows by on its task bar; the installer's shortcuts have the same."""

_NO_PAINTERS = "QT_NO_GUI_THREADPOOL"
"""Set before anything is painted, it has Qt paint on the window's thread alone. Else Qt shares the work with other
threads and waits for them, and they wait for a core where the engine computes with all of them."""


def main(files: Sequence[str] = ()) -> int:
    """Open the window and run until it is closed; return the exit code.

    Args:
        files: model files that were opened with the program; the window that is there already takes them.

    Raises:
        NoDisplayError: there is no screen.
    """
    require_display()
    from PySide6.QtCore import QTimer

    from app.paths import data_dir
    from app.ui.one_instance import OneInstance

    _take_identity()
    app = make_application()
    use_language(app)
    instance = OneInstance(data_dir())
    paths = [Path(name).absolute() for name in files]
    if instance.give_way(paths):
        return 0
    QTimer.singleShot(0, instance.listen)
    said: Said | None = None
    try:
        while True:
            theme, window = open_window(app)
            window.wanted_files, paths = paths, []
            instance.raise_requested.connect(window.come_to_front)
            instance.files_given.connect(window.files_given)
            wanted = _run(app, window, theme, said)
            instance.raise_requested.disconnect(window.come_to_front)
            instance.files_given.disconnect(window.files_given)
            if wanted is None:
                return 0
            theme.deleteLater()
            window.deleteLater()
            said = _restore(app, wanted)
            del theme, window
            gc.collect()  # else what is left of them stays with what the next window finds there
    finally:
        instance.release()


def _take_identity() -> None:
    """Be Slipstream on the task bar of Windows, not the interpreter that runs it."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID(IDENTITY)


def make_application() -> QApplication:
    """Make the one QApplication; from here on garbage is collected on its thread only, to the end of the program."""
    from PySide6.QtWidgets import QApplication

    from app.ui.garbage import WindowGarbage

    show_qt_its_plugins()
    os.environ.setdefault(_NO_PAINTERS, "1")
    app = QApplication(sys.argv[:1])
    app.setApplicationName("Slipstream")
    app.setDesktopFileName("slipstream")
    app.setQuitOnLastWindowClosed(False)
    WindowGarbage(app).start()
    return app


def use_language(app: QApplication) -> None:
    """Put in the texts of the wanted language, before the modules that hold texts are imported."""
    from app.ui.language import install_language

    install_language(app)


def open_window(app: QApplication) -> tuple[ThemeSwitch, MainWindow]:
    """Show the window and return when it has been painted."""
    from PySide6.QtCore import QEventLoop

    from app.ui.font_size import choose_font_size
    from app.ui.main_window import (
        MainWindow,
        remembered_contrast,
        remembered_font_extra_pt,
        remembered_theme,
        window_geometry,
    )
    from app.ui.theme import ThemeSwitch

    geometry = window_geometry()
    theme = ThemeSwitch(app)
    theme.choose(remembered_theme(geometry), remembered_contrast(geometry))
    choose_font_size(remembered_font_extra_pt(geometry))
    window = MainWindow(geometry)
    window.show()
    while not window.is_painted:
        app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    return theme, window


def _run(app: QApplication, window: MainWindow, theme: ThemeSwitch, said: Said | None) -> Path | None:
    """Run the program until its window is closed; return the backup that is to be restored, if one is."""
    window.build()
    import qasync

    from app.ui.controller import run

    loop = qasync.QEventLoop(app)
    with loop:
        wanted: Path | None = loop.run_until_complete(run(window, theme, said))
    return wanted


def _restore(app: QApplication, path: Path) -> Said:
    import qasync

    from app.ui.restoring import restore

    with qasync.QEventLoop(app) as loop:
        said: Said = loop.run_until_complete(restore(path))
    return said
