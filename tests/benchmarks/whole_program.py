"""What streaming costs in the whole program: a real engine process at a fixed rate, host, database, window, open panel.

Part of :mod:`tests.benchmarks.transcript`. Everything is the program's own but for the model, in whose place
:mod:`tests.benchmarks.paced_worker` writes.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from app.chat.conversation import Message
from tests.benchmarks.paced_worker import ARGV

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.ui.controller import Controller
    from app.ui.main_window import MainWindow

START_LIMIT_S = 60.0


def fill(messages: Sequence[Message]) -> int:
    """Write a conversation into the person's database, and one beside it that is newer; return its number."""
    from app.chat.store import ChatStore

    with closing(ChatStore()) as store, store.transaction():
        made = store.create("A long conversation")
        for message in messages:
            store.add(made.id, message)
        store.append(store.create("A short one").id, "user", "hello")
    return made.id


async def answered(
    window: MainWindow,
    folder: Path,
    conversation_id: int,
    text: str,
    n_tokens: int,
    rate: float,
    turn: Callable[[], None],
    tick_ms: int,
) -> tuple[float, float]:
    """Run the program, open a conversation, have one answer given in it; ``turn`` is called by a timer meanwhile.

    Returns the milliseconds of the opening and the milliseconds of this process's processor for a token.
    """
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from app.engine.client import WATCHED_S, EngineClient
    from app.engine.gathering import Gathering
    from app.host import Host
    from app.ui.controller import Controller
    from app.ui.theme import ThemeSwitch

    script, gathering = folder / "text.md", Gathering(WATCHED_S)
    script.write_text(text, encoding="utf-8")
    host = Host(make_engine=lambda: EngineClient([*ARGV, str(script), str(rate)], gathering=gathering))
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        raise SystemExit("there is no application")
    controller = Controller(window, ThemeSwitch(application), host=host)
    controller.answering.gathering = gathering
    controller.choices.change(speculation=True, max_tokens=n_tokens)
    controller.start()
    try:
        await _ready(controller)
        began_s = time.perf_counter()
        controller.chats.open(conversation_id)
        for _ in range(3):
            await asyncio.sleep(0)  # a turn of the loop; to process events here would enter a task from within a task
        window.repaint()
        opened_ms = (time.perf_counter() - began_s) * 1000
        await asyncio.sleep(0.5)
        tick = QTimer(interval=tick_ms)
        tick.setTimerType(Qt.TimerType.PreciseTimer)
        tick.timeout.connect(turn)
        ended = asyncio.Event()
        controller.answering.ended.connect(ended.set)
        cpu_s = time.process_time()
        controller.answering.ask("Go on.")
        tick.start()
        await ended.wait()
        tick.stop()
        cost_ms = (time.process_time() - cpu_s) * 1000 / n_tokens
        n_chars = len(controller.chats.shown[-1].text)
        if n_chars < 3 * n_tokens:
            raise SystemExit(f"the answer broke off: {n_chars} characters of {n_tokens} tokens")
        return opened_ms, cost_ms
    finally:
        await controller.close()


async def _ready(controller: Controller) -> None:
    """Wait for the engine and the charts."""
    async with asyncio.timeout(START_LIMIT_S):
        await controller.engine.settled()
        while controller.window.panel.charts is None:
            await asyncio.sleep(0.05)
    controller.window.panel.show()
