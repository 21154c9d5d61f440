"""An answer that fills the context goes on without the oldest turns: as a new context of what stays would.

The words after a slide depend on the text that stays and on the noise of their places, and on nothing else: not on the
drafter, nor on what the memories held.
"""

from __future__ import annotations

import random
import time

import pytest

from app.engine.cancel import CancelFlag
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import DecodeError
from app.protocol import ChatMessage, Chunk, Done, Prefill, Sampling, Templating
from tests.engine.sessions import GREEDY, WARM, answer, load, request
from tests.engine.test_mtp import KINDS, write
from tests.fixtures import tiny_mtp

N_CTX = 512
QUESTION = "how many words are there in one day and what do they say"
PENALISED = Sampling(seed=9, temperature=1.0, top_k=60, top_p=0.97, min_p=0.02, repeat_penalty=1.1)
WITH_MODEL = (("ngram",), ("draft-simple",), ("ngram", "draft-simple"))
WITH_HEADS = (("ngram",), ("draft-mtp",), ("ngram", "draft-mtp"))
PAIRS = {"model": WITH_MODEL, **dict.fromkeys(KINDS, WITH_HEADS), "trees": (("tree",),)}


@pytest.fixture(params=PAIRS)
def kind(request):
    return request.param


@pytest.fixture
def session(kind, tiny_pair, tmp_path):
    files = {
        "model": lambda: (tiny_pair.target, tiny_pair.draft),
        "trees": lambda: (tiny_mtp.hy_v3_chain(tmp_path / "one.gguf", agrees=(0.75,)), None),
    }.get(kind, lambda: write(kind, tmp_path))()
    session = Session(Renderer())
    load(session, *files, n_ctx=N_CTX, trees=kind == "trees")
    yield session
    session.close()


@pytest.fixture
def plain_session(tiny_pair):
    session = Session(Renderer())
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=N_CTX)
    yield session
    session.close()


def turns(n):
    talk = [("system", "be short")]
    for i in range(n):
        talk += [("user", f"{i} {QUESTION}"), ("assistant", f"{i} the cat of the hot day")]
    return [*talk, ("user", "and so it was the last")]


def sliding(session, talk, *args, **how):
    return answer(session, talk, *args, slide=True, **{"max_tokens": 420} | how)


def slides(got):
    return [(i, step.slid) for i, step in enumerate(got.steps) if step.slid]


def n_left_out(got):
    (notice,) = [notice for notice in got.done.notices if notice.code == "turns_left_out"]
    return int(notice.message.split("oldest ")[1].split()[0])


def rest_of(session, talk, n_gone):
    """Return the tokens of the conversation without its oldest messages."""
    kept = (talk[0], *talk[1 + n_gone :])
    text, _notices = session.render([ChatMessage(role, text) for role, text in kept])
    return session._pair.target.model.tokenise(text, add_special=True)


@pytest.mark.parametrize("sampling", [GREEDY, WARM, PENALISED], ids=["greedy", "warm", "penalised"])
def test_no_drafter_changes_a_word_before_or_after_a_slide(session, kind, sampling):
    talk = turns(5)
    plain = sliding(session, talk, sampling)
    assert plain.done.stop_reason == "length"
    assert len(plain.token_ids) == 420
    assert slides(plain)
    for types in PAIRS[kind]:
        for k in (3, "auto"):
            got = sliding(session, talk, sampling, types, k)
            assert got.token_ids == plain.token_ids, (types, k)
            assert got.text == plain.text
            assert [n for _, n in slides(got)] == [n for _, n in slides(plain)]
            assert sum(step.emitted for step in got.steps) == 420
            if k == 3 and types != ("ngram",):
                last, _ = slides(got)[-1]
                assert sum(step.accepted for step in got.steps[last:]) > 0, "it drafts on"


def test_what_follows_is_what_a_new_context_of_what_stays_says(session):
    talk = turns(3)
    got = sliding(session, talk)
    whole = rest_of(session, talk, 0)
    assert got.started.prompt_tokens == len(whole)
    n_gone = 0
    for at, n in slides(got):
        n_before = sum(step.emitted for step in got.steps[:at])
        assert len(whole) - n_gone + n_before == N_CTX + 1, "it was full, with one token that no pass has seen"
        n_gone += n
    kept = rest_of(session, talk, n_left_out(got))
    assert len(whole) - len(kept) == n_gone > 0
    said, after = got.token_ids[:n_before], got.token_ids[n_before:]
    answer(session, QUESTION, max_tokens=1)  # another text in all memories
    assert len(after) > 20
    assert _of_tokens(session, (*kept, *said), max_tokens=len(after), reuse_memory=False) == after


def _of_tokens(session, token_ids, **how):
    command = request("", GREEDY, **how)
    command = type(command)(
        id=3, sampling=GREEDY, prompt=token_ids, max_tokens=command.max_tokens, reuse_memory=command.reuse_memory
    )
    events = session.generate(command, received_s=time.perf_counter(), cancel=CancelFlag())
    return [token for event in events if isinstance(event, Chunk) for token in event.token_ids]


def test_the_steps_tell_of_it(session, kind):
    got = sliding(session, turns(5), GREEDY, PAIRS[kind][-1], 3)
    for at, n_gone in slides(got):
        before, step, after = got.steps[at - 1 : at + 2]
        assert (before.n_ctx, step.emitted, step.proposed, step.verify_s) == (N_CTX, 1, 0, 0.0)
        assert step.n_ctx == N_CTX + 1 - n_gone
        assert after.n_ctx == step.n_ctx + after.emitted
        assert step.t_s > before.t_s
    assert got.done.prefill_s < got.steps[0].t_s
    assert all(step.n_ctx <= N_CTX for step in got.steps)


def events_of(session, command, cancel_at=None):
    """Return the events of an answer; raise the flag at a batch that is evaluated again if asked to."""
    cancel, events = CancelFlag(), []
    for event in session.generate(command, received_s=time.perf_counter(), cancel=cancel):
        events.append(event)
        if sum(isinstance(one, Prefill) and one.left_out > 0 for one in events) == cancel_at:
            cancel.set()
    return events


def test_how_far_it_has_come_is_told(plain_session):
    command = request(turns(5), max_tokens=420, slide=True)
    events = events_of(plain_session, command)
    again = [event for event in events if isinstance(event, Prefill) and event.left_out]
    assert [one.done for one in again] == sorted(one.done for one in again)
    assert (again[0].done, again[-1].done) == (0, again[-1].total)
    first = events.index(again[0])
    assert isinstance(events[first - 1], Chunk)
    assert "".join(e.text for e in events if isinstance(e, Chunk | Done))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_cancel_while_it_evaluates_again_leaves_everything_right(session, kind, n):
    talk, types = turns(5), PAIRS[kind][-1]
    whole = sliding(session, talk)
    command = request(talk, GREEDY, types, 3, 420, slide=True)
    events = events_of(session, command, cancel_at=n)
    done = events[-1]
    assert done.stop_reason == "cancelled"
    said = [token for event in events if isinstance(event, Chunk) for token in event.token_ids]
    assert said == whole.token_ids[: len(said)]
    assert 0 < len(said) < 420
    n_slides = sum(isinstance(event, Chunk) and event.step.slid > 0 for event in events)
    assert [notice.code for notice in done.notices] == ["turns_left_out"][:n_slides]
    assert sliding(session, talk, GREEDY, types, 3).token_ids == whole.token_ids


def test_what_goes_on_later_begins_with_the_tokens_that_were_said(plain_session):
    talk = turns(5)
    got = sliding(plain_session, talk)
    rest = sliding(plain_session, [*talk, ("assistant", got.text)], templating=Templating(goes_on=True), max_tokens=20)
    n = rest.started.prompt_tokens
    assert plain_session._prompting.said[n - len(got.token_ids) :][: len(got.token_ids)] == got.token_ids
    assert rest.started.cached_tokens == n - 1 or rest.started.notices


def test_an_answer_that_goes_on_slides_too(plain_session):
    talk = turns(2)
    whole = sliding(plain_session, talk)
    first = sliding(plain_session, talk, max_tokens=50)
    assert not slides(first)
    rest = sliding(
        plain_session, [*talk, ("assistant", first.text)], templating=Templating(goes_on=True), max_tokens=370
    )
    assert not rest.started.notices
    assert first.token_ids + rest.token_ids == whole.token_ids
    assert slides(rest)


def test_once_only_the_last_question_is_left_the_context_is_full(plain_session):
    got = sliding(plain_session, turns(5), max_tokens=2000)
    assert got.done.stop_reason == "length"
    assert n_left_out(got) == 10
    codes = [notice.code for notice in got.done.notices]
    assert codes == ["turns_left_out", "context_full"]
    n_prompt = len(rest_of(plain_session, turns(5), 10))
    assert N_CTX + 1 - N_CTX // 16 <= n_prompt + len(got.token_ids) <= N_CTX + 1
    assert "the last question and its answer alone" in got.done.notices[-1].message


def test_without_leave_to_it_ends(plain_session):
    got = answer(plain_session, turns(3), max_tokens=420)
    assert not slides(got)
    assert [notice.code for notice in got.done.notices] == ["context_full"]
    raw = answer(plain_session, QUESTION, max_tokens=2000, slide=True)
    assert not slides(raw), "a raw prompt has no turns"
    alone = answer(plain_session, [("user", QUESTION)], max_tokens=2000, slide=True)
    assert not slides(alone), "nor is there one to leave out"


def test_a_stop_string_across_a_slide_is_seen(plain_session):
    talk = turns(3)
    chunks = [e for e in events_of(plain_session, request(talk, max_tokens=420, slide=True)) if isinstance(e, Chunk)]
    at = next(i for i, chunk in enumerate(chunks) if chunk.step.slid)
    before, text = ("".join(chunk.text for chunk in part) for part in (chunks[:at], chunks))
    stop = text[len(before) - 6 : len(before) + 6]
    assert text.find(stop) == len(before) - 6
    for types in ((), ("ngram",), ("draft-simple",)):
        got = sliding(plain_session, talk, GREEDY, types, 3, stop=(stop,))
        assert got.done.stop_reason == "stop"
        assert got.text == before[:-6]
        assert len(slides(got)) == 1


def test_a_grammar_goes_on_behind_it(plain_session):
    sampling = Sampling(seed=3, temperature=0.8, grammar='root ::= ("the" " " | "cat" " " | "hot" "\\n")+')
    talk = turns(5)
    plain = sliding(plain_session, talk, sampling)
    assert slides(plain)
    assert set(plain.text.split()) <= {"the", "cat", "hot", plain.text.split()[-1]}
    for types in WITH_MODEL:
        assert sliding(plain_session, talk, sampling, types, 3).token_ids == plain.token_ids


def test_words_and_their_details_go_on_behind_it(plain_session):
    command = request(turns(5), WARM, ("draft-simple",), 3, 420, slide=True, token_details=True, n_top_logprobs=2)
    chunks = [event for event in events_of(plain_session, command) if isinstance(event, Chunk)]
    assert any(chunk.step.slid for chunk in chunks)
    for chunk in chunks:
        assert len(chunk.details) == len(chunk.logprobs) == len(chunk.token_ids) == chunk.step.emitted


@pytest.mark.parametrize("n_more", [1, 20])
def test_what_goes_on_later_is_drawn_with_the_noise_of_places_that_nothing_was_drawn_for(plain_session, n_more):
    """What stays may be other turns; the places in the whole text are the same."""
    talk, prompting = turns(5), plain_session._prompting
    whole = sliding(plain_session, talk, WARM)
    at, _ = slides(whole)[-1]
    n = sum(step.emitted for step in whole.steps[:at]) + n_more
    first = sliding(plain_session, talk, WARM, max_tokens=n)
    assert slides(first)
    rest = sliding(plain_session, [*talk, ("assistant", first.text)], WARM, templating=Templating(goes_on=True))
    assert prompting.n_gone > 0
    n_all = first.started.prompt_tokens + n + len(rest.token_ids)
    assert prompting.n_gone + len(prompting.said) == n_all
    sliding(plain_session, QUESTION, WARM, max_tokens=3)
    assert prompting.n_gone == 0


class Failing:
    """A context that fails in its calls to decode for which a rule says so."""

    def __init__(self, context, fails) -> None:
        self._context, self._fails = context, fails

    def __getattr__(self, name):
        return getattr(self._context, name)

    def decode(self, tokens, n_rows):
        if self._fails(self._context, len(tokens)):
            raise DecodeError("no room for it")
        return self._context.decode(tokens, n_rows)


class AfterFull:
    """Fails in the first decode after the context was full."""

    def __init__(self) -> None:
        self.was_full = False

    def __call__(self, context, n_tokens):
        fails = self.was_full and n_tokens > 1
        self.was_full = context.n_past + n_tokens >= N_CTX
        return fails


def test_what_cannot_be_evaluated_again_ends_the_answer_and_loses_nothing(plain_session):
    talk, target = turns(5), plain_session._pair.target
    whole = sliding(plain_session, talk)
    target.context = Failing(target.context, AfterFull())
    got = sliding(plain_session, talk, stop=("that nobody says",))
    target.context = target.context._context
    assert got.done.stop_reason == "length"
    assert got.token_ids == whole.token_ids[: len(got.token_ids)]
    assert whole.text.startswith(got.text)
    assert [notice.code for notice in got.done.notices] == ["context_full"]
    assert "no room for it" in got.done.notices[0].message
    assert sliding(plain_session, talk).token_ids == whole.token_ids


def test_a_drafter_that_failed_is_not_asked_after_a_slide(plain_session):
    draft, talk, n_calls = plain_session._pair.draft, turns(5), []
    draft.context = Failing(draft.context, lambda _context, _n: n_calls.append(1) or len(n_calls) == 20)
    got = sliding(plain_session, talk, GREEDY, ("draft-simple",), 3)
    draft.context = draft.context._context
    assert len(n_calls) == 20
    assert slides(got)
    assert [notice.code for notice in got.done.notices].count("drafter_failed") == 1
    assert got.token_ids == sliding(plain_session, talk).token_ids


SHORT_OF_TURNS = """{% if messages|length < 4 %}{{ raise_exception("too few") }}{% endif %}
{%- for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}"""


def test_a_template_that_fails_in_mid_answer_ends_it_in_words(plain_session):
    got = sliding(plain_session, turns(5), templating=Templating(template=SHORT_OF_TURNS))
    assert got.done.stop_reason == "length"
    assert not slides(got)
    codes = [notice.code for notice in got.done.notices]
    assert codes == ["template_override_broken", "context_full"]
    assert [notice.code for notice in got.started.notices] == ["turns_left_out"]


def test_a_slide_that_is_cancelled_before_a_word_is_not_told_as_done(plain_session):
    cancel, events = CancelFlag(), []
    command = request(turns(5), max_tokens=420, slide=True)
    for event in plain_session.generate(command, received_s=time.perf_counter(), cancel=cancel):
        events.append(event)
        if isinstance(event, Prefill) and event.left_out:
            cancel.set()
    assert events[-1].stop_reason == "cancelled"
    assert not events[-1].notices


@pytest.mark.parametrize("seed", range(6))
def test_random_conversations(plain_session, seed):
    """Any length of what came before, of the answer and of drafts; what the memories hold is what came last."""
    rng = random.Random(seed)
    for _ in range(4):
        talk = turns(rng.randint(1, 9))
        how = {"max_tokens": rng.randint(1, 700)}
        sampling = rng.choice([GREEDY, WARM, PENALISED])
        plain = sliding(plain_session, talk, sampling, **how)
        types, k = rng.choice(WITH_MODEL), rng.choice([1, 2, 5, 8, "auto", "rolling"])
        got = sliding(plain_session, talk, sampling, types, k, **how)
        assert got.token_ids == plain.token_ids
        assert [n for _, n in slides(got)] == [n for _, n in slides(plain)]
        context = plain_session._pair.target.context
        assert plain_session._pair.target.held.tokens == plain_session._prompting.said[: context.n_past]
        if rng.random() < 0.5:
            answer(plain_session, QUESTION[: rng.randint(1, 50)], WARM, types, k, max_tokens=9)
