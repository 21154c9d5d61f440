"""The speed panel: what a redraw takes over an hour of steps, what memory it keeps, and what it costs the engine.

An hour at 200 steps a second is played in fast motion: every step goes into the panel, a redraw every tenth of a second
of it (with ``--every 10`` every tenth of these) is timed with all painting that it causes, by the clock and by the
processor time of this thread, which others' work does not lengthen. Then answers of a model (the starter is the hardest
case: its tokens take the least time) are timed by turns on one engine: through the host alone, in the window with its
panel closed, and with it open. Beside each speed stands the processor time that the window's process took for a token,
from the first step to the last; others' work hardly changes that.

    python -m tests.benchmarks.panel [--json] [--turns N] [--minutes M] [--every K] [--page P] [--tokens N] [--draft]
        [--target MODEL]
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

from app.protocol import ChatMessage, Chunk, Step
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
WAYS = ("headless", "panel_closed", "panel_open")


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


def application() -> QApplication:
    """Paint and collect garbage as the program does."""
    from PySide6.QtWidgets import QApplication

    from app.ui.app import make_application

    there = QApplication.instance()
    return there if isinstance(there, QApplication) else make_application()


@contextmanager
def window_shown() -> Iterator[MainWindow]:
    """Show a whole window with its panel."""
    from PySide6.QtCore import QCoreApplication, QEvent

    from app.ui.garbage import what_is_there_stays
    from app.ui.main_window import MainWindow
    from app.ui.passing_state import passing_state

    with passing_state() as state:
        window = MainWindow(state)
        window.build()
        window.resize(1280, 800)
        window.show()
        with what_is_there_stays():
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

    app = application()
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
        app.processEvents()
        per_tick = round(STEPS_PER_S * TICK_S)
        for i, step in enumerate(steps(n_steps), start=1):
            control.add(step)
            if i % (per_tick * every) == 0:
                app.processEvents()
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


@dataclass(slots=True)
class Spent:
    """Processor time of this process, all threads, between the first and the last note."""

    first_s: float | None = None
    last_s: float = 0.0

    def note(self) -> None:
        """Look at the clock."""
        self.last_s = time.process_time()
        self.first_s = self.last_s if self.first_s is None else self.first_s

    @property
    def total_s(self) -> float:
        """What was spent."""
        return self.last_s - (self.first_s or self.last_s)


@dataclass(slots=True)
class Answers:
    """Of each way, by turns: decode speeds, and milliseconds of processor time of this process for a token."""

    tps: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})
    cpu_ms: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})
    wait_ms: list[float] = field(default_factory=list)


def answers(n_turns: int, max_tokens: int, *, is_drafting: bool, target: str = "starter") -> Answers:
    """Answer through the host alone, in the window without its panel, and with it, by turns."""
    import qasync

    from app.ui.controller import Controller
    from app.ui.theme import ThemeSwitch

    app = application()
    loop = qasync.QEventLoop(app)

    async def measure(window: MainWindow) -> Answers:
        controller = Controller(window, ThemeSwitch(app))
        controller.choices.change(speculation=is_drafting, max_tokens=max_tokens, temperature=0.0, target=target)
        controller.start()
        found = Answers()
        try:
            await controller.engine.settled()
            while window.panel.charts is None:
                await asyncio.sleep(0.05)
            await _alone(controller)  # warm
            for turn in range(n_turns):
                for way in (*WAYS[turn % len(WAYS) :], *WAYS[: turn % len(WAYS)]):
                    await _measure(controller, way, found)
            return found
        finally:
            await controller.close()

    with loop, window_shown() as window:
        found: Answers = loop.run_until_complete(measure(window))
        return found


async def _measure(controller: Controller, way: str, found: Answers) -> None:
    """Answer once, one way."""
    window = controller.window
    window.setVisible(way != "headless")
    window.panel.setVisible(way == "panel_open")
    await asyncio.sleep(0.3)  # what showing and hiding causes is not to be measured
    took_s = await (_alone(controller) if way == "headless" else _opened(controller))
    run = controller.host.session.runs[-1]
    if run.decode_tps is None:
        raise SystemExit("an answer has no decode speed")
    found.tps[way].append(run.decode_tps)
    found.cpu_ms[way].append(1e3 * took_s / run.tokens)
    if way == "panel_open" and window.panel.charts is not None:
        found.wait_ms.append(window.panel.charts.pace.next_ms())


async def _opened(controller: Controller) -> float:
    """Ask in the window, with everything that it shows of an answer; return the processor time from step to step."""
    ended, spent = asyncio.Event(), Spent()
    links = (
        controller.answering.stepped.connect(lambda _steps: spent.note()),
        controller.answering.ended.connect(ended.set),
    )
    controller.chats.new()
    controller.answering.ask(QUESTION)
    await ended.wait()
    for link in links:
        controller.answering.disconnect(link)
    return spent.total_s


async def _alone(controller: Controller) -> float:
    """Ask the host; return the processor time from step to step."""
    from app.host import ChatRequest

    spent = Spent()
    request = ChatRequest(
        messages=(ChatMessage("user", QUESTION),),
        speculation=controller.choices.speculation(),
        sampling=controller.choices.sampling(1),
        max_tokens=controller.choices.settings.max_tokens,
    )
    async with aclosing(controller.host.answer(request)) as events:
        async for event in events:
            if isinstance(event, Chunk):
                spent.note()
    return spent.total_s


def drawing_figures(drawn: Drawn) -> list[Figure]:
    """Return what the hour in fast motion says."""
    skipped = round(WARM_UP_SHARE * len(drawn.wall_ms))
    wall_ms, cpu_ms = drawn.wall_ms[skipped:], drawn.cpu_ms[skipped:]
    return [
        Figure("redraw_p50", (percentile(wall_ms, 0.5),), "ms"),
        Figure("redraw_p99", (percentile(wall_ms, 0.99),), "ms", "<= 8"),
        Figure("redraw_cpu_p50", (percentile(cpu_ms, 0.5),), "ms"),
        Figure("redraw_cpu_p99", (percentile(cpu_ms, 0.99),), "ms", "<= 8"),
        Figure("memory_growth", (drawn.memory_mb[-1] - drawn.memory_mb[1],), "MB", "<= 5"),
    ]


def answer_figures(found: Answers) -> list[Figure]:
    """Return what the answers say: the panel's own share apart from that of the window that it is in."""
    tps = found.tps
    return [
        Figure("decode_panel_open_to_headless", ratios(tps["panel_open"], tps["headless"]), "ratio", ">= 0.98"),
        Figure("decode_panel_open_to_closed", ratios(tps["panel_open"], tps["panel_closed"]), "ratio", ">= 0.98"),
        Figure("decode_panel_closed_to_headless", ratios(tps["panel_closed"], tps["headless"]), "ratio"),
        *(Figure(f"decode_{way}", tuple(tps[way]), "tok/s") for way in WAYS),
        *(Figure(f"cpu_per_token_{way}", tuple(found.cpu_ms[way]), "ms") for way in WAYS),
        Figure("panel_redraw_interval", tuple(found.wait_ms), "ms"),
    ]


def main() -> None:
    """Measure and print."""
    parser = arguments("Redraws and memory of the speed panel, and what it costs the engine.", n_turns=12)
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="how long the answer is, 0: none (default: %(default)s)"
    )
    parser.add_argument(
        "--every", type=int, default=10, help="draw every K-th tick (default: %(default)s; 1 draws all)"
    )
    parser.add_argument("--page", type=int, default=0, help="which charts: 0 over time, 1 steps, 2 position, 3 context")
    parser.add_argument("--tokens", type=int, default=MAX_TOKENS, help="of an answer (default: %(default)s)")
    parser.add_argument("--draft", action="store_true", help="answer with n-gram drafts")
    parser.add_argument("--target", default="starter", help="a model's name or file (default: %(default)s)")
    chosen = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as home:
        os.environ["SLIPSTREAM_HOME"] = home
        figures = drawing_figures(play(chosen.minutes, max(1, chosen.every), chosen.page)) if chosen.minutes else []
        if chosen.turns:
            figures += answer_figures(
                answers(chosen.turns, chosen.tokens, is_drafting=chosen.draft, target=chosen.target)
            )
    report(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
