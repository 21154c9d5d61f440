from __future__ import annotations

from app.cli.heard import Heard


class Clock:
    def __init__(self):
        self.s = 0.0

    def __call__(self):
        return self.s


def test_thoughts_are_told_apart_and_timed():
    clock = Clock()
    heard = Heard(clock)
    heard.feed("<think>One, ")
    clock.s = 2.0
    heard.feed("two.</think>\n\nThree")
    clock.s = 9.0
    heard.feed(".")
    heard.close()

    assert (heard.thought, heard.said, heard.thought_s) == ("One, two.", "Three.", 2.0)
    assert heard.raw == "<think>One, two.</think>\n\nThree."


def test_a_thought_whose_beginning_is_in_the_prompt_is_taken_back():
    clock = Clock()
    heard = Heard(clock)
    heard.feed("One, two.\n")
    clock.s = 3.0
    pieces = heard.feed("</think>\n\nThree.")
    heard.close()

    assert any(piece.is_reset for piece in pieces)
    assert (heard.thought, heard.said, heard.thought_s) == ("One, two.", "Three.", 3.0)


def test_a_thought_that_somebody_else_has_told_apart():
    heard = Heard()
    heard.feed_thought("One.")
    heard.feed("Two.")
    heard.close()
    assert (heard.thought, heard.said, heard.raw) == ("One.", "Two.", "Two.")


def test_an_answer_that_breaks_off_keeps_what_came():
    heard = Heard()
    heard.feed("<think>One")
    heard.close()
    assert (heard.thought, heard.said) == ("One", "")
    assert heard.thought_s is not None


def test_a_thought_that_the_prompt_has_begun_is_one_from_its_first_word():
    heard = Heard()
    heard.begin("<|im_start|>assistant\n<think>\n")
    pieces = heard.feed("One.</think>\n\nTwo.")
    heard.close()
    assert not any(piece.is_reset for piece in pieces)
    assert (heard.thought, heard.said) == ("One.", "Two.")
