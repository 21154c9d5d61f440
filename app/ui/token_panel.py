"""What a gated repository wants: its page, where its terms are accepted, and a token that says who asks."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout

from app.ui.theme import GRID, named
from app.ui.tr import tr


class TokenPanel(QFrame):
    """Takes a token and says what the hub answered; the token itself is never shown."""

    page_requested = Signal(str)  # a repository
    token_given = Signal(str, str)  # the token, and the repository that it is for
    forget_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "mark")
        self.repo = ""
        self.words = QLabel(wordWrap=True)
        self.page = QPushButton(tr("Open its &page"))
        self.entry = QLineEdit(placeholderText=tr("Token, hf_…"), echoMode=QLineEdit.EchoMode.Password)
        self.entry.setAccessibleName(tr("Token of the hub"))
        self.entry.setToolTip(tr("It is kept in the keyring of this system and goes to the hub alone."))
        self.use = QPushButton(tr("Use &token"))
        self.forget = QPushButton(tr("Forget token"))
        self.forget.setToolTip(tr("Take the token out of the keyring. Public models need none."))
        self.answer = named(QLabel(wordWrap=True), "muted")
        for label in (self.words, self.answer):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.page.clicked.connect(lambda: self.page_requested.emit(self.repo))
        self.use.clicked.connect(self.on_use)
        self.entry.returnPressed.connect(self.on_use)
        self.forget.clicked.connect(self.forget_requested)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self.entry, 1)
        row.addWidget(self.use)
        row.addWidget(self.page)
        row.addWidget(self.forget)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID // 2)
        column.addWidget(self.words)
        column.addLayout(row)
        column.addWidget(self.answer)
        self.hide()

    def ask(self, repo: str, words: str) -> None:
        """Ask for the token that a repository wants; say why."""
        if repo != self.repo or self.isHidden():
            self.answer.clear()
            self.answer.hide()
        self.repo = repo
        self.words.setText(words)
        self.page.setVisible(bool(repo))
        self.show()

    def show_answer(self, words: str) -> None:
        """Say what became of the token that was given."""
        self.answer.setText(words)
        self.answer.setVisible(bool(words))
        self.use.setEnabled(True)
        self.entry.setEnabled(True)

    def on_use(self) -> None:
        """Give the token away, and forget it here."""
        token = self.entry.text()
        if not token.strip():
            self.show_answer(tr("Paste the token first; the page of the hub's settings makes one."))
            return
        self.entry.clear()
        self.entry.setEnabled(False)
        self.use.setEnabled(False)
        self.answer.setText(tr("Asking the hub…"))
        self.answer.show()
        self.token_given.emit(token, self.repo)
