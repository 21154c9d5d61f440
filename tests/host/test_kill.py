"""``kill -9`` at random moments, of the engine and of the window's side: no orphan, and the next start works.

Every process of a test, however it came about, carries the test's own data folder in its environment; that is how
orphans are found.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from app.errors import EngineDiedError
from app.host import Host, PairChoice
from app.protocol import Chunk, Loaded
from tests.fair_time import FairWatch
from tests.host.window_side import ASK

pytestmark = [pytest.mark.linux, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
WINDOW_SIDE = str(ROOT / "tests/host/window_side.py")
STARTER = PairChoice("starter", n_threads=1)  # threads that wait for each other crawl on a busy machine


@dataclass(frozen=True, slots=True)
class Moment:
    """So many events of the answer, and then so much time."""

    n_events: int
    delay_s: float


def moments(n: int) -> list[Moment]:
    """Return ``n`` random moments: half of them during start and load, half from prefill on."""
    early = [Moment(0, random.uniform(0.0, 0.6)) for _ in range(n // 2)]
    return early + [Moment(random.randint(1, 30), random.uniform(0.0, 0.02)) for _ in range(n - n // 2)]


def processes_of(home: Path) -> dict[int, str]:
    """Return the living processes that carry the folder, with the last word of their command line."""
    mark = f"SLIPSTREAM_HOME={home}".encode()
    found = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                words = (entry / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
                found[int(entry.name)] = words[-1].decode()
    return found


def assert_none_left(home: Path, limit_s: float = 5.0) -> None:
    watch = FairWatch()
    while (left := processes_of(home)) and watch.took_s < limit_s:
        time.sleep(0.02)
    for pid in left:
        with suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()
    assert left == {}


async def kill_engine_at(home: Path, moment: Moment) -> str:
    """Kill the worker at a moment of a start, a load and an answer; return in which phase that was."""
    host = Host()
    seen = []

    async def work():
        nonlocal seen
        await host.load(STARTER)
        async for event in host.answer(ASK):
            seen += [event]

    async def kill():
        while len(seen) < moment.n_events:
            await asyncio.sleep(0.001)
        await asyncio.sleep(moment.delay_s)
        while not (pids := [pid for pid, word in processes_of(home).items() if word == "worker"]):
            await asyncio.sleep(0.005)
        psutil.Process(pids[0]).kill()
        return host.state.phase

    try:
        worked, phase = await asyncio.gather(work(), kill(), return_exceptions=True)
        assert isinstance(worked, EngineDiedError), f"{worked!r} in phase {phase}"
        assert "SIGKILL" in worked.message
        assert host.state.phase == "died"
        for run in host.session.runs:
            assert run.stop_reason == "engine_died"
            assert run.tokens == sum(len(event.token_ids) for event in seen if isinstance(event, Chunk))
        await asyncio.to_thread(assert_none_left, home)
        loaded = await host.restart()
        assert loaded is None or isinstance(loaded, Loaded)
        await host.load(STARTER)
        assert isinstance([event async for event in host.answer(replace(ASK, max_tokens=4))][-2], Chunk)
    finally:
        await host.close()
    assert_none_left(home)
    return phase


def kill_engine_at_each(home: Path, n: int, expect_log) -> None:
    expect_log("WARNING app.engine.client: The engine process has ended")
    phases = [asyncio.run(kill_engine_at(home, moment)) for moment in moments(n)]
    assert phases.count("answering") >= n // 2


def kill_window_side_at_each(home: Path, n: int) -> None:
    for moment in moments(n):
        window = subprocess.Popen([sys.executable, WINDOW_SIDE, "starter"], env=here(), stdout=subprocess.PIPE)
        try:
            for _ in range(moment.n_events):
                assert window.stdout.readline()
            time.sleep(moment.delay_s)
            assert window.poll() is None
        finally:
            window.kill()
            window.communicate()
        assert_none_left(home)
        again = subprocess.run([sys.executable, WINDOW_SIDE, "starter", "1"], env=here(), capture_output=True)
        assert again.returncode == 0, again.stderr.decode()
        assert again.stdout.split()[-2:] == [b"Done", b"answered"]
        assert_none_left(home, limit_s=0.5)


def here() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_the_engine_is_killed_at_four_random_moments(home, expect_log):
    kill_engine_at_each(home, 4, expect_log)


@pytest.mark.full
def test_the_engine_is_killed_at_twenty_random_moments(home, expect_log):
    kill_engine_at_each(home, 20, expect_log)


def test_the_windows_side_is_killed_at_four_random_moments(home):
    kill_window_side_at_each(home, 4)


@pytest.mark.full
def test_the_windows_side_is_killed_at_twenty_random_moments(home):
    kill_window_side_at_each(home, 20)


@pytest.mark.parametrize("template", ["{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"])
def test_the_windows_side_is_killed_while_a_template_loops_for_ever(home, tmp_path, template):
    from tests.fixtures import tiny

    model = tiny.llama(tmp_path / "endless.gguf", chat_template=template)
    window = subprocess.Popen([sys.executable, WINDOW_SIDE, str(model)], env=here(), stdout=subprocess.PIPE)
    try:
        assert window.stdout.readline() == b"loaded\n"
        watch, wanted = FairWatch(), sorted([str(model), "template", "worker"])
        while (there := sorted(processes_of(home).values())) != wanted:
            assert watch.took_s < 5, there
            time.sleep(0.01)
    finally:
        window.kill()
        window.communicate()
    assert_none_left(home, limit_s=1.0)
