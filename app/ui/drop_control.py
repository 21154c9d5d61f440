"""Dropping model files on the window, or opening them from the menu: judged, then loaded, added or used to draft.

What that takes is imported when it is needed: the window should not start later for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QMimeData, QObject, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog

from app.errors import SlipstreamError
from app.host.background import beside
from app.protocol import Load
from app.ui.said import fault_words
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.models.importing import How, Import
    from app.models.inspection import Inspected
    from app.models.library import Library
    from app.ui.choices import Choices
    from app.ui.drop import DropDialog, DropRow, DropVeil
    from app.ui.engine_control import EngineControl
    from app.ui.main_window import MainWindow

INVITATION = tr("Drop model files (.gguf) to load, add or draft with them")
PROGRESS_MS = 100


class DropControl(QObject):
    """Takes what is dropped.

    Attributes:
        dialog: the window with the files, while it is open.
        on_added: called when a file was added to our folder.
    """

    def __init__(self, window: MainWindow, library: Library, choices: Choices, engine: EngineControl) -> None:
        super().__init__(window)
        self._window, self._library, self._choices, self._engine = window, library, choices, engine
        self._veil: DropVeil | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._imports: dict[DropRow, Import] = {}
        self.dialog: DropDialog | None = None
        self.on_added: Callable[[], None] = lambda: None
        self._clock = QTimer(self, interval=PROGRESS_MS)
        self._clock.timeout.connect(self.on_tick)
        window.setAcceptDrops(True)
        editor = window.composer.editor
        for widget in (window, editor, editor.viewport()):  # an editor would take the file's address as text
            widget.installEventFilter(self)

    async def close(self) -> None:
        """Stop what is being added, and wait for it: no half files."""
        for one in self._imports.values():
            one.stop()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self.dialog is not None:
            self.dialog.close()

    # --- dragging -------------------------------------------------------------------------------------

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Take files, and leave text to whoever it is for."""
        match event.type():
            case QEvent.Type.DragEnter | QEvent.Type.DragMove if isinstance(event, QDropEvent):
                return self._drag(event)
            case QEvent.Type.DragLeave:
                self._lift()
            case QEvent.Type.Drop if isinstance(event, QDropEvent):
                return self._drop(event)
        return False

    def _drag(self, event: QDropEvent) -> bool:
        if not event.mimeData().hasUrls():
            return False
        if self._veil is None:
            from app.ui.drop import DropVeil

            self._veil = DropVeil(self._window)
        if isinstance(event, QDragEnterEvent) or self._veil.isHidden():
            self._veil.cover(INVITATION)
        event.acceptProposedAction()
        return True

    def _drop(self, event: QDropEvent) -> bool:
        self._lift()
        if not event.mimeData().hasUrls():
            return False
        event.acceptProposedAction()
        paths = paths_of(event.mimeData())
        if paths:
            self.take(paths)
        else:
            self._window.notice.say(
                "warning",
                tr("That is not a file on this computer."),
                tr("Save it first, or get it under Models (Ctrl+M)."),
            )
        return True

    def _lift(self) -> None:
        if self._veil is not None:
            self._veil.hide()

    # --- files ----------------------------------------------------------------------------------------

    def choose_files(self) -> None:
        """Ask for files."""
        dialog = QFileDialog(self._window, tr("Open model files"))
        dialog.setNameFilters([tr("Models (*.gguf)"), tr("All files (*)")])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: self.take([Path(name) for name in names]))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def take(self, paths: list[Path]) -> None:
        """Judge files and show what can be done with them."""
        self._run(self._take(paths))

    async def _take(self, paths: list[Path]) -> None:
        from app.models.inspection import models_among
        from app.ui.drop import DropDialog

        files = await beside(partial(models_among, paths), "dropped files")
        self._close_dialog()
        dialog = self.dialog = DropDialog(files, self._window)
        dialog.finished.connect(self.on_closed)
        for row in dialog.rows:
            row.load_requested.connect(partial(self.on_load, row))
            row.draft_requested.connect(partial(self.on_draft, row))
            row.import_requested.connect(partial(self.on_import, row))
            row.cancel_requested.connect(partial(self.on_cancel, row))
        dialog.open()
        for row in dialog.rows:
            found = await beside(partial(self._inspect, row.path), "dropped file")
            if self.dialog is not dialog:
                return
            row.show_found(found)

    def _inspect(self, path: Path) -> Inspected:
        from app.models.inspection import inspect
        from app.models.memory import room_now

        chosen = self._choices.settings
        how = Load(0, chosen.target, n_ctx=chosen.n_ctx)
        return inspect(path, self._library, how, room_now())

    def on_load(self, row: DropRow) -> None:
        """Chat with it."""
        if row.found is not None:
            self._engine.pick_target(row.found.name)
            self._close_dialog()

    def on_draft(self, row: DropRow) -> None:
        """Let it draft for the model that answers now."""
        if row.found is not None:
            self._engine.pick_drafter(row.found.name)
            self._close_dialog()

    # --- adding ---------------------------------------------------------------------------------------

    def on_import(self, row: DropRow, how: How) -> None:
        """Begin to add it to our folder."""
        from app.models.importing import Import

        if row not in self._imports:
            self._imports[row] = one = Import(row.path, how)
            row.show_progress(0.0)
            self._clock.start()
            self._run(self._import(row, one))

    def on_cancel(self, row: DropRow) -> None:
        """Stop adding it."""
        if (one := self._imports.get(row)) is not None:
            one.stop()

    def on_tick(self) -> None:
        """Show how far they are."""
        for row, one in self._imports.items():
            row.progress.setValue(round(100 * one.fraction))

    async def _import(self, row: DropRow, one: Import) -> None:
        from app.models.transfer import StoppedError

        words, icon_name, is_ours = "", "check", False
        try:
            places = await beside(one.run, "import")
        except StoppedError:
            words, icon_name = tr("Cancelled. Nothing was added."), "warning"
        except SlipstreamError as fault:
            words, icon_name = fault_words(fault), "close"
        else:
            words = (
                tr("The same file was among your models already.")
                if one.was_there
                else tr("It is among your models now.")
            )
            is_ours = True
            found = await beside(partial(self._inspect, places[0]), "added file")
            row.found = found
            self.on_added()
        finally:
            del self._imports[row]
            if not self._imports:
                self._clock.stop()
        row.show_end(words, icon_name, is_ours=is_ours)

    # --- the dialog -----------------------------------------------------------------------------------

    def on_closed(self) -> None:
        """Stop what is being added: its progress can be seen no more."""
        for one in self._imports.values():
            one.stop()
        self.dialog = None

    def _close_dialog(self) -> None:
        if self.dialog is not None:
            dialog, self.dialog = self.dialog, None
            dialog.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def paths_of(data: QMimeData) -> list[Path]:
    """Return the files of this computer among what is dragged."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile() and url.toLocalFile()]
