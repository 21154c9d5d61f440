"""Marks of thinking that are control tokens: shown if the template uses them, and no others."""

from __future__ import annotations

import pytest

from app.chat.reasoning import split_reasoning
from app.engine.thinking import PAIRS, begun_mark, closing_mark, shown_tokens
from app.protocol import Templating
from tests.engine.sessions import answer, load
from tests.fixtures import tiny

GEMMA = "{{ messages[-1].content }}{% if thinks %}<|channel>thought\n<channel|>{% endif %} come"
HARMONY = (
    "{{ messages[-1].content }}{% if thinks %}<|start|>assistant<|channel|>analysis<|message|><|end|>{% endif %} come"
)
QUESTION = ("user", "how many")
CHANNELS = ("<|channel>", "thought", "▁hm", "<|image|>", "▁well", "<channel|>", "▁Yes", "<|other|>", ".")
HARMONIOUS = (
    *("<|channel|>", "analysis", "<|message|>", "▁hm", "<|end|>", "<|start|>", "assistant"),
    *("▁Yes", "."),
)


@pytest.fixture
def gemma(session, tmp_path):
    marks = ("<|channel>", "<channel|>", "<|image|>", "<|other|>", "<turn|>")
    load(session, tiny.thinker(tmp_path / "gemma.gguf", marks, CHANNELS, GEMMA), n_ctx=256)
    return session


def test_marks_that_the_template_uses_are_shown_and_other_control_tokens_are_not(gemma):
    got = answer(gemma, [QUESTION])
    assert got.text == "<|channel>thought hm well<channel|> Yes."
    assert got.done.stop_reason == "eos"
    assert split_reasoning(got.text) == (" hm well", " Yes.")


def test_they_are_what_a_template_in_place_of_the_models_own_uses(gemma):
    plain = Templating(template="{{ messages[-1].content }} come")
    assert answer(gemma, [QUESTION], templating=plain).text == "thought hm well Yes."


def test_the_raw_continuation_of_a_text_has_no_template_and_shows_none(gemma):
    assert answer(gemma, "how many come").text == "thought hm well Yes."


@pytest.mark.parametrize("n_first", [1, 3, 6, 7])
def test_an_answer_that_stopped_in_or_behind_a_thought_goes_on(gemma, n_first):
    whole = answer(gemma, [QUESTION])
    first = answer(gemma, [QUESTION], max_tokens=n_first)
    rest = answer(gemma, [QUESTION, ("assistant", first.text)], templating=Templating(goes_on=True))
    assert first.text + rest.text == whole.text
    assert first.token_ids + rest.token_ids == whole.token_ids


def test_the_marks_of_an_answer_that_goes_on_are_control_tokens_also_when_its_tokens_are_forgotten(gemma):
    whole = answer(gemma, [QUESTION])
    answer(gemma, [("user", "the day")], max_tokens=1)
    rest = answer(gemma, [QUESTION, ("assistant", "<|channel>")], templating=Templating(goes_on=True))
    assert f"<|channel>{rest.text}" == whole.text


def test_the_channels_of_gpt_oss(session, tmp_path):
    marks = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>")
    load(session, tiny.thinker(tmp_path / "oss.gguf", marks, HARMONIOUS, HARMONY), n_ctx=256)
    got = answer(session, [QUESTION])
    assert got.text == "<|channel|>analysis<|message|> hm<|end|><|start|>assistant Yes."
    assert got.done.stop_reason == "eos"


@pytest.mark.parametrize("marks", PAIRS)
def test_every_pair_is_shown_where_it_is_made_of_control_tokens(marks):
    opening, closing = marks
    control = {opening: 7, closing: 8, "<|im_end|>": 9, "x": 10}
    assert shown_tokens(f"a {opening} b {closing} c x<|im_end|>", control) == {7, 8}
    assert shown_tokens(f"a {opening} b", control) == frozenset()
    assert shown_tokens("", control) == frozenset()
    assert closing_mark(begun_mark(f"<|im_start|>assistant\n{opening}\n")) == closing


def test_a_mark_of_the_answer_is_shown_whole_or_not_at_all():
    solar = {"<|begin|>": 1, "<|think|>": 2, "<|end|>": 3, "<|content|>": 4, "<|tool|>": 5}
    template = "<|begin|>assistant<|think|>x<|end|><|begin|>assistant<|content|>y<|end|><|tool|>"
    assert shown_tokens(template, solar) == {1, 2, 3, 4}
    command = {"<|START_THINKING|>": 1, "<|END_THINKING|>": 2, "<|START_RESPONSE|>": 3, "<|END_RESPONSE|>": 4}
    assert shown_tokens("".join(command), command) == {1, 2}
