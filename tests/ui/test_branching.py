"""Editing, answering again and going between alternatives, in a whole window."""

from __future__ import annotations

from contextlib import closing, contextmanager

import pytest
from PySide6.QtCore import Qt

from app.chat.store import ChatStore
from app.protocol import Generate
from tests.doubles import Answer


def texts(program):
    return [view.text for view in program.window.transcript.views]


def alternatives(program):
    return [view.foot.alternatives for view in program.window.transcript.views]


async def idle(program):
    await program.until(lambda: not program.controller.answering.is_busy)


def press(program, number, action):
    program.window.transcript.views[number].foot.button(action).click()


def arrow(program, number, name):
    foot = program.window.transcript.views[number].foot
    (foot._earlier if name == "earlier" else foot._later).click()


def test_answering_again_keeps_the_old_answer_as_an_alternative(program):
    program.answers = (Answer("First."), Answer("Second."), Answer("Third."))

    async def story():
        await program.ask("go")
        press(program, 1, "regenerate")
        await idle(program)
        assert texts(program) == ["go", "Second."]
        assert alternatives(program) == ["", "2/2"]
        press(program, 1, "regenerate")
        await idle(program)
        assert alternatives(program) == ["", "3/3"]
        arrow(program, 1, "earlier")
        arrow(program, 1, "earlier")
        assert (texts(program), alternatives(program)) == (["go", "First."], ["", "1/3"])
        # AND what was chosen is there when the conversation is opened again
        number = program.controller.chats.current.id
        program.controller.chats.new()
        program.controller.chats.open(number)
        assert (texts(program), alternatives(program)) == (["go", "First."], ["", "1/3"])

    program.run(story)


def test_the_model_sees_the_branch_that_is_shown(program):
    program.answers = (Answer("First."), Answer("Second."), Answer("Third."), Answer("Fourth."))

    async def story():
        await program.ask("go")
        press(program, 1, "regenerate")
        await idle(program)
        arrow(program, 1, "earlier")
        await program.ask("on")
        asked = [command for command in program.engines[0].commands if isinstance(command, Generate)]
        said = [m.content for m in asked[-1].messages if m.role != "system"]
        assert said == ["go", "First.", "on"]

    program.run(story)


def test_an_edited_question_is_answered_anew_and_the_old_branch_stays(program, qtbot):
    program.answers = (Answer("First."), Answer("Second."), Answer("Third."))

    async def story():
        composer = program.window.composer
        await program.ask("go")
        await program.ask("and on")
        composer.set_text("a draft")
        press(program, 0, "edit")
        assert composer.text == "go"
        assert "changing your message" in composer.edit_line.words
        composer.editor.setPlainText("go elsewhere")
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
        await idle(program)
        assert texts(program) == ["go elsewhere", "Third."]
        assert alternatives(program) == ["2/2", ""]
        assert composer.text == "a draft"
        arrow(program, 0, "earlier")
        assert texts(program) == ["go", "First.", "and on", "Second."]

    program.run(story)


def test_escape_leaves_a_message_as_it_was(program, qtbot):
    async def story():
        composer = program.window.composer
        await program.ask("go")
        composer.set_text("a draft")
        press(program, 0, "edit")
        qtbot.keyClick(composer.editor, Qt.Key.Key_Escape)
        assert not composer.is_editing
        assert composer.text == "a draft"
        assert texts(program)[0] == "go"

    program.run(story)


def test_an_edited_answer_keeps_what_followed_it(program, qtbot):
    program.answers = (Answer("First."), Answer("Second."))

    async def story():
        composer = program.window.composer
        await program.ask("go")
        await program.ask("and on")
        press(program, 1, "edit")
        composer.editor.setPlainText("What I wanted to hear.")
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
        assert texts(program) == ["go", "What I wanted to hear.", "and on", "Second."]
        assert alternatives(program) == ["", "2/2", "", ""]

    program.run(story)


@pytest.mark.parametrize("action", ["edit", "regenerate"])
def test_nothing_is_branched_while_an_answer_runs(program, action):
    program.answers = (Answer("First."), Answer(pace_s=0.02))

    async def story():
        await program.ask("go")
        program.send("on")
        await program.until(lambda: program.controller.answering.is_busy)
        press(program, 1, action)
        assert "being written" in program.window.notice.words
        assert not program.window.composer.is_editing
        program.controller.answering.stop()
        await idle(program)
        assert texts(program)[:2] == ["go", "First."]

    program.run(story)


def test_an_answer_again_that_says_nothing_leaves_the_old_one(program):
    program.answers = (Answer("First."), Answer("", accepted=(0,)))

    async def story():
        await program.ask("go")
        press(program, 1, "regenerate")
        await idle(program)
        assert texts(program) == ["go", "First."]
        assert alternatives(program) == ["", ""]

    program.run(story)


@contextmanager
def no_room_for(text):
    """Let the database refuse a message that says this, and nothing else, as a full disk does with a large one."""
    with closing(ChatStore()) as store, store.transaction() as db:
        db.execute(
            "CREATE TRIGGER refuses BEFORE INSERT ON message"
            f" WHEN new.text = '{text}' BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
    yield
    with closing(ChatStore()) as store, store.transaction() as db:
        db.execute("DROP TRIGGER refuses")


def begin_to_leave_the_branch(program, how, first_id):
    composer = program.window.composer
    if how == "switch":
        arrow(program, 1, "earlier")
    elif how == "answer again":
        press(program, 1, "regenerate")
    elif how == "go on":
        press(program, 1, "go_on")
    elif how == "edit":
        press(program, 0, "edit")
        composer.set_text("go, otherwise")
        composer.on_submit()
    else:
        program.window.sidebar.hit_chosen.emit(program.controller.chats.current.id, first_id)


@pytest.mark.parametrize("how", ["switch", "answer again", "go on", "edit", "search"])
def test_what_the_database_refused_is_saved_before_the_branch_is_left_or_it_is_not_left(program, how):
    program.answers = tuple(Answer(f"{n}.", stop_reason="length") for n in range(6))

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        chats.retry.setInterval(100_000)
        await program.ask("go")
        first_id = chats.shown[1].id
        press(program, 1, "regenerate")
        await idle(program)
        with no_room_for("a large one"):
            await program.ask("a large one")
            before = texts(program)
            assert (before[2], chats.n_unsaved) == ("a large one", 2)
            begin_to_leave_the_branch(program, how, first_id)
            await idle(program)
            assert (texts(program), chats.n_unsaved) == (before, 2)
            assert "is not saved yet." in program.window.notice.words
            if how == "edit":
                assert (composer.text, composer.is_editing) == ("go, otherwise", True)
                composer.end_edit()
        begin_to_leave_the_branch(program, how, first_id)
        await idle(program)
        assert (texts(program) != before, chats.n_unsaved) == (True, 0)
        with closing(ChatStore()) as store:
            there = [m.text for m in store.all_messages(chats.current.id)]
        assert there.count("a large one") == 1
        assert before[3] in there

    program.run(story)
