"""Opening the conversations at the start, off the event loop where it takes long: an upgrade, a repair, a slow disk."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from app.chat.schema import MIGRATIONS, Step
from app.chat.store import ChatStore
from app.chat.upgrading import How
from app.errors import StoreError
from app.models.transfer import StoppedError
from app.ui.said import said
from app.ui.tr import tr
from app.ui.work_dialog import Work, WorkDialog

if TYPE_CHECKING:
    from pathlib import Path

    from app.ui.main_window import MainWindow

PATIENCE_S = 0.35
"""How long the window waits without a word: most databases are open by then, and nothing flickers."""

_LOOK_S = 0.05
_OPENING = tr("Opening your conversations…")
_UPGRADING = tr(
    "Making your conversations ready for this version of Slipstream… If you quit now, nothing is lost, and the next"
    " start begins again."
)
_CHECKING = tr(
    "Opening your conversations takes longer than usual: their file is checked, and repaired if it is damaged. If you"
    " quit now, nothing is lost, and the next start begins again."
)
_WAITING = tr(
    "Another program is using the file of your conversations, maybe to make it ready for a new version. They open as"
    " soon as it has done so. If you quit now, nothing is lost."
)
_STOPPING = tr("Stopping…")


def open_store(how: How | None = None) -> ChatStore:
    """Open the conversations; where the disk refuses, a store that lasts as long as the program and says why."""
    try:
        return ChatStore(how=how)
    except StoreError as fault:
        hint = tr("{hint} Until then conversations are not saved.").format(hint=said(fault.hint))
        return ChatStore.in_memory(StoreError(fault.message, hint), how)  # said when the conversations are shown


async def open_store_behind(window: MainWindow, steps: tuple[Step, ...] = MIGRATIONS) -> ChatStore | None:
    """Open the conversations while the window stays alive; ``None`` if the person would rather quit."""
    work = Work()
    pool = ThreadPoolExecutor(1, thread_name_prefix="chat-opening")
    try:
        opening = pool.submit(open_store, How(steps, work.note, is_handed_on=True, look=work.look, wait=work.wait))
        try:
            return opening.result(PATIENCE_S)
        except TimeoutError:
            return await wait_for_store(window, work, opening)
    finally:
        pool.shutdown(wait=False)


async def wait_for_store(window: MainWindow, work: Work, opening: Future[ChatStore]) -> ChatStore | None:
    """Say what is done; nothing can be typed meanwhile, as nobody could keep it."""
    waiting = Waiting(window, work)
    try:
        while not opening.done():
            waiting.show()
            await asyncio.sleep(_LOOK_S)
        store = opening.result()
    except StoppedError:
        return None
    finally:
        waiting.end()
    if not work.is_stopped:
        return store
    if store.damage is not None:  # it is said once, and nobody would have seen it
        window.is_close_requested = False
        return store
    store.close()  # all was done already
    return None


class Waiting:
    """What the window says and takes while the conversations are being opened."""

    def __init__(self, window: MainWindow, work: Work) -> None:
        self._window, self._work = window, work
        self._dialog: WorkDialog | None = None
        window.enable_parts(is_on=False)
        window.show_status(_OPENING)
        window.close_requested.connect(self.stop)
        window.files_given.connect(self.keep_files)
        if window.is_close_requested:  # before anybody listened
            self.stop()

    def show(self) -> None:
        """Say what is done, once it takes long."""
        if self._work.is_stopped or not (self._dialog is not None or self._work.is_long):
            return
        is_known = self._work.has_begun and not self._work.is_waiting
        words = _WAITING if self._work.is_waiting else _UPGRADING if is_known else _CHECKING
        if self._dialog is None:
            self._dialog = WorkDialog(self._window, words, self._work)
            self._dialog.cancel.setText(tr("Quit"))
            self._dialog.open()
        self._dialog.say(words)
        self._dialog.progress.setRange(0, 100 if is_known else 0)

    def stop(self) -> None:
        """Quit: the work ends at its next step."""
        if self._dialog is not None:
            self._dialog.reject()
        else:
            self._work.stop()
            self._window.show_status(_STOPPING)

    def keep_files(self, paths: list[Path]) -> None:
        """Keep model files that are opened with the program meanwhile, for who takes them."""
        self._window.wanted_files = [*self._window.wanted_files, *paths]

    def end(self) -> None:
        """Let the window be used."""
        if self._dialog is not None:
            self._dialog.end()
        self._window.close_requested.disconnect(self.stop)
        self._window.files_given.disconnect(self.keep_files)
        self._window.enable_parts(is_on=True)
