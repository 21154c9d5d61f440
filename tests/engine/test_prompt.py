"""Prompts of conversations that are longer than the context: whole old turns go, and it is said."""

import time

import pytest

from app.engine.prompt import FIRST_LOOK
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import PromptTooLongError
from app.models.library import Library
from app.protocol import Templating
from tests.engine.sessions import GREEDY, answer, load

N_CTX = 512
QUESTION = "how many words are there in one day and what do they say"


@pytest.fixture
def session(tiny_pair):
    session = Session(Renderer())
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=N_CTX)
    yield session
    session.close()


def _turns(n, *, system=True):
    talk = [("system", "be short")] if system else []
    for i in range(n):
        talk += [("user", f"{i} {QUESTION}"), ("assistant", f"{i} the cat of the hot day")]
    return [*talk, ("user", "and so it was the last")]


def _n_left_out(got):
    notices = [n for n in got.started.notices if n.code == "turns_left_out"]
    return int(notices[0].message.split("oldest ")[1].split()[0]) if notices else 0


def test_without_it_a_conversation_that_is_too_long_is_refused(session):
    with pytest.raises(PromptTooLongError, match=f"context holds {N_CTX}"):
        answer(session, _turns(40), max_tokens=8)


@pytest.mark.parametrize("slide", [False, True])
@pytest.mark.parametrize("as_prompt", [False, True])
def test_a_text_that_llama_cpp_would_tokenise_for_minutes_is_refused_at_once(session, as_prompt, slide):
    text = "\N{EURO SIGN}" * 200_000
    started_s = time.process_time()
    with pytest.raises(PromptTooLongError, match=r"more than \d+ tokens"):
        answer(session, text if as_prompt else [("user", text)], max_tokens=8, slide=slide)
    assert time.process_time() - started_s < 5


def test_a_long_text_of_few_tokens_is_not_refused_for_its_length(session):
    load(session, Library().resolve("starter").path, n_ctx=N_CTX)
    blanks = " " * (2 * FIRST_LOOK)  # the starter has tokens of many blanks
    assert answer(session, blanks, max_tokens=1).started.prompt_tokens < N_CTX


def test_a_conversation_that_fits_loses_nothing(session):
    talk = _turns(2)
    got = answer(session, talk, max_tokens=8, slide=True)
    assert not got.started.notices
    assert got.token_ids == answer(session, talk, max_tokens=8).token_ids


@pytest.mark.parametrize("system", [True, False])
@pytest.mark.parametrize("n", [6, 9, 17, 60])
def test_the_oldest_turns_go_and_the_rest_is_answered(session, n, system):
    talk = _turns(n, system=system)
    got = answer(session, talk, max_tokens=100, slide=True)
    n_left_out = _n_left_out(got)
    assert n_left_out > 0
    assert n_left_out % 2 == 0  # whole turns
    rest = talk[:system] + talk[system + n_left_out :]
    assert rest[system][0] == "user"
    same = answer(session, rest, max_tokens=100)
    assert (got.token_ids, got.started.prompt_tokens) == (same.token_ids, same.started.prompt_tokens)
    assert got.started.prompt_tokens + 100 <= N_CTX
    assert len(got.token_ids) == 100


def test_the_next_turns_begin_alike_so_that_the_memory_is_used(session, tiny_pair):
    load(session, tiny_pair.target, n_ctx=1024)
    got = [answer(session, _turns(n), max_tokens=4, slide=True) for n in range(6, 30)]
    seen = [_n_left_out(one) for one in got]
    assert seen == sorted(seen)
    assert seen[-1] > seen[0] == 0
    n_moves = len(set(seen)) - 1
    n_kept = sum(one.started.cached_tokens > one.started.prompt_tokens / 2 for one in got[1:])
    assert n_kept >= len(got) - 1 - n_moves
    assert n_kept > len(got) / 2


def test_the_last_question_alone_stays_and_if_it_is_too_long_that_is_said(session):
    long = "the cat of the hot day " * 14
    got = answer(session, [*_turns(5)[:-1], ("user", long)], max_tokens=100, slide=True)
    assert _n_left_out(got) == 10
    with pytest.raises(PromptTooLongError):
        answer(session, [*_turns(5)[:-1], ("user", long * 10)], max_tokens=8, slide=True)


def test_drafters_do_not_change_the_answer_to_what_is_left(session):
    plain = answer(session, _turns(20), max_tokens=60, slide=True)
    for types in (("ngram",), ("draft-simple",)):
        for n in (10, 20):
            answer(session, _turns(n), GREEDY, types, max_tokens=10, slide=True)
        assert answer(session, _turns(20), GREEDY, types, max_tokens=60, slide=True).token_ids == plain.token_ids


def _going_on(session, talk, text, types=(), **how):
    return answer(session, [*talk, ("assistant", text)], GREEDY, types, templating=Templating(goes_on=True), **how)


def _hint(got):
    (notice,) = (n for n in got.done.notices if n.code == "context_full")
    return f"{notice.message} {notice.hint}"


@pytest.mark.parametrize("types", [(), ("ngram",), ("draft-simple",)])
def test_what_may_not_be_longer_and_fills_the_context_goes_on_without_the_oldest_turns(session, tiny_pair, types):
    """The hint says whether going on would help, and it is right."""
    n_ctx = load(session, tiny_pair.target, tiny_pair.draft, n_ctx=1024).n_ctx
    talk = _turns(20)
    whole = answer(session, talk, GREEDY, types, max_tokens=2000, slide=True)
    assert "the last question and its answer alone" in _hint(whole)
    with pytest.raises(PromptTooLongError):
        _going_on(session, talk, whole.text, types, max_tokens=1000, slide=True)
    got = answer(session, talk, GREEDY, types, max_tokens=n_ctx + 1 - whole.started.prompt_tokens, slide=True)
    assert got.done.stop_reason == "length"
    assert "Continue the answer" in _hint(got)
    assert [notice.code for notice in got.done.notices] == ["context_full"]
    rest = _going_on(session, talk, got.text, types, max_tokens=100, slide=True)
    said, n = got.token_ids, rest.started.prompt_tokens
    assert session._prompting.said[n - len(said) : n] == said  # not other tokens
    assert _n_left_out(rest) > _n_left_out(got)
    assert len(rest.token_ids) == 100


def test_what_goes_on_without_the_oldest_turns_is_what_a_fresh_memory_says(session):
    talk = _turns(3)
    plain = answer(session, talk, max_tokens=1000)
    rest = [
        _going_on(session, talk, plain.text, types, max_tokens=60, slide=True, reuse_memory=reuse)
        for types in ((), ("ngram",), ("draft-simple",))
        for reuse in (True, False)
    ]
    assert len({tuple(one.token_ids) for one in rest}) == 1
    assert len(rest[0].token_ids) == 60


def test_with_the_oldest_turns_kept_the_hint_is_another(session):
    talk = _turns(3)
    got = answer(session, talk, max_tokens=1000)
    assert "let the oldest turns be left out and continue" in _hint(got)
    with pytest.raises(PromptTooLongError):
        _going_on(session, talk, got.text, max_tokens=1000)
    assert _going_on(session, talk, got.text, max_tokens=20, slide=True).token_ids  # as it says
    bare = answer(session, QUESTION, max_tokens=1000)
    assert "shorter prompt" in _hint(bare)
