"""The client against real engine processes: order, faults, death in words, and nothing left behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
import threading
import time
from contextlib import aclosing

import psutil
import pytest

from app.engine import client as client_module
from app.engine.client import EngineClient
from app.engine.death import describe_status, died, telling_line
from app.engine.gathering import Gathering
from app.errors import EngineDiedError, EngineError, LoadError, ModelFileError, PromptTooLongError
from app.protocol import (
    ChatMessage,
    Chunk,
    Done,
    Generate,
    Hello,
    Load,
    Loaded,
    LoadProgress,
    Render,
    Rendered,
    Sampling,
    Started,
    Tokenise,
    Tokenised,
)
from tests.engine.scripted_worker import ARGV
from tests.fair_time import FairWatch


def generate(engine: EngineClient, prompt: str) -> Generate:
    return Generate(engine.next_id(), Sampling(seed=1), prompt=prompt)


async def everything(stream) -> list:
    return [event async for event in stream]


async def first_chunks(stream, n: int) -> list[Chunk]:
    """Take ``n`` chunks and leave the stream open."""
    chunks: list[Chunk] = []
    while len(chunks) < n:
        event = await anext(stream)
        if isinstance(event, Chunk):
            chunks.append(event)
    return chunks


async def until_stopped() -> None:
    """Wait until the engine process stands still."""
    (process,) = psutil.Process().children()
    while process.status() != psutil.STATUS_STOPPED:
        await asyncio.sleep(0.01)


def with_engine(body, *argv: str):
    """Run ``body(engine)`` with a started engine on a loop of its own."""

    async def run():
        engine = EngineClient([*ARGV, *argv])
        try:
            await engine.start()
            return await body(engine)
        finally:
            await engine.close()

    return asyncio.run(run())


# --- streams ------------------------------------------------------------------------------------------


def test_an_answer_comes_in_order_to_its_end():
    async def body(engine):
        loaded = await everything(engine.send(Load(engine.next_id(), "fine")))
        return loaded, await everything(engine.send(generate(engine, "count 100")))

    loaded, events = with_engine(body)
    assert [type(event) for event in loaded] == [LoadProgress, LoadProgress, Loaded]
    assert isinstance(events[0], Started)
    assert [event.token_ids[0] for event in events if isinstance(event, Chunk)] == list(range(100))
    assert isinstance(events[-1], Done)


def test_twenty_thousand_chunks_come_in_order_under_asyncio():
    async def body(engine):
        return await everything(engine.send(generate(engine, "count 20000")))

    events = with_engine(body)
    assert [event.token_ids[0] for event in events if isinstance(event, Chunk)] == list(range(20000))


def test_twenty_thousand_chunks_come_in_order_under_qasync_and_the_window_stays_alive(qapp):
    import qasync

    loop = qasync.QEventLoop(qapp)
    gaps: list[float] = []

    async def heartbeat():
        while True:
            watch = FairWatch()
            await asyncio.sleep(0.005)
            gaps.append(watch.took_s)

    async def run():
        engine = EngineClient(ARGV)
        beat = asyncio.ensure_future(heartbeat())
        try:
            await engine.start()
            return await everything(engine.send(generate(engine, "count 20000")))
        finally:
            beat.cancel()
            await engine.close()

    with loop:
        events = loop.run_until_complete(run())
    assert [event.token_ids[0] for event in events if isinstance(event, Chunk)] == list(range(20000))
    assert max(gaps) < 0.5


def test_closing_a_stream_early_cancels_and_the_next_is_clean():
    async def body(engine):
        stream = engine.send(generate(engine, "endless"))
        await first_chunks(stream, 5)
        watch = FairWatch()
        await stream.aclose()
        events = await everything(engine.send(generate(engine, "count 3")))
        return watch.took_s, events

    took_s, events = with_engine(body)
    assert took_s < 0.5
    assert {event.id for event in events} == {2}
    assert [event.text for event in events if isinstance(event, Chunk)] == ["0 ", "1 ", "2 "]


def test_a_stream_that_is_dropped_under_qasync_cancels_too(qapp):
    """qasync does not finalise generators; the garbage collector does."""
    import qasync

    async def run():
        engine = EngineClient(ARGV)
        try:
            await engine.start()
            stream = engine.send(generate(engine, "endless"))
            await first_chunks(stream, 2)
            del stream
            gc.collect()
            return await asyncio.wait_for(everything(engine.send(generate(engine, "count 1"))), 60)
        finally:
            await engine.close()

    with qasync.QEventLoop(qapp) as loop:
        assert isinstance(loop.run_until_complete(run())[-1], Done)


def test_a_reader_that_is_cancelled_leaves_a_clean_engine():
    async def body(engine):
        task = asyncio.create_task(everything(engine.send(generate(engine, "endless"))))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await everything(engine.send(generate(engine, "count 2")))

    assert isinstance(with_engine(body)[-1], Done)


def test_cancel_lets_the_last_event_come():
    async def body(engine):
        command = generate(engine, "endless")
        stream = engine.send(command)
        await first_chunks(stream, 3)
        engine.cancel(command.id)
        return await everything(stream)

    assert with_engine(body)[-1].stop_reason == "cancelled"


def test_a_cancel_and_a_close_do_not_wait_for_what_gathers():
    gathering = Gathering(0.0)

    async def run():
        engine = EngineClient(ARGV, gathering=gathering)
        try:
            await engine.start()
            command = generate(engine, "calmly")
            stream = engine.send(command)
            await first_chunks(stream, 3)
            gathering.seconds = 60.0
            await asyncio.sleep(0.3)
            engine.cancel(command.id)
            last = (await asyncio.wait_for(everything(stream), 30))[-1]
            async with aclosing(engine.send(generate(engine, "calmly"))) as again:
                await first_chunks(again, 1)
        finally:
            watch = FairWatch()
            await engine.close()
        return last, watch.took_s

    last, closing_s = asyncio.run(run())
    assert last.stop_reason == "cancelled"
    assert closing_s < 2


def test_a_question_beside_an_answer_waits_for_no_text_to_gather_and_then_it_gathers_again():
    gathering = Gathering(0.0)

    async def run():
        engine = EngineClient(ARGV, gathering=gathering)
        try:
            await engine.start()
            async with aclosing(engine.send(generate(engine, "calmly"))) as stream:
                await first_chunks(stream, 3)
                gathering.seconds = 60.0
                await asyncio.sleep(0.3)
                for _ in range(2):
                    await asyncio.wait_for(everything(engine.send(Tokenise(engine.next_id(), "ab"))), 30)
                left = asyncio.create_task(everything(engine.send(Tokenise(engine.next_id(), "left alone"))))
                await asyncio.sleep(0)
                left.cancel()
                await asyncio.wait_for(
                    everything(engine.send(Render(engine.next_id(), (ChatMessage("user", "x"),)))), 30
                )
                gathering.seconds = 0.2
                began_s = time.monotonic()
                await asyncio.to_thread(gathering.wait)
                return time.monotonic() - began_s
        finally:
            await engine.close()

    assert asyncio.run(run()) >= 0.19


def test_questions_are_answered_during_an_answer():
    async def body(engine):
        async with aclosing(engine.send(generate(engine, "endless"))) as stream:
            await first_chunks(stream, 1)
            (tokens,) = await everything(engine.send(Tokenise(engine.next_id(), "ab")))
            (rendered,) = await everything(engine.send(Render(engine.next_id(), (ChatMessage("user", "x"),))))
        return tokens, rendered

    assert with_engine(body) == (Tokenised(2, (97, 98)), Rendered(3, "x"))


@pytest.mark.linux
def test_sending_never_waits_for_an_engine_that_stands_still():
    async def body(engine):
        stream = engine.send(generate(engine, "stopped"))
        await first_chunks(stream, 3)
        await until_stopped()
        big = "x" * 1_000_000
        watch = FairWatch()
        tasks = [asyncio.create_task(everything(engine.send(Tokenise(engine.next_id(), big)))) for _ in range(5)]
        await asyncio.sleep(0.01)
        took_s = watch.took_s
        for task in tasks:
            task.cancel()
        await stream.aclose()
        return took_s

    assert with_engine(body) < 0.3


def test_another_thread_stops_an_answer_while_the_loop_is_busy():
    async def body(engine):
        command = generate(engine, "endless")
        async with aclosing(engine.send(command)) as stream:
            await first_chunks(stream, 3)
            stopping = threading.Thread(target=engine.cancel, args=(command.id,))
            stopping.start()
            time.sleep(1.0)  # the loop stands still, and so does all that it would hand on
            stopping.join()
            return await everything(stream)

    *chunks, done = with_engine(body)
    assert done.stop_reason == "cancelled"
    assert chunks[-1].step.t_s < 0.9


def test_a_flood_of_log_lines_does_not_stop_the_engine(caplog):
    caplog.set_level(logging.INFO, "app.engine.native")

    async def body(engine):
        command = generate(engine, "log")
        stream = engine.send(command)
        await first_chunks(stream, 10)
        engine.cancel(command.id)
        await everything(stream)

    with_engine(body)
    assert sum(record.message.startswith("line ") for record in caplog.records) == 2000


# --- faults -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda e: generate(e, "known"), PromptTooLongError),
        (lambda e: generate(e, "raise"), EngineError),
        (lambda e: Load(e.next_id(), "broken"), ModelFileError),
        (lambda e: Tokenise(e.next_id(), "raise"), EngineError),
    ],
)
def test_a_fault_is_raised_as_its_own_class_and_the_engine_lives_on(make, error):
    async def body(engine):
        with pytest.raises(error) as caught:
            await everything(engine.send(make(engine)))
        assert type(caught.value) is error
        assert caught.value.hint
        return engine.alive, await everything(engine.send(generate(engine, "count 1")))

    alive, events = with_engine(body)
    assert alive
    assert isinstance(events[-1], Done)


def test_a_cancelled_load_raises():
    async def body(engine):
        command = Load(engine.next_id(), "slow")
        stream = engine.send(command)
        await anext(stream)
        engine.cancel(command.id)
        with pytest.raises(LoadError, match="cancelled"):
            await everything(stream)

    with_engine(body)


def test_an_answer_that_is_not_understood_fails_its_own_stream_only(expect_log):
    expect_log("WARNING app.engine.client: not an event")

    async def body(engine):
        with pytest.raises(EngineError, match="not understood"):
            await everything(engine.send(generate(engine, "garble")))
        return await everything(engine.send(generate(engine, "count 1")))

    assert isinstance(with_engine(body)[-1], Done)


# --- death --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "reason", "words"),
    [
        pytest.param("abort", "internal check failed [SIGABRT]", "GGML_ASSERT(false) failed", marks=pytest.mark.linux),
        pytest.param("crash", "segmentation fault", "", marks=pytest.mark.linux),
        ("leave", "exit status 3", ""),
    ],
)
def test_a_death_in_mid_answer_is_told_in_words_after_what_came_before(expect_log, prompt, reason, words):
    expect_log("WARNING app.engine.client: The engine process has ended")

    async def body(engine):
        stream = engine.send(generate(engine, prompt))
        seen = await first_chunks(stream, 3)
        with pytest.raises(EngineDiedError) as caught:
            await everything(stream)
        assert not engine.alive
        lost = await asyncio.wait_for(engine.lost(), 60)
        with pytest.raises(EngineDiedError):
            await everything(engine.send(generate(engine, "count 1")))
        return seen, caught.value, lost

    seen, error, lost = with_engine(body)
    assert [chunk.text for chunk in seen] == ["0 ", "1 ", "2 "]
    assert reason in error.message
    assert words in error.message
    assert error.hint
    assert lost.message == error.message


@pytest.mark.linux
def test_a_death_is_told_though_a_child_that_it_left_behind_holds_its_pipes(expect_log):
    expect_log("WARNING app.engine.client: The engine process has ended")

    async def body(engine):
        with pytest.raises(EngineDiedError, match="exit status 3"):
            await asyncio.wait_for(everything(engine.send(generate(engine, "orphan"))), 30)

    with_engine(body)


def test_a_kill_fails_every_open_stream(expect_log):
    expect_log("WARNING app.engine.client: The engine process has ended")

    async def body(engine):
        streams = [engine.send(generate(engine, "endless")) for _ in range(3)]
        await first_chunks(streams[0], 2)
        waiting = [asyncio.create_task(everything(stream)) for stream in streams[1:]]
        await asyncio.sleep(0.1)
        psutil.Process().children()[0].kill()
        return await asyncio.gather(everything(streams[0]), *waiting, return_exceptions=True)

    results = with_engine(body)
    assert all(isinstance(result, EngineDiedError) for result in results)
    assert len({id(result) for result in results}) == 3


def test_an_engine_that_dies_while_idle_is_noticed(expect_log):
    expect_log("WARNING app.engine.client: The engine process has ended")

    async def body(engine):
        psutil.Process().children()[0].kill()
        error = await asyncio.wait_for(engine.lost(), 60)
        return engine.alive, error

    alive, error = with_engine(body)
    assert not alive
    assert error.message.startswith("The engine process has ended: ")


def test_an_engine_that_cannot_start_says_why(expect_log):
    expect_log("WARNING app.engine.client: The engine process has ended")
    with pytest.raises(EngineDiedError, match=r"ImportError: libllama\.so") as caught:
        with_engine(None, "no-start")
    assert caught.value.hint


def test_a_program_that_is_not_there_says_so():
    async def run():
        engine = EngineClient(["/no/such/program"])
        try:
            with pytest.raises(EngineDiedError, match="could not be started"):
                await engine.start()
        finally:
            await engine.close()

    asyncio.run(run())


# --- the end ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", ["", "endless", "deaf"])
def test_closing_is_quick_and_leaves_nothing(prompt):
    async def run():
        engine = EngineClient(ARGV)
        hello = await engine.start()
        assert isinstance(hello, Hello)
        (process,) = psutil.Process().children()
        if prompt:
            stream = engine.send(generate(engine, prompt))
            await first_chunks(stream, 3)
            reading = asyncio.create_task(everything(stream))
            await asyncio.sleep(0.05)
        watch = FairWatch()
        await engine.close()
        took_s = watch.took_s
        await engine.close()
        if prompt:
            with pytest.raises(EngineDiedError, match="stopped"):
                await reading
        return process, took_s

    before = set(threading.enumerate())
    process, took_s = asyncio.run(run())
    assert took_s < 1
    assert not process.is_running()
    assert set(threading.enumerate()) <= before


@pytest.mark.linux
def test_an_engine_that_stands_still_is_ended_by_force():
    async def run():
        engine = EngineClient(ARGV)
        await engine.start()
        stream = engine.send(generate(engine, "stopped"))
        await first_chunks(stream, 3)
        await until_stopped()
        (process,) = psutil.Process().children()
        began_s, watch = time.monotonic(), FairWatch()
        await engine.close()
        return process, time.monotonic() - began_s, watch.took_s

    process, took_s, fair_s = asyncio.run(run())
    assert took_s >= client_module.CLOSE_LIMIT_S
    assert fair_s < client_module.CLOSE_LIMIT_S + 1
    assert not process.is_running()


def test_a_start_that_is_cancelled_leaves_nothing():
    async def run():
        engine = EngineClient([*ARGV, "slow-start"])
        starting = asyncio.create_task(engine.start())
        await asyncio.sleep(0.5)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await engine.close()

    asyncio.run(run())
    assert psutil.Process().children() == []


def test_closing_what_was_never_started_is_fine_and_starting_it_then_is_not():
    async def run():
        engine = EngineClient(ARGV)
        assert not engine.alive
        await engine.close()
        with pytest.raises(RuntimeError):
            await engine.start()
        with pytest.raises(EngineDiedError, match="not running"):
            await everything(engine.send(generate(engine, "count 1")))

    asyncio.run(run())


def test_a_loop_that_is_closed_without_closing_the_engine_leaves_no_process():
    async def run():
        engine = EngineClient(ARGV)
        await engine.start()
        stream = engine.send(generate(engine, "endless"))
        await first_chunks(stream, 1)
        return psutil.Process().children()[0]

    process = asyncio.run(run())
    for thread in threading.enumerate():
        if thread.name == "engine-reader":
            thread.join(5)  # what it has to say comes before the test's logs are looked at: nobody is to be warned
    psutil.wait_procs([process], timeout=30)
    assert not process.is_running()


# --- words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (-9, "memory runs out"),
        (-11, "segmentation fault"),
        (-6, "internal check"),
        (-4, "processor"),
        (-64, "signal"),
        (-200, "signal 200"),
        (0, "without being asked"),
        (1, "exit status 1"),
        (0xC0000005, "access violation"),
        (0xC0000409, "graphics drivers"),
        (0xC0000999, "0xC0000999"),
    ],
)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals by name need POSIX")
def test_an_exit_status_in_words(status, words):
    assert words in describe_status(status)


def test_the_telling_line_is_the_assertion_not_what_follows():
    lines = [
        "llama_model_loader: loaded meta data",
        "ggml.c:99: GGML_ASSERT(n > 0) failed",
        "Fatal Python error: Aborted",
        "Current thread 0x00007f (most recent call first):",
    ]
    assert telling_line(lines) == "ggml.c:99: GGML_ASSERT(n > 0) failed"
    lines = ["/a b/src/ggml-rpc.cpp:566: Remote server crashed", "Fatal Python error: Aborted", "worker.py:9: x"]
    assert telling_line(lines) == "ggml-rpc.cpp:566: Remote server crashed"
    assert telling_line(["all is well", "INFO nothing here"]) == ""
    stopped = [
        "graph_compute: ggml_backend_sched_graph_compute_async failed with error 1",
        "process_ubatch: failed to compute graph, compute status: 1",
        "llama_decode: failed to decode, ret = 2",
    ]
    assert telling_line(stopped) == ""
    assert telling_line(["llama_decode: failed to decode, ret = -3", *stopped]).endswith("ret = -3")
    assert telling_line(["Traceback (most recent call last):", "  File x", "OSError: no space"]) == "OSError: no space"
    assert len(telling_line(["error: " + "x" * 5000])) == 300


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/tmp/pip-in/vendor/llama.cpp/src/llama-model.cpp:13: GGML_ASSERT(n > 0) failed", "llama-model.cpp:13:"),
        ("/tmp/two words/ggml.c:2645: GGML_ASSERT(a->ne[d] == b->ne[d]) failed", "ggml.c:2645:"),
        (r"C:\Users\me\vendor\llama.cpp\ggml\src\ops.cpp:4132: GGML_ASSERT(eps >= 0.0f) failed", "ops.cpp:4132:"),
        ("error: cannot open /models/mine.gguf", "error: cannot open /models/mine.gguf"),
        ("ERROR x: failed to open /a/b.c: no file, /d/e.cpp too", "ERROR x: failed to open b.c: no file, e.cpp too"),
    ],
)
def test_the_telling_line_leaves_out_the_folders_of_whoever_built_the_library(line, told):
    assert telling_line([line]).startswith(told)


def test_the_message_has_both():
    error = died(-6, ["GGML_ASSERT(ok) failed"])
    assert "SIGABRT" in error.message
    assert error.message.endswith("Its last words: GGML_ASSERT(ok) failed")
    assert "Start the engine again" in error.hint


def test_the_client_loads_no_qt_and_no_llama():
    import subprocess

    code = "import sys; import app.engine.client; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.decode().split()
    assert not {"PySide6", "qasync", "llama_cpp", "numpy", "app.engine.worker", "app.engine.session"} & set(loaded)
