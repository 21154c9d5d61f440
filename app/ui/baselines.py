"""The baselines of this computer in a dialog: which are stale and why, which is used; record another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QFileDialog,
    QGridLayout,
    QGroupBox,
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

from app.errors import UsageError
from app.metrics.baseline import MIN_RUNS
from app.metrics.prompts import SETS, load_prompts
from app.ui.dialog_size import fit
from app.ui.recording import MOST_ROUNDS, RecordingPlan, built_in_plan
from app.ui.said import fault_words, said, said_each
from app.ui.theme import GRID, named, number_font
from app.ui.tr import tr
from app.ui.wording import power_words

if TYPE_CHECKING:
    from app.metrics.baseline import Baseline
    from app.metrics.prompts import Prompt

COLUMNS = (tr("Name"), tr("State"), tr("Decode speed"), tr("Answers"), tr("Context"), tr("Conditions"), tr("Recorded"))
_MEANINGS = (
    tr("Names can be typed over"),
    tr("Stale: conditions have changed since, so that no answer is held against it"),
    tr("Median of the answers' decode speeds with its 95 % interval; nothing drafted"),
    tr("So many plain answers it rests on"),
    tr("Upper bound of the mean context position of its answers; each length has a baseline of its own"),
    tr("Only answers under these are held against it"),
    tr("When it was recorded"),
)
_STATE = 1
_BUILT_IN, _OWN, _FILE = "built-in", "own", "file"


class BaselineDialog(QDialog):
    """Shows baselines; what is done with them is the controller's business.

    Attributes:
        n_looks: how often was looked for what it is to show; only what the newest look has found is shown.
    """

    record_requested = Signal(object)  # a RecordingPlan
    chosen = Signal(object)  # a Baseline
    renamed = Signal(object, str)
    deleted = Signal(object)
    refresh_wanted = Signal()

    def __init__(self, own: Sequence[Prompt], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Baselines"))
        fit(self, 940, 480)
        self.n_looks = 0
        self._own = tuple(own)
        self._from_file: RecordingPlan | None = None
        self._baselines: tuple[Baseline, ...] = ()
        self._list = QTreeWidget(columnCount=len(COLUMNS))
        self._about = named(QLabel(wordWrap=True), "muted")
        self._use, self._rename, self._delete = (
            QPushButton(tr("Use")),
            QPushButton(tr("Rename")),
            QPushButton(tr("Delete")),
        )
        self._sets, self._rounds, self._name = QComboBox(), QSpinBox(minimum=1, maximum=MOST_ROUNDS), QLineEdit()
        self._length = named(QLabel(wordWrap=True), "muted")
        self._record = QPushButton(tr("Record"))
        self._close = QPushButton(tr("Close"))
        self._connect()
        self._build()
        self._fill_sets()
        self.on_plan_changed()

    def _connect(self) -> None:
        self._list.setHeaderLabels(COLUMNS)
        for column, meaning in enumerate(_MEANINGS):
            self._list.headerItem().setToolTip(column, meaning)
        self._list.setRootIsDecorated(False)
        self._list.setAlternatingRowColors(True)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self._list.setAccessibleName(tr("Recorded baselines"))
        self._list.currentItemChanged.connect(lambda *_: self.on_selected())
        self._list.itemChanged.connect(self.on_edited)
        self._use.clicked.connect(self.on_use)
        self._rename.clicked.connect(self.on_rename)
        self._delete.clicked.connect(self.on_delete)
        self._sets.activated.connect(self.on_set_chosen)
        self._rounds.valueChanged.connect(lambda _n: self.on_plan_changed())
        self._record.clicked.connect(self.on_record)
        self._close.clicked.connect(self.reject)
        self._sets.setAccessibleName(tr("Prompts to record on"))
        self._rounds.setAccessibleName(tr("Answers to each prompt"))
        self._name.setAccessibleName(tr("Name of the new baseline"))
        self._name.setPlaceholderText(tr("that of the prompts"))
        self._rounds.setToolTip(tr("So many answers to each prompt, with speculation off and on by turns"))
        self._use.setToolTip(tr("Hold the speed against this one"))

    def _build(self) -> None:
        side = QVBoxLayout()
        for button in (self._use, self._rename, self._delete):
            side.addWidget(button)
        side.addStretch()
        side.addWidget(self._close)
        upper = QHBoxLayout()
        upper.addWidget(self._list, 1)
        upper.addLayout(side)
        group, grid = QGroupBox(tr("Record a new one")), QGridLayout()
        for row, (words, part) in enumerate(
            ((tr("Prompts"), self._sets), (tr("Answers to each"), self._rounds), (tr("Name"), self._name))
        ):
            grid.addWidget(QLabel(words), row, 0)
            grid.addWidget(part, row, 1)
        grid.addWidget(self._length, 0, 2, 2, 1)
        grid.addWidget(self._record, 2, 2, Qt.AlignmentFlag.AlignRight)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(2, 1)
        grid.setHorizontalSpacing(GRID * 2)
        group.setLayout(grid)
        column = QVBoxLayout(self)
        column.addLayout(upper, 1)
        column.addWidget(self._about)
        column.addWidget(group)

    def _fill_sets(self) -> None:
        self._sets.addItem(tr("Built in: chat, code and prose"), _BUILT_IN)
        for name in SETS:
            self._sets.addItem(tr("Built in: {name}").format(name=name), name)
        if self._own:
            self._sets.addItem(tr("My %n newest question(s) in this conversation", None, len(self._own)), _OWN)
        self._sets.addItem(tr("A file of prompts…"), _FILE)

    # --- content --------------------------------------------------------------------------------------

    def choose_own(self) -> None:
        """Choose the person's own questions, each as often as a baseline takes; say it if there are none."""
        if not self._own:
            self._length.setText(tr("There is no question in this conversation yet. Ask some, and record then."))
            return
        self._sets.setCurrentIndex(self._sets.findData(_OWN))
        self._rounds.setValue(math.ceil(MIN_RUNS / len(self._own)))
        self.on_plan_changed()
        self._record.setFocus()

    def show_baselines(self, baselines: Sequence[Baseline], stale: Sequence[Sequence[str]], used: str) -> None:
        """List baselines, each with what makes it stale; ``used`` is the id of the one in use."""
        self._baselines = tuple(baselines)
        kept = self._selected()
        self._list.blockSignals(True)  # filling is not editing
        self._list.clear()
        for baseline, reasons in zip(self._baselines, stale, strict=True):
            self._list.addTopLevelItem(_item(baseline, reasons, is_used=baseline.id == used))
        self._list.blockSignals(False)
        rows = [n for n, b in enumerate(self._baselines) if b.id == (kept.id if kept else used)]
        if item := self._list.topLevelItem(rows[0] if rows else 0):
            self._list.setCurrentItem(item)
        self.on_selected()

    def states(self) -> dict[str, str]:
        """What is said about each baseline, by its name."""
        items = [self._list.topLevelItem(n) for n in range(self._list.topLevelItemCount())]
        return {str(item.text(0)): str(item.text(_STATE)) for item in items if item is not None}

    def enable_recording(self, *, can_record: bool, why_not: str) -> None:
        """Offer to record only when that can be done now."""
        self._record.setEnabled(can_record)
        self._record.setToolTip(why_not)

    def plan(self) -> RecordingPlan | None:
        """What is chosen to record on; ``None`` while a file has to be chosen."""
        which, n_rounds, name = self._sets.currentData(), self._rounds.value(), self._name.text().strip()
        if which == _FILE:
            found = self._from_file
            return None if found is None else RecordingPlan(found.prompts, found.prompt_set, n_rounds, name)
        if which == _BUILT_IN:
            plan = built_in_plan()
            return RecordingPlan(plan.prompts, plan.prompt_set, n_rounds, name)
        if which == _OWN:
            return RecordingPlan(self._own, "own questions", n_rounds, name)
        return RecordingPlan(load_prompts(which), which, n_rounds, name)

    # --- slots ----------------------------------------------------------------------------------------

    def on_selected(self) -> None:
        """Say more about the baseline that is selected."""
        baseline = self._selected()
        for button in (self._use, self._rename, self._delete):
            button.setEnabled(baseline is not None)
        if baseline is None:
            self._about.setText(tr("No baseline has been recorded yet. Record one, and speeds are held against it."))
            return
        item = self._list.currentItem()
        noted = " " + tr("Meanwhile: {notes}.").format(notes=said_each(baseline.notes)) if baseline.notes else ""
        why = item.toolTip(_STATE) if item is not None else ""
        self._about.setText(
            tr("{target_file}, prompts: {prompt_set}.{noted} {why}")
            .format(target_file=baseline.target_file, prompt_set=baseline.prompt_set, noted=noted, why=why)
            .strip()
        )

    def on_edited(self, item: QTreeWidgetItem, column: int) -> None:
        """Take a name that was typed into the list."""
        baseline = self._baselines[self._list.indexOfTopLevelItem(item)]
        name = " ".join(item.text(0).split())
        if column == 0 and name and name != baseline.name:
            self.renamed.emit(baseline, name)
        elif column == 0 and not name:
            item.setText(0, baseline.name)

    def on_use(self) -> None:
        """Have this baseline used."""
        if baseline := self._selected():
            self.chosen.emit(baseline)

    def on_rename(self) -> None:
        """Let the name be typed."""
        if item := self._list.currentItem():
            self._list.editItem(item, 0)

    def on_delete(self) -> None:
        """Have it forgotten."""
        if baseline := self._selected():
            self.deleted.emit(baseline)

    def on_set_chosen(self) -> None:
        """Ask for the file, if it is to be one."""
        if self._sets.currentData() == _FILE:
            dialog = QFileDialog(self, tr("Prompts: JSON lines with name and prompt, or name and messages"))
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
            dialog.setNameFilters([tr("JSON lines (*.jsonl *.json)"), tr("All files (*)")])
            dialog.fileSelected.connect(self.on_file_chosen)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()
        self.on_plan_changed()

    def on_file_chosen(self, path: str) -> None:
        """Read the prompts of a file."""
        self._from_file = None
        try:
            self._from_file = RecordingPlan(load_prompts(path), Path(path).stem)
        except UsageError as fault:
            self._length.setText(fault_words(fault))
            self._record.setEnabled(False)
            return
        self.on_plan_changed()

    def on_plan_changed(self) -> None:
        """Say how many answers that is."""
        plan = self.plan()
        if plan is None:
            self._length.setText(tr("Choose a file."))
            return
        plain = len(plan.prompts) * plan.n_rounds
        words = tr(
            "%n prompt(s): {plain} answers with speculation off, as many with it on, by turns.", None, len(plan.prompts)
        ).format(plain=plain)
        if plain < MIN_RUNS:
            words += " " + tr("A baseline needs at least {min_runs}; ask for more answers to each.").format(
                min_runs=MIN_RUNS
            )
        self._length.setText(words)

    def on_record(self) -> None:
        """Have it recorded; the dialog has done its work."""
        if plan := self.plan():
            self.record_requested.emit(plan)
            self.accept()

    def _selected(self) -> Baseline | None:
        item = self._list.currentItem()
        row = -1 if item is None else self._list.indexOfTopLevelItem(item)
        return self._baselines[row] if 0 <= row < len(self._baselines) else None


def _item(baseline: Baseline, reasons: Sequence[str], *, is_used: bool) -> QTreeWidgetItem:
    band = baseline.decode_tps
    kind = tr("sampled") if baseline.sampled else tr("greedy")
    ran_on_heads = tr("MTP heads in memory") if baseline.mtp_heads else ""
    state = tr("stale: {reasons}").format(reasons=said(reasons[0])) if reasons else tr("fits what is loaded")
    ran_on = tr("{device}, %n thread(s), {kind}", None, baseline.n_threads).format(device=baseline.device, kind=kind)
    item = QTreeWidgetItem(
        [
            baseline.name,
            tr("in use; {state}").format(state=state) if is_used else state,
            tr("{median:.1f} tok/s ({low:.1f}–{high:.1f})").format(median=band.median, low=band.low, high=band.high),
            str(baseline.n_runs),
            tr("up to {context_bucket:,}").format(context_bucket=baseline.context_bucket),
            ", ".join(filter(None, (ran_on, ran_on_heads, power_words(baseline.on_battery, baseline.power_mode)))),
            baseline.recorded_at[:16].replace("T", " "),
        ]
    )
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
    item.setToolTip(_STATE, tr("Stale: {reasons}.").format(reasons=said_each(reasons)) if reasons else "")
    font = number_font(bold=is_used)
    for column in range(len(COLUMNS)):
        item.setFont(column, font)
    return item
