"""The model manager: a window of its own with three tabs, beside the conversation and never in its way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QHideEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QSplitter, QTabWidget, QVBoxLayout, QWidget

from app.ui.dialog_size import fit
from app.ui.discover import DiscoverTab
from app.ui.downloads import DownloadsTab
from app.ui.library_tab import LibraryTab
from app.ui.local_keys import MODELS_WINDOW
from app.ui.main_window import window_geometry
from app.ui.notice import NoticeBar
from app.ui.remembered import state_in
from app.ui.theme import GRID
from app.ui.tr import tr

SIZE = (1040, 680)
DISCOVER, LIBRARY, DOWNLOADS = range(3)


class ModelManager(QDialog):
    """Discover, Library, Downloads."""

    closed = Signal()
    tab_changed = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Models"))
        fit(self, *SIZE)
        self.discover, self.library, self.downloads = DiscoverTab(), LibraryTab(), DownloadsTab()
        self.notice = NoticeBar()
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.setAccessibleName(tr("Models"))
        self.tabs.addTab(self.discover, tr("&Discover"))
        self.tabs.addTab(self.library, tr("L&ibrary"))
        self.tabs.addTab(self.downloads, tr("Do&wnloads"))
        self.tabs.currentChanged.connect(self.tab_changed)
        self._geometry = window_geometry()
        self._restore()
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(self.tabs, 1)
        column.addWidget(self.notice)
        do: list[Callable[[], None]] = [partial(self.go_to, tab) for tab in (DISCOVER, LIBRARY, DOWNLOADS)]
        for (keys, _words), action in zip(MODELS_WINDOW, (*do, self.search), strict=True):
            QShortcut(QKeySequence(keys), self, action)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave Enter to what has the focus: no button is the default one. Escape closes."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def go_to(self, tab: int) -> None:
        """Show a tab, with the focus where the work begins."""
        self.tabs.setCurrentIndex(tab)
        if tab == DISCOVER:
            self.discover.tree.setFocus()
        elif tab == LIBRARY:
            self.library.tree.setFocus()
        elif self.downloads.rows:
            self.downloads.go_to(next(reversed(self.downloads.rows)))

    def search(self) -> None:
        """Go to the search field."""
        self.tabs.setCurrentIndex(DISCOVER)
        self.discover.entry.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.discover.entry.selectAll()

    def note_running(self, n_running: int) -> None:
        """Say how many downloads are on their way."""
        self.tabs.setTabText(
            DOWNLOADS, tr("Do&wnloads ({n_running})").format(n_running=n_running) if n_running else tr("Do&wnloads")
        )

    def hideEvent(self, event: QHideEvent) -> None:
        """Remember size and splits."""
        super().hideEvent(event)
        self._geometry.setValue("models/window", self.saveGeometry())
        for name, split in self._splits():
            self._geometry.setValue(f"models/{name}", split.saveState())
        self._geometry.sync()

    def _restore(self) -> None:
        self.restoreGeometry(state_in(self._geometry, "models/window"))
        for name, split in self._splits():
            split.restoreState(state_in(self._geometry, f"models/{name}"))

    def _splits(self) -> tuple[tuple[str, QSplitter], ...]:
        return ("discover", self.discover.split), ("library", self.library.split)

    def reject(self) -> None:
        """Escape and the frame's button: downloads go on."""
        super().reject()
        self.closed.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Treat the frame's button as Escape."""
        super().closeEvent(event)
        self.closed.emit()
