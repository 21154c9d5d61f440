"""Behind the page about devices: looks, tries, adds and chooses, on threads; has the pair loaded where it is placed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.engine.runtime_files import RPC
from app.errors import SlipstreamError
from app.host import fetching
from app.host.addresses import check_address, is_this_computer
from app.host.background import beside
from app.host.computing import is_processor
from app.host.device_trial import measure_devices, together
from app.host.device_trial import places as trial_places
from app.host.packs import BUILT_IN
from app.host.runtimes import Runtimes
from app.host.survey import Survey, survey
from app.models.release import Releases, build_named, builds_here, source
from app.ui.devices_dialog import DevicesDialog, arrival_words, state_words
from app.ui.said import fault_words, said
from app.ui.servers_panel import DANGER
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.models.download import Progress
    from app.ui.choices import Choices
    from app.ui.engine_control import EngineControl
    from app.ui.main_window import MainWindow


class DevicesControl(QObject):
    """Between the page on one side, runtimes, devices and settings on the other."""

    def __init__(self, window: MainWindow, choices: Choices, engine: EngineControl) -> None:
        super().__init__(window)
        self._window, self._choices, self._engine = window, choices, engine
        self._runtimes = Runtimes()
        self._known: Survey | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_measuring = False
        self.dialog: DevicesDialog | None = None
        self.asking: QMessageBox | None = None
        engine.loaded_changed.connect(self.on_loaded)

    @property
    def is_busy(self) -> bool:
        """Whether something is looked for or tried."""
        return self._task is not None and not self._task.done()

    async def close(self) -> None:
        """Stop waiting for what is under way; its process ends by itself."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        if self.dialog is not None:
            self.dialog.close()

    def open(self) -> None:
        """Show the page, and look what is here."""
        if self.dialog is None:
            self.dialog = self._make()
        self.dialog.open()
        self._run(tr("Looking for devices…"), survey)

    def _make(self) -> DevicesDialog:
        dialog = DevicesDialog(self._window)
        dialog.target_placed.connect(lambda words: self._place(compute=words))
        dialog.draft_placed.connect(lambda words: self._place(draft_compute=words))
        dialog.runtime_chosen.connect(self.use)
        dialog.add_folder_requested.connect(lambda: self._ask_for(is_folder=True))
        dialog.add_zip_requested.connect(lambda: self._ask_for(is_folder=False))
        dialog.fetch_requested.connect(self.fetch)
        dialog.remove_requested.connect(self.remove)
        dialog.cancel_requested.connect(self.cancel)
        dialog.servers.add_requested.connect(self.add_server)
        dialog.servers.remove_requested.connect(self.remove_server)
        with suppress(SlipstreamError):  # a mirror's list that cannot be read: fetching says so, adding works on
            dialog.offer_builds([(build.name, build.about) for build in builds_here(source())])
        dialog.look_requested.connect(lambda: self._run(tr("Looking for devices…"), partial(survey, again=True)))
        dialog.prove_requested.connect(lambda: self._run(tr("Trying each device…"), partial(survey, prove=True)))
        dialog.measure_requested.connect(self.measure)
        dialog.finished.connect(self.on_closed)
        return dialog

    def on_closed(self) -> None:
        """Forget the page; what was begun goes on, but for a measurement that nobody would see."""
        if self._is_measuring and self._task is not None:
            self._task.cancel()
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    def on_loaded(self) -> None:
        """Say what the load has taught of the devices, while the page is open."""
        if self.dialog is not None:
            self.refresh()
            self._run(tr("Looking for devices…"), survey)

    # --- choosing -------------------------------------------------------------------------------------

    def _place(self, **where: str) -> None:
        self._choices.change(**where)
        self._engine.load()

    def use(self, name: str) -> None:
        """Choose a runtime: the engine is started again on it, the program is not."""
        self._run(
            tr("Looking at {name}…").format(name=name),
            partial(self._after, partial(self._runtimes.use, name)),
            is_new_engine=True,
        )

    def add(self, path: Path) -> None:
        """Add a runtime and choose it, if it passes the guard."""
        self._run(
            tr("Looking at {name}…").format(name=path.name),
            partial(self._after, partial(self._add, path)),
            is_new_engine=True,
        )

    def remove(self) -> None:
        """Take the runtime in use off the list."""
        if self._known is not None and self._known.shelf.active != BUILT_IN:
            name = self._known.shelf.active
            self._run(
                tr("Looking again…"), partial(self._after, partial(self._runtimes.remove, name)), is_new_engine=True
            )

    def fetch(self, build: str) -> None:
        """Fetch an official build, then choose it; what has arrived is kept if it is cancelled."""
        if not self.is_busy:
            self._task = asyncio.get_running_loop().create_task(self._fetch(build))

    async def _fetch(self, build: str) -> None:
        try:
            releases, name = Releases(), ""
            async with aclosing(fetching.fetch(build_named(releases.known, build), self._runtimes, releases)) as steps:
                async for step in steps:
                    self._show_arrival(step)
                    name = step.detail if step.phase == "done" else name
        except SlipstreamError as fault:
            self._show_fault(fault)
            return
        except asyncio.CancelledError:
            self._show_busy("")
            raise
        await self._look(
            tr("Looking at {name}…").format(name=name),
            partial(self._after, partial(self._runtimes.use, name)),
            is_new_engine=True,
        )

    def _show_arrival(self, step: Progress) -> None:
        if self.dialog is not None:
            fraction = step.n_bytes / step.n_total_bytes if step.n_total_bytes else 0.0
            self.dialog.show_arrival(fraction, arrival_words(step))

    def add_server(self, server: str) -> None:
        """Borrow a server's devices, too; one that is not this computer only once a person has read what that means."""
        try:
            check_address(server)
        except SlipstreamError as fault:
            self._show_fault(fault)
            return
        if is_this_computer(server):
            self._borrow(server)
        else:
            self._ask_before(server)

    def _ask_before(self, server: str) -> None:
        asking = QMessageBox(self.dialog)
        asking.setWindowTitle(tr("Borrow devices"))
        asking.setIcon(QMessageBox.Icon.Warning)
        asking.setText(tr("Send text and models to {server}?").format(server=server))
        asking.setInformativeText(DANGER)
        yes = asking.addButton(tr("Borrow its devices"), QMessageBox.ButtonRole.AcceptRole)
        asking.setDefaultButton(asking.addButton(QMessageBox.StandardButton.Cancel))
        asking.buttonClicked.connect(lambda button: self._borrow(server) if button is yes else None)
        asking.finished.connect(asking.deleteLater)
        asking.open()
        self.asking = asking

    def _borrow(self, server: str) -> None:
        self._run(
            tr("Asking {server}…").format(server=server),
            partial(self._after, partial(self._runtimes.add_server, server)),
        )
        if self.dialog is not None:
            self.dialog.servers.address.clear()

    def remove_server(self, server: str) -> None:
        """Borrow a server's devices no more; an engine that works on lent devices is ended, and with it the link."""
        chosen = self._choices.settings
        is_elsewhere = not (is_processor(chosen.compute) and is_processor(chosen.draft_compute))
        lent = [report for report in self._known.devices if report.device.backend == "RPC"] if self._known else []
        work = partial(self._after, partial(self._runtimes.remove_server, server))
        self._run(tr("Looking again…"), work, is_new_engine=bool(lent) and is_elsewhere)

    def _add(self, path: Path) -> None:
        self._runtimes.use(self._runtimes.add(path).name)

    @staticmethod
    def _after(work: Callable[[], object]) -> Survey:
        work()
        return survey()

    def _ask_for(self, *, is_folder: bool) -> None:
        dialog = QFileDialog(self.dialog, tr("Add a runtime"))
        if is_folder:
            dialog.setFileMode(QFileDialog.FileMode.Directory)
        else:
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
            dialog.setNameFilters([tr("Archives (*.zip *.tar.gz *.tgz)")])
        dialog.fileSelected.connect(lambda path: self.add(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    # --- looking --------------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Stop waiting for what is under way; what was begun in another process ends there by itself."""
        if self._task is not None:
            self._task.cancel()

    def _run(self, words: str, work: Callable[[], Survey], *, is_new_engine: bool = False) -> None:
        if self.is_busy:
            return
        self._task = asyncio.get_running_loop().create_task(self._look(words, work, is_new_engine=is_new_engine))

    async def _look(self, words: str, work: Callable[[], Survey], *, is_new_engine: bool) -> None:
        self._show_busy(words)
        try:
            self._known = await beside(work, "devices")
        except SlipstreamError as fault:
            self._show_fault(fault)
            return
        except asyncio.CancelledError:
            self._show_busy("")
            raise
        self._show_busy("")
        self.refresh()
        if is_new_engine:
            self._engine.restart()

    def measure(self) -> None:
        """Measure where the starter answers fastest, on an engine of its own; closing the page ends it."""
        if not self.is_busy and self._known is not None:
            self._is_measuring = True
            self._task = asyncio.get_running_loop().create_task(self._measure(self._known))

    async def _measure(self, known: Survey) -> None:
        try:
            trial = await measure_devices(trial_places(known), self._show_busy)
        finally:
            self._is_measuring = False
            self._show_busy("")
        await self._look(tr("Looking for devices…"), survey, is_new_engine=False)
        if self.dialog is not None:
            self.dialog.show_trial(trial)

    def _show_fault(self, fault: SlipstreamError) -> None:
        self._show_busy("")
        self.refresh()
        if self.dialog is not None:
            self.dialog.show_fault(fault_words(fault))

    def _show_busy(self, words: str) -> None:
        if self.dialog is not None:
            self.dialog.show_busy(words)

    def refresh(self) -> None:
        """Show what is known and chosen now."""
        dialog, known, chosen = self.dialog, self._known, self._choices.settings
        if dialog is None or known is None:
            return
        chip = [known.soc.name, said(known.soc.cores), known.soc.gpu]
        dialog.show_devices(known.devices, ", ".join(part for part in chip if part), known.advice)
        dialog.show_places(places(known), chosen.compute, chosen.draft_compute)
        runtime = known.found.runtime
        about = (
            tr("llama.cpp {commit}, ggml {ggml}. {why_not}")
            .format(commit=runtime.commit, ggml=runtime.ggml, why_not=known.why_not)
            .strip()
        )
        names = (BUILT_IN, *(pack.name for pack in known.shelf.packs))
        dialog.show_runtimes(names, known.shelf.active, about)
        backend = next((backend for backend in known.found.backends if backend.name == RPC), None)
        dialog.servers.show_servers(known.shelf.servers, server_words(known), has_rpc=backend is not None)


def server_words(known: Survey) -> dict[str, str]:
    """Say what is known of each server: the devices that it lends, or that it does not answer."""
    lent: dict[str, list[str]] = {}
    for report in known.devices:
        if report.device.backend == "RPC":
            words = f"{report.device.name} {state_words(report)}"
            lent.setdefault(report.device.description, []).append(words)
    return {
        server: "; ".join(lent.get(server, [tr("does not answer, or lends nothing")])) for server in known.shelf.servers
    }


def places(known: Survey) -> tuple[str, ...]:
    """Return where models can run: the kinds that are here, and each device by name."""
    kinds = {report.device.kind for report in known.devices}
    has_gpu, has_npu = bool(kinds & {"gpu", "igpu"}), "npu" in kinds
    words = ["cpu"] + ["gpu"] * has_gpu + ["npu"] * has_npu + ["hybrid"] * (has_gpu and has_npu)
    names = [report.device.name for report in known.devices if report.device.kind != "cpu"]
    return (*words, *names, *together(known))
