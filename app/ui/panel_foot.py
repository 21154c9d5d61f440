"""The foot of the speed panel: record, export, and a menu of what else can be done with what was measured.

It only reports what the person wants. An entry of the menu is there when somebody listens to its signal.
"""

from __future__ import annotations

from PySide6.QtCore import QMetaMethod, Qt, Signal, SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QProgressBar, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.ui.theme import GRID, IconButton, named
from app.ui.tr import tr
from app.ui.wording import tip

RECORD_TIP = tr(
    "Answer the built-in prompts by turns without and with speculation; the plain speed becomes the baseline"
)
EXPORT_TIP = tr("Every run of this session with its raw steps: JSON, CSV and a report (Ctrl+Shift+E)")


class PanelFoot(QWidget):
    """Buttons, and how far a recording has come."""

    record_requested = Signal()
    again_requested = Signal()
    cancel_requested = Signal()
    export_requested = Signal()
    baselines_requested = Signal()
    profile_requested = Signal()
    compare_requested = Signal()
    session_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.progress = QProgressBar(textVisible=False, maximum=1000)
        self.words = named(QLabel(wordWrap=True), "muted")
        self.again = QPushButton()
        self.record = QPushButton(tr("Record baseline"))
        self.cancel = QPushButton(tr("Cancel recording"))
        self.export = QPushButton(tr("Export…"))
        self.more = IconButton("more", tr("Baselines, profile, compare"))
        self.menu = QMenu(self)
        self._entries = (
            (self._entry(tr("Baselines…"), self.baselines_requested), QMetaMethod.fromSignal(self.baselines_requested)),
            (
                self._entry(tr("Which draft is worth it?…"), self.profile_requested),
                QMetaMethod.fromSignal(self.profile_requested),
            ),
            (
                self._entry(tr("Compare sessions…"), self.compare_requested),
                QMetaMethod.fromSignal(self.compare_requested),
            ),
            (self._entry(tr("New session"), self.session_requested), QMetaMethod.fromSignal(self.session_requested)),
        )
        self.again.clicked.connect(self.again_requested)
        self.record.clicked.connect(self.record_requested)
        self.cancel.clicked.connect(self.cancel_requested)
        self.export.clicked.connect(self.export_requested)
        self.more.clicked.connect(self.pop_up)
        for button, words in ((self.record, RECORD_TIP), (self.export, EXPORT_TIP)):
            button.setToolTip(tip(words))
            button.setAccessibleDescription(words)
        self._build()
        self.show_recording(None, "")

    def _entry(self, words: str, signal: SignalInstance) -> QAction:
        entry = QAction(words, self.menu)
        entry.triggered.connect(signal)
        self.menu.addAction(entry)
        return entry

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID // 2)
        for button in (self.record, self.cancel):
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            row.addWidget(button, 3)
        self.export.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        row.addWidget(self.export, 2)
        row.addWidget(self.more)
        self.more.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID // 2, GRID // 2, GRID, GRID)
        column.setSpacing(GRID // 2)
        column.addWidget(self.words)
        column.addWidget(self.again)
        column.addWidget(self.progress)
        column.addLayout(row)

    def pop_up(self) -> None:
        """Show the menu above its button, with what somebody listens to."""
        self.refresh_menu()
        self.menu.popup(self.more.mapToGlobal(self.more.rect().topRight()))

    def refresh_menu(self) -> None:
        """Offer only what can be done."""
        for entry, signal in self._entries:
            entry.setVisible(self.isSignalConnected(signal))

    def show_recording(self, fraction: float | None, words: str, n_again: int = 0) -> None:
        """Show how far a recording has come; ``None``: none is running, ``words`` may say why it cannot start.

        ``n_again``: what was recorded makes no baseline, and so many answers more would.
        """
        is_running = fraction is not None
        self.again.setVisible(n_again > 0)
        self.again.setText(tr("Record %n more answer(s) for a baseline", None, n_again))
        self.record.setVisible(not is_running)
        self.cancel.setVisible(is_running)
        self.progress.setVisible(is_running)
        self.words.setVisible(bool(words))
        self.words.setText(words)
        if fraction is not None:
            self.progress.setValue(round(fraction * 1000))
            self.progress.setAccessibleName(words)
