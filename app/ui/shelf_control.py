"""What is on this computer: watched, shown in the pickers, dropped in, moved; and the first run's suggestion."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from app.errors import SlipstreamError
from app.host.background import beside
from app.models.library import Contents, Library
from app.models.models_folder import choose_folder, models_folder
from app.paths import models_dir
from app.ui.drop_control import DropControl
from app.ui.first_run import FirstRun
from app.ui.library_watch import LibraryWatch
from app.ui.reveal import show_folder
from app.ui.said import fault_words
from app.ui.tr import tr
from app.ui.wording import bytes_words

if TYPE_CHECKING:
    from app.models.disk_use import Disk
    from app.models.relocation import Relocation
    from app.ui.choices import Choices
    from app.ui.engine_control import EngineControl
    from app.ui.folder_dialog import FolderDialog
    from app.ui.main_window import MainWindow
    from app.ui.models_control import ModelsControl

PROGRESS_MS = 100


class ShelfControl(QObject):
    """Owns the watch of the folders, what is dropped, and the models folder."""

    def __init__(
        self, window: MainWindow, library: Library, choices: Choices, engine: EngineControl, models: ModelsControl
    ) -> None:
        super().__init__(window)
        self._window, self._library, self._choices = window, library, choices
        self._engine, self._models = engine, models
        self.watch = LibraryWatch(library, self)
        self.drop = DropControl(window, library, choices, engine)
        self.first_run = FirstRun(window, choices, models)
        self.dialog: FolderDialog | None = None
        self._move: Relocation | None = None
        self._tasks: set[asyncio.Task[object]] = set()
        self._clock = QTimer(self, interval=PROGRESS_MS)
        self._clock.timeout.connect(self.on_tick)
        self.drop.on_added = self.watch.look
        self.watch.changed.connect(self.on_contents)
        self._is_closed = False

    def start(self) -> None:
        """Finish a move that was broken off, and begin to watch."""
        self._run(beside(_finish_pending, "old models folder"))
        self.watch.start()

    async def close(self) -> None:
        """Stop what is moved or added, with nothing half done, and the watch."""
        self._is_closed = True
        if self._move is not None:
            self._move.stop()
        await self.drop.close()
        await self.first_run.close()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._close_dialog()
        await beside(self.watch.close, "watch")

    def on_contents(self, contents: Contents) -> None:
        """Show what is there now, wherever it is shown."""
        if self._is_closed:
            return
        self._engine.offer(contents)
        self.first_run.show_contents(contents)
        self._models.refresh()

    # --- the models folder ----------------------------------------------------------------------------

    def open_folder(self) -> None:
        """Show where models are kept, and what can be done about it."""
        from app.ui.folder_dialog import FolderDialog

        if self.dialog is None:
            dialog = self.dialog = FolderDialog(self._window)
            dialog.move_requested.connect(lambda: self._ask(tr("Move the models to"), self.move_to))
            dialog.use_requested.connect(lambda: self._ask(tr("Take the models from"), self.use))
            dialog.default_requested.connect(lambda: self.move_to(models_dir()))
            dialog.show_requested.connect(lambda: show_folder(models_folder()))
            dialog.cancel_requested.connect(self.on_cancel)
            dialog.finished.connect(self._close_dialog)
            dialog.open()
        self._show_folder()

    def _show_folder(self) -> None:
        if self.dialog is None:
            return
        from app.models.disk_use import disk_use

        folder = models_folder()
        self.dialog.show_folder(
            folder, facts_words(disk_use(self.watch.contents), folder), is_default=folder == models_dir()
        )

    def _ask(self, title: str, then: Callable[[Path], None]) -> None:
        dialog = QFileDialog(self._window, title, str(models_folder().parent))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(lambda name: then(Path(name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def move_to(self, folder: Path) -> None:
        """Move everything; the chat goes on meanwhile."""
        from app.models.relocation import Relocation

        if self._move is None:
            self._move = Relocation(folder)
            self._clock.start()
            self._run(self._relocate(self._move))

    def use(self, folder: Path) -> None:
        """Take another folder as it is; nothing is moved."""
        self._run(self._use(folder))

    def on_cancel(self) -> None:
        """Stop moving; everything stays where it was."""
        if self._move is not None:
            self._move.stop()

    def on_tick(self) -> None:
        """Show how far a move is."""
        if self._move is not None and self.dialog is not None:
            words = {
                "copying": tr("Moving to {new}…").format(new=self._move.new),
                "deleting": tr("Deleting the old files…"),
            }
            self.dialog.show_progress(self._move.fraction, words.get(self._move.stage, tr("Looking…")))

    async def _relocate(self, move: Relocation) -> None:
        from app.models.transfer import StoppedError

        self.on_tick()
        try:
            outcome = await beside(move.run, "move")
        except StoppedError:
            self._end(tr("Cancelled. Everything is where it was."))
        except SlipstreamError as fault:
            self._end(fault_words(fault))
        else:
            words = tr("Moved: {files_words}, {bytes_words}.").format(
                files_words=files_words(outcome.n_files), bytes_words=bytes_words(outcome.n_bytes)
            )
            if outcome.n_left:
                left = files_words(outcome.n_left)
                words += " " + tr("Not deleted in {old}: {left}; the new folder has them all.").format(
                    old=move.old, left=left
                )
            self._end(words)

    async def _use(self, folder: Path) -> None:
        from app.models.relocation import check_usable

        try:
            await beside(partial(check_usable, folder), "models folder")
            choose_folder(folder)
        except SlipstreamError as fault:
            self._end(fault_words(fault))
        else:
            self._end(tr("Models are kept here from now on. The old folder stays as it is."))

    def _end(self, words: str) -> None:
        self._move = None
        self._clock.stop()
        self._choices.reload()
        self.watch.look()
        if self.dialog is not None:
            self.dialog.show_progress(None, words)
            self._show_folder()
        else:
            self._window.notice.say("info", words)

    def _close_dialog(self) -> None:
        if self.dialog is not None:
            dialog, self.dialog = self.dialog, None
            with suppress(RuntimeError):
                dialog.close()
            dialog.deleteLater()

    def _run(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _finish_pending() -> None:
    from app.models.relocation import finish_pending

    finish_pending()


def files_words(n: int) -> str:
    """How many files."""
    return tr("{n:,} file(s)", None, n).format(n=n)


def facts_words(disk: Disk, folder: Path) -> str:
    """How much is in our folder, elsewhere, and free."""
    ours = next((use for use in disk.uses if use.source == "folder"), None)
    parts = [f"{files_words(ours.n_files)}, {bytes_words(ours.n_bytes)}" if ours is not None else tr("No models yet")]
    if ours is not None and ours.unfinished_bytes:
        parts.append(tr("{bytes_words} of unfinished downloads").format(bytes_words=bytes_words(ours.unfinished_bytes)))
    if disk.free_bytes is not None:
        parts.append(tr("{bytes_words} free on its disk").format(bytes_words=bytes_words(disk.free_bytes)))
    elif not folder.exists():
        parts.append(tr("its disk is not connected"))
    others = [use for use in disk.uses if use.source not in ("folder", "starter", "file")]
    if others:
        theirs = ", ".join(f"{use.source} {bytes_words(use.n_bytes)}" for use in others)
        parts.append(tr("other programs: {theirs}").format(theirs=theirs))
    return "; ".join(parts) + "."
