"""The host with a scripted engine: turns, loads, cancels, deaths, and the record of it all."""

from __future__ import annotations

import asyncio
import gc
import threading
from contextlib import aclosing
from dataclasses import replace

import pytest

from app.errors import (
    EngineDiedError,
    EngineError,
    LoadError,
    ModelFileError,
    ModelNotFoundError,
    PromptTooLongError,
    UsageError,
)
from app.host import ChatRequest, Host, HostState, PairChoice
from app.host.jobs import Job
from app.host.leaving import Leaving
from app.host.patience import Patience
from app.host.turn import end_if_stuck
from app.models.library import Library
from app.protocol import ChatMessage, Chunk, Done, Generate, Load, MemoryTypes, Sampling, Speculation, Started, Tokenise
from tests.doubles import POEM, Answer, ScriptedEngine, tokens_of

STARTER = PairChoice("starter")
WITH_DRAFT = PairChoice("starter", draft="starter")
ASK = ChatRequest((ChatMessage("user", "Tell me about trains."),), label="trains")
SLOW = Answer(pace_s=0.02)


class Bench:
    """A host whose engines are scripted, and what it told its subscriber."""

    def __init__(self, *engines: ScriptedEngine, **how) -> None:
        self.engines = list(engines) or [ScriptedEngine()]
        self.used: list[ScriptedEngine] = []
        self.states: list[HostState] = []
        self.host = Host(make_engine=self._next_engine, library=Library(), **how)
        self.host.subscribe(self.states.append)

    def _next_engine(self) -> ScriptedEngine:
        self.used.append(self.engines.pop(0) if self.engines else ScriptedEngine())
        return self.used[-1]

    @property
    def phases(self) -> list[str]:
        return [state.phase for state in self.states]

    @property
    def stops(self) -> list[str]:
        return [run.stop_reason for run in self.host.session.runs]

    async def ask(self, request: ChatRequest = ASK) -> list:
        return [event async for event in self.host.answer(request)]

    def sent(self, kind) -> list:
        return [command for engine in self.used for command in engine.commands if isinstance(command, kind)]


def run(bench: Bench, body):
    """Run ``body()`` on a loop, then close the host and check that it left no task."""

    async def all_of_it():
        try:
            async with asyncio.timeout(90):
                return await body()
        finally:
            await bench.host.close()
            assert asyncio.all_tasks() == {asyncio.current_task()}

    return asyncio.run(all_of_it())


def text_of(events) -> str:
    return "".join(event.text for event in events if isinstance(event, Chunk | Done))


async def started(stream) -> None:
    while not isinstance(await anext(stream), Chunk):
        pass


async def asked(bench: Bench) -> None:
    while not bench.sent(Generate):
        await asyncio.sleep(0)


# --- loading and answering ----------------------------------------------------------------------------


def test_from_nothing_to_an_answer_and_its_record():
    bench = Bench()
    progress = []

    async def body():
        loaded = await bench.host.load(STARTER, progress.append)
        assert bench.host.state == HostState("idle", loaded, STARTER)
        return await bench.ask()

    events = run(bench, body)
    assert isinstance(events[0], Started)
    assert text_of(events) == POEM
    assert [p.fraction for p in progress] == [0.0, 0.5, 1.0]
    assert bench.phases == ["starting", "idle", "loading", "idle", "answering", "idle", "stopped"]
    assert bench.states[2].detail == "Loading starter…"
    (record,) = bench.host.session.runs
    assert (record.prompt, record.stop_reason, record.tokens) == ("trains", "eos", len(tokens_of(POEM)))
    assert bench.sent(Load)[0].target.endswith(".gguf")


def test_speculation_is_passed_on_and_its_facts_are_recorded():
    bench = Bench()
    request = ChatRequest(ASK.messages, speculation=Speculation(types=("ngram",), draft_tokens=4))

    async def body():
        await bench.host.load(STARTER)
        return await bench.ask(request)

    assert text_of(run(bench, body)) == POEM
    (record,) = bench.host.session.runs
    assert record.engaged
    assert 0 < record.accepted < record.proposed


def test_a_request_without_sampling_gets_a_fresh_seed_each_time_and_the_record_has_it():
    bench = Bench()

    async def body():
        await bench.host.load(STARTER)
        for _ in range(3):
            await bench.ask()
        await bench.ask(ChatRequest(prompt="x", sampling=Sampling(seed=7, temperature=0.0)))

    run(bench, body)
    seeds = [command.sampling.seed for command in bench.sent(Generate)]
    assert len(set(seeds[:3])) == 3
    assert seeds[3] == 7
    assert [record.seed for record in bench.host.session.runs] == seeds


def test_the_same_pair_again_costs_nothing_and_another_draft_asks_the_engine():
    bench = Bench()

    async def body():
        first = await bench.host.load(STARTER)
        assert await bench.host.load(STARTER) is first
        assert len(bench.sent(Load)) == 1
        second = await bench.host.load(WITH_DRAFT)
        assert second.draft is not None

    run(bench, body)
    plain, drafted = bench.sent(Load)
    assert (plain.target, plain.draft) == (drafted.target, None)
    assert drafted.draft == drafted.target
    assert len(bench.used) == 1


def test_start_is_idempotent_and_start_at_once_twice_too():
    bench = Bench()

    async def body():
        await asyncio.gather(bench.host.start(), bench.host.start())
        await bench.host.start()

    run(bench, body)
    assert len(bench.used) == 1


def test_requests_are_answered_one_at_a_time_in_their_order():
    bench = Bench(ScriptedEngine([Answer("a b c", pace_s=0.01), Answer("d e", pace_s=0.01), Answer("f", pace_s=0.01)]))
    log = []

    async def reader(name):
        nonlocal log
        async for event in bench.host.answer(ASK):
            log += [(name, type(event).__name__)]

    async def body():
        await bench.host.load(STARTER)
        await asyncio.gather(reader(1), reader(2), reader(3))

    run(bench, body)
    assert [name for name, _ in log] == sorted(name for name, _ in log)
    assert {name for name, _ in log} == {1, 2, 3}
    assert bench.stops == ["eos"] * 3


def test_tokenise_is_answered_during_an_answer():
    bench = Bench(ScriptedEngine([SLOW]))

    async def body():
        await bench.host.load(STARTER)
        async with aclosing(bench.host.answer(ASK)) as stream:
            await started(stream)
            return await bench.host.tokenise("two words")

    assert len(run(bench, body)) == 2
    assert bench.sent(Tokenise)


def test_without_a_model_there_is_an_error_with_a_hint():
    bench = Bench()

    async def body():
        for ask in (bench.ask, lambda: bench.host.tokenise("x")):
            with pytest.raises(EngineError, match="No model is loaded") as caught:
                await ask()
            assert caught.value.hint

    run(bench, body)
    assert bench.stops == []


# --- cancelling ---------------------------------------------------------------------------------------


def test_cancel_stops_the_answer_that_runs_and_lets_its_end_through():
    bench = Bench(ScriptedEngine([SLOW, Answer("next")]))

    async def body():
        await bench.host.load(STARTER)
        stream = bench.host.answer(ASK)
        await started(stream)
        await bench.host.cancel()
        assert bench.stops == ["cancelled"]
        rest = [event async for event in stream]
        assert rest[-1].stop_reason == "cancelled"
        return await bench.ask()

    assert text_of(run(bench, body)) == "next"


def test_cancel_with_nothing_running_does_nothing():
    bench = Bench()
    run(bench, bench.host.cancel)


def test_cancel_reaches_an_answer_that_is_not_sent_yet():
    bench = Bench(ScriptedEngine([SLOW, Answer("next")]))

    async def body():
        await bench.host.load(STARTER)
        asking = asyncio.create_task(bench.ask())
        await asyncio.sleep(0)  # asked, and its turn has not come
        assert not bench.sent(Generate)
        await bench.host.cancel()
        assert bench.stops == ["cancelled"]
        assert [event.stop_reason for event in await asking] == ["cancelled"]
        return await bench.ask()

    assert text_of(run(bench, body)) == POEM  # the engine has heard of the second alone
    assert bench.stops == ["cancelled", "eos"]


def test_cancel_stops_what_runs_and_not_what_waits_behind_it():
    bench = Bench(ScriptedEngine([SLOW, Answer("next")]))

    async def body():
        await bench.host.load(STARTER)
        first = bench.host.answer(ASK)
        await started(first)
        second = asyncio.create_task(bench.ask())
        await asyncio.sleep(0.02)
        await bench.host.cancel()
        return await second

    assert text_of(run(bench, body)) == "next"
    assert bench.stops == ["cancelled", "eos"]


@pytest.mark.parametrize("n_ticks", range(8))
def test_a_cancel_of_an_answer_that_is_ending_stops_nobody_elses(n_ticks):
    bench = Bench(ScriptedEngine([Answer("mine"), Answer(pace_s=0.002)]))
    mine = replace(ASK, label="mine")

    async def body():
        await bench.host.load(STARTER)
        asking, other = asyncio.create_task(bench.ask(mine)), asyncio.create_task(bench.ask())
        while not bench.stops:
            await asyncio.sleep(0)
        for _ in range(n_ticks):
            await asyncio.sleep(0)
        await bench.host.cancel(mine)
        await asking
        return await other

    assert text_of(run(bench, body)) == POEM
    assert bench.stops == ["eos", "eos"]


def test_a_cancel_that_a_load_did_not_heed_any_more_cancels_the_answer_behind_it():
    bench = Bench(Deaf(load_s=0.1))

    async def body():
        asking = asyncio.create_task(bench.ask(replace(ASK, pair=STARTER)))
        while not bench.sent(Load):
            await asyncio.sleep(0)
        await bench.host.cancel()
        return await asking

    assert [event.stop_reason for event in run(bench, body)] == ["cancelled"]
    assert bench.sent(Generate) == []
    assert bench.stops == ["cancelled"]


def test_who_leaves_while_its_question_is_written_is_heard_though_the_engine_did_not_know_it_yet():
    leaving = Leaving()

    class Prompt(ScriptedEngine):
        async def send(self, command):
            if isinstance(command, Generate) and not self.sent:
                self.sent = True
                thread = threading.Thread(target=leaving.say)
                thread.start()
                thread.join()
                self.cancelled.clear()  # as an engine does with what it does not know
            async with aclosing(super().send(command)) as events:
                async for event in events:
                    yield event

        sent = False

    bench = Bench(Prompt([Answer(text="word " * 400, pace_s=60), Answer("next")]))

    async def body():
        await bench.host.load(STARTER)
        reading = asyncio.create_task(bench.ask(replace(ASK, leaving=leaving)))
        await asyncio.sleep(0)  # it comes first
        said = await bench.ask()
        assert await reading == []
        return said

    assert text_of(run(bench, body)) == "next"
    assert bench.stops == ["cancelled", "eos"]


def test_cancel_during_the_start_of_the_engine_stops_the_load_behind_it():
    bench = Bench(ScriptedEngine(load_s=5.0))

    async def body():
        loading = asyncio.create_task(bench.host.load(STARTER))
        while bench.host.state.phase != "starting":
            await asyncio.sleep(0)
        await bench.host.cancel()
        with pytest.raises(LoadError, match="cancelled"):
            await loading
        assert bench.host.state.phase == "idle"

    run(bench, body)
    assert bench.sent(Load) == []


def test_closing_the_iterator_cancels_and_is_recorded():
    bench = Bench(ScriptedEngine([SLOW, Answer("next")]))

    async def body():
        await bench.host.load(STARTER)
        stream = bench.host.answer(ASK)
        await started(stream)
        await stream.aclose()
        return await bench.ask()

    assert text_of(run(bench, body)) == "next"
    assert bench.stops == ["cancelled", "eos"]
    assert 0 < bench.host.session.runs[0].tokens < len(tokens_of(POEM))


def test_who_leaves_on_another_thread_is_heard_by_the_engine_before_the_hosts_loop_comes_round():
    bench = Bench(ScriptedEngine([Answer(text="word " * 400, pace_s=60), Answer("next")]))

    async def body():
        await bench.host.load(STARTER)
        leaving = Leaving()
        stream = bench.host.answer(replace(ASK, leaving=leaving))
        await started(stream)
        (command,) = bench.sent(Generate)
        thread = threading.Thread(target=leaving.say)
        thread.start()
        thread.join()  # no other task of the loop has had its turn
        assert command.id in bench.used[0].cancelled
        assert [event async for event in stream] == []
        return await bench.ask()

    assert text_of(run(bench, body)) == "next"
    assert bench.stops == ["cancelled", "eos"]


def test_who_has_left_before_its_turn_is_never_sent_and_one_that_is_over_stops_nobody_else():
    bench = Bench(ScriptedEngine(), ScriptedEngine([Answer("next"), SLOW]))

    async def body():
        await bench.host.load(STARTER)
        gone, over = Leaving(), Leaving()
        gone.say()
        assert await bench.ask(replace(ASK, leaving=gone)) == []
        assert text_of(await bench.ask(replace(ASK, leaving=over))) == POEM
        await bench.host.restart()  # an engine that counts from the beginning
        assert text_of(await bench.ask()) == "next"
        stream = bench.host.answer(ASK)
        await started(stream)
        over.say()
        assert [event async for event in stream][-1].stop_reason == "eos"

    run(bench, body)
    assert all(not engine.cancelled for engine in bench.used)
    assert len(bench.sent(Generate)) == 3


@pytest.mark.parametrize("after_s", [0.0, 0.001, 0.03, 0.1])
def test_a_reader_whose_task_is_cancelled_at_any_moment_leaves_the_host_usable(after_s):
    bench = Bench(ScriptedEngine([SLOW, Answer("next")]), ScriptedEngine([Answer("next")]))

    async def body():
        await bench.host.load(STARTER)
        task = asyncio.create_task(bench.ask())
        await asyncio.sleep(after_s)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await bench.ask()

    assert text_of(run(bench, body)) in ("next", POEM)  # cancelled before it was sent, its answer goes to the next
    assert bench.stops[-1] == "eos"


def test_a_queued_request_that_is_cancelled_is_never_sent():
    bench = Bench(ScriptedEngine([SLOW, Answer("third")]))

    async def body():
        await bench.host.load(STARTER)
        first = bench.host.answer(ASK)
        await started(first)
        second = asyncio.create_task(bench.ask(ChatRequest(prompt="second")))
        third = asyncio.create_task(bench.ask(ChatRequest(prompt="third")))
        await asyncio.sleep(0.05)
        second.cancel()
        await bench.host.cancel()
        return await third

    assert text_of(run(bench, body)) == "third"
    assert [command.prompt for command in bench.sent(Generate)] == [None, "third"]


def test_a_load_that_is_cancelled_says_so_and_goes_back():
    bench = Bench(ScriptedEngine(load_s=0.2))

    async def body():
        before = await bench.host.load(STARTER)
        task = asyncio.create_task(bench.host.load(WITH_DRAFT))
        while bench.host.state.phase != "loading":
            await asyncio.sleep(0)
        await bench.host.cancel()
        with pytest.raises(Exception, match="cancelled"):
            await task
        assert bench.host.state.loaded is None
        answer = await bench.ask()  # waits for its turn, which is after going back
        assert bench.host.state.pair == STARTER
        assert bench.host.state.loaded.draft is before.draft is None
        return answer

    assert text_of(run(bench, body)) == POEM


@pytest.mark.parametrize("after_s", [0.0, 0.001, 0.05, 0.15])
def test_a_load_whose_task_is_cancelled_at_any_moment_leaves_the_host_usable(after_s):
    bench = Bench(ScriptedEngine(load_s=0.2))

    async def body():
        task = asyncio.create_task(bench.host.load(STARTER))
        await asyncio.sleep(after_s)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert bench.host.state.phase in ("stopped", "idle")
        await bench.host.load(STARTER)
        return await bench.ask()

    assert text_of(run(bench, body)) == POEM


def request_for(n_ctx: int) -> ChatRequest:
    return replace(ASK, pair=PairChoice("starter", n_ctx=n_ctx))


@pytest.mark.parametrize("n_ticks", range(8))
def test_who_leaves_before_a_load_is_sent_has_nothing_loaded(n_ticks):
    bench = Bench()

    async def body():
        await bench.host.load(PairChoice("starter", n_ctx=512))
        leaving = asyncio.create_task(bench.ask(request_for(1024)))
        for _ in range(n_ticks):
            await asyncio.sleep(0)
        assert len(bench.sent(Load)) == 1
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        answer = await bench.ask()
        assert bench.host.state.loaded.n_ctx == 512
        return answer

    assert text_of(run(bench, body)) == POEM
    assert [load.n_ctx for load in bench.sent(Load)] == [512]


def test_a_load_that_a_leaver_broke_off_is_not_gone_back_from_over_the_next_ones():
    bench = Bench(ScriptedEngine(load_s=0.2))

    async def body():
        await bench.host.load(PairChoice("starter", n_ctx=512))
        leaving = asyncio.create_task(bench.ask(request_for(1024)))
        while len(bench.sent(Load)) < 2:
            await asyncio.sleep(0.001)
        waiting = asyncio.create_task(bench.ask(request_for(2048)))
        await asyncio.sleep(0.01)
        leaving.cancel()
        answer = await waiting
        await bench.host.start()  # behind whatever still waits for its turn
        assert bench.host.state.loaded.n_ctx == 2048
        return answer

    assert text_of(run(bench, body)) == POEM
    assert [load.n_ctx for load in bench.sent(Load)] == [512, 1024, 2048]


def test_who_leaves_while_a_pair_comes_back_does_not_keep_it_from_the_others():
    bench = Bench(ScriptedEngine([Answer(pace_s=100)]), ScriptedEngine(load_s=0.2))

    async def body():
        await bench.host.load(STARTER)
        hanging = asyncio.create_task(bench.ask())
        await asked(bench)
        leaving = asyncio.create_task(bench.ask())
        await asyncio.sleep(0.01)
        restarting = asyncio.create_task(bench.host.restart())
        with pytest.raises(EngineDiedError):
            await hanging
        while bench.host.state.phase != "loading":
            await asyncio.sleep(0.001)
        leaving.cancel()
        return await restarting

    assert run(bench, body) is not None


# --- loads that fail ----------------------------------------------------------------------------------


class Picky(ScriptedEngine):
    """Refuses to load a draft model."""

    async def _load(self, command):
        if command.draft is not None:
            raise LoadError("There is no room for it.", "Choose a smaller one.")
        async with aclosing(super()._load(command)) as events:
            async for event in events:
                yield event


def test_a_load_that_fails_goes_back_to_what_was_loaded():
    bench = Bench(Picky())

    async def body():
        await bench.host.load(STARTER)
        with pytest.raises(LoadError, match="no room"):
            await bench.host.load(WITH_DRAFT)
        answer = await bench.ask()
        assert bench.host.state.pair == STARTER
        return answer

    assert text_of(run(bench, body)) == POEM
    details = [state.detail for state in bench.states if state.phase == "idle"]
    assert "There is no room for it." in details


def test_a_first_load_that_fails_leaves_a_living_engine_without_a_model():
    bench = Bench(Picky())

    async def body():
        with pytest.raises(LoadError):
            await bench.host.load(WITH_DRAFT)
        assert bench.host.state == HostState("idle", None, None, "There is no room for it.")
        await bench.host.load(STARTER)

    run(bench, body)
    assert len(bench.used) == 1


def test_a_choice_made_while_going_back_comes_first():
    bench = Bench(Picky(load_s=0.3))
    other = PairChoice("starter", n_ctx=512)

    async def body():
        await bench.host.load(STARTER)
        with pytest.raises(LoadError):
            await bench.host.load(WITH_DRAFT)
        while bench.host.state.phase != "loading":
            await asyncio.sleep(0)
        loaded = await bench.host.load(other)
        assert loaded.n_ctx == 512
        assert bench.host.state.pair == other

    run(bench, body)


def test_names_and_files_that_are_off_never_reach_the_engine(tmp_path):
    bench = Bench()
    text = tmp_path / "notes.gguf"
    text.write_text("this is not a model")

    async def body():
        loaded = await bench.host.load(STARTER)
        for target, error in (("no such model", ModelNotFoundError), (str(text), ModelFileError)):
            with pytest.raises(error) as caught:
                await bench.host.load(PairChoice(target))
            assert caught.value.hint
        assert bench.host.state.loaded is loaded
        return await bench.ask()

    assert text_of(run(bench, body)) == POEM
    assert len(bench.sent(Load)) == 1


# --- faults and deaths --------------------------------------------------------------------------------


def test_an_answer_that_fails_raises_is_recorded_and_the_next_is_fine():
    fault = PromptTooLongError("Too long.", "Shorten it.")
    bench = Bench(ScriptedEngine([Answer(fault=fault), Answer("next")]))

    async def body():
        await bench.host.load(STARTER)
        with pytest.raises(PromptTooLongError):
            await bench.ask()
        return await bench.ask()

    assert text_of(run(bench, body)) == "next"
    assert bench.stops == ["failed", "eos"]
    assert bench.host.session.runs[0].error == "Too long."


def test_a_death_in_mid_answer_keeps_what_came_and_restart_brings_the_pair_back():
    bench = Bench(ScriptedEngine([Answer(die_at=5)]), ScriptedEngine([Answer("again")]))
    seen = []

    async def read_on(stream):
        nonlocal seen
        async for event in stream:
            seen += [event]

    async def body():
        await bench.host.load(WITH_DRAFT)
        with pytest.raises(EngineDiedError, match="segmentation fault"):
            await read_on(bench.host.answer(ASK))
        assert bench.host.state.phase == "died"
        assert bench.host.state.loaded is None
        assert "segmentation fault" in bench.host.state.detail
        with pytest.raises(EngineDiedError, match="segmentation fault"):
            await bench.ask()
        loaded = await bench.host.restart()
        assert loaded.draft is not None
        assert bench.host.state == HostState("idle", loaded, WITH_DRAFT)
        return await bench.ask()

    assert text_of(run(bench, body)) == "again"
    assert text_of(seen) == "".join(tokens_of(POEM)[:5])
    assert bench.stops == ["engine_died", "eos"]
    assert bench.host.session.runs[0].tokens == 5


def test_a_death_fails_the_queued_requests_too():
    bench = Bench(ScriptedEngine([Answer(die_at=2, pace_s=0.01)]))

    async def body():
        await bench.host.load(STARTER)
        return await asyncio.gather(bench.ask(), bench.ask(), bench.ask(), return_exceptions=True)

    assert [type(result) for result in run(bench, body)] == [EngineDiedError] * 3


def test_an_engine_that_dies_while_idle_is_noticed():
    bench = Bench()

    async def body():
        await bench.host.load(STARTER)
        bench.used[0].die()
        while bench.host.state.phase != "died":
            await asyncio.sleep(0)
        assert bench.host.state.pair == STARTER

    run(bench, body)


def test_a_load_that_kills_the_engine_does_not_come_back_with_a_restart():
    bench = Bench(Deadly(), ScriptedEngine())

    async def body():
        await bench.host.load(STARTER)
        with pytest.raises(
            EngineDiedError, match=r"^starter with starter was not loaded\. The engine process has ended"
        ):
            await bench.host.load(WITH_DRAFT)
        assert bench.host.state.phase == "died"
        await bench.host.restart()
        assert bench.host.state.pair == STARTER

    run(bench, body)


class Deadly(ScriptedEngine):
    """Dies of loading a draft model."""

    async def _load(self, command):
        if command.draft is not None:
            self.die()
        async with aclosing(super()._load(command)) as events:
            async for event in events:
                yield event


def test_loading_after_a_death_starts_a_new_engine():
    bench = Bench(ScriptedEngine([Answer(die_at=0)]), ScriptedEngine([Answer("again")]))

    async def body():
        await bench.host.load(STARTER)
        with pytest.raises(EngineDiedError):
            await bench.ask()
        await bench.host.load(STARTER)
        return await bench.ask()

    assert text_of(run(bench, body)) == "again"
    assert len(bench.used) == 2


def test_restart_breaks_into_an_answer_that_hangs():
    bench = Bench(ScriptedEngine([Answer(pace_s=100)]), ScriptedEngine([Answer("again")]))

    async def body():
        await bench.host.load(STARTER)
        hanging = asyncio.create_task(bench.ask())
        await asked(bench)
        await bench.host.restart()
        with pytest.raises(EngineDiedError):
            await hanging
        return await bench.ask()

    assert text_of(run(bench, body)) == "again"
    assert bench.stops == ["engine_died", "eos"]


def test_what_waits_behind_a_restart_is_answered_by_the_new_engine():
    bench = Bench(ScriptedEngine([Answer(pace_s=100)]), ScriptedEngine([Answer("one"), Answer("two")]))

    async def body():
        await bench.host.load(STARTER)
        hanging = asyncio.create_task(bench.ask())
        await asked(bench)
        waiting = [asyncio.create_task(bench.ask()) for _ in range(2)]
        await asyncio.sleep(0.05)
        loaded = await bench.host.restart()
        with pytest.raises(EngineDiedError):
            await hanging
        return loaded, [text_of(await task) for task in waiting]

    loaded, texts = run(bench, body)
    assert texts == ["one", "two"]
    assert loaded is not None
    assert len(bench.sent(Load)) == 2  # once each engine


def test_restart_before_anything_was_loaded_starts_an_engine():
    bench = Bench()

    async def body():
        assert await bench.host.restart() is None
        assert bench.host.state.phase == "idle"

    run(bench, body)


def test_an_engine_that_does_not_start_is_a_state_with_a_reason_and_may_be_tried_again():
    fault = EngineDiedError("A library is missing.", "Install it.")
    bench = Bench(ScriptedEngine(start_fault=fault), ScriptedEngine())

    async def body():
        with pytest.raises(EngineDiedError, match="A library is missing"):
            await bench.host.load(STARTER)
        assert bench.host.state.phase == "died"
        assert bench.host.state.detail == "A library is missing."
        await bench.host.load(STARTER)

    run(bench, body)


# --- the end and the others ---------------------------------------------------------------------------


def test_closing_in_mid_answer_records_it_and_tells_the_reader():
    bench = Bench(ScriptedEngine([SLOW]))

    async def body():
        await bench.host.load(STARTER)
        running, queued = asyncio.create_task(bench.ask()), asyncio.create_task(bench.ask())
        await asked(bench)
        await bench.host.close()
        await bench.host.close()
        return await asyncio.gather(running, queued, return_exceptions=True)

    assert [type(result) for result in run(bench, body)] == [EngineDiedError] * 2
    assert bench.stops == ["cancelled"]
    assert bench.host.state.phase == "stopped"
    assert not bench.used[0].alive


def test_closing_right_after_a_question_tells_its_reader():
    bench = Bench(ScriptedEngine([SLOW]))

    async def body():
        await bench.host.load(STARTER)
        asking = asyncio.create_task(bench.ask())
        await asyncio.sleep(0)
        await bench.host.close()
        with pytest.raises(EngineDiedError, match="stopped"):
            await asking

    run(bench, body)


def test_closing_in_mid_load_ends_it():
    bench = Bench(ScriptedEngine(load_s=10))

    async def body():
        loading = asyncio.create_task(bench.host.load(STARTER))
        while bench.host.state.phase != "loading":
            await asyncio.sleep(0)
        await bench.host.close()
        with pytest.raises(EngineDiedError):
            await loading

    run(bench, body)


def test_closing_while_a_load_looks_for_its_files_starts_no_engine():
    bench = Bench()

    async def body():
        loading = asyncio.create_task(bench.host.load(STARTER))
        await asyncio.sleep(0)
        await bench.host.close()
        with pytest.raises(LoadError, match="cancelled"):
            await loading

    run(bench, body)
    assert bench.used == []


def test_a_closed_host_can_be_used_again():
    bench = Bench(ScriptedEngine(), ScriptedEngine([Answer("again")]))

    async def body():
        await bench.host.load(STARTER)
        await bench.host.close()
        await bench.host.load(STARTER)
        return await bench.ask()

    assert text_of(run(bench, body)) == "again"


def test_a_subscriber_that_fails_disturbs_nobody_and_one_that_left_hears_nothing(expect_log):
    expect_log("ERROR app.host.turn: a callback failed")
    bench = Bench()
    heard = []
    leave = bench.host.subscribe(heard.append)

    async def body():
        bench.host.subscribe(lambda state: 1 / 0)
        await bench.host.start()
        leave()
        leave()
        await bench.host.load(STARTER, lambda progress: 1 / 0)
        return await bench.ask()

    assert text_of(run(bench, body)) == POEM
    assert [state.phase for state in heard] == ["starting", "idle"]
    assert bench.phases[-1] == "stopped"


def test_under_qasync_a_stream_that_is_dropped_is_cancelled_too(qapp):
    """qasync does not finalise generators; the garbage collector does."""
    import qasync

    bench = Bench(ScriptedEngine([SLOW, Answer("next")]))

    async def body():
        try:
            await bench.host.load(STARTER)
            stream = bench.host.answer(ASK)
            await started(stream)
            del stream
            gc.collect()
            return await bench.ask()
        finally:
            await bench.host.close()

    with qasync.QEventLoop(qapp) as loop:
        assert text_of(loop.run_until_complete(body())) == "next"
    assert bench.stops == ["cancelled", "eos"]


def test_a_pair_and_a_request_reach_the_engine_as_they_are():
    """Whatever a command or a window can ask for."""
    bench = Bench()
    memory, other = MemoryTypes("q8_0", "q8_0", flash_attention=True), MemoryTypes("q4_0", "f16")
    pair = PairChoice(
        "starter",
        draft="starter",
        n_ctx=512,
        n_threads=3,
        memory=memory,
        draft_memory=other,
        draft_n_ctx=256,
        draft_n_threads=1,
    )

    async def body():
        loaded = await bench.host.load(pair)
        await bench.ask(replace(ASK, slide=True, reuse_memory=False))
        return loaded

    assert run(bench, body).memory == memory
    (load,) = bench.sent(Load)
    assert (load.n_ctx, load.n_threads, load.memory, load.draft_memory) == (512, 3, memory, other)
    assert (load.draft_n_ctx, load.draft_n_threads) == (256, 1)
    (asked,) = bench.sent(Generate)
    assert (asked.slide, asked.reuse_memory) == (True, False)


def test_costs_are_measured_in_turn_and_refused_in_words():
    bench = Bench()

    async def body():
        with pytest.raises(EngineError, match="No model is loaded"):
            await bench.host.measure_costs((1, 4), (0,))
        await bench.host.load(WITH_DRAFT)
        with pytest.raises(UsageError, match="does not reach so far"):
            await bench.host.measure_costs((1, 4), (4096,))
        return await bench.host.measure_costs((4, 8), (0, 1024), repeat=2)

    near, far = run(bench, body)
    assert [row.n_rows for row in near.rows] == [1, 4, 8]
    assert all(row.low_s < row.median_s < row.high_s and row.n == 2 for row in near.rows)
    assert far.n_ctx == 1024
    assert all(a.median_s < b.median_s for a, b in zip(near.rows, far.rows, strict=True))
    assert [cost.drafter for cost in far.drafters] == ["ngram", "draft-simple"]


class Deaf(ScriptedEngine):
    """An engine that goes on with what it was told to stop."""

    def cancel(self, command_id):
        self.told = [*getattr(self, "told", []), command_id]


class Impatience(Patience):
    """One that is over at once."""

    seconds = 0.05


def test_that_an_engine_hung_is_said_and_the_next_question_has_another(expect_log):
    expect_log("did not stop within")
    bench = Bench(Deaf([SLOW]), ScriptedEngine([Answer("next")]), make_patience=Impatience)

    async def body():
        await bench.host.load(STARTER)
        stream = bench.host.answer(replace(ASK, pair=STARTER))
        await started(stream)
        await stream.aclose()
        return await bench.ask(replace(ASK, pair=STARTER))

    assert text_of(run(bench, body)) == "next"
    assert "did not stop within 0 s of being told to" in next(s.detail for s in bench.states if s.phase == "died")
    assert "did not stop" in bench.host.session.runs[0].error


def test_what_was_said_of_an_engine_that_hung_is_not_said_of_the_next(expect_log):
    expect_log("did not stop within")
    bench = Bench(Deaf(load_s=60.0), ScriptedEngine(), make_patience=Impatience)

    async def body():
        loading = asyncio.create_task(bench.host.load(STARTER))
        while not bench.sent(Load):
            await asyncio.sleep(0)
        await bench.host.cancel()
        with pytest.raises(EngineDiedError, match="did not stop"):
            await loading
        await bench.host.start()
        bench.used[1].die()
        while bench.host.state.phase != "died":
            await asyncio.sleep(0)

    run(bench, body)
    assert "it crashed" in bench.states[-2].detail


def test_an_engine_that_does_not_stop_is_ended_and_one_that_does_is_not(expect_log):
    expect_log("did not stop within")

    async def story():
        for is_stopping in (True, False):
            engine, job = ScriptedEngine(), Job()
            await engine.start()
            waiting = asyncio.ensure_future(end_if_stuck(engine, job, Impatience(False)))
            await asyncio.sleep(0)
            if is_stopping:
                job.over.set()
            await waiting
            assert engine.alive is is_stopping
            await engine.close()

    asyncio.run(story())


def test_a_stop_is_watched_once_and_no_longer_than_the_answer():
    async def story():
        engine = Deaf([Answer(text="word " * 40, pace_s=0.005)])
        owner = Host(make_engine=lambda: engine)
        await owner.load(PairChoice("starter"))
        before = asyncio.all_tasks()
        events = owner.answer(ChatRequest(messages=(ChatMessage("user", "Hi"),)))
        async for event in events:
            if isinstance(event, Chunk):
                break
        stops = [asyncio.ensure_future(owner.cancel()) for _ in range(3)]
        await asyncio.sleep(0.02)
        watching = [task for task in asyncio.all_tasks() if "end_if_stuck" in repr(task.get_coro())]
        assert len(watching) == 1
        await events.aclose()
        await asyncio.gather(*stops, *watching)
        assert len(engine.told) == 4
        await asyncio.sleep(0.01)
        assert asyncio.all_tasks() <= before
        await owner.close()

    asyncio.run(story())
