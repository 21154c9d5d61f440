"""The settings of the program: four pages, each setting with help and a way back; a change takes effect at once."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.settings import Settings
from app.ui.data_page import DataPage
from app.ui.dialog_size import fit
from app.ui.setting_fields import FIELDS, PAGES, Page
from app.ui.setting_row import SettingRow
from app.ui.theme import GRID, named, text_font
from app.ui.token_panel import TokenPanel
from app.ui.tr import tr

_WIDTH_PX, _HEIGHT_PX = 620, 560


class SettingsDialog(QDialog):
    """Shows settings and reports what is chosen; keeps nothing itself."""

    chosen = Signal(str, object)
    reset_requested = Signal(tuple)  # names of settings
    models_folder_requested = Signal()
    devices_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Settings"))
        defaults = Settings()
        self.rows = {field.name: SettingRow(field, getattr(defaults, field.name)) for field in FIELDS}
        self.token, self.data = TokenPanel(), DataPage()
        self.folder = QPushButton(tr("Models &folder…"))
        self.devices = QPushButton(tr("&Devices and runtimes…"))
        self.resets: dict[Page, QPushButton] = {}
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.setAccessibleName(tr("Pages of the settings"))
        for page, words in PAGES.items():
            self.tabs.addTab(self._page(page), words)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addWidget(self.tabs, 1)
        column.addWidget(
            named(QLabel(tr("A change takes effect at once, another language at the next start.")), "muted")
        )
        column.addWidget(buttons)
        for row in self.rows.values():
            row.chosen.connect(self.chosen)
        self.folder.clicked.connect(self.models_folder_requested)
        self.devices.clicked.connect(self.devices_requested)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)  # Enter in a field is no answer to a button
        fit(self, _WIDTH_PX, _HEIGHT_PX)

    def _page(self, page: Page) -> QWidget:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(2 * GRID)
        if page == "hub":
            self._add_places(column)
        names = [field.name for field in FIELDS if field.page == page]
        for name in names:
            column.addWidget(self.rows[name])
        if page == "hub":
            column.addWidget(self.token)
            self.token.ask("", tr("A token opens gated repositories. It is kept in the keyring of this system."))
        if page == "data":
            column.addWidget(self.data)
        column.addStretch(1)
        if names:
            reset = self.resets[page] = QPushButton(tr("Take this page back to its defaults"))
            reset.clicked.connect(lambda: self.reset_requested.emit(tuple(names)))
            column.addWidget(reset, 0, Qt.AlignmentFlag.AlignLeft)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # one Tab less; it follows the control that has the keyboard
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inner)
        return area

    def _add_places(self, column: QVBoxLayout) -> None:
        for button, words in (
            (self.folder, tr("Where models are kept, moved elsewhere or exchanged for a folder that has some.")),
            (self.devices, tr("What the models run on: processor, GPU, NPU, and the build of llama.cpp.")),
        ):
            label = named(QLabel(words, wordWrap=True), "muted")
            label.setFont(text_font(-0.5))
            button.setAccessibleDescription(words)
            part = QVBoxLayout()
            part.setSpacing(2)
            part.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
            part.addWidget(label)
            column.addLayout(part)

    def show_settings(self, settings: Settings) -> None:
        """Show what is chosen now."""
        for name, row in self.rows.items():
            row.show_value(getattr(settings, name))
        defaults = Settings()
        for page, button in self.resets.items():
            names = [field.name for field in FIELDS if field.page == page]
            button.setEnabled(any(getattr(settings, name) != getattr(defaults, name) for name in names))

    def go_to(self, page: Page) -> None:
        """Show a page."""
        self.tabs.setCurrentIndex(list(PAGES).index(page))
