"""Models on other servers: which servers, how they answer, what they have; what it means is its control's."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.ui.dialog_size import fit
from app.ui.theme import GRID, named
from app.ui.tr import tr

ABOUT = tr(
    "Any server with OpenAI's API can answer in place of a model on this computer: llama-server, vLLM, SGLang, or "
    "Slipstream on another machine. Nothing is asked of a server before you add it here, and what you write goes to "
    "it only while one of its models is chosen. Its figures are its own words and are shown as reported by the server."
)
OPEN_LINK = tr(
    "The link to {places} is not encrypted: whoever is on the network can read what you write, and the key. Use it "
    "only in a network that you trust, or serve with https."
)
NONE_YET = tr("No server was added yet.")


class RemoteDialog(QDialog):
    """The page about other servers."""

    add_requested = Signal(str, str)  # address, key
    test_requested = Signal(str)
    remove_requested = Signal(str)
    model_chosen = Signal(str, str)  # address, model
    server_shown = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Models on other servers"))
        fit(self, 720, 600)
        self.about = named(QLabel(ABOUT, wordWrap=True), "muted")
        self.danger = QLabel(wordWrap=True)
        self.servers, self.models = QListWidget(), QListWidget()
        self.address = QLineEdit(placeholderText=tr("As in http://192.168.1.20:8000 or https://models.example"))
        self.key = QLineEdit(echoMode=QLineEdit.EchoMode.Password, placeholderText=tr("None, if it asks for none"))
        self.add_button = QPushButton(tr("A&dd server"))
        self.test_button = QPushButton(tr("&Test the connection"))
        self.remove_button = QPushButton(tr("Remo&ve server"))
        self.chat_button = QPushButton(tr("&Chat with this model"))
        self.state = QLabel(wordWrap=True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._is_busy = False
        self._name()
        self._connect()
        self._build()
        self.show_servers((), {}, "")

    def _name(self) -> None:
        for label in (self.about, self.danger, self.state):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.servers.setAccessibleName(tr("Servers"))
        self.models.setAccessibleName(tr("Models of the server"))
        self.address.setAccessibleName(tr("Address of a server"))
        self.key.setAccessibleName(tr("Key of the server"))
        self.key.setToolTip(tr("It goes to this server and nowhere else. It is kept in the keyring of this system."))
        self.state.setAccessibleName(tr("State of the server"))
        for button in (self.add_button, self.test_button, self.remove_button, self.chat_button):
            button.setAutoDefault(False)

    def _connect(self) -> None:
        self.add_button.clicked.connect(self.on_add)
        self.address.returnPressed.connect(self.on_add)
        self.key.returnPressed.connect(self.on_add)
        self.address.textChanged.connect(self.on_row)
        self.test_button.clicked.connect(lambda: self.test_requested.emit(self.chosen))
        self.remove_button.clicked.connect(lambda: self.remove_requested.emit(self.chosen))
        self.servers.currentRowChanged.connect(self.on_server)
        self.models.currentRowChanged.connect(self.on_row)
        self.models.itemActivated.connect(self.on_chat)
        self.chat_button.clicked.connect(self.on_chat)
        self.buttons.rejected.connect(self.reject)

    def _build(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(2 * GRID)
        for row, (words, field) in enumerate(((tr("Addr&ess"), self.address), (tr("&Key"), self.key))):
            label = QLabel(words)
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.addWidget(self.add_button, 1, 2)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addWidget(self.about)
        column.addLayout(grid)
        column.addWidget(self.danger)
        column.addWidget(self._captioned(tr("&Servers"), self.servers))
        column.addWidget(self.servers, 2)
        column.addLayout(_row(self.test_button, self.remove_button))
        column.addWidget(self._captioned(tr("&Models"), self.models))
        column.addWidget(self.models, 3)
        column.addLayout(_row(self.chat_button))
        column.addWidget(self.state)
        column.addWidget(self.buttons)

    def _captioned(self, words: str, buddy: QWidget) -> QLabel:
        label = QLabel(words)
        label.setBuddy(buddy)
        return label

    # --- content --------------------------------------------------------------------------------------

    @property
    def chosen(self) -> str:
        """The address that is chosen in the list, "" for none."""
        row = self.servers.currentRow()
        return str(self.servers.item(row).data(Qt.ItemDataRole.UserRole)) if row >= 0 else ""

    def show_servers(self, servers: Sequence[tuple[str, str]], states: dict[str, str], chosen: str) -> None:
        """List the servers, each with what is known of it.

        Args:
            servers: addresses, and how they are shown.
            states: what is known, by the address.
            chosen: the one to show the models of.
        """
        self.servers.clear()
        for url, words in servers:
            said = states.get(url, "")
            self.servers.addItem(f"{words}: {said}" if said else words)
            self.servers.item(self.servers.count() - 1).setData(Qt.ItemDataRole.UserRole, url)
        urls = [url for url, _ in servers]
        if urls:
            self.servers.setCurrentRow(urls.index(chosen) if chosen in urls else 0)
        else:
            self.show_models((), "")
            self.state.setText(NONE_YET)
        self.on_row()

    def show_models(self, models: Sequence[str], current: str) -> None:
        """List what the chosen server has; ``current`` is the model that answers now."""
        self.models.clear()
        for name in models:
            self.models.addItem(tr("{name} (answers now)").format(name=name) if name == current else name)
            self.models.item(self.models.count() - 1).setData(Qt.ItemDataRole.UserRole, name)
        if models:
            self.models.setCurrentRow(models.index(current) if current in models else 0)
        self.on_row()

    def show_danger(self, places: Sequence[str]) -> None:
        """Say which links anybody can read."""
        self.danger.setText(OPEN_LINK.format(places=", ".join(places)))
        self.danger.setVisible(bool(places))

    def show_state(self, words: str, *, is_busy: bool = False) -> None:
        """Say what is being tried, or how it went."""
        self.state.setText(words)
        self._is_busy = is_busy
        self.on_row()

    def on_server(self) -> None:
        """Show what the chosen server has."""
        self.server_shown.emit(self.chosen)
        self.on_row()

    def on_row(self) -> None:
        """Offer what can be done now."""
        self.add_button.setEnabled(bool(self.address.text().strip()) and not self._is_busy)
        self.test_button.setEnabled(bool(self.chosen) and not self._is_busy)
        self.remove_button.setEnabled(bool(self.chosen) and not self._is_busy)
        self.chat_button.setEnabled(self.models.currentRow() >= 0)

    def on_add(self) -> None:
        """Ask for the address in the field to be added."""
        if self.add_button.isEnabled():
            self.add_requested.emit(self.address.text().strip(), self.key.text().strip())

    def on_chat(self) -> None:
        """Let the chosen model answer."""
        row = self.models.currentRow()
        if row >= 0:
            self.model_chosen.emit(self.chosen, str(self.models.item(row).data(Qt.ItemDataRole.UserRole)))


def _row(*widgets: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(GRID)
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return row
