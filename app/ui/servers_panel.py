"""Other computers that lend their devices: a list of addresses, and plainly what it means to use one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QListWidget, QPushButton, QVBoxLayout, QWidget

from app.ui.theme import GRID, named
from app.ui.tr import tr

ABOUT = tr(
    "When a model outgrows this computer, llama.cpp's RPC server on another one can lend its devices: they are listed "
    "as RPC0, RPC1 and so on, are tried before they are used, and can share the layers of a model. Nothing is borrowed "
    "until you add an address here."
)
DANGER = tr(
    "The link is neither encrypted nor authenticated: whoever is on the network can read and change what goes over it, "
    "your text too, and the server does not prove who it is. Use it only in a network that you trust."
)
NEEDS_RPC = tr("The runtime in use has no RPC backend, so it borrows nothing. Get another one under Runtimes.")


class ServersPanel(QWidget):
    """Addresses with what is known of each, a field to add one, a button to remove one."""

    add_requested = Signal(str)
    remove_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.about = named(QLabel(ABOUT, wordWrap=True), "muted")
        self.danger = QLabel(DANGER, wordWrap=True)
        self.lacks = QLabel(NEEDS_RPC, wordWrap=True)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Servers that lend devices"))
        self.address = QLineEdit(placeholderText=tr("Host and port, as in 192.168.1.20:50052"))
        self.address.setAccessibleName(tr("Address of a server"))
        self.add_button, self.remove_button = QPushButton(tr("A&dd server")), QPushButton(tr("Remo&ve server"))
        self.add_button.clicked.connect(self.on_add)
        self.address.returnPressed.connect(self.on_add)
        self.remove_button.clicked.connect(self.on_remove)
        self.list.currentRowChanged.connect(self.on_row)
        self.address.textChanged.connect(self.on_row)
        self._is_busy = False
        self._build()
        self.show_servers((), {}, has_rpc=True)

    def _build(self) -> None:
        label = QLabel(tr("Add&ress"))
        label.setBuddy(self.address)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        for widget in (label, self.address, self.add_button, self.remove_button):
            row.addWidget(widget, 1 if widget is self.address else 0)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        for widget in (self.about, self.danger, self.lacks):
            column.addWidget(widget)
        column.addWidget(self.list, 1)
        column.addLayout(row)

    def show_servers(self, servers: Sequence[str], words: dict[str, str], *, has_rpc: bool) -> None:
        """List the addresses, each with what is known of it."""
        chosen = self.chosen
        self.list.clear()
        for server in servers:
            said = words.get(server, "")
            self.list.addItem(f"{server}: {said}" if said else server)
            self.list.item(self.list.count() - 1).setData(Qt.ItemDataRole.UserRole, server)
        if chosen in servers:
            self.list.setCurrentRow(list(servers).index(chosen))
        self.lacks.setVisible(not has_rpc)
        self.on_row()

    @property
    def chosen(self) -> str:
        """The address that is chosen in the list, "" for none."""
        row = self.list.currentRow()
        return str(self.list.item(row).data(Qt.ItemDataRole.UserRole)) if row >= 0 else ""

    def show_busy(self, *, is_busy: bool) -> None:
        """Take nothing new while something is looked for."""
        self._is_busy = is_busy
        self.on_row()

    def on_row(self) -> None:
        """Offer what can be done now."""
        self.add_button.setEnabled(bool(self.address.text().strip()) and not self._is_busy)
        self.remove_button.setEnabled(bool(self.chosen) and not self._is_busy)

    def on_add(self) -> None:
        """Ask for the address in the field to be added."""
        if self.add_button.isEnabled():
            self.add_requested.emit(self.address.text().strip())

    def on_remove(self) -> None:
        """Ask for the chosen address to be removed."""
        self.remove_requested.emit(self.chosen)
