"""Answers that go on where they stopped: the same tokens, the memory kept, the grammar kept, no new turn."""

from __future__ import annotations

import pytest

from app.engine.going_on import without_repeat
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import UsageError
from app.models.library import Library
from app.protocol import ChatMessage, Render, Sampling, Templating
from tests.engine.sessions import GREEDY, WARM, answer, load

QUESTION = ("user", "how many words are there in one day and what do they say")
GOES_ON = Templating(goes_on=True)


@pytest.fixture
def session(tiny_pair):
    session = Session(Renderer())
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512)
    yield session
    session.close()


def going_on(session, text, sampling=GREEDY, types=(), **how):
    return answer(session, [QUESTION, ("assistant", text)], sampling, types, templating=GOES_ON, **how)


@pytest.mark.parametrize("types", [(), ("ngram",), ("draft-simple",)])
@pytest.mark.parametrize("sampling", [GREEDY, WARM])
@pytest.mark.parametrize("n_first", [1, 7, 20])
def test_an_answer_in_two_pieces_is_the_answer_in_one(session, sampling, types, n_first):
    whole = answer(session, [QUESTION], sampling, types, max_tokens=40)
    first = answer(session, [QUESTION], sampling, types, max_tokens=n_first)
    rest = going_on(session, first.text, sampling, types, max_tokens=40 - n_first)
    assert first.token_ids + rest.token_ids == whole.token_ids
    assert first.text + rest.text == whole.text
    assert rest.started.prompt_tokens == first.started.prompt_tokens + n_first
    assert rest.started.cached_tokens == rest.started.prompt_tokens - 1  # the last token was never in the memory


def test_a_cancelled_answer_goes_on_as_if_nothing_had_happened(session):
    whole = answer(session, [QUESTION], max_tokens=40)
    first = answer(session, [QUESTION], max_tokens=40, cancel_after=5)
    assert first.done.stop_reason == "cancelled"
    rest = going_on(session, first.text, max_tokens=40 - len(first.token_ids))
    assert first.text + rest.text == whole.text


def test_after_other_work_the_text_itself_is_gone_on_with(session):
    first = answer(session, [QUESTION], max_tokens=8)
    answer(session, [("user", "the cat")], max_tokens=4)
    rest = going_on(session, first.text, max_tokens=8)
    assert rest.started.prompt_tokens == first.started.prompt_tokens + len(session.tokenise(first.text))


def test_a_text_that_a_person_changed_is_not_taken_for_what_was_said(session):
    first = answer(session, [QUESTION], max_tokens=8)
    rest = going_on(session, f"{first.text} the cat", max_tokens=8)
    assert rest.started.prompt_tokens > first.started.prompt_tokens + 8
    assert len(rest.token_ids) == 8


@pytest.mark.parametrize("n_first", [1, 4])
def test_a_grammar_holds_across_the_seam(session, n_first):
    load(session, Library().resolve("starter").path, n_ctx=512)
    sampling = Sampling(seed=3, temperature=0.0, grammar='root ::= "one, two, three, four, five"')
    first = answer(session, [QUESTION], sampling, max_tokens=n_first)
    rest = going_on(session, first.text, sampling, max_tokens=40)
    assert first.text + rest.text == "one, two, three, four, five"
    assert first.text != "one, two, three, four, five"
    with pytest.raises(UsageError, match="does not keep to its format"):
        going_on(session, "six", sampling, max_tokens=4)


@pytest.mark.parametrize("messages", [[QUESTION], [("assistant", "the cat")], [("assistant", "the"), QUESTION]])
def test_without_an_answer_there_is_nothing_to_go_on_with(session, messages):
    with pytest.raises(UsageError, match="no answer that could go on"):
        answer(session, messages, templating=GOES_ON, max_tokens=4)


def test_a_long_conversation_slides_and_its_last_answer_goes_on(session):
    talk = [part for i in range(40) for part in (("user", f"{i} the cat of the day"), ("assistant", "and so it was"))]
    got = answer(session, talk, templating=GOES_ON, max_tokens=20, slide=True)
    assert any(notice.code == "turns_left_out" for notice in got.started.notices)
    assert len(got.token_ids) == 20


def test_a_mark_that_the_template_writes_is_not_written_twice():
    assert without_repeat("<|assistant|>\n<think>\n", "<think>\nhm") == "hm"
    assert without_repeat("<|assistant|>\n<think>", "<think>hm</think>\n\nYes") == "hm</think>\n\nYes"
    assert without_repeat("<|assistant|>\n", "<think>\nhm") == "<think>\nhm"
    assert without_repeat("", " x") == " x"


# --- looking at the prompt ------------------------------------------------------------------------------


def messages_of(*pairs):
    return tuple(ChatMessage(role, text) for role, text in pairs)


def test_the_preview_counts_what_an_answer_would_evaluate(session):
    for talk in ([QUESTION], [("system", "be short"), QUESTION, ("assistant", "the cat"), QUESTION]):
        seen = session.preview(Render(7, messages_of(*talk)))
        assert seen.n_tokens == answer(session, talk, max_tokens=1).started.prompt_tokens
        assert seen.prompt == session.render(messages_of(*talk))[0]
        assert seen.template == "" or "messages" in seen.template


def test_the_preview_of_an_answer_that_goes_on_ends_with_it(session):
    seen = session.preview(Render(7, messages_of(QUESTION, ("assistant", "the cat")), GOES_ON))
    assert seen.prompt.endswith("assistant\nthe cat")
    assert seen.n_tokens == going_on(session, "the cat", max_tokens=1).started.prompt_tokens


def test_a_conversation_far_beyond_the_context_is_shown_without_a_count(session):
    seen = session.preview(Render(7, messages_of(("user", "\N{EURO SIGN}" * 100_000))))
    assert seen.n_tokens == 0
    assert len(seen.prompt) > 100_000


def test_a_template_in_place_of_the_models_own_is_what_the_model_is_given(session):
    templating = Templating(template="{{ messages[0].content }} and so")
    seen = session.preview(Render(7, messages_of(QUESTION), templating))
    assert (seen.prompt, seen.notices) == (f"{QUESTION[1]} and so", ())
    got = answer(session, [QUESTION], templating=templating, max_tokens=8)
    assert got.started.prompt_tokens == seen.n_tokens
    assert got.token_ids == answer(session, f"{QUESTION[1]} and so", max_tokens=8).token_ids
