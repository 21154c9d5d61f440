"""The transcript: what streaming, opening and appending cost in a long conversation, and what hostile answers do.

A whole window shows a conversation of thousands of messages with code and tables. In the part *program* the whole
program is behind it, and an engine process of its own writes at a fixed rate; in the others there is none, and tokens
go in as the engine's reader brings them. Meanwhile a timer of the event loop notes how late it comes: a gap is the time
between two of its turns. Appending is timed by the processor time of this thread, which others' work does not lengthen.
Runs on Qt's offscreen platform unless ``QT_QPA_PLATFORM`` says otherwise (``xcb`` under Xvfb). Ends with an error where
a target is missed.

    python -m tests.benchmarks.transcript [--json] [--messages N] [--tokens N] [--rate TPS] [--lines N] [--part P …]
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from app.chat.conversation import Message, now
from tests.benchmarks.figures import Figure, arguments, end_by_targets, report
from tests.benchmarks.hostile import HOSTILE

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.ui.main_window import MainWindow
    from app.ui.message import AnswerView

PARTS = ("program", "stream", "append", "long", "formulas", "hostile")
TOKENS_PER_CHUNK = 3
"""A step of speculative decoding brings several tokens at once."""
CHARS_PER_TOKEN = 4
TICK_MS = 4
FEED_MS = 8

_PROSE = (
    "The slipstream behind a train carries whatever rides close enough, and **costs little** to the one in front; "
    "see [the note](https://example.org/notes) on `drag` for how that was measured over many runs.\n\n"
)
_LIST = "- one thing that follows another\n- a second thing, with *stress* on it\n    - and a third below\n\n"
_TABLE = (
    "| length | kept | speed |\n|---|---|---|\n"
    + "".join(f"| {n} | {n * 7 % 10} | {n * 3.5} |\n" for n in range(8))
    + "\n"
)
_CODE = (
    "```python\n"
    + "".join(f"def step_{n}(x: int) -> str:\n    return f'{{x}} of {n}'  # kept\n" for n in range(6))
    + "```\n\n"
)
_FORMULA = (
    "For $x_{{{0}}} = {0}$ and \\(y \\neq \\sqrt{{{0}}}\\) this holds:\n\n"
    "\\[\n\\sum_{{n=1}}^{{{0}}} \\frac{{1}}{{n^2}} < \\frac{{\\pi^2}}{{6}}\n\\]\n\n"
)
_ANSWER = (_PROSE * 2 + _LIST + _TABLE + _PROSE + _CODE + _PROSE * 2)[:1800] + "\n"


@dataclass(slots=True)
class Gaps:
    """Milliseconds between the turns of a timer in the event loop."""

    ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    before_s: float = 0.0
    cpu_before_s: float = 0.0

    def turn(self) -> None:
        """Note one turn, by the clock and by the processor time of this thread."""
        at_s, cpu_s = time.perf_counter(), time.thread_time()
        if self.before_s:
            self.ms.append((at_s - self.before_s) * 1000)
            self.cpu_ms.append((cpu_s - self.cpu_before_s) * 1000)
        self.before_s, self.cpu_before_s = at_s, cpu_s


def percentile(values: list[float], share: float) -> float:
    """Return the value that ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def conversation(n_messages: int) -> list[Message]:
    """Make a conversation of questions and answers, about 250 tokens a message."""
    at = now()
    return [
        Message(id=n, role="user" if n % 2 else "assistant", text=_text(n), created_at=at)
        for n in range(1, n_messages + 1)
    ]


def _text(n: int) -> str:
    return f"Question {n}: what follows? " + "words " * 30 if n % 2 else f"Answer {n}. {_ANSWER}"


def tokens(text: str, n_tokens: int) -> Iterator[str]:
    """Cut a text, over and over, into pieces of a token's size."""
    size = len(text)
    text += text[:CHARS_PER_TOKEN]
    for n in range(n_tokens):
        at = n * CHARS_PER_TOKEN % size
        yield text[at : at + CHARS_PER_TOKEN]


def long_answer(n_tokens: int, n_lines: int) -> str:
    """Make one answer with one code block of so many lines in its middle."""
    code = "".join(f"    value_{n} = call({n}, 'text {n}')  # {n}\n" for n in range(n_lines))
    around = max(0, n_tokens * CHARS_PER_TOKEN - len(code)) // 2
    prose = _PROSE * (1 + around // len(_PROSE))
    return f"{prose}```python\n{code}```\n\n{prose}"


def _application() -> QApplication:
    """Paint and collect garbage as the program does."""
    from PySide6.QtWidgets import QApplication

    from app.ui.app import make_application

    there = QApplication.instance()
    return there if isinstance(there, QApplication) else make_application()


@contextmanager
def window_shown() -> Iterator[MainWindow]:
    """Show a whole window, with garbage collected as the program does it."""
    from PySide6.QtCore import QCoreApplication, QEvent

    from app.ui.garbage import what_is_there_stays
    from app.ui.main_window import MainWindow
    from app.ui.passing_state import passing_state

    _application()
    with passing_state() as state:
        window = MainWindow(state)
        window.build()
        window.resize(1280, 800)
        window.show()
        try:
            with what_is_there_stays():
                settle(0.3)
                yield window
        finally:
            window.allow_close()
            window.close()
            window.deleteLater()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def settle(seconds: float) -> None:
    """Let the event loop work."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()


def watched(work: Callable[[], bool], pause_ms: int = FEED_MS) -> Gaps:
    """Call ``work`` from the event loop until it says that it has ended; return the gaps meanwhile."""
    from PySide6.QtCore import QEventLoop, Qt, QTimer

    loop, gaps = QEventLoop(), Gaps()
    tick, feed = QTimer(interval=TICK_MS), QTimer(interval=pause_ms)
    tick.setTimerType(Qt.TimerType.PreciseTimer)
    tick.timeout.connect(gaps.turn)
    feed.timeout.connect(lambda: work() or loop.quit())
    tick.start()
    feed.start()
    loop.exec()
    tick.stop()
    feed.stop()
    return gaps


def stream(window: MainWindow, text: str, n_tokens: int, rate: float) -> tuple[Gaps, float]:
    """Stream tokens into a new answer at a rate; return the gaps and the processor's milliseconds a token."""
    view = window.transcript.begin_answer()
    pieces = tokens(text, n_tokens)
    began_s, cpu_s = time.perf_counter(), time.process_time()
    n_fed = 0

    def feed() -> bool:
        nonlocal n_fed
        while n_fed < min(n_tokens, (time.perf_counter() - began_s) * rate):
            view.add_text("".join(islice(pieces, TOKENS_PER_CHUNK)))
            n_fed += TOKENS_PER_CHUNK
        return n_fed < n_tokens

    gaps = watched(feed)
    cost_ms = (time.process_time() - cpu_s) * 1000 / n_tokens
    window.transcript.end_answer(view)
    settle(0.2)
    return gaps, cost_ms


def opening_ms(window: MainWindow, messages: list[Message]) -> float:
    """Open a conversation; return the time until it is painted and nothing waits to be done."""
    from PySide6.QtCore import QCoreApplication

    from app.ui.chats import finish_stored

    window.transcript.clear()
    settle(0.05)
    began_s = time.perf_counter()
    window.transcript.show_messages(messages, finish_stored)
    for _ in range(3):
        QCoreApplication.processEvents()
    window.repaint()
    return (time.perf_counter() - began_s) * 1000


def append_ms(window: MainWindow, n_messages: int) -> list[float]:
    """Append messages one by one to an empty conversation; return the processor's milliseconds of each pair."""
    from PySide6.QtCore import QCoreApplication, QEvent

    window.transcript.clear()
    taken = []
    for n in range(1, n_messages + 1, 2):
        began_s = time.thread_time()
        window.transcript.add_question(_text(n))
        view = window.transcript.begin_answer()
        view.add_text(_text(n + 1))
        window.transcript.end_answer(view)
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # which only a loop does by itself
        taken.append((time.thread_time() - began_s) * 1000)
    return taken


def token_costs_ms(window: MainWindow, text: str, n_tokens: int) -> list[float]:
    """Put tokens into one answer, a frame for every twelve; return the processor's milliseconds of each frame."""
    from PySide6.QtCore import QCoreApplication

    view = window.transcript.begin_answer()
    taken, pieces = [], list(tokens(text, n_tokens))
    for n in range(0, n_tokens, 12):
        began_s = time.thread_time()
        view.add_text("".join(pieces[n : n + 12]))
        view.flush()
        QCoreApplication.processEvents()
        taken.append((time.thread_time() - began_s) * 1000)
    window.transcript.end_answer(view)
    return taken


def hostile_gaps(window: MainWindow, text: str) -> Gaps:
    """Stream a hostile answer in large pieces, then open it as a stored one, formulas drawn; return the gaps."""
    from app.ui.chats import finish_stored
    from app.ui.formula_pictures import formula_pictures

    window.transcript.clear()
    view: AnswerView = window.transcript.begin_answer()
    size = max(4096, len(text) // 40)
    pieces = iter([text[at : at + size] for at in range(0, len(text), size)])
    stages = iter(("end", "open", "wait"))
    at = now()
    stored = [
        Message(id=1, role="user", text=text, created_at=at),
        Message(id=2, role="assistant", text=text, created_at=at),
    ]

    def work() -> bool:
        if (piece := next(pieces, None)) is not None:
            view.add_text(piece)
            return True
        stage = next(stages, "")
        if stage == "end":
            window.transcript.end_answer(view)
        elif stage == "open":
            window.transcript.show_messages(stored, finish_stored)
        return bool(stage) or pictures.n_waiting > 0

    pictures = formula_pictures()
    try:
        pictures.choose(is_on=True)
        return watched(work, pause_ms=50)
    finally:
        pictures.close()()


def thirds_ratio(costs: list[float], n_edge: int) -> float:
    """Divide the cost of the last by that of the first so many."""
    n_edge = min(n_edge, len(costs) // 2)
    return sum(costs[-n_edge:]) / sum(costs[:n_edge])


def rss_mb() -> float:
    """Memory of this process."""
    return float(psutil.Process().memory_info().rss) / 1e6


def measure(parts: list[str], *, n_messages: int, n_tokens: int, rate: float, n_lines: int) -> list[Figure]:
    """Measure the chosen parts."""
    figures: list[Figure] = []
    if "program" in parts:
        figures += _program_figures(n_messages, n_tokens, rate, n_lines)
    with window_shown() as window:
        if "stream" in parts:
            figures += _stream_figures(window, n_messages, n_tokens, rate)
        if "append" in parts:
            costs = append_ms(window, n_messages)
            figures.append(Figure("messages, last ÷ first 1,000", (thirds_ratio(costs[2:], 500),), "", "<= 1.2"))
        if "long" in parts:
            figures += _long_figures(window, n_tokens, rate, n_lines)
        if "formulas" in parts:
            figures += _formula_figures(window, n_tokens, rate)
        if "hostile" in parts:
            for name, text in HOSTILE.items():
                before_mb = rss_mb()
                gaps = hostile_gaps(window, text())
                figures.append(Figure(f"hostile: {name}", (max(gaps.ms),), "ms", "<= 200"))
                figures.append(Figure(f"hostile: {name}, processor", (max(gaps.cpu_ms),), "ms", "<= 200"))
                figures.append(Figure(f"hostile: {name}, memory that it took", (rss_mb() - before_mb,), "MB"))
    return figures


def _program_figures(n_messages: int, n_tokens: int, rate: float, n_lines: int) -> list[Figure]:
    """Measure an answer in a long conversation, and a long one in a new one, with everything behind the window."""
    messages = conversation(n_messages)
    figures: list[Figure] = []
    for name, before, text in (
        ("program", messages, _ANSWER),
        ("program, long answer", messages[:2], long_answer(n_tokens, n_lines)),
    ):
        gaps, opened_ms, cost_ms = _in_program(before, text, n_tokens, rate)
        figures += [
            Figure(f"{name}: opening", (opened_ms,), "ms", "<= 500"),
            *_gap_figures(name, gaps),
            Figure(f"{name}: processor a token", (cost_ms,), "ms"),
            Figure(f"{name}: memory", (rss_mb(),), "MB", "<= 350"),
        ]
    return figures


def _in_program(messages: list[Message], text: str, n_tokens: int, rate: float) -> tuple[Gaps, float, float]:
    import qasync

    from tests.benchmarks.whole_program import answered, fill

    gaps = Gaps()
    conversation_id = fill(messages)
    loop = qasync.QEventLoop(_application())
    with (
        ThreadPoolExecutor(2, thread_name_prefix="window") as executor,
        loop,
        window_shown() as window,
        tempfile.TemporaryDirectory() as folder,
    ):
        loop.set_default_executor(executor)
        story = answered(window, Path(folder), conversation_id, text, n_tokens, rate, gaps.turn, TICK_MS)
        opened_ms, cost_ms = loop.run_until_complete(story)
    return gaps, opened_ms, cost_ms


def _stream_figures(window: MainWindow, n_messages: int, n_tokens: int, rate: float) -> list[Figure]:
    messages = conversation(n_messages)
    opened = tuple(opening_ms(window, messages) for _ in range(5))
    gaps, cost_ms = stream(window, _ANSWER, n_tokens, rate)
    return [
        Figure("opening", opened, "ms", "<= 500"),
        *_gap_figures("stream", gaps),
        Figure("stream: processor a token", (cost_ms,), "ms"),
        Figure("memory of the window", (rss_mb(),), "MB", "<= 350"),
    ]


def _long_figures(window: MainWindow, n_tokens: int, rate: float, n_lines: int) -> list[Figure]:
    text = long_answer(n_tokens, n_lines)
    window.transcript.clear()
    gaps, cost_ms = stream(window, text, n_tokens, rate)
    memory = rss_mb()
    message = Message(id=1, role="assistant", text=text, created_at=now())
    opened = tuple(opening_ms(window, [message]) for _ in range(3))
    window.transcript.clear()
    costs = token_costs_ms(window, text, n_tokens)
    return [
        *_gap_figures("long answer", gaps),
        Figure("long answer: processor a token", (cost_ms,), "ms"),
        Figure("long answer: opening", opened, "ms", "<= 500"),
        Figure("long answer: memory", (memory,), "MB", "<= 350"),
        Figure("tokens, last ÷ first 1,000", (thirds_ratio(costs[2:], 83),), "", "<= 1.2"),
    ]


def _formula_figures(window: MainWindow, n_tokens: int, rate: float) -> list[Figure]:
    """Stream an answer that has a formula every dozen tokens, none twice, and open it as a stored one."""
    from app.ui.formula_pictures import formula_pictures

    text = "".join(map(_FORMULA.format, range(n_tokens * CHARS_PER_TOKEN // len(_FORMULA))))
    message = Message(id=1, role="assistant", text=text, created_at=now())
    pictures = formula_pictures()
    try:
        pictures.choose(is_on=True)
        window.transcript.clear()
        gaps, cost_ms = stream(window, text, n_tokens, rate)
        kept = pictures.n_bytes
        pictures.close()()
        pictures.choose(is_on=True)
        opened = (opening_ms(window, [message]),)
        drawn_gaps = watched(lambda: pictures.n_waiting > 0 or not pictures.n_bytes)
    finally:
        pictures.close()()
    return [
        *_gap_figures("formulas", gaps),
        Figure("formulas: processor a token", (cost_ms,), "ms"),
        Figure("formulas: opening", opened, "ms", "<= 500"),
        *_gap_figures("formulas, drawn after opening", drawn_gaps),
        Figure("formulas: pictures kept", (kept / 1e6,), "MB", "<= 34"),
    ]


def _gap_figures(name: str, gaps: Gaps) -> list[Figure]:
    return [
        Figure(f"{name}: gap, p99", (percentile(gaps.ms, 0.99),), "ms", "<= 33"),
        Figure(f"{name}: gap, worst", (max(gaps.ms),), "ms", "<= 100"),
        Figure(f"{name}: gap, worst by the processor", (max(gaps.cpu_ms),), "ms", "<= 100"),
    ]


def main() -> None:
    """Measure and report."""
    parser = arguments(__doc__ or "", n_turns=1)
    parser.add_argument(
        "--messages", type=int, default=2000, help="messages of the conversation (default: %(default)s)"
    )
    parser.add_argument("--tokens", type=int, default=30_000, help="tokens of each answer (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=300.0, help="tokens a second (default: %(default)s)")
    parser.add_argument("--lines", type=int, default=5000, help="lines of the long code block (default: %(default)s)")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be given again")
    chosen = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as home:
        os.environ["SLIPSTREAM_HOME"] = home
        figures = measure(
            chosen.part or list(PARTS),
            n_messages=chosen.messages,
            n_tokens=chosen.tokens,
            rate=chosen.rate,
            n_lines=chosen.lines,
        )
    report(figures, as_json=chosen.json)
    end_by_targets(figures)


if __name__ == "__main__":
    main()
