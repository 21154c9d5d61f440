"""Answers taken apart and put together again, so that what goes on is what the model wrote."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.conversation import AnswerStats, Message, can_go_on, now
from app.chat.going_on import joined, parts_of, with_marks
from app.chat.reported import RemoteFigures
from app.protocol import Engagement
from app.ui.wording import speed_words

TEXTS = [
    "Just an answer.",
    "<think>\nhm\n</think>\n\nYes.",
    "<think>hm</think>Yes.",
    "<think>\nstill thinking",
    "what came first\n</think>\n\nYes.",
    "[THINK]hm[/THINK]\nYes.",
    "◁think▷hm◁/think▷\n\n\nYes.",
    "\n<think>hm</think>\n\n",
    "<think>\n\n</think>\n\nYes.",
    "<|channel|>final<|message|>Yes.",
    "<|channel>thought\nhm<channel|>Yes.",
    "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
]


def stored(text: str) -> Message:
    """Return what the window keeps of an answer."""
    parts = parts_of(text)
    marks = (parts.opening, parts.closing) if parts.is_unusual else None
    return Message(
        role="assistant",
        text=parts.said,
        reasoning=parts.thought,
        created_at=now(),
        stats=AnswerStats(thought_marks=marks),
    )


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_kept_of_an_answer_is_all_of_it(text):
    assert with_marks(stored(text)) == text
    assert "".join(parts_of(text)) == text


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "\n", "\n\n", "hm", "Yes. ", "[THINK]", "[/THINK]"]), max_size=8)
)
def test_no_word_is_lost_however_the_marks_lie(pieces):
    text = "".join(pieces)
    again = with_marks(stored(text))
    assert (again.count("hm"), again.count("Yes.")) == (text.count("hm"), text.count("Yes."))
    parts = parts_of(text)
    if "".join(parts) == text:
        assert again == text


def test_what_an_older_version_kept_gets_the_usual_marks():
    message = Message(role="assistant", text="Yes.", reasoning="hm", created_at=now())
    assert with_marks(message) == "<think>hm</think>\n\nYes."
    assert with_marks(Message(role="assistant", text="", reasoning="hm", created_at=now())) == "<think>hm"


@pytest.mark.parametrize(
    ("state", "reason", "can"),
    [
        ("complete", "eos", False),
        ("complete", "stop", False),
        ("complete", None, False),
        ("complete", "length", True),
        ("complete", "cancelled", True),
        ("complete", "failed", True),
        ("interrupted", None, True),
        ("interrupted", "eos", True),
        ("streaming", "length", False),
    ],
)
def test_only_what_stopped_before_its_end_goes_on(state, reason, can):
    stats = AnswerStats(stop_reason=reason) if reason else None
    message = Message(role="assistant", text="x", state=state, stats=stats, created_at=now())
    assert can_go_on(message) is can
    assert not can_go_on(Message(role="user", text="x", state=state, stats=stats, created_at=now()))


def test_the_figures_of_both_pieces_are_added():
    before = AnswerStats(
        n_tokens=11, n_prompt_tokens=20, decode_tps=10.0, ttft_s=0.5, answer_s=1.5, n_proposed=8, n_accepted=2, seed=7
    )
    after = AnswerStats(
        n_tokens=21, n_prompt_tokens=31, n_cached_tokens=30, decode_tps=20.0, ttft_s=0.1, answer_s=1.1, n_proposed=8,
        n_accepted=4, stop_reason="eos", run_id="b",
    )  # fmt: skip
    both = joined(before, after)
    assert (both.n_tokens, both.n_prompt_tokens, both.n_cached_tokens) == (32, 20, 0)
    assert (both.n_proposed, both.n_accepted, both.ttft_s) == (16, 6, 0.5)
    assert both.answer_s == pytest.approx(2.6)
    assert both.decode_tps == pytest.approx(30 / (10 / 10.0 + 20 / 20.0))
    assert (both.stop_reason, both.run_id) == ("eos", "b")
    assert joined(before, None) == before
    assert joined(None, after) == after
    assert joined(None, None) is None


def test_a_lossy_piece_leaves_the_whole_lossy_however_it_goes_on():
    lossy = AnswerStats(n_tokens=11, decode_tps=10.0, engagement=Engagement(True, "ngram,lossy", 4))
    plain = AnswerStats(n_tokens=21, decode_tps=20.0, engagement=Engagement(False, reason="Speculation is off."))
    for pieces in ((lossy, plain), (plain, lossy), (lossy, plain, plain), (lossy, AnswerStats(server="http://box"))):
        whole = functools.reduce(joined, pieces)
        assert whole.is_lossy
        assert "lossy" in speed_words(whole)
    assert not joined(plain, plain).is_lossy
    assert "lossy" not in speed_words(joined(plain, plain))


def test_what_a_server_calls_lossy_is_called_so():
    theirs = AnswerStats(server="http://box", reported=RemoteFigures(tokens=7, decode_tps=99.0, drafter="ngram,lossy"))
    assert theirs.is_lossy
    assert "lossy" in speed_words(theirs)
    after = joined(theirs, AnswerStats(n_tokens=21, decode_tps=20.0))
    assert after.is_lossy
    assert "lossy" in speed_words(after)


def test_what_a_server_reported_is_added_to_nothing():
    after = AnswerStats(n_tokens=21, n_prompt_tokens=31, decode_tps=20.0, stop_reason="eos", run_id="b")
    theirs = AnswerStats(server="http://box", reported=RemoteFigures(tokens=7, decode_tps=99.0))
    after_theirs = joined(theirs, after)
    assert (after_theirs.server, after_theirs.reported) == (theirs.server, theirs.reported)
    assert (after_theirs.n_tokens, after_theirs.decode_tps) == (after.n_tokens, after.decode_tps)
