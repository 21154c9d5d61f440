"""The report about a fault, shown letter for letter before anybody copies it. Nothing is sent."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.ui.dialog_size import fit
from app.ui.theme import GRID, code_font, named
from app.ui.tr import tr

_WIDTH_PX, _HEIGHT_PX = 720, 560
_ABOUT = tr(
    "This is what the button copies, letter for letter. Nothing is sent anywhere: paste it where you want to report the"
    " fault. Folders, account names and addresses are left out."
)


class CrashDialog(QDialog):
    """Shows a report and copies it."""

    words_wanted = Signal(bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Report a problem"))
        self.about = QLabel(_ABOUT, wordWrap=True)
        self.text = QPlainTextEdit(readOnly=True)
        self.text.setFont(code_font(-0.5))
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr("The report"))
        self.with_words = QCheckBox(tr("Also the fault's own words; they may quote what you wrote"))
        self.with_words.toggled.connect(self.words_wanted)
        self.state = named(QLabel(wordWrap=True), "muted")
        self.copy = QPushButton(tr("&Copy the report"))
        self.copy.clicked.connect(self.on_copy)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        for part in (self.about, self.text, self.with_words, self.state, buttons):
            column.addWidget(part, 1 if part is self.text else 0)
        fit(self, _WIDTH_PX, _HEIGHT_PX)
        self.copy.setFocus()

    def show_report(self, text: str, state: str) -> None:
        """Show what would be copied, and what is still being collected."""
        self.text.setPlainText(text)
        self.state.setText(state)
        self.state.setVisible(bool(state))

    def on_copy(self) -> None:
        """Put the report on the clipboard."""
        QGuiApplication.clipboard().setText(self.text.toPlainText())
        self.state.setText(tr("Copied. Nothing was sent."))
        self.state.show()
