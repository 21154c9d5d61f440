"""What models can run on here: each device with its state in words, where each role runs, which runtime, what helps.

It shows and asks; what that means is :class:`app.ui.devices_control.DevicesControl`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.ui import motion
from app.ui.dialog_size import fit
from app.ui.model_options import Choice
from app.ui.said import said
from app.ui.servers_panel import ServersPanel
from app.ui.theme import GRID, named, text_font
from app.ui.tr import tr
from app.ui.wording import bytes_words

if TYPE_CHECKING:
    from app.host.device_trial import DeviceTrial
    from app.host.survey import DeviceReport
    from app.models.download import Progress

COLUMNS = (tr("Device"), tr("Kind"), tr("State"), tr("Memory free"), tr("Description"))
SAME = ""
_STATE_COLUMN = 2
_KINDS = {
    "cpu": tr("processor"),
    "gpu": "GPU",
    "igpu": tr("GPU in the processor"),
    "npu": "NPU",
    "accelerator": tr("accelerator"),
}
_STATES = {
    "works": tr("works: a tiny model answered rightly"),
    "untried": tr("not tried yet"),
    "wrong": tr("does not work"),
    "failing": tr("failed while it worked"),
}
_WORDS = {
    "cpu": tr("the processor (CPU)"),
    "gpu": tr("the GPU"),
    "npu": tr("the NPU"),
    "hybrid": tr("NPU and GPU together"),
}
ABOUT_RUNTIMES = tr(
    "A runtime is a build of llama.cpp. Another one can know more devices: the official build for this computer, or a "
    "folder or archive of your own. It is looked at in a process of its own before it is used."
)
_BUSY_HINT = tr("This takes a moment; on a GPU the first time can take minutes.")


def place_words(compute: str) -> str:
    """Name where a model runs."""
    return _WORDS.get(compute) or " + ".join(compute.split(","))


def state_words(report: DeviceReport) -> str:
    """Say what is known of a device, with the reason."""
    words = tr("always there") if report.device.kind == "cpu" else _STATES[report.standing.state]
    return f"{words}: {said(report.standing.reason)}" if report.standing.reason else words


def arrival_words(step: Progress) -> str:
    """Say how far a runtime that is fetched has come."""
    if not step.n_total_bytes or step.phase == "checking":
        return step.detail
    words = tr("Getting {title}: {here} of {all}").format(
        title=step.title, here=bytes_words(step.n_bytes), all=bytes_words(step.n_total_bytes)
    )
    return f"{words}. {step.detail}" if step.detail else words


def _description(report: DeviceReport) -> str:
    device = report.device
    lent = tr("lent by {description}; the link is neither encrypted nor authenticated").format(
        description=device.description
    )
    return lent if device.backend == "RPC" else device.description


def _add_row(grid: QGridLayout, row: int, words: str, choice: Choice) -> None:
    label = QLabel(words)
    label.setBuddy(choice)
    grid.addWidget(label, row, 0)
    grid.addWidget(choice, row, 1)
    grid.setColumnStretch(1, 1)


class DevicesDialog(QDialog):
    """The page about devices and runtimes."""

    target_placed = Signal(str)
    draft_placed = Signal(str)
    runtime_chosen = Signal(str)
    add_folder_requested = Signal()
    add_zip_requested = Signal()
    fetch_requested = Signal(str)
    remove_requested = Signal()
    cancel_requested = Signal()
    look_requested = Signal()
    prove_requested = Signal()
    measure_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Devices"))
        fit(self, 860, 560)
        self.chip = QLabel()
        self.chip.setFont(text_font(0.5, bold=True))
        self.target = Choice(
            tr("Where the model runs"), tr("It is loaded again there, after a tiny model answered rightly on it.")
        )
        self.draft = Choice(tr("Where the draft model runs"), tr("A small model is often fastest on the processor."))
        self.list = QTreeWidget(columnCount=len(COLUMNS))
        self.advice = QLabel(wordWrap=True)
        self.runtime = Choice(
            tr("Runtime"), tr("The build of llama.cpp that models run on; another can know more devices.")
        )
        self.about_runtime = named(QLabel(wordWrap=True), "muted")
        self.folder_button, self.zip_button = QPushButton(tr("Add a &folder…")), QPushButton(tr("Add an arc&hive…"))
        self.fetch_button, self.remove_button = QPushButton(tr("&Get from llama.cpp")), QPushButton(tr("&Remove"))
        self.servers = ServersPanel()
        self.tabs = QTabWidget()
        self.look_button, self.prove_button = QPushButton(tr("&Look again")), QPushButton(tr("&Try each device"))
        self.measure_button = QPushButton(tr("M&easure my devices"))
        self.measured = QLabel(wordWrap=True)
        self.busy = QLabel(wordWrap=True)
        self.progress = QProgressBar(textVisible=False)
        self.cancel_button = QPushButton(tr("&Cancel"))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for label in (self.chip, self.advice, self.about_runtime, self.measured, self.busy):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._connect()
        self._build()
        self.measured.hide()
        self.show_busy("")

    def _connect(self) -> None:
        self.list.setHeaderLabels(COLUMNS)
        self.list.setRootIsDecorated(False)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for column in (_STATE_COLUMN, len(COLUMNS) - 1):  # they share what is left; tool tips have them whole
            self.list.header().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        self.list.setAccessibleName(tr("Devices"))
        self.progress.setAccessibleName(tr("Looking for devices"))
        self.target.picked.connect(lambda words: self.target_placed.emit(str(words)))
        self.draft.picked.connect(lambda words: self.draft_placed.emit(str(words)))
        self.runtime.picked.connect(lambda name: self.runtime_chosen.emit(str(name)))
        self.folder_button.clicked.connect(self.add_folder_requested)
        self.zip_button.clicked.connect(self.add_zip_requested)
        self.remove_button.clicked.connect(self.remove_requested)
        self.cancel_button.clicked.connect(self.cancel_requested)
        self.look_button.clicked.connect(self.look_requested)
        self.prove_button.clicked.connect(self.prove_requested)
        self.measure_button.clicked.connect(self.measure_requested)
        self.measure_button.setToolTip(tr("Lets the starter answer on each by turns, for up to a minute."))
        self.look_button.setToolTip(tr("Also at what ended its process the last time."))
        self.prove_button.setToolTip(tr("A tiny model must answer rightly on it, in a process that may die."))
        self.buttons.rejected.connect(self.reject)

    def _build(self) -> None:
        foot = QHBoxLayout()
        foot.addWidget(self.progress)
        foot.addWidget(self.busy, 1)
        foot.addWidget(self.cancel_button)
        self.progress.setMaximumWidth(20 * GRID)
        self.tabs.addTab(self._devices_page(), tr("De&vices"))
        self.tabs.addTab(self._runtimes_page(), tr("Run&times"))
        self.tabs.addTab(self.servers, tr("&Other computers"))
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addWidget(self.tabs, 1)
        column.addLayout(foot)
        column.addWidget(self.buttons)

    def _devices_page(self) -> QWidget:
        places = QGridLayout()
        places.setHorizontalSpacing(2 * GRID)
        for row, (words, choice) in enumerate(
            ((tr("The &model runs on"), self.target), (tr("The dra&ft model runs on"), self.draft))
        ):
            _add_row(places, row, words, choice)
        looking = QHBoxLayout()
        for button in (self.look_button, self.prove_button, self.measure_button):
            looking.addWidget(button)
        looking.addStretch(1)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setSpacing(GRID)
        column.addWidget(self.chip)
        column.addWidget(self.list, 1)
        column.addLayout(looking)
        column.addWidget(self.measured)
        column.addWidget(self.advice)
        column.addLayout(places)
        return page

    def _runtimes_page(self) -> QWidget:
        runtimes = QGridLayout()
        runtimes.setHorizontalSpacing(2 * GRID)
        _add_row(runtimes, 0, tr("R&untime"), self.runtime)
        buttons = QHBoxLayout()
        for button in (self.fetch_button, self.folder_button, self.zip_button, self.remove_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        about = named(QLabel(ABOUT_RUNTIMES, wordWrap=True), "muted")
        page = QWidget()
        column = QVBoxLayout(page)
        column.setSpacing(GRID)
        column.addWidget(about)
        column.addLayout(runtimes)
        column.addWidget(self.about_runtime)
        column.addLayout(buttons)
        column.addStretch(1)
        return page

    # --- content --------------------------------------------------------------------------------------

    def show_devices(self, reports: Sequence[DeviceReport], chip: str, advice: Iterable[str]) -> None:
        """List the devices, and what would make more of the machine work."""
        self.chip.setText(chip)
        self.list.clear()
        for report in reports:
            device = report.device
            free = bytes_words(device.memory_free_bytes) if device.memory_free_bytes else tr("unknown")
            cells = (device.name, _KINDS.get(device.kind, device.kind), state_words(report), free, _description(report))
            item = QTreeWidgetItem(cells)
            item.setToolTip(_STATE_COLUMN, state_words(report))
            item.setToolTip(len(cells) - 1, cells[-1])
            self.list.addTopLevelItem(item)
        self.advice.setText("\n".join(advice))
        self.advice.setVisible(bool(self.advice.text()))

    def show_places(self, places: Sequence[str], target: str, draft: str) -> None:
        """Offer where models can run; what is chosen stays on offer, whether it is there or not."""
        known = dict.fromkeys((*places, target))
        self.target.fill(((words, place_words(words)) for words in known), target)
        drafts = dict.fromkeys((SAME, *places, draft))
        self.draft.fill(((words, place_words(words) if words else tr("the same")) for words in drafts), draft)

    def show_runtimes(self, names: Sequence[str], current: str, about: str) -> None:
        """Offer the runtimes, and say what is to be said about the one in use."""
        all_names = dict.fromkeys((*names, current))
        self.runtime.fill(((name, tr("built-in") if name == names[0] else name) for name in all_names), current)
        self.about_runtime.setText(about)
        self.remove_button.setEnabled(current != names[0])

    def show_trial(self, trial: DeviceTrial) -> None:
        """Say what was measured, fastest first, and what is recommended."""
        parts = [
            f"{place_words(speed.place)} " + (speed.fault or tr("{tps:.1f} tok/s").format(tps=speed.decode_tps))
            for speed in trial.speeds
        ]
        recommended = (
            " " + tr("Recommended: {place_words}.").format(place_words=place_words(trial.choice))
            if trial.choice
            else ""
        )
        self.measured.setText(
            tr("Measured with {target}: {parts}.{recommended}").format(
                target=trial.target, parts="; ".join(parts), recommended=recommended
            )
        )
        self.measured.show()

    def show_busy(self, words: str) -> None:
        """Say what is being looked for; "" for nothing."""
        looking = (self.look_button, self.prove_button, self.measure_button)
        for button in (self.fetch_button, self.folder_button, self.zip_button, *looking, self.runtime):
            button.setEnabled(not words)
        self.servers.show_busy(is_busy=bool(words))
        if words:  # afterwards it depends on the runtime
            self.remove_button.setEnabled(False)
        self.busy.setText(f"{words} {_BUSY_HINT}" if words else "")
        motion.show_busy(self.progress)
        self.progress.setVisible(bool(words))
        self.cancel_button.setVisible(bool(words))

    def show_arrival(self, fraction: float, words: str) -> None:
        """Say how far what is fetched has come."""
        self.show_busy(words)
        self.busy.setText(words)
        self.progress.setRange(0, 1000)
        self.progress.setValue(round(1000 * fraction))

    def offer_builds(self, builds: Sequence[tuple[str, str]]) -> None:
        """Offer official builds, by name and what they compute on."""
        menu = QMenu(self)
        for name, about in builds:
            action = menu.addAction(f"{about}: {name}")
            action.triggered.connect(lambda _=False, name=name: self.fetch_requested.emit(name))
        self.fetch_button.setMenu(menu)
        self.fetch_button.setVisible(bool(builds))

    def show_fault(self, words: str) -> None:
        """Say what went wrong, where progress is told otherwise."""
        self.busy.setText(words)

    def states(self) -> dict[str, str]:
        """What is said about each device, by its name."""
        items = [self.list.topLevelItem(row) for row in range(self.list.topLevelItemCount())]
        return {str(item.text(0)): str(item.text(_STATE_COLUMN)) for item in items if item is not None}
