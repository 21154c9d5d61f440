"""Serving on this computer: a switch, where it is, the key, and what was asked; what it means is its control's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.ui.dialog_size import fit
from app.ui.switch import Switch
from app.ui.theme import GRID, named, text_font
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.server.request_log import Entry

COLUMNS = (tr("Time"), tr("Request"), tr("Ended"), tr("Tokens"), tr("Speed"), tr("Drafts kept"))
_ENDS = {
    "": tr("answered"),
    "left": tr("the client left"),
    "queue_full": tr("too many were waiting"),
    "engine_died": tr("the engine stopped"),
    "context_length_exceeded": tr("longer than the context"),
}
_SHOWN = 100


def entry_cells(entry: Entry) -> tuple[str, ...]:
    """Say of a request when it came, how it ended and what it cost."""
    end = tr("running…") if entry.ended_s is None else _ENDS.get(entry.fault, entry.fault)
    tokens = "" if entry.ended_s is None else f"{entry.n_prompt} + {entry.n_tokens}"
    speeds, drafts = tr("{tps:.1f} tok/s"), tr("{n_accepted} of {n_drafted}")
    if entry.lossy:
        speeds, drafts = tr("{tps:.1f} tok/s, lossy"), tr("{n_accepted} of {n_drafted}, lossy")
    speed = "" if entry.tps is None else speeds.format(tps=entry.tps)
    kept = drafts.format(n_accepted=entry.n_accepted, n_drafted=entry.n_drafted) if entry.n_drafted else ""
    return (f"{entry.at.astimezone():%H:%M:%S}", entry.path, end, tokens, speed, kept)


class ServingDialog(QDialog):
    """The page about the server."""

    switched = Signal(bool)
    port_chosen = Signal(int)
    open_chosen = Signal(bool)
    keyed_chosen = Signal(bool)
    new_key_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Serve on this computer"))
        fit(self, 760, 560)
        self.switch = Switch(tr("Serve on this computer"))
        self.state = QLabel(wordWrap=True)
        self.about = named(
            QLabel(
                tr(
                    "Programs that speak the OpenAI API can ask the model that is loaded here. Each "
                    "request is a run in "
                    "the speed panel; what it says is not kept in any log."
                ),
                wordWrap=True,
            ),
            "muted",
        )
        self.address = QLineEdit(readOnly=True)
        self.copy_address = QPushButton(tr("&Copy"))
        self.port = QSpinBox(minimum=1024, maximum=65535)
        self.is_open = QCheckBox(tr("&Other computers of the network may ask, with the key"))
        self.is_keyed = QCheckBox(tr("Programs on this computer need the &key, too"))
        self.key = QLineEdit(readOnly=True, echoMode=QLineEdit.EchoMode.Password)
        self.show_key = QPushButton(tr("&Show"))
        self.copy_key = QPushButton(tr("Co&py"))
        self.new_key = QPushButton(tr("&New key"))
        self.log = QTreeWidget(columnCount=len(COLUMNS))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._name()
        self._connect()
        self._build()

    def _name(self) -> None:
        self.state.setFont(text_font(0.5, bold=True))
        self.state.setAccessibleName(tr("State of the server"))
        for label in (self.state, self.about):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.address.setAccessibleName(tr("Address for OpenAI clients"))
        self.copy_address.setAccessibleName(tr("Copy the address"))
        self.port.setAccessibleName(tr("Port"))
        self.key.setAccessibleName(tr("Key"))
        self.key.setToolTip(tr("Clients send it as a bearer token. It is kept in the keyring of this system."))
        self.show_key.setCheckable(True)
        self.show_key.setAccessibleName(tr("Show the key"))
        self.copy_key.setAccessibleName(tr("Copy the key"))
        self.new_key.setToolTip(tr("Whoever has the old one cannot ask any more."))
        self.log.setAccessibleName(tr("Requests, newest first"))
        self.log.setHeaderLabels(COLUMNS)
        self.log.setRootIsDecorated(False)
        self.log.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)

    def _connect(self) -> None:
        self.switch.clicked.connect(lambda: self.switched.emit(self.switch.isChecked()))
        self.port.editingFinished.connect(lambda: self.port_chosen.emit(self.port.value()))
        self.is_open.clicked.connect(self.open_chosen)
        self.is_keyed.clicked.connect(self.keyed_chosen)
        self.new_key.clicked.connect(self.new_key_requested)
        self.copy_address.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.address.text()))
        self.copy_key.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.key.text()))
        self.show_key.toggled.connect(self.on_show_key)
        self.buttons.rejected.connect(self.reject)

    def _build(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(2 * GRID)
        for row, (words, field, buttons) in enumerate(
            (
                (tr("&Address"), self.address, (self.copy_address,)),
                (tr("Po&rt"), self.port, ()),
                (tr("Ke&y"), self.key, (self.show_key, self.copy_key, self.new_key)),
            )
        ):
            label = QLabel(words)
            label.setBuddy(field)
            line = QHBoxLayout()
            line.setSpacing(GRID)
            line.addWidget(field, 0 if field is self.port else 1)
            for button in buttons:
                line.addWidget(button)
            if field is self.port:
                line.addStretch(1)
            grid.addWidget(label, row, 0)
            grid.addLayout(line, row, 1)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addWidget(self.switch)
        column.addWidget(self.state)
        column.addWidget(self.about)
        column.addLayout(grid)
        column.addWidget(self.is_open)
        column.addWidget(self.is_keyed)
        column.addWidget(self.log, 1)
        column.addWidget(self.buttons)

    # --- content --------------------------------------------------------------------------------------

    def on_show_key(self, is_shown: bool) -> None:
        """Show the key, or dots."""
        mode = QLineEdit.EchoMode.Normal if is_shown else QLineEdit.EchoMode.Password
        self.key.setEchoMode(mode)
        self.show_key.setText(tr("&Hide") if is_shown else tr("&Show"))
        self.show_key.setAccessibleName(tr("Hide the key") if is_shown else tr("Show the key"))

    def show_state(self, words: str, address: str, *, is_on: bool) -> None:
        """Say whether it serves, and where."""
        self.switch.setChecked(is_on)
        self.state.setText(words)
        self.address.setText(address)
        self.copy_address.setEnabled(is_on)

    def show_choices(self, port: int, key: str, *, is_open: bool, is_keyed: bool) -> None:
        """Show what is chosen."""
        self.port.setValue(port)
        self.is_open.setChecked(is_open)
        self.is_keyed.setChecked(is_keyed or is_open)
        self.is_keyed.setEnabled(not is_open)
        needs_key = is_open or is_keyed
        self.key.setText(key if needs_key else "")
        self.key.setPlaceholderText("" if needs_key else tr("none is needed on this computer"))
        for button in (self.show_key, self.copy_key, self.new_key):
            button.setEnabled(needs_key)

    def show_log(self, entries: Sequence[Entry]) -> None:
        """List what was asked, newest first."""
        self.log.clear()
        self.log.addTopLevelItems([QTreeWidgetItem(entry_cells(entry)) for entry in reversed(entries[-_SHOWN:])])
