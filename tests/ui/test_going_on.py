"""Letting a stopped answer go on, in a whole window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from app.errors import EngineError
from app.protocol import Generate
from tests.doubles import Answer
from tests.ui.test_branching import alternatives, idle, press, texts

STOPPED = Answer("One two three", stop_reason="length")
REST = Answer(" four five.")


def offers(program, number=-1):
    return "go_on" in program.window.transcript.views[number].foot.offered()


def requests(program):
    return [command for command in program.engines[-1].commands if isinstance(command, Generate)]


def said(program):
    return [(m.role, m.text) for m in program.controller.chats.current.messages]


def test_it_goes_on_in_the_same_message(program):
    program.answers = (STOPPED, REST)

    async def story():
        await program.ask("count")
        press(program, 1, "go_on")
        await idle(program)
        assert texts(program) == ["count", "One two three four five."]
        assert alternatives(program) == ["", ""]
        assert not offers(program)
        assert "5 tokens" in program.last_answer.status
        first, second = requests(program)
        assert [(m.role, m.content) for m in second.messages] == [("user", "count"), ("assistant", "One two three")]
        assert (first.templating.goes_on, second.templating.goes_on) == (False, True)
        assert second.sampling.seed == first.sampling.seed
        # AND in the database it is one message with the figures of both pieces
        kept = program.controller.store.load(program.controller.chats.current.id).messages
        assert [(m.role, m.text, m.state) for m in kept] == [
            ("user", "count", "complete"),
            ("assistant", "One two three four five.", "complete"),
        ]
        assert kept[1].stats.n_tokens == 5
        assert kept[1].stats.stop_reason == "eos"

    program.run(story)


def test_a_complete_answer_is_not_offered_to_go_on(program):
    async def story():
        await program.ask("count")
        assert not offers(program)
        program.controller.branching.go_on_with_last()
        assert "complete" in program.window.notice.words
        assert len(requests(program)) == 1

    program.run(story)


def test_what_was_stopped_goes_on_also_after_a_restart(program):
    program.answers = (Answer("One two three four five six", pace_s=0.02), Answer(" and the rest."))

    async def story():
        program.send("count")
        await program.until(lambda: "two" in program.said)
        program.controller.answering.stop()
        await idle(program)
        assert offers(program)

    program.run(story)
    program.answers = (Answer(" and the rest."),)

    async def again():
        before = program.said
        assert offers(program)
        program.controller.branching.go_on_with_last()
        await idle(program)
        assert program.said == f"{before} and the rest."
        assert program.last_answer.mark == ""

    program.run(again)


def test_a_failed_answer_goes_on(program):
    program.answers = (Answer("One two three four", fault=EngineError("It broke."), fault_at=1), REST)

    async def story():
        await program.ask("count")
        half = program.said
        assert half
        assert offers(program)
        press(program, 1, "go_on")
        await idle(program)
        assert program.said == f"{half} four five."
        assert program.last_answer.mark == ""

    program.run(story)


def test_an_answer_that_cannot_go_on_stays_as_it_was(program):
    program.answers = (STOPPED, Answer("x", fault=EngineError("It broke."), fault_at=0), REST)

    async def story():
        await program.ask("count")
        press(program, 1, "go_on")
        await idle(program)
        assert texts(program) == ["count", "One two three"]
        assert "It broke" in program.window.notice.words
        assert said(program) == [("user", "count"), ("assistant", "One two three")]
        assert offers(program)
        press(program, 1, "go_on")
        await idle(program)
        assert program.said == "One two three four five."

    program.run(story)


def test_where_something_follows_it_goes_on_as_an_alternative(program):
    program.answers = (STOPPED, Answer("Next."), REST)

    async def story():
        await program.ask("count")
        await program.ask("and?")
        press(program, 1, "go_on")
        await idle(program)
        assert texts(program) == ["count", "One two three four five."]
        assert alternatives(program) == ["", "2/2"]
        program.controller.branching.switch(1, -1)
        assert texts(program) == ["count", "One two three", "and?", "Next."]

    program.run(story)


@pytest.mark.parametrize(
    "beginning", ["<think>\nhm\n</think>\n\nYes", "<think>\nhm", "◁think▷hm◁/think▷Yes", "hm\n</think>\n\nYes"]
)
def test_thoughts_go_on_as_the_model_wrote_them(program, beginning):
    program.answers = (Answer(beginning, stop_reason="length"), REST)

    async def story():
        await program.ask("count")
        press(program, 1, "go_on")
        await idle(program)
        assert requests(program)[1].messages[-1].content == beginning
        assert program.said == f"{beginning} four five."
        number = program.controller.chats.current.id
        program.controller.chats.new()
        program.controller.chats.open(number)
        assert program.said == f"{beginning} four five."

    program.run(story)


def test_half_a_character_is_written_anew(program):
    program.answers = (Answer("One \ufffd", stop_reason="length"), Answer("\N{STEAM LOCOMOTIVE} comes."))

    async def story():
        await program.ask("count")
        press(program, 1, "go_on")
        await idle(program)
        assert program.said == "One \N{STEAM LOCOMOTIVE} comes."

    program.run(story)


def test_what_is_written_meanwhile_is_in_the_database(program):
    program.answers = (STOPPED, Answer(" four five six seven eight", pace_s=0.05))

    async def story():
        await program.ask("count")
        press(program, 1, "go_on")
        await program.until(lambda: "five" in program.said)
        program.controller.answering.on_save_due()
        kept = program.controller.store.load(program.controller.chats.current.id).messages[-1]
        assert kept.text.startswith("One two three four five")
        assert kept.state == "streaming"
        program.controller.answering.stop()
        await idle(program)

    program.run(story)


def test_it_goes_on_while_another_conversation_is_looked_at(program):
    program.answers = (STOPPED, Answer(" four five six seven", pace_s=0.02))

    async def story():
        await program.ask("count")
        number = program.controller.chats.current.id
        press(program, 1, "go_on")
        await program.until(lambda: "four" in program.said)
        program.controller.chats.new()
        await idle(program)
        program.controller.chats.open(number)
        assert texts(program) == ["count", "One two three four five six seven"]

    program.run(story)


def test_the_keyboard_does_it(program, qtbot):
    program.answers = (STOPPED, REST)

    async def story():
        await program.ask("count")
        program.window.transcript.focus_message(-1)
        view = program.last_answer
        view.setFocus()
        qtbot.keyClick(view, Qt.Key.Key_O)
        await idle(program)
        assert program.said == "One two three four five."

    program.run(story)


def test_the_colours_of_an_answer_that_went_on_are_those_of_both_pieces(program):
    program.answers = (STOPPED, REST)

    async def story():
        program.controller.choices.change(token_colours=True)
        await program.ask("count")
        press(program, 1, "go_on")
        await idle(program)
        row = program.controller.chats.current.messages[-1].id
        starts = [token.start for token in program.controller.store.tokens(row)]
        assert starts == [0, 3, 7, 13, 18]

    program.run(story)


def test_the_colours_of_an_answer_are_there_at_the_next_start(program):
    async def story():
        program.controller.choices.change(token_colours=True)
        await program.ask("go")
        assert program.last_answer.token_colours is not None

    program.run(story)

    async def again():
        assert program.last_answer.token_colours is not None
        program.controller.actions.toggle_tokens()
        number = program.controller.chats.current.id
        program.controller.chats.new()
        program.controller.chats.open(number)
        assert program.last_answer.token_colours is None
        program.controller.actions.toggle_tokens()
        assert program.last_answer.token_colours is not None

    program.run(again)
