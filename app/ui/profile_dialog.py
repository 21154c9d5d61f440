"""The dialog that asks which draft is worth it: what to answer, how far it has come, the ranking, what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.metrics.profile import Row
from app.ui.dialog_size import fit
from app.ui.said import said
from app.ui.theme import GRID, named, number_font
from app.ui.tr import tr
from app.ui.wording import bytes_words, tip

COLUMNS = (
    (tr("Drafted by"), tr("Who drafts, with which model, how long")),
    (
        tr("× plain"),
        tr(
            "Answer time of plain decoding ÷ this way's: above 1 is faster; the geometric mean over pairs of answers, "
            "below six pairs the median. The plain answers had the same draft model in memory, nothing fed to it"
        ),
    ),
    ("95 %", tr("Where the true figure lies, however often you look; from fewer than six pairs the whole range")),
    (tr("Acceptance"), tr("Accepted ÷ proposed draft tokens")),
    (tr("Per step"), tr("Emitted tokens ÷ target passes")),
    (tr("Memory"), tr("What it takes besides the target: weights, keys and values")),
    (tr("Verdict"), tr("From the interval of the answer time, never from acceptance")),
)
INTRODUCTION = tr(
    "Answers your prompts with each way to draft by turns, plain decoding beside it every time, and ranks them by the "
    "time of whole answers. Chatting waits until it is done."
)


class ProfileDialog(QDialog):
    """Shows what :class:`app.ui.profiler.ProfilerControl` finds, and reports what the person wants."""

    start_requested = Signal()
    cancel_requested = Signal()
    adopt_requested = Signal(int)
    export_requested = Signal()
    training_requested = Signal()
    file_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Which draft is worth it?"))
        fit(self, 760, 560)
        self._is_running = False
        self.prompts = QComboBox()
        self.prompts.activated.connect(self.on_prompts_chosen)
        self.rounds = QSpinBox(minimum=1, maximum=20, value=3)
        self.max_tokens = QSpinBox(minimum=16, maximum=2048, value=128, singleStep=32)
        self.table = QTableWidget(0, len(COLUMNS))
        self.progress = QProgressBar(textVisible=False, maximum=1000)
        self.words = named(QLabel(wordWrap=True), "muted")
        self.advice = QLabel(wordWrap=True)
        self.advice.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.start = QPushButton(tr("Start"))
        self.cancel = QPushButton(tr("Cancel"))
        self.adopt = QPushButton(tr("Use the selected way"))
        self.export = QPushButton(tr("Export result…"))
        self.training = QPushButton(tr("Export training data…"))
        self.dismiss = QPushButton(tr("Close"))
        self._connect()
        self._set_up_table()
        self._build()
        self.show_running(None, "")

    def _connect(self) -> None:
        self.start.clicked.connect(self.start_requested)
        self.cancel.clicked.connect(self.cancel_requested)
        self.export.clicked.connect(self.export_requested)
        self.training.clicked.connect(self.training_requested)
        self.training.setToolTip(
            tr("Your prompts with the target's own answers, as JSON lines to tune a draft model on")
        )
        self.adopt.clicked.connect(self.on_adopt)
        self.dismiss.clicked.connect(self.reject)
        self.table.itemSelectionChanged.connect(self._enable)
        self.table.itemActivated.connect(self.on_adopt)

    def _set_up_table(self) -> None:
        for column, (name, meaning) in enumerate(COLUMNS):
            item = QTableWidgetItem(name)
            item.setToolTip(meaning)
            self.table.setHorizontalHeaderItem(column, item)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        self.table.setAlternatingRowColors(True)
        self.table.setShowGrid(False)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.setAccessibleName(tr("Ways to draft, the best first"))

    def _build(self) -> None:
        form = QFormLayout()
        form.addRow(tr("&Prompts"), self.prompts)
        form.addRow(tr("&Rounds"), self.rounds)
        form.addRow(tr("&Longest answer, tokens"), self.max_tokens)
        run = QHBoxLayout()
        run.addWidget(self.progress, 1)
        run.addWidget(self.start)
        run.addWidget(self.cancel)
        foot = QHBoxLayout()
        for button in (self.adopt, self.export, self.training):
            foot.addWidget(button)
        foot.addStretch()
        foot.addWidget(self.dismiss)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        column.setSpacing(GRID)
        column.addWidget(named(QLabel(INTRODUCTION, wordWrap=True), "muted"))
        column.addLayout(form)
        column.addLayout(run)
        column.addWidget(self.words)
        column.addWidget(self.table, 1)
        column.addWidget(self.advice)
        column.addLayout(foot)

    # --- what the person chose ------------------------------------------------------------------------

    def offer_prompts(self, sources: Sequence[tuple[str, str]]) -> None:
        """List where prompts can come from: words, and the value behind them; the last asks for a file."""
        self.prompts.clear()
        for words, value in sources:
            self.prompts.addItem(words, value)

    @property
    def source(self) -> str:
        """Where the prompts come from."""
        return str(self.prompts.currentData())

    def add_file(self, words: str, value: str) -> None:
        """Offer a file that was chosen, and choose it."""
        last = self.prompts.count() - 1
        self.prompts.insertItem(last, words, value)
        self.prompts.setCurrentIndex(last)

    def on_prompts_chosen(self, index: int) -> None:
        """Ask for a file where that is what was chosen."""
        if index == self.prompts.count() - 1:
            self.prompts.setCurrentIndex(0)
            self.file_requested.emit()

    def on_adopt(self) -> None:
        """Report the selected row."""
        if self.adopt.isEnabled():
            self.adopt_requested.emit(self.table.currentRow())

    # --- what is shown --------------------------------------------------------------------------------

    def show_running(self, fraction: float | None, words: str) -> None:
        """Show how far it has come; ``None``: nothing is running."""
        self._is_running = fraction is not None
        self.start.setVisible(not self._is_running)
        self.cancel.setVisible(self._is_running)
        self.progress.setValue(round((fraction or 0.0) * 1000))
        self.progress.setAccessibleName(tr("Progress: {words}").format(words=words) if words else tr("Progress"))
        self.words.setText(words)
        for choice in (self.prompts, self.rounds, self.max_tokens):
            choice.setEnabled(not self._is_running)
        self._enable()

    def show_rows(self, rows: Sequence[Row], *, best: int | None = None) -> None:
        """Show the ranking; select the row that is recommended."""
        self.table.setRowCount(len(rows))
        for number, row in enumerate(rows):
            for column, text in enumerate(row_words(row)):
                item = QTableWidgetItem(text)
                if column:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                    item.setFont(number_font())
                item.setToolTip(tip(said(row.sentence if row.speedup else row.not_engaged)))
                self.table.setItem(number, column, item)
        if best is not None:
            self.table.selectRow(best)
        self._enable()

    def show_advice(self, sentences: Sequence[str]) -> None:
        """Say what follows."""
        self.advice.setText("\n".join(sentences))

    def _enable(self) -> None:
        has_rows = self.table.rowCount() > 0 and not self._is_running
        self.adopt.setEnabled(has_rows and bool(self.table.selectedItems()))
        self.export.setEnabled(has_rows)
        self.training.setEnabled(has_rows)

    # --- Qt -------------------------------------------------------------------------------------------

    def reject(self) -> None:
        """Escape and Close: cancel what is running first, and go the next time."""
        if self._is_running:
            self.cancel_requested.emit()
        else:
            super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Treat the frame's button as Close."""
        if self._is_running:
            self.cancel_requested.emit()
            event.ignore()
        else:
            super().closeEvent(event)


_VERDICTS = {"pays": tr("pays"), "costs": tr("costs"), "cannot tell": tr("cannot tell")}


def row_words(row: Row) -> tuple[str, ...]:
    """A row as the table shows it."""
    speedup = row.speedup
    verdict: str = _VERDICTS[row.verdict] if speedup else tr("not engaged") if row.not_engaged else "–"
    if speedup:
        verdict += ", " + tr("%n pair(s)", None, row.n_pairs)
    if row.dropped_after:
        verdict += ", " + tr("given up after round {dropped_after}").format(dropped_after=row.dropped_after)
    return (
        said(row.candidate.words),
        f"{speedup.median:.2f}" if speedup else "–",
        f"{speedup.low:.2f}–{speedup.high:.2f}" if speedup and row.n_pairs > 1 else "–",
        f"{row.acceptance:.2f}" if row.acceptance is not None else "–",
        f"{row.tokens_per_step:.2f}" if row.tokens_per_step is not None else "–",
        bytes_words(row.candidate.memory_bytes) if row.candidate.memory_bytes else "–",
        verdict,
    )
