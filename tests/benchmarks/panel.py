"""The speed panel: what a redraw takes over an hour of steps, what memory it keeps, and what it costs the engine.

An hour at 200 steps a second is played in fast motion: every step goes into the panel, a redraw every tenth of a second
of it (with ``--every 10`` every tenth of these) is timed with all painting that it causes, by the clock and by the
processor time of this thread, which others' work does not lengthen. Then answers of the starter model are timed in the
open window with its panel, and through the host alone, by turns on one engine.

    python -m tests.benchmarks.panel [--json] [--turns N] [--minutes M] [--every K] [--page P]
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psutil

from app.protocol import ChatMessage, Step
from tests.benchmarks.figures import Figure, arguments, ratios, report

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.ui.chart_control import ChartControl
    from app.ui.controller import Controller
    from app.ui.main_window import MainWindow

STEPS_PER_S = 200
TICK_S = 0.1
WARM_UP_SHARE = 0.1
QUESTION = "Write a long story about a train that follows another one."
MAX_TOKENS = 192
DRAFT = 4


@dataclass(slots=True)
class Drawn:
    """Milliseconds of redraws, by the clock and by the processor; memory in MB after each tenth of the time."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)


def percentile(values: list[float], share: float) -> float:
    """Return the value that ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def steps(n: int) -> Iterator[Step]:
    """Make steps as a controller does that pauses now and then and changes its drafter."""
    for i in range(n):
        limit = 0 if i // 3000 % 5 == 4 else DRAFT
        kept = i * 7919 % (DRAFT + 2) % (limit + 1)
        drafter = ("ngram", "draft-simple")[i // 6000 % 2] if limit else ""
        judged = min(limit, kept + 1)
        yield Step(i / STEPS_PER_S, kept + 1, limit, limit, judged, kept, 0.0005 * limit, 0.004, 2 * i % 4096, drafter)


def _application() -> QApplication:
    from PySide6.QtWidgets import QApplication

    there = QApplication.instance()
    return there if isinstance(there, QApplication) else QApplication([])


@contextmanager
def window_shown() -> Iterator[MainWindow]:
    """Show a whole window with its panel."""
    from PySide6.QtCore import QCoreApplication, QEvent, QSettings

    from app.ui.main_window import MainWindow

    window = MainWindow(QSettings(os.devnull, QSettings.Format.IniFormat))
    window.build()
    window.resize(1280, 800)
    window.show()
    yield window
    window.panel.remove_charts()
    window.allow_close()
    window.close()
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def play(minutes: float, every: int, page: int) -> Drawn:
    """Play that many minutes and time the redraws."""
    from app.metrics.recorder import SessionLog
    from app.ui.chart_control import ChartControl
    from app.ui.trace import Band

    application = _application()
    drawn = Drawn()
    n_steps = round(minutes * 60 * STEPS_PER_S)
    with window_shown() as window:
        control = ChartControl(window, SessionLog())
        control.install()
        control.begin(is_plain=False)
        charts = window.panel.charts
        if charts is None:
            raise SystemExit("there are no charts")
        charts.show_band(Band(300.0, 290.0, 310.0))
        charts.show_page(page)
        application.processEvents()
        per_tick = round(STEPS_PER_S * TICK_S)
        for i, step in enumerate(steps(n_steps), start=1):
            control.add(step)
            if i % (per_tick * every) == 0:
                application.processEvents()
                _redraw(window, control, drawn)
            if i % max(1, n_steps // 10) == 0:
                drawn.memory_mb.append(psutil.Process().memory_info().rss / 1e6)
        control.end()
    return drawn


def _redraw(window: MainWindow, control: ChartControl, drawn: Drawn) -> None:
    """Show what a tick shows, and paint it at once: an event loop might put it off to where nothing is timed."""
    from PySide6.QtWidgets import QGraphicsView, QLabel

    charts = window.panel.charts
    if charts is None:
        raise SystemExit("there is nothing to draw")
    views = [view.viewport() for view in charts.findChildren(QGraphicsView) if view.isVisible()]
    number = [label for label in window.panel.findChildren(QLabel) if label.objectName() == "speed"]
    wall_s, cpu_s = time.perf_counter(), time.thread_time()
    window.panel.show_speed(control.tps, "now")
    charts.redraw()
    for widget in (*views, *number):
        widget.repaint()
    drawn.cpu_ms.append(1e3 * (time.thread_time() - cpu_s))
    drawn.wall_ms.append(1e3 * (time.perf_counter() - wall_s))


# --- the engine ---------------------------------------------------------------------------------------


def answers(n_turns: int) -> tuple[list[float], list[float]]:
    """Return decode speeds in the open window and through the host alone, by turns."""
    import qasync

    from app.ui.controller import Controller
    from app.ui.theme import ThemeSwitch

    application = _application()
    loop = qasync.QEventLoop(application)

    async def measure(window: MainWindow) -> tuple[list[float], list[float]]:
        controller = Controller(window, ThemeSwitch(application))
        controller.choices.change(speculation=False, max_tokens=MAX_TOKENS, temperature=0.0)
        controller.start()
        try:
            await controller.engine.settled()
            while window.panel.charts is None:
                await asyncio.sleep(0.05)
            opened, alone = [], []
            await _alone(controller)  # warm
            for _ in range(n_turns):
                opened.append(await _opened(controller))
                alone.append(await _alone(controller))
            return opened, alone
        finally:
            await controller.close()

    with loop, window_shown() as window:
        speeds: tuple[list[float], list[float]] = loop.run_until_complete(measure(window))
        return speeds


async def _opened(controller: Controller) -> float:
    """Ask in the window, with everything that it shows of an answer."""
    controller.window.show()
    controller.chats.new()
    controller.answering.ask(QUESTION)
    while controller.answering.is_busy:
        await asyncio.sleep(0.05)
    return _last_tps(controller)


async def _alone(controller: Controller) -> float:
    """Ask the host; the window is away."""
    from app.host import ChatRequest

    controller.window.hide()
    request = ChatRequest(
        messages=(ChatMessage("user", QUESTION),),
        speculation=controller.choices.speculation(),
        sampling=controller.choices.sampling(1),
        max_tokens=MAX_TOKENS,
    )
    async with aclosing(controller.host.answer(request)) as events:
        async for _event in events:
            pass
    return _last_tps(controller)


def _last_tps(controller: Controller) -> float:
    speed = controller.host.session.runs[-1].decode_tps
    if speed is None:
        raise SystemExit("an answer has no decode speed")
    return speed


def measure(n_turns: int, minutes: float, every: int, page: int) -> list[Figure]:
    """Play, then ask."""
    drawn = play(minutes, every, page)
    skipped = round(WARM_UP_SHARE * len(drawn.wall_ms))
    wall_ms, cpu_ms = drawn.wall_ms[skipped:], drawn.cpu_ms[skipped:]
    figures = [
        Figure("redraw_p50", (percentile(wall_ms, 0.5),), "ms"),
        Figure("redraw_p99", (percentile(wall_ms, 0.99),), "ms", "<= 8"),
        Figure("redraw_cpu_p50", (percentile(cpu_ms, 0.5),), "ms"),
        Figure("redraw_cpu_p99", (percentile(cpu_ms, 0.99),), "ms", "<= 8"),
        Figure("memory_growth", (drawn.memory_mb[-1] - drawn.memory_mb[1],), "MB", "<= 5"),
    ]
    if n_turns:
        opened, alone = answers(n_turns)
        figures += [
            Figure("decode_panel_open_to_headless", ratios(opened, alone), "ratio", ">= 0.98"),
            Figure("decode_panel_open", tuple(opened), "tok/s"),
            Figure("decode_headless", tuple(alone), "tok/s"),
        ]
    return figures


def main() -> None:
    """Measure and print."""
    parser = arguments("Redraws and memory of the speed panel, and what it costs the engine.", n_turns=12)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long the answer is (default: %(default)s)")
    parser.add_argument(
        "--every", type=int, default=10, help="draw every K-th tick (default: %(default)s; 1 draws all)"
    )
    parser.add_argument("--page", type=int, default=0, help="which charts: 0 over time, 1 steps, 2 position, 3 context")
    chosen = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as home:
        os.environ["SLIPSTREAM_HOME"] = home
        figures = measure(chosen.turns, chosen.minutes, max(1, chosen.every), chosen.page)
    report(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
