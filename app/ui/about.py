"""About: version, folders, and everything that the program consists of, with licences and their texts."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import __version__
from app.components import Component, components
from app.paths import bundle_dir, data_dir, log_dir, resource
from app.ui.dialog_size import fit
from app.ui.theme import GRID, code_font, named, text_font
from app.ui.tr import tr

WHAT = tr("Chat with GGUF models on your own machine, sped up by speculative decoding that is measured.")
QT = tr(
    "Slipstream is under the Apache License 2.0. It uses Qt and PySide6 under the GNU LGPL 3.0: their libraries are"
    " files of their own, and you may put others of your making in their place. Their sources are at download.qt.io."
)

_ICON_PX = 64
_WIDTH_PX, _HEIGHT_PX = 820, 640


class AboutDialog(QDialog):
    """What this is, where it keeps things, and what it is made of."""

    updates_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("About Slipstream"))
        fit(self, _WIDTH_PX, _HEIGHT_PX)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.version = QLabel(f"Slipstream {__version__}")
        self.version.setFont(text_font(4, bold=True))
        self.folders = QLabel(
            tr("Conversations and baselines: {data_dir}\nLog: {log_dir}").format(
                data_dir=data_dir(), log_dir=log_dir()
            ),
            wordWrap=True,
        )
        self.folders.setTextFormat(Qt.TextFormat.PlainText)
        self.folders.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.list = QTreeWidget()
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setHeaderLabels([tr("Component"), tr("Version"), tr("Licence")])
        self.list.setAccessibleName(tr("Components and their licences"))
        self.text = QPlainTextEdit(readOnly=True)
        self.text.setFont(code_font(-0.5))
        self.text.setAccessibleName(tr("Licence of the chosen component"))
        self.updates = QPushButton(tr("&Look for a newer version…"))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._components: tuple[Component, ...] = components()
        self._fill()
        self._build()
        self.updates.clicked.connect(self.updates_wanted)
        self.buttons.rejected.connect(self.reject)
        self.list.currentItemChanged.connect(lambda item, _before: self.on_chosen(item))
        if (first := self.list.topLevelItem(0)) is not None:
            self.list.setCurrentItem(first)

    def _fill(self) -> None:
        for component in self._components:
            name = (
                tr("{name} (in {within})").format(name=component.name, within=component.within)
                if component.within
                else component.name
            )
            self.list.addTopLevelItem(QTreeWidgetItem([name, component.version, component.licence]))
        for column in (0, 1):
            self.list.resizeColumnToContents(column)

    def _build(self) -> None:
        picture = QLabel()
        picture.setPixmap(QIcon(str(resource("icons", "app.svg"))).pixmap(_ICON_PX, _ICON_PX))
        words = QVBoxLayout()
        words.setSpacing(GRID // 2)
        for label in (self.version, QLabel(WHAT, wordWrap=True), named(self.folders, "muted")):
            words.addWidget(label)
        head = QHBoxLayout()
        head.setSpacing(2 * GRID)
        head.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.addWidget(self.list)
        parts.addWidget(self.text)
        parts.setChildrenCollapsible(False)
        foot = QHBoxLayout()
        foot.addWidget(self.updates)
        foot.addStretch(1)
        foot.addWidget(self.buttons)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addLayout(head)
        column.addWidget(QLabel(QT, wordWrap=True))
        column.addWidget(parts, 1)
        column.addLayout(foot)

    def on_chosen(self, item: QTreeWidgetItem | None) -> None:
        """Show the licence of a component."""
        index = self.list.indexOfTopLevelItem(item) if item is not None else -1
        if index >= 0:
            one = self._components[index]
            text = one.text(bundle_dir()) or tr("Its package brings no text of it.")
            self.text.setPlainText(f"{one.name} {one.version}\n{one.source}\n\n{text}")
