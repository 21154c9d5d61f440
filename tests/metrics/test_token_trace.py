from __future__ import annotations

import time

import pytest

from app.metrics.token_trace import TokenTrace, align, runs
from app.protocol import Chunk, Step
from app.token_details import TokenDetail


def chunk(pieces, *, accepted=0, proposed=0, drafter="", probability=0.5):
    judged = min(proposed, accepted + 1)
    step = Step(0.1, len(pieces), proposed, proposed, judged, accepted, 0.0, 0.1, 9, drafter)
    drafted = tuple(i < accepted for i in range(len(pieces)))
    details = tuple(TokenDetail(len(piece), probability) for piece in pieces)
    return Chunk(1, "".join(pieces), tuple(range(len(pieces))), drafted, step, None, details)


def trace_of(*chunks):
    trace = TokenTrace()
    for one in chunks:
        trace.add(one)
    return trace


def test_tokens_are_kept_corrected_or_plain():
    trace = trace_of(
        chunk(["The"]),
        chunk([" slow", " train", " stops"], accepted=2, proposed=4, drafter="ngram"),  # the third was corrected
        chunk([" at", " a", "."], accepted=2, proposed=2, drafter="ngram"),  # all kept, one more from the last row
        chunk([" End"], accepted=0, proposed=3, drafter="ngram"),
    )
    assert [token.kind for token in trace.tokens] == [
        "plain", "accepted", "accepted", "corrected", "accepted", "accepted", "plain", "corrected",
    ]  # fmt: skip
    assert trace.counts() == {"accepted": 4, "corrected": 2, "plain": 2}
    third = trace.tokens[3]
    assert (third.step, third.position, third.n_proposed, third.drafter) == (1, 3, 4, "ngram")


def test_whoever_drafted_for_a_lossy_answer_is_called_so():
    trace = TokenTrace(is_lossy=True)
    trace.add(chunk(["The"]))
    trace.add(chunk([" slow", " train"], accepted=1, proposed=2, drafter="ngram"))
    assert [token.drafter for token in trace.tokens] == ["", "ngram,lossy", "ngram,lossy"]


def test_the_first_token_whose_answer_ended_in_a_kept_draft_is_no_correction():
    # an answer that ended with its second draft token: nothing was corrected
    trace = trace_of(chunk(["a", "b"], accepted=2, proposed=4))
    assert [token.kind for token in trace.tokens] == ["accepted", "accepted"]


def test_every_character_has_its_token():
    text = "The slow train"
    trace = trace_of(chunk(["The"]), chunk([" slow", " train"], accepted=1, proposed=1))
    assert [trace.at(i) for i in (0, 2, 3, 7, 8, len(text) - 1)] == [0, 0, 1, 1, 2, 2]


def test_of_tokens_that_make_one_character_together_the_last_has_it():
    trace = trace_of(chunk(["a", "", "", "😀", "b"]))
    assert [trace.at(i) for i in range(3)] == [0, 3, 4]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("# Title\n\nA **bold** word, and *more*.", "Title\nA bold word, and more."),
        ("foo**bar**baz _x_", "foobarbaz x"),
        ("- one\n- two\n\n1. three", "one\ntwo\nthree"),
        ("see [the docs](https://example.org/the/docs?a=b) now", "see the docs now"),
        ("see [the docs](https://example.org/the/docs?a=(b)), now", "see the docs, now"),
        ("`code` and ``more`` text", "code and more text"),
        ("| a | b |\n|---|---|\n| 1 | 22 |", "\na\nb\n1\n22\n"),
        ("x\ny soft break", "x y soft break"),
        ("fish &amp; chips", "fish & chips"),
    ],
)
def test_what_is_shown_is_found_again(text, shown):
    places, end = align(text, shown)
    for i, letter in enumerate(shown):
        if not letter.isspace():
            assert text[places[i]] == letter
    found = [place for place in places if place >= 0]
    assert found == sorted(found)
    assert end <= len(text)


def test_a_word_is_not_found_inside_of_another():
    text = "[a](http://and.example/a) and a"
    places, _ = align(text, "a and a")
    assert "".join(text[place] for place in places) == "a and a"
    assert places[2] == text.index(") and") + 2


def test_words_that_were_never_generated_have_no_place_and_do_no_harm():
    text = "![a cat](cat.png) sits here"
    shown = "[image: a cat cat.png] sits here"
    places, _ = align(text, shown)
    assert places[0] == -1
    assert text[places[shown.index("sits")] :].startswith("sits here")


def test_code_follows_prose_and_is_found_from_there():
    text = "Run this: x = 1\n\n```python\nx = 1\n```\nDone x = 1"
    _, after = align(text, "Run this: x = 1")
    places, after = align(text, "x = 1", after)
    assert places[0] == text.index("python\n") + 7
    places, _ = align(text, "Done x = 1", after)
    assert places[0] == text.index("Done")


def test_runs_join_tokens_of_one_kind_and_leave_gaps_for_what_nobody_generated():
    text = "one two three four"
    trace = trace_of(
        chunk(["one"]),
        chunk([" two", " three"], accepted=2, proposed=2),
        chunk([" four"], accepted=0, proposed=1),
    )
    places, _ = align(text, text)
    assert list(runs(trace, places)) == [(0, 3, "plain"), (3, 13, "accepted"), (13, 18, "corrected")]
    places[4] = -1
    assert list(runs(trace, places))[1:3] == [(3, 4, "accepted"), (5, 13, "accepted")]


def test_long_answers_are_aligned_in_linear_time():
    text = "".join(f"Word{i} **bold{i}** and `code{i}` here.\n\n" for i in range(8000))
    shown = text.replace("**", "").replace("`", "").replace("\n\n", "\n")
    started_s = time.process_time()
    places, _ = align(text, shown)
    assert time.process_time() - started_s < 5
    assert text[places[shown.index("code7999")] :].startswith("code7999")
