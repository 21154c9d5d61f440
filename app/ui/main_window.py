"""The window: conversations | pair bar, transcript, composer | speed panel.

It is shown before it is furnished: the frame paints in the right place, size and colours while little more than Qt is
loaded, and :meth:`MainWindow.build` puts the parts in right after that. What they mean is the controllers' business.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, QSize, Qt, Signal
from PySide6.QtWidgets import QMainWindow

from app.paths import config_dir
from app.ui.dialog_size import FRAME
from app.ui.font_size import font_bus, font_extra_pt, font_scale
from app.ui.remembered import state_in
from app.ui.theme import colours, follow
from app.ui.tr import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QPaintEvent, QResizeEvent
    from PySide6.QtWidgets import QLabel, QSplitter, QWidget

    from app.settings import Contrast, Theme
    from app.ui.actions import ActionList
    from app.ui.composer import Composer
    from app.ui.notice import NoticeBar
    from app.ui.pair_bar import PairBar
    from app.ui.sidebar import Sidebar
    from app.ui.speed_panel import SpeedPanel
    from app.ui.transcript import Transcript

FIRST_SIZE = QSize(1180, 760)
LEAST_SIZE = QSize(560, 420)
NARROW_PX = 960
"""A first window narrower than this starts without the conversation list."""

_SIDEBAR_PX, _PANEL_PX = 220, 300
_LEAST_SIDEBAR_PX, _LEAST_PANEL_PX, _LEAST_CENTRE_PX = 160, 224, 320
"""With texts of the system's size."""

_MOST_EXTRA_PT = 30.0
_MOST_DIGITS = 19


def window_geometry() -> QSettings:
    """Open the file that remembers how the last window looked."""
    return QSettings(str(config_dir() / "window.ini"), QSettings.Format.IniFormat)


def remembered_theme(geometry: QSettings) -> Theme:
    """Return the colours of the last window: the settings are read after the first paint, which should not flash."""
    is_dark = geometry.value("dark")
    return "system" if is_dark is None else "dark" if is_dark in (True, "true") else "light"


def remembered_contrast(geometry: QSettings) -> Contrast:
    """Return whether the last window's contrast was high."""
    return "high" if geometry.value("high_contrast") in (True, "true") else "normal"


def remembered_font_extra_pt(geometry: QSettings) -> float:
    """Return by how many points the last window's texts were larger than the system's."""
    try:
        extra_pt = float(str(geometry.value("font_extra_pt", 0.0)))
    except ValueError:
        return 0.0
    return extra_pt if abs(extra_pt) < _MOST_EXTRA_PT else 0.0


class MainWindow(QMainWindow):
    """The one window of the program.

    Attributes:
        wanted_files: model files that the program was started with.
        sidebar, pair_bar, notice, transcript, composer, panel: the parts, there after :meth:`build`.
        action_list: what can be done in the window, by name; there after :meth:`build`, filled by who can do it.
    """

    close_requested = Signal()
    files_given = Signal(list)  # model files that were opened with the program while it runs
    fault_happened = Signal(object)  # an exception that nobody caught, or None

    action_list: ActionList
    sidebar: Sidebar
    pair_bar: PairBar
    notice: NoticeBar
    transcript: Transcript
    composer: Composer
    panel: SpeedPanel
    _status: QLabel
    _chat: QWidget
    _splitter: QSplitter

    def __init__(self, geometry: QSettings | None = None) -> None:
        super().__init__()
        self._geometry = geometry or window_geometry()
        self._may_close = False
        self.is_painted = False
        self.is_close_requested = False
        self.wanted_files: Sequence[Path] = ()
        self.setWindowTitle("Slipstream")
        self.setMinimumSize(LEAST_SIZE)
        self.resize(FIRST_SIZE.boundedTo(self.screen().availableGeometry().size() - FRAME))
        self.restoreGeometry(state_in(self._geometry, "window"))

    # --- parts ----------------------------------------------------------------------------------------

    def build(self) -> None:
        """Make the parts and put them in their places; the imports are here so that the frame is shown first."""
        from PySide6.QtGui import QIcon
        from PySide6.QtWidgets import QSplitter

        from app.paths import resource
        from app.ui.actions import ActionList
        from app.ui.composer import Composer
        from app.ui.notice import NoticeBar
        from app.ui.pair_bar import PairBar
        from app.ui.side_parts import SideParts
        from app.ui.sidebar import Sidebar
        from app.ui.speed_panel import SpeedPanel
        from app.ui.transcript import Transcript

        self.setWindowIcon(QIcon(str(resource("icons", "app.svg"))))
        follow(self.restyle)
        self.action_list = ActionList(self, self._geometry)
        self.sidebar, self.pair_bar, self.panel = Sidebar(), PairBar(), SpeedPanel()
        self.notice, self.transcript, self.composer = NoticeBar(), Transcript(), Composer()
        centre = self._centre()
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        for part in (self.sidebar, centre, self.panel):
            self._splitter.addWidget(part)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setCollapsible(1, False)
        self._splitter.setHandleWidth(1)
        self._chat = centre
        self._side_parts = SideParts(self._splitter, self.panel, self.sidebar)
        self._restore_parts()
        self.fit_parts()
        font_bus().changed.connect(self.fit_parts)
        self.setCentralWidget(self._splitter)
        self.setTabOrder(self.pair_bar, self.transcript)
        self.setTabOrder(self.transcript, self.composer)
        self.setTabOrder(self.composer, self.panel)
        self.pair_bar.sidebar_toggled.connect(self.toggle_sidebar)
        self.pair_bar.panel_toggled.connect(self.toggle_panel)

    def _centre(self) -> QWidget:
        from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

        from app.ui.theme import GRID, named, text_font
        from app.ui.transcript import TEXT_WIDTH_PX

        self._status = named(QLabel(tr("Starting…"), wordWrap=True), "status")
        self._status.setTextFormat(Qt.TextFormat.PlainText)
        self._status.setFont(text_font(-0.5))
        foot = QWidget(maximumWidth=TEXT_WIDTH_PX + 2 * GRID)
        lower = QVBoxLayout(foot)
        lower.setContentsMargins(GRID, 0, GRID, GRID // 2)
        lower.setSpacing(GRID // 2)
        for part in (self.notice, self.composer, self._status):
            lower.addWidget(part)
        row = QHBoxLayout()
        row.setContentsMargins(GRID, 0, GRID, 0)
        row.addWidget(foot)
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.pair_bar)
        column.addWidget(self.transcript, 1)
        column.addLayout(row)
        return centre

    def fit_parts(self) -> None:
        """Let no part be narrower than its texts, and put away those that there is no room for."""
        self._chat.setMinimumWidth(min(round(_LEAST_CENTRE_PX * font_scale()), LEAST_SIZE.width()))
        self.sidebar.setMinimumWidth(round(_LEAST_SIDEBAR_PX * font_scale()))
        self.panel.setMinimumWidth(round(_LEAST_PANEL_PX * font_scale()))
        self._side_parts.fit(self.width())

    def enable_parts(self, *, is_on: bool) -> None:
        """Let the parts be used, or not: nobody is there yet who could do what is asked for. What is told stays."""
        for part in (self.sidebar, self.pair_bar, self.transcript, self.composer, self.panel):
            part.setEnabled(is_on)

    def toggle_sidebar(self) -> None:
        """Show or hide the conversations."""
        self._side_parts.toggle(self.sidebar, self.width())

    def toggle_panel(self) -> None:
        """Show or hide the speed panel."""
        self._side_parts.toggle(self.panel, self.width())

    def come_to_front(self) -> None:
        """Show the window above others: somebody started the program once more."""
        if self.isMinimized():
            self.showNormal()
        self.show()
        self.raise_()
        self.activateWindow()

    # --- words ----------------------------------------------------------------------------------------

    def show_status(self, words: str) -> None:
        """Say in one line, below the composer, what the program is doing."""
        self._status.setText(words)
        self._status.setAccessibleName(tr("State: {words}").format(words=words))

    @property
    def status(self) -> str:
        """What is said below the composer."""
        return str(self._status.text())

    def show_title(self, title: str) -> None:
        """Name the open conversation in the window's frame."""
        self.setWindowTitle(f"{title} – Slipstream" if title else "Slipstream")

    def restyle(self) -> None:
        """Put on the style sheet of the present colours."""
        from app.ui.style import style_sheet

        self.setStyleSheet(style_sheet(colours()))

    # --- geometry -------------------------------------------------------------------------------------

    def save_geometry(self) -> None:
        """Remember size, place, split and colours."""
        self._geometry.setValue("window", self.saveGeometry())
        self._geometry.setValue("splitter", self._splitter.saveState())
        self._geometry.setValue("sidebar", self._side_parts.is_wanted(self.sidebar))
        self._geometry.setValue("panel", self._side_parts.is_wanted(self.panel))
        self._geometry.setValue("dark", colours().is_dark)
        self._geometry.setValue("high_contrast", colours().is_high)
        self._geometry.setValue("font_extra_pt", font_extra_pt())
        self._geometry.sync()

    def remember_conversation(self, conversation_id: int, made_at: str = "") -> None:
        """Remember which conversation was open, for the next window; numbers are used again in another database."""
        self._geometry.setValue("conversation", conversation_id)
        self._geometry.setValue("conversation_made_at", made_at)
        self._geometry.sync()

    @property
    def last_conversation(self) -> tuple[int, str]:
        """The conversation that was open in the last window, 0 if none was, and when it was made."""
        value = str(self._geometry.value("conversation", 0))
        number = int(value) if value.isdecimal() and len(value) <= _MOST_DIGITS else 0
        return number, str(self._geometry.value("conversation_made_at", ""))

    def _restore_parts(self) -> None:
        self._splitter.setSizes([_SIDEBAR_PX, self.width() - _SIDEBAR_PX - _PANEL_PX, _PANEL_PX])
        if self._geometry.contains("splitter"):
            self._splitter.restoreState(state_in(self._geometry, "splitter"))
            self.sidebar.setVisible(bool(self._geometry.value("sidebar", defaultValue=True, type=bool)))
            self.panel.setVisible(bool(self._geometry.value("panel", defaultValue=True, type=bool)))
        elif self.width() < NARROW_PX:
            self.sidebar.hide()

    # --- Qt -------------------------------------------------------------------------------------------

    def allow_close(self) -> None:
        """Let the window close: everything is saved and ended."""
        self._may_close = True

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put parts away that there is no room for, or bring them back."""
        super().resizeEvent(event)
        if self.centralWidget() is not None:
            self._side_parts.fit(self.width())

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask for the end of the program; the window goes when that has come."""
        if self._may_close:
            event.accept()
        else:
            if self.centralWidget() is not None:
                self.save_geometry()
            event.ignore()
            self.is_close_requested = True  # the program behind it may not be there yet
            self.close_requested.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Note that the window can be seen."""
        super().paintEvent(event)
        self.is_painted = True
