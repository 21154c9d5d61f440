"""A whole window with a real host, a real database, a real library, and the one fake: a scripted engine.

With :attr:`Program.has_real_engine` there is none.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
import qasync
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chat.store import ChatStore
from app.engine.client import Engine
from app.host import Host
from app.host.runtime_engine import RuntimeEngine
from app.metrics.baseline import BaselineStore
from app.metrics.power import Power
from app.metrics.recorder import SessionLog
from app.ui import motion
from app.ui.controller import Controller
from app.ui.font_size import choose_font_size
from app.ui.garbage import WindowGarbage
from app.ui.main_window import MainWindow
from app.ui.message import AnswerView
from app.ui.theme import ThemeSwitch
from tests.doubles import Answer, ScriptedEngine
from tests.metrics.sessions import Powered

LIMIT_S, LIMIT_MS = 90.0, 40_000
"""For a whole story, for one wait: it ends as soon as what it is for has come, so its limit costs nothing."""

shows_dialog = pytest.mark.qt_log_ignore("does not support propagateSizeHints")
"""For tests that open a dialog: the offscreen platform says so about every one."""


@pytest.fixture(scope="module", autouse=True)
def _what_is_there_stays():
    """Let no collection look through the hundreds of thousands of objects of the tests' own: 0.3 s each time."""
    gc.collect()
    gc.freeze()


class PatientBot(QtBot):
    """Waits longer than five seconds for what comes when the machine has the time."""

    def waitUntil(self, callback, *, timeout=LIMIT_MS):  # noqa: N802 - Qt's way of naming
        super().waitUntil(callback, timeout=timeout)


@pytest.fixture
def qtbot(qapp, request):
    return PatientBot(request)


@pytest.fixture
def theme(qapp):
    """The application's colours, back to light afterwards."""
    qapp.setQuitOnLastWindowClosed(False)
    switch = ThemeSwitch(qapp)
    switch.choose("light", "normal")
    yield switch
    switch.choose("light", "normal")
    choose_font_size(0)
    motion.choose("system")
    switch.deleteLater()


@pytest.fixture
def put(qtbot, theme):
    """Put a widget on a bare host window, where it has the size it is given; the host outlives the test by nothing."""
    host = QWidget()
    host.resize(1000, 800)
    qtbot.addWidget(host)
    host.show()
    qtbot.waitExposed(host)

    def place(widget, width=700, height=400):
        widget.setParent(host)
        widget.resize(width, height)
        widget.show()
        return widget

    return place


@pytest.fixture
def window(theme):
    """A built window, shown, without a program behind it."""
    window = MainWindow()
    window.build()
    window.show()
    yield window
    window.allow_close()
    window.close()
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _is_ours(later: asyncio.Handle) -> bool:
    """Whether a call that is still to come is one of the program's own."""
    call = getattr(later, "_callback", None)
    return not later.cancelled() and str(getattr(call, "__module__", "")).startswith("app.")


class Program:
    """The program behind a window; :meth:`run` drives it like :func:`app.ui.controller.run` does."""

    def __init__(self, qapp, window: MainWindow, theme: ThemeSwitch) -> None:
        self._app, self.window, self._theme = qapp, window, theme
        self.engines: list[ScriptedEngine] = []
        self.answers: Sequence[Answer] = (Answer(),)
        self.engine_options: dict[str, Any] = {}
        self.has_real_engine = False
        self.store: ChatStore | None = None
        self.power = Powered(Power())
        self.controller: Controller

    def make_engine(self) -> Engine:
        """Make the next engine of the story."""
        if self.has_real_engine:
            return RuntimeEngine()
        self.engines.append(ScriptedEngine(self.answers, **self.engine_options))
        return self.engines[-1]

    @property
    def host(self) -> Host:
        """The real host."""
        return self.controller.host

    @property
    def last_answer(self) -> AnswerView:
        """The newest answer on the screen."""
        view = self.window.transcript.last_answer
        assert view is not None
        return view

    @property
    def said(self) -> str:
        """What the newest answer on the screen says so far."""
        view = self.window.transcript.last_answer
        return view.text if view is not None else ""

    def run(
        self, story: Callable[[], Coroutine[Any, Any, None]], *, is_started: bool = True, limit_s: float = LIMIT_S
    ) -> None:
        """Run a story with the program started, then close the program."""
        loop = qasync.QEventLoop(self._app)
        executor = ThreadPoolExecutor(2, thread_name_prefix="window")
        loop.set_default_executor(executor)
        faults: list[dict[str, Any]] = []
        loop.set_exception_handler(lambda _loop, context: faults.append(context))

        garbage = WindowGarbage()
        garbage.start()

        async def whole() -> None:
            session = SessionLog(BaselineStore(), self.power)
            host = Host(make_engine=self.make_engine, session=session)
            self.controller = Controller(self.window, self._theme, host=host, store=self.store)
            if is_started:
                self.controller.start()
                await self.until(lambda: not self.controller.engine.is_loading)
            try:
                await story()
            finally:
                await self.controller.close()

        try:
            with loop:
                loop.run_until_complete(asyncio.wait_for(whole(), limit_s))
                left = [task for task in asyncio.all_tasks(loop) if not task.done()]
                waiting = [each for each in vars(loop._timer)["_SimpleTimer__callbacks"].values() if _is_ours(each)]
        finally:
            executor.shutdown()
            garbage.stop()
        assert not left, f"tasks left: {left}"
        assert not waiting, f"calls left that were to come later: {waiting}"
        assert not faults, f"unhandled: {faults}"

    async def until(self, holds: Callable[[], object], limit_s: float = LIMIT_MS / 1000) -> None:
        """Wait until something holds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not holds():
                    await asyncio.sleep(0.005)
        assert holds()

    def send(self, text: str) -> None:
        """Type a message and press Enter."""
        self.window.composer.set_text(text)
        self.window.composer.on_submit()

    async def ask(self, text: str) -> AnswerView:
        """Send a message and wait for its whole answer."""
        self.send(text)
        await self.until(lambda: not self.controller.answering.is_busy)
        return self.last_answer


@pytest.fixture
def program(qapp, window, theme):
    """The program, not started yet."""
    return Program(qapp, window, theme)
