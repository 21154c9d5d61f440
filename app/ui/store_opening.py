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
    from app.ui.main_window import MainWindow

PATIENCE_S = 0.35
"""How long the window waits without a word: most databases are open by then, and nothing flickers."""

_LOOK_S = 0.05
_OPENING = tr("Opening your conversations…")
_UPGRADING = tr(
    "Making your conversations ready for this version of Slipstream… A copy of them as they were is kept. If you quit"
    " now, nothing is lost, and the next start begins again."
)


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
        opening = pool.submit(open_store, How(steps, work.note, is_handed_on=True))
        try:
            return opening.result(PATIENCE_S)
        except TimeoutError:
            return await _wait(window, work, opening)
    finally:
        pool.shutdown(wait=False)


async def _wait(window: MainWindow, work: Work, opening: Future[ChatStore]) -> ChatStore | None:
    """Say what is done; nothing can be typed meanwhile, as nobody could keep it."""
    dialog: WorkDialog | None = None
    window.enable_parts(is_on=False)
    window.show_status(_OPENING)
    window.close_requested.connect(work.stop)
    try:
        while not opening.done():
            if work.has_begun and dialog is None:
                dialog = WorkDialog(window, _UPGRADING, work)
                dialog.cancel.setText(tr("Quit"))
                dialog.open()
            await asyncio.sleep(_LOOK_S)
        store = opening.result()
    except StoppedError:
        return None
    finally:
        if dialog is not None:
            dialog.end()
        window.close_requested.disconnect(work.stop)
        window.enable_parts(is_on=True)
    if work.is_stopped:  # when all was done already
        store.close()
        return None
    return store
