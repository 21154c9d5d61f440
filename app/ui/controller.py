"""Puts the window, the host, the database and the settings together, starts them and ends them in order.

It comes after the first paint: everything heavy is imported from here on.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid

from app.chat.store import ChatStore
from app.engine.client import WATCHED_S
from app.engine.gathering import Gathering
from app.host import Host
from app.host.runtime_engine import RuntimeEngine
from app.models.library import Library
from app.paths import is_whole
from app.ui.announcing import Announcer
from app.ui.answering import Answering
from app.ui.baseline_control import BaselineControl
from app.ui.branching import Branching
from app.ui.chat_actions import ChatActions
from app.ui.chats import Chats
from app.ui.chats_deleting import ChatsDeleting
from app.ui.choices import Choices
from app.ui.conversation_actions import conversation_actions
from app.ui.conversation_control import ConversationControl
from app.ui.crash_control import REPORT, CrashControl
from app.ui.data_control import DataControl
from app.ui.devices_control import DevicesControl
from app.ui.engine_control import EngineControl
from app.ui.garbage import what_is_there_stays
from app.ui.keeping import Keeping
from app.ui.links import ask_to_open
from app.ui.models_control import ModelsControl
from app.ui.notify_control import NotifyControl
from app.ui.options_control import OptionsControl
from app.ui.palette import PaletteControl
from app.ui.panel_control import PanelControl
from app.ui.profiler import ProfilerControl
from app.ui.program_actions import ProgramActions
from app.ui.remote_control import RemoteControl
from app.ui.roofline import RooflineControl
from app.ui.said import said
from app.ui.serving_control import ServingControl
from app.ui.session_control import SessionControl
from app.ui.settings_control import SettingsControl
from app.ui.shelf_control import ShelfControl
from app.ui.store_opening import open_store, open_store_behind
from app.ui.token_counts import TokenCounts
from app.ui.tr import tr
from app.ui.updates import UpdatesControl
from app.ui.window_actions import WindowActions
from app.ui.window_menu import WindowMenu

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow
    from app.ui.restoring import Said
    from app.ui.theme import ThemeSwitch

logger = logging.getLogger(__name__)

CHARTS_AFTER_MS = 400
"""pyqtgraph takes a third of a second to import; by then the engine is loading and nobody is typing yet."""

_MOVED = tr("The program's folder was moved or removed while the program runs.")
_START_AGAIN = tr("Your conversations are kept. Quit, and start the program from where it is now.")

CLOSE_S = 5.0
"""Longest wait for each part at the end; the engine's leash ends what is left."""


class Controller(QObject):
    """The running program behind one window."""

    def __init__(
        self,
        window: MainWindow,
        theme: ThemeSwitch,
        *,
        host: Host | None = None,
        library: Library | None = None,
        store: ChatStore | None = None,
    ) -> None:
        super().__init__(window)
        self.window = window
        window.action_list.clear()
        self.choices = Choices(window.notice)
        self.library = library or Library()
        gathering = Gathering(WATCHED_S)
        self.host = host or Host(library=self.library, make_engine=lambda: RuntimeEngine(gathering=gathering))
        self.store = store or open_store()
        self.chats = Chats(window, self.store)
        self.engine = EngineControl(window, self.host, self.library, self.choices)
        self.answering = Answering(window, self.host, self.chats, self.engine, self.choices)
        self.answering.gathering = gathering
        self.announcer = Announcer(window, self.answering)
        self.branching = Branching(window, self.chats, self.answering)
        self.deleting = ChatsDeleting(window, self.chats)
        self.keeping = Keeping(window, self.chats, self.answering)
        self.counts = TokenCounts(window, self.host, self.chats, self.choices)
        self.answering.ended.connect(self.counts.note_change)
        self.conversation = ConversationControl(window, self.host, self.chats, self.choices, self.answering)
        self.panel = PanelControl(window, self.host, self.engine, self.answering, self.choices)
        self.baselines = BaselineControl(window, self.host, self.engine, self.answering, self.choices)
        self.baselines.use(self.chats)
        self.panel.follow(self.baselines)
        self.sessions = SessionControl(window, self.host)
        self.options = OptionsControl(window, self.host, self.choices, self.engine)
        self.profiler = ProfilerControl(window, self.host, self.library, self.choices, self.engine)
        self.profiler.use(self.answering, self.store)
        self.profiler.take_turns(self.baselines)
        self.roofline = RooflineControl(window, self.host)
        self.models = ModelsControl(window, self.host, self.library, self.choices, self.engine)
        self.shelf = ShelfControl(window, self.library, self.choices, self.engine, self.models)
        self.devices = DevicesControl(window, self.choices, self.engine)
        self.serving = ServingControl(window, self.host, self.library, self.choices)
        self.remote = RemoteControl(window, self.choices, self.engine, self.answering.keys)
        self.remote.is_answering = lambda: self.answering.is_busy
        self._offer_actions(theme)
        self.wanted_backup: Path | None = None
        self._closed = asyncio.get_running_loop().create_future()
        self._closing: asyncio.Task[None] | None = None
        self._charts = QTimer(self, singleShot=True, interval=CHARTS_AFTER_MS)
        self._connect(window)

    def _connect(self, window: MainWindow) -> None:
        self._charts.timeout.connect(self.panel.install_charts)
        window.composer.refused.connect(lambda words, hint: window.notice.say("warning", words, hint))
        window.close_requested.connect(self.on_close_requested)
        window.files_given.connect(self.shelf.drop.take)
        window.transcript.link_clicked.connect(lambda url: ask_to_open(url, window.notice))

    def _offer_actions(self, theme: ThemeSwitch) -> None:
        """Say what can be done with all of that, and with the program as a whole."""
        window = self.window
        self.chat_actions = ChatActions(window, self.chats)
        self.actions = WindowActions(window, self.choices, self.engine, self.models)
        self.actions.use(self.shelf, self.devices, self.serving, self.remote)
        window.action_list.add(*conversation_actions(self.conversation, self.branching, self.deleting))
        self.menu = WindowMenu(window)
        self.data = DataControl(window, self.chats)
        self.data.on_restore = self.on_restore
        self.data.presets_added.connect(self.conversation.presets.forget)
        self.settings = SettingsControl(window, theme, self.choices, self.models.door, self.data)
        self.notify = NotifyControl(window, self.chats, self.answering, self.choices)
        self.palette = PaletteControl(window)
        self.crash = CrashControl(window, self.host)
        self.updates = UpdatesControl(window, self.choices)
        self.program_actions = ProgramActions(window, self.updates)

    def start(self) -> None:
        """Show the conversations, start the engine, and then load the charts."""
        self.window.transcript.show_tokens(is_on=self.choices.settings.token_colours)
        self.chats.start(*self.window.last_conversation)
        self.chats.parting.start()
        self.deleting.start()
        self.engine.start()
        self.roofline.start()
        self.models.start()
        self.shelf.start()
        self.updates.start()
        self._charts.start()
        self.window.composer.take_focus()
        if self.window.wanted_files:
            self.shelf.drop.take(list(self.window.wanted_files))
        if self.window.is_close_requested:
            self.on_close_requested()

    async def closed(self) -> None:
        """Wait until the person has closed the window and everything has ended."""
        await self._closed

    # --- the end --------------------------------------------------------------------------------------

    def on_close_requested(self) -> None:
        """Take the window from the screen at once, then end everything behind it."""
        if self._closing is None:
            self.window.hide()
            self._closing = asyncio.get_running_loop().create_task(self.close())

    def on_restore(self, path: Path) -> None:
        """End everything, so that a backup can take the place of what is here; then the window opens anew."""
        self.wanted_backup = path
        self.on_close_requested()

    async def close(self) -> None:
        """Stop the answer, end the engine, each within a bounded time; save, and ask if that is refused."""
        self._charts.stop()
        measuring = (self.counts, self.profiler, self.baselines, self.sessions, self.shelf, self.models, self.devices)
        asking = (
            self.serving,
            self.remote,
            self.data,
            self.settings,
            self.crash,
            self.notify,
            self.updates,
            self.conversation,
        )
        parts = (
            *asking,
            *measuring,
            self.answering,
            self.deleting,
            self.panel,
            self.roofline,
            self.engine,
            self.host,
        )
        for part in (closing.close for closing in parts):
            try:
                await asyncio.wait_for(part(), CLOSE_S)
            except TimeoutError:
                logger.warning("%s did not end in %s s", part.__qualname__, CLOSE_S)
            except Exception:
                logger.exception("%s failed", part.__qualname__)
        try:
            await self.chats.parting.settle()
        except Exception:
            logger.exception("saving at the end failed")  # a program that cannot be closed would lose it as well
        current = self.chats.current
        self.window.remember_conversation(*((current.id, current.created_at.isoformat()) if current else (0, "")))
        self.chats.close()
        self.window.panel.remove_charts()
        self.window.allow_close()
        self.window.close()
        if not self._closed.done():
            self._closed.set_result(None)


async def run(window: MainWindow, theme: ThemeSwitch, opening: Said | None = None) -> Path | None:
    """Run the program behind a painted window until it is closed; return the backup to restore, if one is to be.

    Args:
        window: where it runs.
        theme: the application's colours.
        opening: what to tell first, as how a restore went.
    """
    loop = asyncio.get_running_loop()
    executor = ThreadPoolExecutor(2, thread_name_prefix="window")
    loop.set_default_executor(executor)
    try:
        with _signals_close(window):
            if opening is not None:  # the person may quit while the conversations are made ready
                window.notice.say(*opening)
            store = await open_store_behind(window)
            if store is None:
                window.allow_close()
                window.close()
                return None
            controller = Controller(window, theme, store=store)
            loop.set_exception_handler(lambda _loop, context: report(window, context))
            with what_is_there_stays(), _faults_are_told(window):
                controller.start()
                if opening is not None and not window.notice.words.startswith(said(opening.message)):
                    window.notice.say(*opening)
                await controller.closed()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
    return controller.wanted_backup


@contextmanager
def _signals_close(window: MainWindow) -> Iterator[None]:
    """Close the window in good order on Ctrl-C and on SIGTERM; Python hears them when a timer of ours next fires."""
    before = [(number, signal.signal(number, lambda *_: window.close())) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def _faults_are_told(window: MainWindow) -> Iterator[None]:
    """Log and tell what a slot raised; a window program has no terminal to print it on."""

    def tell(kind: type[BaseException], fault: BaseException, _trace: TracebackType | None) -> None:
        report(window, {"message": f"unhandled {kind.__name__} in a slot", "exception": fault})

    before, sys.excepthook = sys.excepthook, tell
    try:
        yield
    finally:
        sys.excepthook = before


def report(window: MainWindow, context: dict[str, object]) -> None:
    """Log what nobody caught, and say that something went wrong."""
    fault = context.get("exception")
    logger.error("%s", context.get("message"), exc_info=fault if isinstance(fault, BaseException) else None)
    words = (
        tr("Something unexpected went wrong ({kind}).").format(kind=type(fault).__name__)
        if fault
        else tr("Something unexpected went wrong.")
    )
    if isValid(window):  # a task that is collected with the rest of the program reports after the window's end
        window.fault_happened.emit(fault)
        if not is_whole():
            window.notice.say("error", _MOVED, _START_AGAIN)
            return
        show = (tr("Show the report…"), lambda: window.action_list.run(REPORT))
        window.notice.say("error", words, tr("The details are in the log."), action=show)
