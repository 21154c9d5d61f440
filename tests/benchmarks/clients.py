"""A hundred clients of the window's server at once, half of which leave at random, with the real engine behind it.

The clients are a process of their own. Each of them asks in its own time; those that leave do so after a random while
or in the middle of their answer, and note when. What the engine still did for one that had left is counted in steps
that ended after that moment, the step that was under way included. The engine's clock begins when it reads a request,
which is after the request was sent and before its steps are heard of: a count as if at the one, and as if at the other,
are the least and the most that it can have been. Meanwhile the window's event loop is watched for gaps; as in the
program, garbage is collected on the window's thread.

    python -m tests.benchmarks.clients [MODEL] [--clients N] [--tokens N] [--json]
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.engine.client import Engine
from app.host.runtime_engine import RuntimeEngine
from app.protocol import Chunk, Command, Event, Generate
from tests.benchmarks.figures import Figure, arguments, end_by_targets, report
from tests.benchmarks.panel import application, percentile, window_shown

LIMIT_S = 300.0
WITHIN_S = 6.0
"""The time in which all ask, and in which those leave that do so after a while."""
LOOK_S = 0.005


@dataclass(slots=True)
class Computed:
    """What the engine did for one request: when it was told, and when its steps ended, at the latest."""

    sent_s: float
    late_s: float = float("inf")
    steps_s: list[float] = field(default_factory=list)

    def note(self, chunk: Chunk) -> None:
        """Note a step; the shortest way from the engine to here tells most about its clock."""
        self.late_s = min(self.late_s, time.monotonic() - chunk.step.t_s)
        self.steps_s.append(chunk.step.t_s)

    def after(self, moment_s: float) -> int:
        """Return how many steps ended after a moment, at the most."""
        return sum(step_s + self.late_s > moment_s for step_s in self.steps_s)

    def surely_after(self, moment_s: float) -> int:
        """Return how many steps ended after a moment, at the least."""
        return sum(step_s + self.sent_s > moment_s for step_s in self.steps_s)


class WatchedEngine:
    """The real engine, with a note of what it does for whom; requests are told apart by their seeds."""

    def __init__(self, engine: Engine, seen: dict[int, Computed]) -> None:
        self._engine, self._seen = engine, seen
        self.start, self.next_id, self.cancel = engine.start, engine.next_id, engine.cancel
        self.lost, self.close = engine.lost, engine.close

    @property
    def alive(self) -> bool:
        """Whether it takes commands."""
        return self._engine.alive

    async def send(self, command: Command) -> AsyncGenerator[Event, None]:
        """Carry out a command."""
        computed = Computed(time.monotonic())
        if isinstance(command, Generate):
            self._seen[command.sampling.seed] = computed
        async with aclosing(self._engine.send(command)) as events:
            async for event in events:
                if isinstance(event, Chunk):
                    computed.note(event)
                yield event


# --- the clients' process -------------------------------------------------------------------------------


async def client(port: int, number: int, n_tokens: int, chance: random.Random) -> dict[str, Any]:
    """Ask once; an odd one leaves. Return how it went, and when it left."""
    await asyncio.sleep(chance.random() * WITHIN_S / 4)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps(
        {
            "messages": [{"role": "user", "content": f"Tell me about the number {number}."}],
            "seed": number,
            "max_tokens": n_tokens,
            "stream": bool(number % 3),
        }
    ).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    leaves = number % 2 == 1
    if not leaves:
        text = await reader.read(-1)
        writer.close()
        is_whole = b"[DONE]" in text if number % 3 else b'"usage"' in text
        return {"number": number, "is_answered": text.startswith(b"HTTP/1.1 200") and is_whole}
    if number % 4 == 1:
        await asyncio.sleep(chance.random() * WITHIN_S)
    else:
        n_bytes = chance.randrange(1, 6000)
        with contextlib.suppress(asyncio.IncompleteReadError):
            await reader.readexactly(n_bytes)
    connection = writer.get_extra_info("socket")
    left_s = time.monotonic()
    connection.shutdown(socket.SHUT_RDWR)
    gone_s = time.monotonic()
    writer.close()
    return {"number": number, "left_s": left_s, "gone_s": gone_s}


async def clients(port: int, n_clients: int, n_tokens: int) -> None:
    """Ask all at once and print how it went."""
    chance = random.Random(8)
    work = [client(port, number, n_tokens, random.Random(chance.random())) for number in range(n_clients)]
    print(json.dumps(await asyncio.wait_for(asyncio.gather(*work), LIMIT_S)))


# --- the window's process -------------------------------------------------------------------------------


@dataclass(slots=True)
class Found:
    """How it went."""

    clients: list[dict[str, Any]]
    seen: dict[int, Computed]
    gaps_ms: list[float]
    own_gaps_ms: list[float]
    idle_gaps_ms: list[float]


async def watch(gaps_ms: list[float], own_gaps_ms: list[float]) -> None:
    """Note how much later than asked for the loop comes back, also without what its thread waited for a core."""
    while True:
        before_s, waited_s = time.perf_counter(), waits_s()
        await asyncio.sleep(LOOK_S)
        gaps_ms.append(1e3 * (time.perf_counter() - before_s - LOOK_S))
        own_gaps_ms.append(gaps_ms[-1] - 1e3 * (waits_s() - waited_s))


def waits_s() -> float:
    """Return how long this thread was ready to run and had no core so far; 0 where the system does not count it."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    return 0.0


def measure(model: str, n_clients: int, n_tokens: int) -> Found:
    """Open the window, serve, and let the clients come."""
    import qasync

    from app.host import Host
    from app.models.library import Library
    from app.ui.controller import Controller
    from app.ui.theme import ThemeSwitch

    app = application()
    loop = qasync.QEventLoop(app)
    found = Found([], {}, [], [], [])

    async def whole(window: Any) -> None:
        library = Library()
        host = Host(make_engine=lambda: WatchedEngine(RuntimeEngine(), found.seen), library=library)
        controller = Controller(window, ThemeSwitch(app), host=host, library=library)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        controller.choices.change(target=model, temperature=0.0, server_port=port)
        controller.start()
        try:
            await controller.engine.settled()
            while window.panel.charts is None:
                await asyncio.sleep(0.05)
            controller.serving.on_switched(True)
            while not controller.serving.url:
                await asyncio.sleep(0.02)
            await _watched(2.0, found.idle_gaps_ms)
            watching = asyncio.ensure_future(watch(found.gaps_ms, found.own_gaps_ms))
            found.clients = await _come(port, n_clients, n_tokens)
            while host.state.phase != "idle":
                await asyncio.sleep(0.01)
            watching.cancel()
        finally:
            await controller.close()

    with loop, window_shown() as window:
        loop.run_until_complete(whole(window))
    return found


async def _watched(seconds: float, gaps_ms: list[float]) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(watch(gaps_ms, []), seconds)


async def _come(port: int, n_clients: int, n_tokens: int) -> list[dict[str, Any]]:
    import subprocess

    argv = [sys.executable, "-m", "tests.benchmarks.clients", "--as-clients", str(port)]
    argv += ["--clients", str(n_clients), "--tokens", str(n_tokens)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE)
    output, _ = await asyncio.get_running_loop().run_in_executor(None, process.communicate)
    told: list[dict[str, Any]] = json.loads(output)
    return told


def figures_of(found: Found) -> list[Figure]:
    """Return what has to hold, and beside it what the loop does without clients."""
    stayed = [one for one in found.clients if "left_s" not in one]
    left = {one["number"]: one["left_s"] for one in found.clients if "left_s" in one}
    computed = {number: found.seen[number] for number in left if number in found.seen}
    running = [number for number, one in computed.items() if one.sent_s < left[number]]
    after = [computed[number].after(left[number]) for number in running]
    gone = {one["number"]: one["gone_s"] for one in found.clients if "left_s" in one}
    surely_after = [computed[number].surely_after(gone[number]) for number in running]
    begun_late = [number for number, one in computed.items() if one.sent_s > left[number]]
    return [
        Figure("those that stayed, not answered", (sum(not one["is_answered"] for one in stayed),), "", "<= 0"),
        Figure("those that left", (len(left),), ""),
        Figure("left in the middle of an answer", (len(running),), ""),
        Figure("begun after they had left", (len(begun_late),), ""),
        Figure("steps after they had left", tuple(map(float, after)), "steps"),
        Figure("most steps after they had left", (max(after, default=0),), "steps", "<= 1"),
        Figure("of these, with more than one", (sum(n > 1 for n in after),), "", "<= 0"),
        Figure("most steps that surely ended later", (max(surely_after, default=0),), "steps", "<= 1"),
        Figure("with surely more than one", (sum(n > 1 for n in surely_after),), "", "<= 0"),
        Figure("window's gap, 99 of 100", (percentile(found.gaps_ms, 0.99),), "ms"),
        Figure("window's longest gap", (max(found.gaps_ms),), "ms", "<= 100"),
        Figure("longest, without waiting for a core", (max(found.own_gaps_ms),), "ms"),
        Figure("longest gap without clients", (max(found.idle_gaps_ms),), "ms"),
    ]


def main() -> None:
    """Measure and report."""
    parser = arguments(__doc__.splitlines()[0], n_turns=1)
    parser.add_argument("model", nargs="?", default="starter")
    parser.add_argument("--clients", type=int, default=100, help="how many (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=32, help="length of an answer (default: %(default)s)")
    parser.add_argument("--as-clients", type=int, default=0, metavar="PORT", help="be the clients of a server")
    chosen = parser.parse_args()
    if chosen.as_clients:
        asyncio.run(clients(chosen.as_clients, chosen.clients, chosen.tokens))
        return
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as home:
        os.environ["SLIPSTREAM_HOME"] = home
        found = measure(chosen.model, chosen.clients, chosen.tokens)
    figures = figures_of(found)
    report(figures, as_json=chosen.json)
    end_by_targets(figures)


if __name__ == "__main__":
    main()
