"""A session of very many steps: how long its export takes, whether another thread can work meanwhile, and opening it.

A thread that sleeps for a hundredth of a second at a time stands for the window; its longest pause is how long the
window would have stood still.

    python -m tests.benchmarks.session_export [--json] [--turns N] [--steps N] [--runs N]
"""

from __future__ import annotations

import gc
import random
import tempfile
import threading
import time
from pathlib import Path

import psutil

from app.metrics.recorder import RunRecorder, SessionLog
from app.metrics.session_export import export_session, open_session
from app.protocol import Chunk, Done, Engagement, Sampling, Speculation, Started, Step
from tests.benchmarks.figures import Figure, arguments, report
from tests.metrics.sessions import session

SPECULATION = Speculation(types=("ngram",), draft_tokens=4)
_BEAT_S = 0.01


def record(log: SessionLog, n_steps: int, *, is_plain: bool, rng: random.Random) -> None:
    """Add an answer of so many steps, drafted or not."""
    way = Speculation() if is_plain else SPECULATION
    recorder = RunRecorder(label="", speculation=way, sampling=Sampling(seed=1))
    recorder.on_event(Started(1, 400, 0, Engagement(not is_plain, "" if is_plain else "ngram", 4)))
    t_s, n_ctx = 0.3, 400
    for i in range(n_steps):
        proposed = 0 if is_plain or i == 0 else 4
        kept = rng.randrange(5) if proposed else 0
        t_s += 0.005 + 0.001 * rng.random()
        n_ctx += kept + 1
        step = Step(
            t_s, kept + 1, 4, proposed, min(proposed, kept + 1), kept, 0.0004 * rng.random(), 0.0052, n_ctx, "ngram"
        )
        recorder.on_event(Chunk(1, "", (0,) * (kept + 1), (True,) * kept + (False,), step))
    recorder.on_event(Done(1, "length", "", 0.28, 0.0))
    log.add(recorder.finish())


class Heart(threading.Thread):
    """Beats, and remembers the longest pause between two beats."""

    def __init__(self) -> None:
        super().__init__()
        self.longest_s = 0.0
        self._over = threading.Event()

    def run(self) -> None:
        last_s = time.perf_counter()
        while not self._over.wait(_BEAT_S):
            now_s = time.perf_counter()
            self.longest_s = max(self.longest_s, now_s - last_s - _BEAT_S)
            last_s = now_s

    def stop(self) -> None:
        self._over.set()
        self.join()


def export(log: SessionLog, folder: Path) -> tuple[float, float, int, float]:
    """Export once beside a heart; return the time, the longest pause, how often progress was told, the time to open."""
    heart, shares = Heart(), []
    metrics = log.to_metrics()
    began_s = time.perf_counter()
    heart.start()
    try:
        export_session(metrics, folder, on_progress=shares.append)
    finally:
        took_s = time.perf_counter() - began_s
        heart.stop()
    if shares != sorted(shares) or shares[-1] != 1.0:
        raise SystemExit("progress did not go from nothing to all")
    began_s = time.perf_counter()
    found = open_session(folder)
    opened_s = time.perf_counter() - began_s
    if sum(len(run.steps) for run in found.runs) != sum(len(run.steps) for run in metrics.runs):
        raise SystemExit("what was opened is not what was exported")
    return took_s, heart.longest_s, len(shares), opened_s


def main() -> None:
    """Make a session, export it some times, open it again."""
    parser = arguments(__doc__.splitlines()[0], n_turns=3)
    parser.add_argument("--steps", type=int, default=1_000_000, help="(default: %(default)s)")
    parser.add_argument("--runs", type=int, default=1000, help="(default: %(default)s)")
    asked = parser.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        log = session(home)
        gc.collect()
        before_bytes = psutil.Process().memory_info().rss
        for i in range(asked.runs):
            record(log, asked.steps // asked.runs, is_plain=i % 2 == 0, rng=rng)
        gc.collect()
        step_bytes = (psutil.Process().memory_info().rss - before_bytes) / asked.steps
        rounds = [export(log, home / f"out{i}") for i in range(asked.turns)]
        size_mb = sum(path.stat().st_size for path in (home / "out0").iterdir()) / 1e6
    took, pauses, told, opened = zip(*rounds, strict=True)
    figures = (
        Figure("export", took, "s", "< 10 for 1,000,000 steps"),
        Figure("open", opened, "s"),
        Figure("longest pause of another thread", pauses, "s"),
        Figure("progress told", told, "times"),
        Figure("memory", (step_bytes,), "bytes a step"),
        Figure("size", (size_mb,), "MB"),
    )
    report(figures, as_json=asked.json)


if __name__ == "__main__":
    main()
