"""Download speed to disk over loopback, against ``curl``: the same file from the same server, by turns.

Ours asks the hub, follows the redirect, writes, hashes and syncs the file; curl follows the redirect and writes. As
ours ends with the file safely on the disk, curl is timed with a sync after it too; both ratios are printed. A second
clock ticks in the loop of a download all along: the longest time between two ticks is what a loop without a window
feels. The same is then done in the real window, offscreen, with the model manager open on its downloads: the loop
between asking for the item and having it checked in its place must not be held up for longer than a person notices.

    python -m tests.benchmarks.download [--json] [--turns N] [--mib SIZE] [--dir FOLDER]
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.models.download import Downloads
from app.models.hub import Hub
from app.models.remote import Item
from tests.benchmarks.figures import Figure, arguments, ratios, report

ROOT = Path(__file__).resolve().parents[2]
TICK_S = 0.005


@dataclass
class Times:
    """Seconds of each turn."""

    ours: list[float] = field(default_factory=list)
    curl: list[float] = field(default_factory=list)
    curl_synced: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)


@contextmanager
def serving(path: Path) -> Iterator[str]:
    """Run the tests' hub in a process of its own; give its endpoint."""
    command = [sys.executable, "-m", "tests.hub_server", str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if server.stdin is None or server.stdout is None:
            raise SystemExit("the server has no pipes")
        yield server.stdout.readline().split()[0]
        server.stdin.close()


def time_ours(hub: Hub, item: Item, folder: Path) -> tuple[float, float]:
    """Return the seconds that a download takes, and the longest gap between two ticks of its loop."""

    async def tick(gaps: list[float]) -> None:
        last_s = time.perf_counter()
        while True:
            await asyncio.sleep(TICK_S)
            now_s = time.perf_counter()
            gaps.append(now_s - last_s)
            last_s = now_s

    async def run() -> float:
        gaps: list[float] = [0.0]
        ticking = asyncio.ensure_future(tick(gaps))
        async with aclosing(Downloads(hub, folder).get(item)) as steps:
            async for _ in steps:
                pass
        ticking.cancel()
        return max(gaps)

    began_s = time.perf_counter()
    longest_s = asyncio.run(run())
    return time.perf_counter() - began_s, longest_s


def time_curl(url: str, target: Path) -> tuple[float, float]:
    """Return the seconds until curl is done, and until what it wrote is on the disk."""
    began_s = time.perf_counter()
    subprocess.run(["curl", "-sSfL", "-o", str(target), url], check=True)
    done_s = time.perf_counter() - began_s
    with target.open("rb") as file:
        os.fsync(file.fileno())
    return done_s, time.perf_counter() - began_s


def window_gaps(endpoint: str, n_turns: int, folder: Path) -> list[float]:
    """Return the longest gap of the window's loop in each of some downloads that the model manager shows."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ |= {"HF_ENDPOINT": endpoint, "SLIPSTREAM_HOME": str(folder / "home"), "SLIPSTREAM_ONLY_OWN": "1"}
    from PySide6.QtCore import QCoreApplication, QEvent

    from app.ui.app import make_application
    from app.ui.main_window import MainWindow
    from app.ui.model_manager import DOWNLOADS
    from app.ui.theme import ThemeSwitch
    from tests.ui.conftest import Program

    app = make_application()
    theme, window = ThemeSwitch(app), MainWindow()
    window.build()
    window.show()
    program = Program(app, window, theme)
    longest = []

    async def story() -> None:
        models = program.controller.models
        models.open(DOWNLOADS)
        item = await asyncio.to_thread(lambda: models.door.hub().resolve("org/served"))
        for _ in range(n_turns + 1):
            await asyncio.sleep(1)
            models.pulls.get(item)
            gap_s, last_s = 0.0, time.perf_counter()
            while (pull := models.pulls.pulls[0]).is_running:
                await asyncio.sleep(TICK_S)
                now_s = time.perf_counter()
                gap_s, last_s = max(gap_s, now_s - last_s), now_s
            if pull.phase != "done":
                raise SystemExit(f"{pull.phase}: {pull.detail} {pull.hint}")
            longest.append(gap_s)
            await models.pulls.remove(item.title)
            for path in pull.paths:
                path.unlink()

    program.run(story, limit_s=3600)
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return longest[1:]  # the first is for the caches


def measure(n_turns: int, n_mib: int, folder: Path) -> list[Figure]:
    """Download with both by turns; every file is deleted before the next."""
    source = folder / "served.gguf"
    with source.open("wb") as file:
        for seed in range(n_mib):
            file.write(random.Random(seed).randbytes(1 << 20))
    times = Times()
    with serving(source) as endpoint:
        hub = Hub(endpoint, find=lambda: None)
        item = hub.resolve("org/served")
        url = f"{endpoint}/org/served/resolve/main/served.gguf"
        for turn in range(n_turns + 1):  # the first is for the caches
            models = folder / f"models-{turn}"
            models.mkdir()
            ours_s, gap_s = time_ours(hub, item, models)
            (models / "org/served/served.gguf").unlink()
            curl_s, synced_s = time_curl(url, models / "curl.gguf")
            (models / "curl.gguf").unlink()
            if turn:
                times.ours.append(ours_s)
                times.gaps.append(gap_s)
                times.curl.append(curl_s)
                times.curl_synced.append(synced_s)
        of_window = window_gaps(endpoint, n_turns, folder)
    return [
        Figure("speed_ours_to_curl", ratios(times.curl, times.ours), "ratio", ">= 0.8"),
        Figure("speed_ours_to_curl_and_sync", ratios(times.curl_synced, times.ours), "ratio", ">= 0.8"),
        Figure("speed_ours", tuple(n_mib / seconds for seconds in times.ours), "MiB/s"),
        Figure("speed_curl", tuple(n_mib / seconds for seconds in times.curl), "MiB/s"),
        Figure("longest_gap_of_the_loop", tuple(1e3 * seconds for seconds in times.gaps), "ms", "<= 50"),
        Figure("longest_gap_of_the_window", tuple(1e3 * seconds for seconds in of_window), "ms", "<= 50"),
    ]


def main() -> None:
    """Measure and print."""
    parser = arguments("Download speed over loopback, against curl.", n_turns=10)
    parser.add_argument("--mib", type=int, default=1024, help="size of the file (default: %(default)s)")
    parser.add_argument(
        "--dir", type=Path, default=None, help="folder on the disk to measure (default: a temporary one)"
    )
    chosen = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "0"
    with tempfile.TemporaryDirectory(dir=chosen.dir) as folder:
        report(measure(chosen.turns, chosen.mib, Path(folder)), as_json=chosen.json)


if __name__ == "__main__":
    main()
