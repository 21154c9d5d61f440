"""Devices of several servers share the layers of a model: alike in text, proved, measured, survived, and in memory.

``SLIPSTREAM_TEST_RUNTIME=DIR python -m pytest -m runtime``, as ``test_second_device``.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from app.engine.discovery import discover
from app.engine.gguf import read_header
from app.engine.surroundings import Surroundings
from app.errors import EngineDiedError
from app.host import ChatRequest, PairChoice
from app.host.device_book import DeviceBook
from app.host.device_trial import measure_devices, places
from app.host.rooms import Rooms
from app.host.runtimes import Runtimes
from app.host.survey import survey
from app.models.device_memory import spread_over
from app.models.library import Library
from app.models.memory import reckon, room_now
from app.protocol import ChatMessage, Chunk, Load, Sampling
from tests.fixtures import lent
from tests.host.real_host import run, starter

pytestmark = [pytest.mark.runtime, pytest.mark.linux]

GREEDY = Sampling(seed=1, temperature=0.0)
ASK = (ChatMessage("user", "Tell me how rain is made, in a few sentences."),)
BOTH = "RPC0,RPC1"


@pytest.fixture
def lenders():
    with ExitStack() as stack:
        two = [stack.enter_context(lent.lender()) for _ in range(2)]
        lent.use(*(one.address for one in two))
        yield two


async def ask(host, n=48, **how):
    request = ChatRequest(ASK, sampling=GREEDY, max_tokens=n, **how)
    return [token async for event in host.answer(request) if isinstance(event, Chunk) for token in event.token_ids]


def test_layers_split_over_two_machines_say_the_same(lenders):
    async def body(host):
        await host.load(PairChoice(starter()))
        here = await ask(host)
        loaded = await host.load(PairChoice(starter(), compute=BOTH))
        both = await ask(host, reuse_memory=False)
        await host.load(PairChoice(starter(), compute="RPC1"))
        return here, both, await ask(host, reuse_memory=False), loaded.device

    here, both, second, device = run(body)
    assert here == both == second
    assert device == "RPC0 + RPC1"


def test_all_that_is_lent_is_meant_by_gpu_and_measured_as_one_place(lenders):
    known = survey(prove=True)
    assert {r.device.name: r.standing.state for r in known.devices if r.device.backend == "RPC"} == {
        "RPC0": "works",
        "RPC1": "works",
    }
    assert places(known) == ("cpu", "RPC0", "RPC1", BOTH)
    trial = asyncio.run(measure_devices(places(known), str, limit_s=10))
    assert {speed.place for speed in trial.speeds if speed.n_answers} == set(places(known))


def test_one_machine_that_is_gone_is_named_and_the_other_goes_on(lenders):
    lenders[0].end()
    surroundings = Surroundings(str(lent.folder()))
    found = discover(surroundings, servers=tuple(one.address for one in lenders))
    (backend,) = [backend for backend in found.backends if backend.name == "rpc"]
    assert lenders[0].address in backend.reason
    assert [device.description for device in backend.devices] == [lenders[1].address]

    async def body(host):
        await host.load(PairChoice(starter(), compute="gpu"))
        return await ask(host, n=4)

    assert len(run(body)) == 4


def test_when_one_of_two_dies_in_mid_answer_both_are_named_and_what_was_said_stays(lenders, expect_log):
    expect_log(r"WARNING app\.engine\.client: The engine process has ended.*")

    async def body(host):
        await host.load(PairChoice(starter(), compute=BOTH))
        said = []

        async def answer():
            async for event in host.answer(ChatRequest(ASK, sampling=GREEDY, max_tokens=400)):
                if isinstance(event, Chunk):
                    said.append(event.text)
                    lenders[1].end()

        with pytest.raises(EngineDiedError) as caught:
            await answer()
        standings = [DeviceBook().standing(Runtimes().in_use(), d) for d in _lent(lenders)]
        await host.restart(PairChoice(starter()))
        return said, caught.value, standings, await ask(host, n=4)

    said, fault, standings, tokens = run(body)
    assert "".join(said)
    assert "RPC0 and RPC1" in fault.message
    assert {standing.state for standing in standings} == {"failing"}
    assert len(tokens) == 4


def _lent(lenders):
    from app.engine.probe import Device

    return [Device(f"RPC{n}", "gpu", one.address, "RPC", 0, 0) for n, one in enumerate(lenders)]


_REAL = """
import json, re, sys
from app.engine.devices import check_runtime, load_backends
from app.placement import Backends, Placement
from app.protocol import MemoryTypes
check_runtime()
names, servers, path, n_layers = json.loads(sys.argv[1])
load_backends(Backends(("rpc",), tuple(servers)))
from app.engine.llama import Context, Model, Shape
from app.engine.llama.backend import listening
lines = []
with listening(lines.append):
    model = Model(path, placement=Placement(tuple(names), n_layers, maps_file=False))
    context = Context(model, Shape(n_ctx=4096, n_threads=2, n_rows_max=8, memory=MemoryTypes("f16", "f16")))
found = {}
sizes = r"(\\w+)(?:\\[([^\\]]*)\\])? +(model|KV|compute|output) buffer size = +([\\d.]+) MiB"
for name, address, kind, size in re.findall(sizes, "".join(lines)):
    name = address or name  # the buffers of all servers have the same name
    found.setdefault(name, {}).setdefault(kind, 0)
    found[name][kind] += float(size)
print("FOUND" + json.dumps(found))
"""


@pytest.mark.parametrize(("names", "n_layers"), [(("RPC0",), -1), (("RPC0",), 10), (("RPC0", "RPC1"), -1)])
def test_what_is_reckoned_for_each_device_is_what_llama_cpp_takes_there(lenders, names, n_layers):
    question = json.dumps([names, [one.address for one in lenders], starter(), n_layers])
    folder = str(lent.folder())
    done = subprocess.run(
        [sys.executable, "-c", _REAL, question],
        env={**os.environ, "LLAMA_CPP_LIB_PATH": folder, "MTMD_CPP_LIB": folder},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    real = json.loads(line.removeprefix("FOUND"))
    spread = Rooms().spread(PairChoice(starter(), compute=",".join(names), n_device_layers=n_layers))
    assert [room.is_shared for room in spread.target] == [True] * len(names)  # lent by this computer itself
    header = read_header(Library().resolve("starter").path)
    how = Load(0, starter(), n_ctx=4096)
    memory = spread_over(reckon(header, None, how, room_now()), header, None, how, spread)
    shares = {share.room.device: share.n_bytes / 2**20 for share in memory.by_device}
    for name, one in zip(names, lenders, strict=False):
        there = sum(real[one.address].values())
        assert shares[name] == pytest.approx(there, rel=0.25), (name, real)


def test_a_machine_that_hangs_or_cannot_be_reached_does_not_take_the_others_along(lenders):
    lenders[0].process.send_signal(signal.SIGSTOP)
    try:
        started_s = time.monotonic()
        found = discover(Surroundings(str(lent.folder())), servers=tuple(one.address for one in lenders), limit_s=6.0)
        assert time.monotonic() - started_s < 20
    finally:
        lenders[0].process.send_signal(signal.SIGCONT)
    (backend,) = [backend for backend in found.backends if backend.name == "rpc"]
    assert (backend.state, backend.servers) == ("found", (lenders[1].address,))
    assert lenders[0].address in backend.reason


def test_a_machine_that_hangs_in_mid_answer_is_left_by_a_restart(lenders):
    async def body(host):
        await host.load(PairChoice(starter(), compute="RPC0"))
        first = asyncio.Event()

        async def answer():
            async for event in host.answer(ChatRequest(ASK, sampling=GREEDY, max_tokens=400)):
                if isinstance(event, Chunk):
                    first.set()

        answering = asyncio.ensure_future(answer())
        await first.wait()
        lenders[0].process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(0.5)
            await host.restart(PairChoice(starter()))
        finally:
            lenders[0].process.send_signal(signal.SIGCONT)
        with pytest.raises(EngineDiedError):
            await answering
        return await ask(host, n=4)

    assert len(run(body)) == 4


def test_a_server_that_our_engine_works_on_is_not_waited_for(lenders):
    """It serves one client at a time: whoever else connects waits until that one leaves."""

    async def body(host):
        await host.load(PairChoice(starter(), compute="RPC0"))
        before = await ask(host)
        started_s = time.monotonic()
        known = await asyncio.to_thread(survey, again=True, prove=True)
        names = [report.device.name for report in known.devices if report.device.backend == "RPC"]
        states = {report.standing.state for report in known.devices if report.device.backend == "RPC"}
        trial = await measure_devices(("RPC0",), str)
        loaded = await host.load(PairChoice(starter(), compute="RPC1", n_ctx=2048))  # the same servers, another way
        took_s = time.monotonic() - started_s
        return before, names, states, trial, loaded.device, await ask(host), took_s

    before, names, states, trial, device, after, took_s = run(body)
    assert (names, device) == (["RPC0", "RPC1"], "RPC1")
    assert "works" in states
    assert "serves one at a time" in trial.speeds[0].fault
    assert before == after
    assert took_s < 30


def test_servers_that_are_named_in_another_order_are_not_mixed_up(lenders):
    async def body(host):
        await host.load(PairChoice(starter(), compute="RPC0"))
        Runtimes().set_servers(tuple(one.address for one in reversed(lenders)))
        loaded = await host.load(PairChoice(starter(), compute="RPC1"))
        return loaded.device, await ask(host, n=4)

    device, tokens = run(body)
    assert (device, len(tokens)) == ("RPC1", 4)
