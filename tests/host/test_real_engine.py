"""The host with the real engine: pairs, files that are no models, templates that are no templates."""

from __future__ import annotations

import asyncio
import os

import pytest

from app.errors import LoadError, ModelError, ModelFileError, UsageError
from app.host import ChatRequest, Host, PairChoice
from app.protocol import ChatMessage, Chunk, Done, Sampling, Speculation, Started
from tests.fair_time import FairWatch
from tests.fixtures import lying, tiny
from tests.host.real_host import run

ASK = (ChatMessage("user", "What can you see?"),)
GREEDY = Sampling(seed=1, temperature=0.0)


async def ask(host: Host, **how) -> list:
    request = ChatRequest(ASK, sampling=GREEDY, max_tokens=24, **how)
    return [event async for event in host.answer(request)]


def tokens_of(events) -> list[int]:
    return [token for event in events if isinstance(event, Chunk) for token in event.token_ids]


def test_a_pair_answers_alike_with_and_without_speculation(tiny_pair):
    async def body(host):
        await host.load(PairChoice(str(tiny_pair.target), str(tiny_pair.draft)))
        plain = await ask(host)
        drafted = await ask(host, speculation=Speculation(types=("draft-simple",), draft_tokens=3))
        return plain, drafted, host.session.runs

    plain, drafted, runs = run(body)
    assert tokens_of(plain) == tokens_of(drafted)
    assert [record.engaged for record in runs] == [False, True]
    assert runs[1].accepted > 0


def test_speculation_off_and_on_with_a_draft_model_in_memory_gives_a_verdict(tiny_pair):
    drafting = Speculation(types=("draft-simple",), draft_tokens=3)

    async def body(host):
        await host.load(PairChoice(str(tiny_pair.target), str(tiny_pair.draft)))
        for _ in range(6):
            await ask(host)
            await ask(host, speculation=drafting)
        return host.session

    session = run(body)
    (comparison,) = session.comparisons()
    assert (comparison.n_pairs, comparison.n_beside_draft) == (6, 6)
    assert comparison.speedup is not None
    assert "draft model in memory" in comparison.words
    baseline = session.to_metrics().baseline
    assert (baseline.kind, baseline.n_runs, baseline.draft_file) == ("live", 6, tiny_pair.draft.name)
    plain = [run for run in session.runs if run.spec_type == "none"]
    assert all(sum(run.steps.draft_s) < 0.05 * sum(run.steps.verify_s) for run in plain)


def test_another_draft_keeps_the_target_and_what_it_remembers(tiny_pair):
    async def body(host):
        await host.load(PairChoice(str(tiny_pair.target)))
        await ask(host)
        loaded = await host.load(PairChoice(str(tiny_pair.target), str(tiny_pair.draft)))
        return loaded, await ask(host)

    loaded, events = run(body)
    assert loaded.draft is not None
    started = next(event for event in events if isinstance(event, Started))
    assert started.cached_tokens > started.prompt_tokens // 2


@pytest.mark.parametrize("kind", ["truncated", "text", "unknown", "folder", "forbidden", "missing"])
def test_a_file_that_is_no_model_is_a_clear_error_and_what_was_loaded_answers_on(tmp_path, tiny_pair, kind):
    path = tmp_path / "bad.gguf"
    match kind:
        case "truncated":
            tiny.truncated(path, tiny_pair.target)
        case "text":
            tiny.text_file(path)
        case "unknown":
            tiny.unknown_architecture(path)
        case "folder":
            path.mkdir()
        case "forbidden":
            path.write_bytes(tiny_pair.target.read_bytes())
            path.chmod(0)
            if os.access(path, os.R_OK):
                path.unlink()  # as root nothing is forbidden; a link that leads nowhere cannot be read either
                path.symlink_to(path)

    async def body(host):
        await host.load(PairChoice(str(tiny_pair.target)))
        with pytest.raises((ModelError, LoadError)) as caught:
            await host.load(PairChoice(str(path)))
        events = await ask(host)
        return caught.value, events, host.state

    error, events, state = run(body)
    assert "bad.gguf" in error.message
    assert error.hint
    assert isinstance(events[-1], Done)
    assert state.pair == PairChoice(str(tiny_pair.target))
    assert state.loaded is not None


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "template_broken"),
        ("{{ 'a' * 3000000000 }}", "template_broken"),
        ("{% for i in range(99999) %}{{ 'abc' * 9999 }}{% endfor %}", "template_broken"),
        ("{% if", "template_broken"),
        (None, "template_missing"),
    ],
)
def test_a_template_that_does_not_work_is_a_notice_within_three_seconds(tmp_path, template, code):
    model = tiny.llama(tmp_path / "model.gguf", chat_template=template)

    async def body(host):
        await host.load(PairChoice(str(model)))
        watch = FairWatch()
        stream = host.answer(ChatRequest(ASK, sampling=GREEDY, max_tokens=8))
        first = await anext(stream)
        took_s = watch.took_s
        return first, took_s, [event async for event in stream]

    first, took_s, rest = run(body)
    assert took_s < 3
    assert [notice.code for notice in first.notices] == [code]
    assert isinstance(rest[-1], Done)


def test_a_file_that_would_end_the_engine_is_blamed_by_name_and_nothing_ends(tmp_path, tiny_pair):
    liar = lying.with_number(tmp_path / "liar.gguf", tiny_pair.target, "llama.block_count", 0)

    async def body(host):
        loaded = await host.load(PairChoice(str(tiny_pair.target)))
        phases = []
        host.subscribe(lambda state: phases.append((state.phase, state.detail)))
        for choice in (PairChoice(str(liar)), PairChoice(str(tiny_pair.target), str(liar))):
            with pytest.raises(ModelFileError, match=r"liar\.gguf.*n_layer_all > 0"):
                await host.load(choice)
        assert host.state.loaded is loaded
        assert host.state.pair == PairChoice(str(tiny_pair.target))
        assert phases == [("loading", "Looking at liar for the first time…"), ("idle", "")] * 2
        return await ask(host)

    assert tokens_of(run(body))


def test_a_file_that_was_loaded_before_is_not_tried_again(tiny_pair):
    async def body(host):
        details = []
        host.subscribe(lambda state: details.append(state.detail))
        await host.load(PairChoice(str(tiny_pair.target)))
        await host.load(PairChoice(str(tiny_pair.draft)))
        await host.load(PairChoice(str(tiny_pair.target)))
        return [detail for detail in details if "first time" in detail]

    assert len(run(body)) == 2


def test_a_load_that_is_cancelled_ends_the_trial(tiny_pair):
    async def body(host):
        await host.start()
        loading = asyncio.create_task(host.load(PairChoice(str(tiny_pair.target))))
        while "first time" not in host.state.detail:
            await asyncio.sleep(0)
        loading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loading
        assert host.state.phase == "idle"
        await host.load(PairChoice(str(tiny_pair.target)))
        return await ask(host)

    assert tokens_of(run(body))


def test_half_a_character_is_refused_in_words_and_the_next_request_is_fine(tiny_pair):
    async def body(host):
        await host.load(PairChoice(str(tiny_pair.target)))
        for request in (ChatRequest(prompt="a\ud800b"), ChatRequest((ChatMessage("user", "\udfff"),))):
            with pytest.raises(UsageError, match=r"half a character \('\\ud"):
                _ = [event async for event in host.answer(request)]
        return await ask(host)

    assert tokens_of(run(body))
