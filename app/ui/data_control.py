"""All conversations out and in, a backup and its restoring: asked for in the window, done on a thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import closing
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.chat import archive, backup, export
from app.chat.importing import Imported, read_path
from app.chat.store import ChatStore
from app.errors import SlipstreamError, StoreError
from app.host.background import beside
from app.models.transfer import StoppedError
from app.paths import config_dir, data_dir
from app.ui.actions import WindowAction
from app.ui.question import Question
from app.ui.reveal import show_folder
from app.ui.said import said
from app.ui.tr import tr
from app.ui.work_dialog import Work, WorkDialog

if TYPE_CHECKING:
    from app.chat.progress import Progress
    from app.ui.chats import Chats
    from app.ui.main_window import MainWindow

logger = logging.getLogger(__name__)

T = TypeVar("T")

_KINDS = {"json": tr("JSON, with all branches"), "md": tr("Markdown"), "html": tr("HTML"), "txt": tr("Text")}
_CANCELLED = tr("Cancelled. Nothing was changed.")


class DataControl(QObject):
    """Owns the work on everything a person has made.

    Attributes:
        on_restore: what brings a checked backup in, when the program is not running.
    """

    presets_added = Signal()

    def __init__(self, window: MainWindow, chats: Chats) -> None:
        super().__init__(window)
        self._window, self._chats = window, chats
        self._tasks: set[asyncio.Task[None]] = set()
        self.dialog: WorkDialog | None = None
        self.question: Question | None = None
        self._work: Work | None = None
        self.on_restore: Callable[[Path], None] = lambda _path: None
        window.action_list.add(
            WindowAction(
                "data.export",
                tr("Export all conversations…"),
                self.ask_export,
                "program",
                in_menu=False,
                also=tr("save"),
            ),
            WindowAction(
                "data.import", tr("Import conversations…"), self.ask_import, "program", in_menu=False, also=tr("open")
            ),
            WindowAction(
                "data.backup", tr("Back up everything…"), self.ask_backup, "program", in_menu=False, also=tr("save")
            ),
            WindowAction("data.restore", tr("Restore a backup…"), self.ask_restore, "program", in_menu=False),
            WindowAction("data.show", tr("Show the data folder"), self.show, "program", in_menu=False),
        )

    def do(self, name: str) -> None:
        """Do what a button of the settings asks for."""
        self._window.action_list.run(f"data.{name}")

    def where(self) -> str:
        """Say where what a person has made is kept."""
        return tr("Conversations and baselines: {data_dir}\nSettings: {config_dir}").format(
            data_dir=data_dir(), config_dir=config_dir()
        )

    def show(self) -> None:
        """Show the folder in the system's file manager."""
        if not show_folder(data_dir()):
            self._window.notice.say(
                "info",
                tr("Your data is in {data_dir}.").format(data_dir=data_dir()),
                tr("No file manager was found to show it."),
            )

    async def close(self) -> None:
        """Stop what is under way, and wait for its end."""
        if self._work is not None:
            self._work.stop()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # --- asking ---------------------------------------------------------------------------------------

    @property
    def _parent(self) -> QWidget:
        """What a dialog opens above: the settings, if they are open."""
        from PySide6.QtWidgets import QApplication

        above = QApplication.activeModalWidget()
        return above if above is not None else self._window

    def ask_export(self) -> None:
        """Ask where all conversations are to go, and as what."""
        dialog = QFileDialog(self._parent, tr("Export all conversations"), "conversations.json")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([f"{words} (*.{kind})" for kind, words in _KINDS.items()])
        dialog.setDefaultSuffix("json")
        dialog.filterSelected.connect(lambda words: dialog.setDefaultSuffix(words.rpartition("*.")[2].rstrip(")")))
        self._open(dialog, lambda names: self.export_all(Path(names[0])))

    def ask_import(self) -> None:
        """Ask which files to add."""
        dialog = QFileDialog(self._parent, tr("Import conversations"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters([tr("Conversations (*.json *.jsonl *.zip)"), tr("All files (*)")])
        self._open(dialog, lambda names: self.import_files([Path(name) for name in names]))

    def ask_backup(self) -> None:
        """Ask where the backup is to go."""
        dialog = QFileDialog(self._parent, tr("Back up everything"), f"slipstream-{export_day()}.zip")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("zip")
        self._open(dialog, lambda names: self.back_up(Path(names[0])))

    def ask_restore(self) -> None:
        """Ask which backup to restore."""
        dialog = QFileDialog(self._parent, tr("Restore a backup"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([tr("Backups (*.zip)"), tr("All files (*)")])
        self._open(dialog, lambda names: self.check_backup(Path(names[0])))

    def _open(self, dialog: QFileDialog, then: Callable[[list[str]], None]) -> None:
        dialog.filesSelected.connect(then)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    # --- doing ----------------------------------------------------------------------------------------

    def export_all(self, path: Path) -> None:
        """Write all conversations into one file; the ending of its name says how."""
        self._start(self._export_all(path))

    def import_files(self, paths: list[Path]) -> None:
        """Add the conversations of files, of all or of none."""
        self._start(self._import(paths))

    def back_up(self, path: Path) -> None:
        """Write everything into one file."""
        self._start(self._back_up(path))

    def check_backup(self, path: Path) -> None:
        """Look whether a backup is whole; then ask whether it is really to take the place of what is here."""
        self._start(self._check_backup(path))

    async def _export_all(self, path: Path) -> None:
        n_all = await self._do(tr("Exporting all conversations…"), partial(export_everything, self._chats.store, path))
        self._say(
            tr("{conversations_words} written to {path}.").format(
                conversations_words=conversations_words(n_all), path=path
            )
        )

    async def _back_up(self, path: Path) -> None:
        manifest = await self._do(tr("Backing everything up…"), lambda note: backup.back_up(path, note))
        self._say(
            tr("{path} holds {conversations_words}, with settings and baselines.").format(
                path=path, conversations_words=conversations_words(manifest.n_conversations)
            )
        )

    async def _check_backup(self, path: Path) -> None:
        manifest = await self._do(tr("Checking the backup…"), lambda note: backup.read_manifest(path, note))
        question = self.question = Question(
            self._parent,
            tr("Restore this backup?"),
            tr(
                "It was made on {made_at:%Y-%m-%d, %H:%M} and holds {conversations_words}, with settings and "
                "baselines. What is here now is replaced by that, and kept in a folder. The window closes and opens "
                "again."
            ).format(
                conversations_words=conversations_words(manifest.n_conversations), made_at=manifest.made_at.astimezone()
            ),
            tr("Restore"),
        )
        question.ask(lambda: self.on_restore(path), self._forget_question)

    def _forget_question(self) -> None:
        self.question = None

    async def _import(self, paths: list[Path]) -> None:
        found = await self._do(tr("Reading…"), partial(_read_all, paths))
        added = await self._do(tr("Adding the conversations…"), partial(add_everything, self._chats.store, found))
        self._chats.refresh()
        self.presets_added.emit()
        words = [found_words(path.name, one) for path, one in zip(paths, found, strict=True)]
        self._say(" ".join((*words, *also_words(added))))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        if any(not task.done() for task in self._tasks):  # one that has ended stays in the set for a moment
            work.close()
            self._window.notice.say("info", tr("Something else is under way."), tr("Wait for its end, or cancel it."))
            return
        task = asyncio.get_running_loop().create_task(self._told(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except StoppedError:
            self._say(_CANCELLED)
        except SlipstreamError as fault:
            self._window.notice.say("error", fault.message, fault.hint)

    async def _do(self, words: str, work: Callable[[Progress], T]) -> T:
        """Run blocking work with its progress on the screen."""
        progress = self._work = Work()
        dialog = self.dialog = WorkDialog(self._parent, words, progress)
        dialog.open_when_long()
        try:
            return await beside(lambda: work(progress.note), "data")
        finally:
            self._work = self.dialog = None
            dialog.end()

    def _say(self, words: str) -> None:
        self._window.notice.say("info", words, expires_s=12)


# --- on the thread ------------------------------------------------------------------------------------


def export_everything(store: ChatStore, path: Path, note: Progress) -> int:
    """Write all conversations into one file, read through a connection of its own; return how many."""
    with closing(_own(store)) as own:
        ids = [head.id for head in own.heads(limit=-1)]
        data = export.export(own, ids, export.kind_of(path.suffix), note, archive.shelf_of(own))
        export.write_whole(path, data)
        return len(ids)


def add_everything(store: ChatStore, found: list[Imported], note: Progress) -> archive.Added:
    """Add conversations one after the other, so that the window can save in between; all of them, or none.

    Until all are there they are among the deleted ones, where those stay that a kill leaves.
    """
    records = [record for one in found for record in one.records]
    aside: list[tuple[int, str]] = []
    with closing(_own(store)) as own:
        try:
            for number, record in enumerate(records):
                note(number, len(records))
                aside.append((archive.add_aside(own, record), record.folder))
            with own.transaction():
                shown = archive.show_records(own, aside)
                return reduce(archive.Added.joined, [archive.add_shelf(own, one.shelf, note) for one in found], shown)
        except BaseException:
            try:
                own.erase([conversation_id for conversation_id, _ in aside])
            except SlipstreamError:  # what has happened first is what is said
                logger.exception("conversations of an import stay among the deleted ones")
            raise


def _own(store: ChatStore) -> ChatStore:
    """Open the database once more, for this thread.

    Raises:
        StoreError: there is none on the disk.
    """
    if not store.is_on_disk:
        raise StoreError(
            tr("Conversations are not being saved, so there is no file to work on."),
            tr("Export single ones from their menu, and look why they are not saved."),
        )
    return ChatStore(store.path)


def _read_all(paths: list[Path], note: Progress) -> list[Imported]:
    found = []
    for number, path in enumerate(paths):
        note(number, len(paths))
        found.append(read_path(path))
    return found


def conversations_words(n: int) -> str:
    """How many conversations."""
    return tr("{n:,} conversation(s)", None, n).format(n=n)


def found_words(name: str, found: Imported) -> str:
    """Say what a file holds."""
    n = sum(len(record.messages) for record in found.records)
    words = tr("{name}: {conversations_words} with {messages_words} ({format_name}).").format(
        name=name,
        conversations_words=conversations_words(len(found.records)),
        messages_words=tr("{n:,} message(s)", None, n).format(n=n),
        format_name=found.format_name,
    )
    if found.left_out:
        missing = ", ".join(f"{number:,} {said(what)}" for what, number in found.left_out)
        without = tr("Left out: {missing}.").format(missing=missing)
        words = f"{words} {without}"
    return words


def also_words(added: archive.Added) -> list[str]:
    """Say what came in beside conversations, if anything did that was not there."""
    n_folders, n_presets = len(added.folder_ids), len(added.preset_ids)
    there = [tr("%n folder(s)", None, n_folders)] * bool(n_folders) + [tr("%n preset(s)", None, n_presets)] * bool(
        n_presets
    )
    return [tr("Also added: {things}.").format(things=", ".join(there))] if there else []


def export_day() -> str:
    """Return today as a part of a file's name."""
    from app.chat.conversation import now

    return f"{now().astimezone():%Y-%m-%d}"
