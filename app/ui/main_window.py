"""The window: conversations | pair bar, transcript, composer | speed panel.

It builds the parts, remembers their sizes, and knows the shortcuts. What they mean is the controllers' business.
Nothing in here, or in what it imports, loads asyncio, msgspec, numpy or a network library: the first paint is fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QIcon, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMainWindow, QSplitter, QVBoxLayout, QWidget

from app.paths import config_dir, resource
from app.ui.composer import Composer
from app.ui.notice import NoticeBar
from app.ui.pair_bar import PairBar
from app.ui.sidebar import Sidebar
from app.ui.speed_panel import SpeedPanel
from app.ui.style import style_sheet
from app.ui.theme import GRID, colours, follow, named, text_font
from app.ui.transcript import TEXT_WIDTH_PX, Transcript

if TYPE_CHECKING:
    from app.settings import Theme

FIRST_SIZE = QSize(1180, 760)
LEAST_SIZE = QSize(560, 420)
NARROW_PX = 960
"""A first window narrower than this starts without the conversation list."""

_SIDEBAR_PX, _PANEL_PX = 220, 300


def window_geometry() -> QSettings:
    """Open the file that remembers how the last window looked."""
    return QSettings(str(config_dir() / "window.ini"), QSettings.Format.IniFormat)


def remembered_theme(geometry: QSettings) -> Theme:
    """Return the colours of the last window: the settings are read after the first paint, which should not flash."""
    is_dark = geometry.value("dark")
    return "system" if is_dark is None else "dark" if is_dark in (True, "true") else "light"


class MainWindow(QMainWindow):
    """The one window of the program."""

    painted = Signal()
    close_requested = Signal()

    def __init__(self, geometry: QSettings | None = None) -> None:
        super().__init__()
        self._geometry = geometry or window_geometry()
        self._may_close = False
        self.is_painted = False
        self.setWindowTitle("Slipstream")
        self.setWindowIcon(QIcon(str(resource("icons", "app.svg"))))
        self.setMinimumSize(LEAST_SIZE)
        self.sidebar = Sidebar()
        self.pair_bar = PairBar()
        self.notice = NoticeBar()
        self.transcript = Transcript()
        self.composer = Composer()
        self.panel = SpeedPanel()
        self._status = named(QLabel(), "status")
        self._status.setFont(text_font(-0.5))
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._build()
        self._restore()
        follow(self.restyle)
        self.pair_bar.sidebar_toggled.connect(self.toggle_sidebar)
        self.pair_bar.panel_toggled.connect(self.toggle_panel)

    def _build(self) -> None:
        foot = QWidget(maximumWidth=TEXT_WIDTH_PX + 2 * GRID)
        lower = QVBoxLayout(foot)
        lower.setContentsMargins(GRID, 0, GRID, GRID // 2)
        lower.setSpacing(GRID // 2)
        lower.addWidget(self.notice)
        lower.addWidget(self.composer)
        lower.addWidget(self._status)
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.pair_bar)
        column.addWidget(self.transcript, 1)
        row = QHBoxLayout()
        row.setContentsMargins(GRID, 0, GRID, 0)
        row.addWidget(foot)
        column.addLayout(row)
        for part in (self.sidebar, centre, self.panel):
            self._splitter.addWidget(part)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setCollapsible(1, False)
        self._splitter.setHandleWidth(1)
        self.sidebar.setMinimumWidth(160)
        self.panel.setMinimumWidth(210)
        centre.setMinimumWidth(320)
        self.setCentralWidget(self._splitter)
        self.show_status("Starting…")

    # --- words ----------------------------------------------------------------------------------------

    def show_status(self, words: str) -> None:
        """Say in one line, below the composer, what the program is doing."""
        self._status.setText(words)
        self._status.setAccessibleName(f"State: {words}")

    @property
    def status(self) -> str:
        """What is said below the composer."""
        return str(self._status.text())

    def show_title(self, title: str) -> None:
        """Name the open conversation in the window's frame."""
        self.setWindowTitle(f"{title} – Slipstream" if title else "Slipstream")

    def restyle(self) -> None:
        """Put on the style sheet of the present colours."""
        self.setStyleSheet(style_sheet(colours()))

    # --- parts ----------------------------------------------------------------------------------------

    def add_shortcut(self, keys: str, action: Callable[[], object]) -> None:
        """Let keys do something anywhere in the window."""
        QShortcut(QKeySequence(keys), self, action)

    def toggle_sidebar(self) -> None:
        """Show or hide the conversations."""
        self.sidebar.setVisible(self.sidebar.isHidden())

    def toggle_panel(self) -> None:
        """Show or hide the speed panel."""
        self.panel.setVisible(self.panel.isHidden())

    def come_to_front(self) -> None:
        """Show the window above others: somebody started the program once more."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    # --- geometry -------------------------------------------------------------------------------------

    def save_geometry(self) -> None:
        """Remember size, place and split."""
        self._geometry.setValue("window", self.saveGeometry())
        self._geometry.setValue("splitter", self._splitter.saveState())
        self._geometry.setValue("sidebar", not self.sidebar.isHidden())
        self._geometry.setValue("panel", not self.panel.isHidden())
        self._geometry.setValue("dark", colours().is_dark)
        self._geometry.sync()

    def _restore(self) -> None:
        room = self.screen().availableGeometry().size()
        self.resize(FIRST_SIZE.boundedTo(room))
        self._splitter.setSizes([_SIDEBAR_PX, self.width() - _SIDEBAR_PX - _PANEL_PX, _PANEL_PX])
        if self._geometry.contains("window"):
            self.restoreGeometry(self._geometry.value("window"))
            self._splitter.restoreState(self._geometry.value("splitter"))
            self.sidebar.setVisible(bool(self._geometry.value("sidebar", defaultValue=True, type=bool)))
            self.panel.setVisible(bool(self._geometry.value("panel", defaultValue=True, type=bool)))
        elif self.width() < NARROW_PX:
            self.sidebar.hide()

    # --- Qt -------------------------------------------------------------------------------------------

    def allow_close(self) -> None:
        """Let the window close: everything is saved and ended."""
        self._may_close = True

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask for the end of the program; the window goes when that has come."""
        self.save_geometry()
        if self._may_close:
            event.accept()
        else:
            event.ignore()
            self.close_requested.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Note that the window can be seen, and tell once."""
        super().paintEvent(event)
        if not self.is_painted:
            self.is_painted = True
            self.painted.emit()
