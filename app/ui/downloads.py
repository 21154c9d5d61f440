"""Downloads: every item with one progress, its state in words, and what can be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.ui.model_words import percent, pull_words, short_title
from app.ui.theme import GRID, named, number_font, text_font
from app.ui.token_panel import TokenPanel
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.host.pulling import Pull

NOTHING = tr(
    "Nothing is being downloaded. Choose a pair under Discover; it comes here, and goes on where it stopped even after"
    " the program was closed."
)


class DownloadRow(QFrame):
    """One item."""

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    remove_requested = Signal(str)
    load_requested = Signal(str)

    def __init__(self, pull: Pull) -> None:
        super().__init__()
        named(self, "options")
        self.pull = pull
        title = QLabel(short_title(pull.title))
        title.setTextFormat(Qt.TextFormat.PlainText)
        title.setToolTip(pull.title)
        title.setFont(text_font(bold=True))
        self.bar = QProgressBar(textVisible=False)
        self.percent = QLabel()
        self.percent.setFont(number_font())
        self.words = named(QLabel(wordWrap=True), "muted")
        self.words.setFont(number_font(-0.5))
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.token = TokenPanel()
        self.pause = QPushButton(tr("Pause"))
        self.resume = QPushButton(tr("Go on"))
        self.load = QPushButton(tr("Load"))
        self.remove = QPushButton(tr("Cancel and remove"))
        for button in (self.pause, self.resume, self.load, self.remove):
            button.setAccessibleDescription(pull.title)
        self.pause.clicked.connect(lambda: self.pause_requested.emit(self.pull.title))
        self.resume.clicked.connect(lambda: self.resume_requested.emit(self.pull.title))
        self.load.clicked.connect(lambda: self.load_requested.emit(self.pull.title))
        self.remove.clicked.connect(lambda: self.remove_requested.emit(self.pull.title))
        self._build(title)
        self.show_pull(pull)

    def _build(self, title: QLabel) -> None:
        first = QHBoxLayout()
        first.addWidget(title, 1)
        first.addWidget(self.percent)
        last = QHBoxLayout()
        last.setSpacing(GRID)
        last.addWidget(self.words, 1)
        for button in (self.pause, self.resume, self.load, self.remove):
            last.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID + 4, GRID, GRID + 4, GRID)
        column.setSpacing(GRID // 2)
        column.addLayout(first)
        column.addWidget(self.bar)
        column.addLayout(last)
        column.addWidget(self.token)

    def show_pull(self, pull: Pull) -> None:
        """Show how far it is."""
        had_focus = next((b for b in (self.pause, self.resume) if b.hasFocus()), None)
        self.pull = pull
        share, words = percent(pull), pull_words(pull)
        self.bar.setValue(share)
        self.bar.setAccessibleName(f"{pull.title}: {share} %")
        self.percent.setText(f"{share} %")
        if self.words.text() != words:
            self.words.setText(words)
        is_done = pull.phase == "done"
        self.pause.setVisible(pull.is_running)
        self.resume.setVisible(not pull.is_running and not is_done)
        self.resume.setText(tr("Try again") if pull.phase == "failed" else tr("Go on"))
        self.load.setVisible(is_done)
        self.remove.setText(tr("Remove from list") if is_done else tr("Cancel and remove"))
        if pull.phase == "failed" and pull.gated_repo:
            self.token.ask(
                pull.gated_repo, tr("{gated_repo} wants to know who asks.").format(gated_repo=pull.gated_repo)
            )
        elif pull.phase != "asking":
            self.token.hide()
        if had_focus is not None and had_focus.isHidden():  # the key that paused it is the key that goes on
            follower = next((b for b in (self.pause, self.resume, self.load) if not b.isHidden()), self.remove)
            follower.setFocus()


class DownloadsTab(QWidget):
    """All items, the newest last."""

    row_added = Signal(object)  # a DownloadRow

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, DownloadRow] = {}
        self.nothing = named(QLabel(NOTHING, wordWrap=True), "nothing")
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GRID)
        self._column.addWidget(self.nothing)
        self._column.addStretch(1)
        self._scroll = QScrollArea(widgetResizable=True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setAccessibleName(tr("Downloads"))
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(inside)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(GRID, GRID, GRID, GRID)
        outer.addWidget(self._scroll)

    def show_pull(self, pull: Pull) -> None:
        """Show one item's state; a removed one goes."""
        row = self.rows.get(pull.title)
        if pull.phase == "removed":
            if row is not None:
                del self.rows[pull.title]
                self._column.removeWidget(row)
                row.hide()
                row.deleteLater()
        elif row is None:
            row = self.rows[pull.title] = DownloadRow(pull)
            self._column.insertWidget(self._column.count() - 1, row)
            self.row_added.emit(row)
        else:
            row.show_pull(pull)
        self.nothing.setVisible(not self.rows)

    def go_to(self, title: str) -> None:
        """Bring an item into sight."""
        row = self.rows.get(title)
        if row is not None:
            self._scroll.ensureWidgetVisible(row)
            first = next((b for b in (row.pause, row.resume, row.load) if not b.isHidden()), row.remove)
            first.setFocus()

    @property
    def n_running(self) -> int:
        """How many are on their way."""
        return sum(row.pull.is_running for row in self.rows.values())
