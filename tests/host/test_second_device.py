"""A real second device (RPC0, in another process): found, proved, chosen for each role, and survived when it dies.

``SLIPSTREAM_TEST_RUNTIME=DIR python -m pytest -m runtime``; DIR holds llama.cpp's libraries with dynamic backends, RPC
among them, and ``ggml-rpc-server``, built from the pinned commit.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import psutil
import pytest

from app.engine.discovery import discover
from app.engine.probe import prove
from app.engine.surroundings import Surroundings
from app.errors import EngineDiedError, SlipstreamError, UsageError
from app.host import ChatRequest, PairChoice
from app.host.device_book import DeviceBook
from app.host.device_trial import measure_devices
from app.host.runtimes import Runtimes
from app.placement import Backends
from app.protocol import ChatMessage, Chunk, Prefill, Sampling, Speculation
from tests.fixtures import lent
from tests.host.real_host import run, starter

pytestmark = [pytest.mark.runtime, pytest.mark.linux]

GREEDY = Sampling(seed=1, temperature=0.0)
ASK = (ChatMessage("user", "Tell me how rain is made, in a few sentences."),)
PLACES = [("RPC0", "cpu"), ("cpu", "RPC0"), ("RPC0", "RPC0")]
DRAFTED = Speculation(types=("draft-simple",), draft_tokens=3)


@pytest.fixture
def lender():
    with lent.lender() as one:
        lent.use(one.address)
        yield one


async def ask(host, n=48, messages=ASK, **how):
    request = ChatRequest(messages, sampling=GREEDY, max_tokens=n, **how)
    return [event async for event in host.answer(request)]


def tokens_of(events):
    return [token for event in events if isinstance(event, Chunk) for token in event.token_ids]


def mapped() -> set[str]:
    """Return the names of the libraries that the engine process has mapped."""
    children = psutil.Process().children(recursive=True)
    (worker,) = [child for child in children if "worker" in child.cmdline() and "app" in child.cmdline()]
    lines = Path(f"/proc/{worker.pid}/maps").read_text().splitlines()
    return {Path(line.split()[-1]).name for line in lines if ".so" in line}


def test_the_device_is_listed_as_a_gpu_and_its_proof_passes(lender):
    surroundings = Surroundings(str(lent.folder()))
    found = discover(surroundings, servers=(lender.address,))
    (device,) = [device for device in found.devices if device.name == "RPC0"]
    assert (device.kind, device.backend, device.description) == ("gpu", "RPC", lender.address)
    assert device.memory_total_bytes > 0
    assert prove(surroundings, Backends(("rpc",), (lender.address,)), "RPC0").fault == ""


@pytest.mark.parametrize("quantisation", ["Q8_0", "Q4_0"])
@pytest.mark.parametrize(("compute", "draft_compute"), PLACES)
def test_tiny_pairs_say_the_same_wherever_they_run(
    lender, tiny_pair, tiny_pair_q4, quantisation, compute, draft_compute
):
    pair = tiny_pair if quantisation == "Q8_0" else tiny_pair_q4
    check_alike(str(pair.target), str(pair.draft), compute, draft_compute)


@pytest.mark.parametrize(("compute", "draft_compute"), PLACES)
def test_the_starter_says_the_same_wherever_it_runs(lender, compute, draft_compute):
    check_alike(starter(), starter(), compute, draft_compute)


def check_alike(target, draft, compute, draft_compute):
    async def body(host):
        await host.load(PairChoice(target, draft))
        here = await ask(host)
        loaded = await host.load(PairChoice(target, draft, compute=compute, draft_compute=draft_compute))
        plain = await ask(host, reuse_memory=False)
        drafted = await ask(host, speculation=DRAFTED, reuse_memory=False)
        return loaded, [tokens_of(events) for events in (here, plain, drafted)], host.session

    loaded, (here, plain, drafted), session = run(body)
    assert (loaded.device, loaded.draft_device) == (compute.upper(), draft_compute.upper())
    assert here == plain == drafted
    assert len(here) > 20
    run_ = session.runs[-1]
    assert run_.accepted > 0
    assert (run_.conditions.device, run_.conditions.draft_device) == (loaded.device, loaded.draft_device)
    names = "RPC0" if compute == draft_compute else f"{compute.upper()}, draft on {draft_compute.upper()}"
    assert session.to_metrics().machine.device == names


def test_some_layers_there_and_the_rest_here_say_the_same(lender):
    async def body(host):
        await host.load(PairChoice(starter()))
        here = await ask(host)
        await host.load(PairChoice(starter(), compute="RPC0", n_device_layers=10))
        return tokens_of(here), tokens_of(await ask(host, reuse_memory=False))

    here, split = run(body)
    assert here == split


def test_the_processor_alone_maps_no_other_backend_and_a_gpu_does(lender):
    async def body(host):
        await host.load(PairChoice(starter()))
        before = mapped()
        await host.load(PairChoice(starter(), compute="gpu"))
        on_gpu = mapped()
        await host.load(PairChoice(starter()))
        return before, on_gpu, mapped()

    before, on_gpu, after = run(body)
    for libraries in (before, after):
        assert any(name.startswith("libggml-cpu") for name in libraries)
        assert [name for name in libraries if name.startswith("libggml-rpc")] == []
    assert [name for name in on_gpu if name.startswith("libggml-rpc")] != []


def test_a_device_that_works_on_after_the_call_is_waited_for(lender):
    async def body(host):
        took_s = []
        for compute in ("cpu", "gpu"):
            await host.load(PairChoice(starter(), compute=compute))
            events = await ask(host, n=2, messages=(ChatMessage("user", "word " * 70),))  # one batch: no next one waits
            took_s.append(events[-1].prefill_s)
        return took_s

    here_s, there_s = run(body)  # the same processor computes both
    assert there_s > 0.2 * here_s


def test_a_server_that_is_not_there_is_named_before_anything_is_loaded(lender):
    async def body(host):
        await host.load(PairChoice(starter()))
        lender.end()
        with pytest.raises(UsageError, match="No GPU") as caught:
            await host.load(PairChoice(starter(), compute="gpu"))
        return caught.value.hint, tokens_of(await ask(host, n=4))

    hint, tokens = run(body)
    assert hint
    assert len(tokens) == 4


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("moment", ["prefill", "decode"])
def test_a_device_that_dies_is_survived(lender, expect_log, moment, number):
    expect_log(r"WARNING app\.engine\.client: The engine process has ended.*")
    messages = (ChatMessage("user", "word " * 1500),) if moment == "prefill" else ASK
    wanted = Prefill if moment == "prefill" else Chunk

    async def body(host):
        pair = PairChoice(starter(), compute="gpu")
        await host.load(pair)
        seen = []
        request = ChatRequest(messages, sampling=GREEDY, max_tokens=400)

        async def answer():
            async for event in host.answer(request):
                seen.append(event)
                if isinstance(event, wanted) and len(seen) >= 2 + number:
                    lender.end()

        with pytest.raises(EngineDiedError) as caught:
            await answer()
        state = host.state
        standing = DeviceBook().standing(Runtimes().in_use(), device_of(lender))
        with pytest.raises(SlipstreamError, match="No GPU"):  # asked for again, it is looked for first
            await host.restart()
        loaded = await host.restart(pair.on_processor())
        return seen, caught.value, state, standing, loaded, tokens_of(await ask(host, n=4))

    seen, fault, state, standing, loaded, tokens = run(body)
    assert "RPC0" in fault.message
    assert "server" in fault.message  # llama.cpp's own last words
    assert "CPU" in fault.hint
    assert (state.phase, state.loaded) == ("died", None)
    assert state.detail == fault.message
    assert state.pair.compute == "gpu"  # what is offered to be loaded again
    assert standing.state == "failing"
    assert "ended" in standing.reason
    assert (loaded.device, len(tokens)) == ("CPU", 4)
    if moment == "decode":
        assert "".join(event.text for event in seen if isinstance(event, Chunk))  # what was said stays


def test_both_devices_are_measured_within_a_minute(lender):
    started_s = time.monotonic()
    trial = asyncio.run(measure_devices(("cpu", "RPC0"), str))
    assert time.monotonic() - started_s < 60
    assert {speed.place for speed in trial.speeds if speed.n_answers} == {"cpu", "RPC0"}
    best = max(speed.decode_tps for speed in trial.speeds)
    (chosen,) = [speed for speed in trial.speeds if speed.place == trial.choice]
    assert chosen.decode_tps * 1.03 >= best


def device_of(lender):
    from app.engine.probe import Device

    return Device("RPC0", "gpu", lender.address, "RPC", 0, 0)


def test_the_folder_is_the_one_that_was_named():
    assert (lent.folder() / "ggml-rpc-server").is_file()
    assert os.environ["SLIPSTREAM_TEST_RUNTIME"]
