"""What is written and not sent: words, files and open edits, per conversation, over restarts and kills."""

from __future__ import annotations

from contextlib import closing

import pytest

from app.chat.conversation import Attachment
from app.chat.store import ChatStore
from app.ui.composing import Waiting
from tests.doubles import Answer
from tests.ui.test_branching import press
from tests.ui.test_chats import locked

NOTES = Attachment(name="notes.txt", text="one\ntwo")
CODE = Attachment(name="a.py", text="x = 1")


def kept(conversation_id):
    with closing(ChatStore()) as store:
        return store.draft(conversation_id), store.drafts.files(conversation_id)


def test_files_stay_with_their_conversation(program):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("one")
        first = chats.current.id
        composer.files.add(NOTES)
        chats.new()
        assert composer.files.files == ()
        composer.files.add(CODE)
        chats.open(first)
        assert composer.files.files == (NOTES,)
        chats.new()
        assert composer.files.files == (CODE,)

    program.run(story)

    async def again():
        found = [program.window.composer.files.files]
        for conversation_id in program.controller.chats.refresh():
            program.controller.chats.open(conversation_id)
            found.append(program.window.composer.files.files)
        assert {(NOTES,), (CODE,)} == set(found)

    program.run(again)


@pytest.mark.parametrize("has_begun", [False, True])
def test_files_and_long_pastes_outlive_a_kill(program, has_begun):
    async def story():
        composer = program.window.composer
        if has_begun:
            await program.ask("one")
        current = program.controller.chats.current
        conversation_id = current.id if current is not None else None
        composer.files.add(NOTES)
        composer.editor.long_text_given.emit("x\n" * 5000)
        await program.until(lambda: len(kept(conversation_id)[1]) == 2)
        assert [file.name for file in kept(conversation_id)[1]] == ["notes.txt", "Pasted text"]

    program.run(story)


def test_what_a_killed_program_left_of_a_new_conversation_gets_one_of_its_own(program):
    with closing(ChatStore()) as store:
        store.drafts.save_files(None, (NOTES,))

    async def story():
        (only,) = program.controller.chats.refresh()
        assert program.controller.chats.current.id == only
        assert program.window.composer.files.files == (NOTES,)
        assert kept(None) == ("", ())

    program.run(story)


def test_what_a_killed_program_left_stays_where_the_database_refuses_at_the_start(program):
    with closing(ChatStore()) as store:
        store.append(store.create("one").id, "user", "one")
        store.save_draft(None, "words")
        store.drafts.save_files(None, (NOTES,))
        with store.transaction() as db:
            db.execute("CREATE TRIGGER refuses BEFORE DELETE ON kept BEGIN SELECT RAISE(ABORT, 'refused'); END")

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        assert len(chats.refresh()) == 1, "it would have two at the next start"
        chats.new()
        assert (composer.text, composer.files.files) == ("words", (NOTES,))
        assert kept(None) == ("words", (NOTES,))
        with chats.store.transaction() as db:
            db.execute("DROP TRIGGER refuses")

    program.run(story)


def test_what_was_sent_is_not_kept(program):
    async def story():
        program.window.composer.files.add(NOTES)
        await program.ask("read this")
        conversation_id = program.controller.chats.current.id
        assert program.controller.chats.shown[0].attachments == (NOTES,)
        program.window.composer.flush_draft()
        assert kept(conversation_id) == ("", ())
        assert kept(None) == ("", ())

    program.run(story)


def test_files_that_wait_in_line_are_kept_until_they_are_sent(program):
    program.answers = (Answer(pace_s=0.05), Answer("Second."))

    async def story():
        program.send("go")
        await program.until(lambda: program.controller.chats.current is not None)
        composer, conversation_id = program.window.composer, program.controller.chats.current.id
        composer.files.add(NOTES)
        program.send("and this")
        composer.flush_draft()
        assert kept(conversation_id) == ("and this", (NOTES,))
        await program.until(lambda: len(program.controller.chats.shown) == 4)
        composer.flush_draft()
        assert kept(conversation_id) == ("", ())

    program.run(story)


def test_an_open_edit_outlives_a_restart_and_another_conversation(program):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("go")
        first = chats.current.id
        composer.editor.setPlainText("a draft")
        press(program, 0, "edit")
        composer.editor.setPlainText("go elsewhere")
        chats.new()
        assert (composer.text, composer.is_editing) == ("", False)
        chats.open(first)
        assert (composer.text, composer.is_editing) == ("go elsewhere", True)

    program.run(story)

    async def again():
        composer = program.window.composer
        assert (composer.text, composer.is_editing) == ("go elsewhere", True)
        assert "changing your message" in composer.edit_line.words
        composer.end_edit()
        assert composer.text == "a draft"

    program.run(again)

    async def at_last():
        assert (program.window.composer.text, program.window.composer.is_editing) == ("a draft", False)

    program.run(at_last)


def test_an_edit_that_was_made_is_not_open_at_the_next_start(program):
    async def story():
        await program.ask("go")
        press(program, 0, "edit")
        program.window.composer.editor.setPlainText("go elsewhere")
        program.window.composer.flush_draft()
        program.window.composer.on_submit()
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)

    async def again():
        assert not program.window.composer.is_editing
        assert program.controller.chats.shown[0].text == "go elsewhere"

    program.run(again)


def test_an_edit_of_a_message_on_another_branch_becomes_a_draft(program):
    async def story():
        await program.ask("go")
        press(program, 1, "edit")
        program.window.composer.editor.setPlainText("What I wanted.")
        await program.until(lambda: program.controller.store.drafts.edit(program.controller.chats.current.id))
        program.controller.store.branches.edit(program.controller.chats.shown[0].id, "another")

    program.run(story)

    async def again():
        composer = program.window.composer
        assert (composer.text, composer.is_editing) == ("What I wanted.", False)

    program.run(again)
    assert kept(1)[0] == "What I wanted."


def test_an_edit_that_the_database_refuses_stays_open(program):
    async def story():
        await program.ask("go")
        press(program, 0, "edit")
        program.window.composer.editor.setPlainText("go elsewhere")
        with locked():
            program.window.composer.on_submit()
            assert (program.window.composer.text, program.window.composer.is_editing) == ("go elsewhere", True)
            assert "The change was not saved." in program.window.notice.words
        program.window.composer.end_edit()

    program.run(story)


async def four(program):
    program.answers = (Answer("First."), Answer("Second."), Answer("Third."))
    await program.ask("go")
    await program.ask("on")


def rewrite(program, number, text):
    press(program, number, "edit")
    program.window.composer.editor.setPlainText(text)


def test_an_edit_whose_message_leaves_the_screen_becomes_a_draft(program):
    async def story():
        composer = program.window.composer
        await four(program)
        composer.editor.setPlainText("a draft")
        rewrite(program, 2, "on and on")
        press(program, 1, "regenerate")
        assert (composer.text, composer.is_editing) == ("a draft\n\non and on", False)
        await program.until(lambda: not program.controller.answering.is_busy)
        conversation_id = program.controller.chats.current.id
        assert kept(conversation_id)[0] == "a draft\n\non and on"
        assert program.controller.store.drafts.edit(conversation_id) is None

    program.run(story)
    assert kept(1)[0] == "a draft\n\non and on"


def test_an_edit_does_not_land_on_another_branch(program):
    async def story():
        composer = program.window.composer
        await program.ask("go")
        press(program, 1, "regenerate")
        await program.until(lambda: not program.controller.answering.is_busy)
        await program.ask("on")
        rewrite(program, 2, "on and on")
        program.window.transcript.asked.emit(1, "earlier")
        assert len(program.controller.chats.shown) == 2
        assert (composer.text, composer.is_editing) == ("on and on", False)

    program.run(story)


def test_an_edit_stays_open_while_its_message_is_on_the_screen(program):
    async def story():
        composer = program.window.composer
        await four(program)
        rewrite(program, 0, "go elsewhere")
        press(program, 3, "regenerate")
        await program.until(lambda: not program.controller.answering.is_busy)
        assert (composer.text, composer.is_editing) == ("go elsewhere", True)

    program.run(story)

    async def again():
        assert (program.window.composer.text, program.window.composer.is_editing) == ("go elsewhere", True)

    program.run(again)


def test_a_second_edit_makes_a_draft_of_the_first(program):
    async def story():
        composer = program.window.composer
        await four(program)
        rewrite(program, 0, "go elsewhere")
        press(program, 0, "edit")
        assert composer.text == "go elsewhere", "the same once more changes nothing"
        press(program, 2, "edit")
        assert composer.text == "on"
        composer.flush_draft()
        assert kept(program.controller.chats.current.id)[0] == "go elsewhere"
        press(program, 0, "edit")
        composer.end_edit()
        assert composer.text == "go elsewhere", "what was not changed is not added"

    program.run(story)


def test_what_waits_in_line_is_not_mixed_into_an_edit(program):
    program.answers = (Answer("First."), Answer(pace_s=0.05))

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("go")
        first = chats.current.id
        rewrite(program, 0, "go elsewhere")
        composer._queue.put(Waiting("and this", ()))
        chats.new()
        chats.open(first)
        assert (composer.text, composer.draft) == ("go elsewhere", "and this")

    program.run(story)


def test_what_is_typed_is_in_the_database_also_in_the_moment_when_an_example_is_sent(program):
    async def story():
        chats, composer, seen = program.controller.chats, program.window.composer, []
        composer.sent.connect(lambda _text: seen.append((kept(chats.current.id), kept(None))))
        composer.editor.setPlainText("half a thought")
        composer.files.add(NOTES)
        composer.flush_draft()
        assert kept(None) == ("half a thought", (NOTES,))
        program.window.transcript.example_chosen.emit("an example")
        assert seen == [(("half a thought", (NOTES,)), ("", ()))]
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)


def test_what_is_typed_is_in_the_database_also_while_what_is_in_line_is_sent(program):
    program.answers = (Answer(pace_s=0.02), Answer("Second."))

    async def story():
        chats, composer, seen = program.controller.chats, program.window.composer, []
        program.send("one")
        program.send("next")
        composer.editor.setPlainText("half a thought")
        composer.files.add(NOTES)
        composer.flush_draft()
        assert kept(chats.current.id) == ("next\n\nhalf a thought", (NOTES,))
        composer.sent.connect(lambda _text: seen.append(kept(chats.current.id)))
        await program.until(lambda: seen)
        assert seen == [("half a thought", (NOTES,))]
        assert (composer.text, composer.files.files) == ("half a thought", (NOTES,))
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)


def test_sending_elsewhere_leaves_what_is_to_be_new(program):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("one")
        first = chats.current.id
        chats.new()
        composer.editor.setPlainText("words")
        composer.files.add(NOTES)
        chats.open(first)
        await program.ask("two")
        assert kept(None) == ("words", (NOTES,))
        chats.new()
        assert (composer.text, composer.files.files) == ("words", (NOTES,))
        chats.open(first)
        program.window.sidebar.delete_requested.emit(first)
        assert (composer.text, composer.files.files) == ("words", (NOTES,))

    program.run(story)


@pytest.mark.parametrize("is_new", [False, True])
def test_what_is_refused_stays_on_the_screen_and_is_tried_again(program, is_new):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("one")
        first = chats.current.id
        chats.new()
        if not is_new:
            await program.ask("two")
        there = chats.current.id if chats.current is not None else None
        chats.retry.setInterval(20)
        with locked():
            composer.editor.setPlainText("words")
            composer.files.add(NOTES)
            composer.flush_draft()
            assert "What you are typing was not saved." in program.window.notice.words
            chats.open(first)
            if is_new:
                chats.new()
            assert (composer.text, composer.files.files) == ("words", (NOTES,))
            assert (chats.current.id if chats.current is not None else None) == there
        await program.until(lambda: kept(there) == ("words", (NOTES,)))
        assert not chats.retry.isActive()
        chats.open(first)
        assert composer.text == ""

    program.run(story)


def test_what_is_read_in_vain_leaves_the_conversation_on_the_screen(program):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("one")
        first = chats.current.id
        chats.new()
        await program.ask("two")
        second = chats.current.id
        composer.editor.setPlainText("words")
        with chats.store.transaction() as db:
            db.execute("ALTER TABLE draft_part RENAME TO draft_part_elsewhere")
        chats.open(first)
        with chats.store.transaction() as db:
            db.execute("ALTER TABLE draft_part_elsewhere RENAME TO draft_part")
        assert (chats.current.id, composer.text) == (second, "words")
        assert program.window.transcript.texts()[0] == "two"

    program.run(story)
    assert kept(2)[0] == "words"


@pytest.mark.parametrize("has_begun", [False, True])
def test_what_was_sent_while_the_database_refused_does_not_come_back(program, has_begun):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        if has_begun:
            await program.ask("one")
        chats.retry.setInterval(20)
        composer.editor.setPlainText("words")
        composer.files.add(NOTES)
        composer.flush_draft()
        with locked():
            composer.on_submit()
            await program.until(lambda: not program.controller.answering.is_busy)
        await program.until(lambda: not chats.retry.isActive())
        assert kept(None) == kept(chats.current.id) == ("", ())

    program.run(story)

    async def again():
        assert len(program.controller.chats.refresh()) == 1
        assert (program.window.composer.text, program.window.composer.files.files) == ("", ())

    program.run(again)


def test_a_question_and_what_is_left_of_its_draft_are_written_as_one(program):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("one")
        chats.retry.setInterval(100_000)
        composer.editor.setPlainText("words")
        composer.flush_draft()
        with chats.store.transaction() as db:
            db.execute(
                "CREATE TRIGGER refuses BEFORE UPDATE OF draft ON conversation"
                " BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
        n_messages = len(chats.store.load(chats.current.id).messages)
        composer.set_text("")
        chats.sending.send("words")
        assert len(chats.store.load(chats.current.id).messages) == n_messages
        with chats.store.transaction() as db:
            db.execute("DROP TRIGGER refuses")
        chats.on_retry()
        assert [m.text for m in chats.store.load(chats.current.id).messages][-1] == "words"
        assert kept(chats.current.id)[0] == ""

    program.run(story)
