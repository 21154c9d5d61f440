"""Files of megabytes that go with a message: read and written beside the window, and nothing lost."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing, contextmanager, nullcontext

import pytest

from app.chat.conversation import Attachment, Message, now
from app.chat.store import ChatStore
from app.ui.unsent import SAVING
from tests.doubles import POEM, Answer
from tests.ui.conftest import shows_dialog
from tests.ui.test_branching import press
from tests.ui.test_chats import locked
from tests.ui.test_parting import asked
from tests.ui.test_unsent import kept

N_CHARS = 3_800_000
LARGE = tuple(Attachment(name=f"{n}.txt", text=f"{n} is a line of words.\n" * (N_CHARS // 24)) for n in range(5))
MIDDLING = Attachment(name="middling.txt", text="words " * 40_000)
"""Just large enough to be written beside the window."""
SMALL = (Attachment(name="notes.txt", text="one"), Attachment(name="a.py", text="x = 1"))
MOST_MS = 60
"""Writing all of them took the event loop 112 ms, sending them three times as long."""


@contextmanager
def turns_measured(is_it_so):
    """Measure how long the turns of the event loop take while something is so, in processor milliseconds."""
    taken = []

    async def watch():
        while True:
            before_s, was_so = time.thread_time(), is_it_so()
            await asyncio.sleep(0.001)
            if was_so and is_it_so():
                taken.append(1000 * (time.thread_time() - before_s))

    task = asyncio.get_running_loop().create_task(watch())
    try:
        yield taken
    finally:
        task.cancel()


async def attach(program):
    """Attach them; the engine's double would take seconds of this thread to count their tokens; charts come late."""
    await program.until(lambda: not program.controller._charts.isActive())
    await program.controller.counts.close()
    for file in LARGE:
        program.window.composer.files.add(file)


async def attach_and_save(program):
    """Attach them, and wait until they are kept with the draft."""
    await attach(program)
    program.window.composer.flush_draft()
    await program.controller.chats.settled()


def test_files_are_saved_beside_the_window_with_words(program):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("one")
        conversation_id = chats.current.id
        await attach(program)
        await asyncio.sleep(0.05)
        with turns_measured(lambda: composer.files.words) as taken:
            composer.flush_draft()
            assert composer.files.words == SAVING
            await program.until(lambda: not composer.files.words)
            await asyncio.sleep(0.01)
        assert max(taken) < MOST_MS
        assert kept(conversation_id)[1] == LARGE
        composer.take_files()
        composer.flush_draft()
        await chats.settled()
        assert kept(conversation_id)[1] == ()
        assert not composer.files.words

    program.run(story)


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_question_with_files_is_saved_beside_the_window_before_it_is_asked(program, has_begun):
    program.answers = (Answer(), Answer())

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        if has_begun:
            await program.ask("one")
        await attach_and_save(program)
        n_before = len(chats.shown)
        with turns_measured(lambda: chats.sending.is_busy) as taken:
            program.send("read this")
            assert composer.files.words == SAVING
            assert program.controller.answering.is_busy
            assert chats.shown[-1].text == "read this"
            await program.until(lambda: not composer.files.words)
            await asyncio.sleep(0)
            composer.editor.setPlainText("what I type meanwhile")
        assert max(taken) < MOST_MS
        await program.until(lambda: not program.controller.answering.is_busy)
        assert len(chats.shown) == n_before + 2
        composer.flush_draft()
        await chats.settled()

    program.run(story)
    with closing(ChatStore()) as store:
        (head,) = store.heads()
        messages = store.load(head.id).messages
        assert [m.text for m in messages[-2:]] == ["read this", POEM]
        assert messages[-2].attachments == LARGE
        assert store.draft(head.id) == "what I type meanwhile"
        with store.transaction() as db:
            assert db.execute("SELECT count(*) FROM draft_file").fetchone()[0] == 0


def test_a_stop_while_it_is_saved_leaves_the_question_once(program):
    async def story():
        await attach(program)
        program.send("read this")
        program.controller.answering.stop()
        await program.until(lambda: not program.controller.answering.is_busy)
        assert [m.text for m in program.controller.chats.shown] == ["read this"]
        assert all(m.id for m in program.controller.chats.shown)
        assert not program.window.composer.files.files

    program.run(story)
    with closing(ChatStore()) as store:
        (head,) = store.heads()
        assert [m.text for m in store.all_messages(head.id)] == ["read this"]


def test_a_program_that_is_closed_while_it_is_saved_has_it_all(program):
    async def story():
        await attach(program)
        program.send("read this")

    program.run(story)
    with closing(ChatStore()) as store:
        (head,) = store.heads()
        (message,) = store.all_messages(head.id)
        assert (message.text, message.attachments) == ("read this", LARGE)

    async def again():
        await attach(program)
        program.window.composer.flush_draft()

    program.run(again)
    assert kept(head.id)[1] == LARGE


def test_another_conversation_waits_until_files_are_saved(program):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("one")
        first = chats.current.id
        await attach(program)
        composer.flush_draft()
        chats.new()
        assert chats.current.id == first
        assert "still being saved" in program.window.notice.words
        await chats.settled()
        chats.new()
        assert (chats.current, composer.files.files) == (None, ())
        chats.open(first)
        assert composer.files.files == LARGE

    program.run(story)


def test_files_that_the_database_refuses_are_tried_again(program):
    async def story():
        chats = program.controller.chats
        await program.ask("one")
        with locked():
            await attach_and_save(program)
            assert "What you are typing was not saved." in program.window.notice.words
            assert chats.unsent.is_behind
        chats.on_retry()
        assert not chats.unsent.is_behind
        assert kept(chats.current.id)[1] == LARGE

    program.run(story)


@shows_dialog
def test_a_question_that_the_database_refuses_is_asked_about_at_the_end(program):
    async def story():
        chats = program.controller.chats
        chats.retry.setInterval(100_000)
        await attach(program)
        with locked():
            program.send("read this")
            await program.until(lambda: not program.controller.answering.is_busy)
            assert [m.text for m in chats.shown] == ["read this", POEM]
            program.window.close()
            question = await asked(program)
            assert question.text() == "2 messages could not be saved."
        question.again.click()
        await program.controller.closed()

    program.run(story)
    with closing(ChatStore()) as store:
        (head,) = store.heads()
        assert [m.text for m in store.load(head.id).messages] == ["read this", POEM]


def test_files_are_read_beside_the_window(program, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("words " * 600_000, encoding="utf-8")
    (tmp_path / "c.bin").write_bytes(bytes(range(256)) * 100)

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        composer.take_paths([tmp_path / name for name in ("a.txt", "c.bin", "b.txt")])
        await asyncio.sleep(0)
        assert composer.files.words == "Reading…"
        assert not composer.files.files
        await chats.reading.settled()
        assert [file.name for file in composer.files.files] == ["a.txt", "b.txt"]
        assert "c.bin" in program.window.notice.words
        composer.take_files()
        await program.ask("one")
        composer.take_paths([tmp_path / "a.txt"])
        chats.new()
        await chats.reading.settled()
        assert not composer.files.files
        assert "another conversation was opened" in program.window.notice.words

    program.run(story)


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_question_with_files_is_changed_beside_the_window(program, is_refused):
    program.answers = (Answer(), Answer("Otherwise."))

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await attach(program)
        await program.ask("read this")
        composer.flush_draft()
        await chats.settled()
        press(program, 0, "edit")
        composer.editor.setPlainText("read that")
        composer.flush_draft()
        with turns_measured(lambda: chats.sending.is_busy) as taken, locked() if is_refused else nullcontext():
            composer.on_submit()
            assert composer.files.words == SAVING
            assert program.controller.answering.is_busy
            await program.until(lambda: not chats.sending.is_busy)
        assert is_refused or max(taken) < MOST_MS
        await program.until(lambda: not program.controller.answering.is_busy)
        if is_refused:
            assert (composer.text, composer.is_editing) == ("read that", True)
            assert "The change was not saved." in program.window.notice.words
            assert [m.text for m in chats.shown] == ["read this", POEM]
            composer.end_edit()
        else:
            assert [m.text for m in chats.shown] == ["read that", "Otherwise."]
            assert chats.shown[0].attachments == LARGE
            assert not composer.is_editing
        await chats.settled()

    program.run(story)
    with closing(ChatStore()) as store:
        assert store.drafts.edit(store.heads()[0].id) is None


def test_an_answer_to_large_files_does_not_write_them_again(tmp_path):
    with closing(ChatStore(tmp_path / "chats.db")) as store:
        made = store.create()
        asked_for = Message(role="user", text="read this", attachments=LARGE[:2], created_at=now())
        row = store.add(made.id, asked_for)
        log = store.path.with_name(f"{store.path.name}-wal")
        store._db.connection.execute("PRAGMA wal_autocheckpoint = 0")
        before = log.stat().st_size
        answer = store.append(made.id, "assistant", "Read.")
        assert log.stat().st_size - before < 200_000
        assert store.branches.tree(made.id).chosen[row.id] == answer.id


@contextmanager
def nothing_swept():
    """Let the database refuse to give back what files took that are not kept any more."""
    with closing(ChatStore()) as store, store.transaction() as db:
        db.execute("CREATE TRIGGER refuses BEFORE DELETE ON draft_file BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    yield
    with closing(ChatStore()) as store, store.transaction() as db:
        db.execute("DROP TRIGGER refuses")


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_question_is_written_once_where_the_room_of_its_draft_is_not_given_back(program, has_begun):
    program.answers = (Answer(), Answer())

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        if has_begun:
            await program.ask("one")
        composer.files.add(MIDDLING)
        composer.flush_draft()
        await chats.settled()
        with nothing_swept():
            await program.ask("read this")
            assert all(m.id for m in chats.shown)
            assert not program.window.notice.words
            chats.on_retry()

    program.run(story)
    with closing(ChatStore()) as store:
        (head,) = store.heads()
        assert [m.text for m in store.all_messages(head.id)][-2:] == ["read this", POEM]
        assert [m.text for m in store.all_messages(head.id)].count("read this") == 1
        assert store.drafts.files(head.id) == ()


def test_files_are_kept_where_the_room_of_those_before_is_not_given_back():
    with closing(ChatStore()) as store:
        made = store.create()
        store.drafts.save_files(made.id, LARGE[:1])
        with nothing_swept():
            store.drafts.save_files(made.id, (MIDDLING,))
            assert store.drafts.files(made.id) == (MIDDLING,)
        store.drafts.save_files(made.id, (MIDDLING,))
        with store.transaction() as db:
            assert db.execute("SELECT count(*) FROM draft_file").fetchone()[0] == 1


def test_pressing_esc_again_while_it_is_saved_changes_nothing(program):
    program.answers = (Answer(), Answer())

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await attach(program)
        program.send("read this")
        for _ in range(3):
            composer.editor.stop_pressed.emit()
            await asyncio.sleep(0.002)
        assert chats.sending.is_busy
        assert program.controller.answering.is_busy
        await program.until(lambda: not program.controller.answering.is_busy)
        assert not chats.sending.is_busy
        assert composer._button.accessibleName() == "Send"
        await program.ask("and this")
        assert [m.text for m in chats.shown] == ["read this", "and this", POEM]

    program.run(story)


def test_a_wait_for_files_that_is_ended_twice_leaves_the_composer_ready(program):
    async def story():
        answering, composer = program.controller.answering, program.window.composer
        await attach(program)
        program.send("read this")
        await asyncio.sleep(0)
        answering.stop()
        await asyncio.sleep(0.002)
        assert program.controller.chats.sending.is_busy
        await answering.close()
        assert composer._button.accessibleName() == "Send"
        await program.controller.chats.settled()

    program.run(story)


def test_its_conversation_is_neither_deleted_nor_shown_anew_while_a_question_is_saved(program):
    program.answers = (Answer("First."), Answer("Second."))

    async def story():
        chats, window = program.controller.chats, program.window
        await program.ask("one")
        (question, answer), conversation_id = chats.shown, chats.current.id
        await attach(program)
        program.send("read this")
        for ask in (
            lambda: window.sidebar.delete_requested.emit(conversation_id),
            lambda: window.sidebar.hit_chosen.emit(conversation_id, answer.id),
        ):
            window.notice.on_close()
            ask()
            assert chats.sending.is_busy
            assert "still being saved" in window.notice.words
            assert [m.text for m in chats.shown] == ["one", "First.", "read this"]
        await program.until(lambda: not program.controller.answering.is_busy)
        assert [m.text for m in chats.shown] == ["one", "First.", "read this", "Second."]
        window.sidebar.hit_chosen.emit(conversation_id, question.id)
        window.sidebar.delete_requested.emit(conversation_id)
        assert chats.current is None

    program.run(story)


def test_a_question_whose_conversation_is_gone_when_it_is_saved_is_not_answered_elsewhere(program):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        composer.files.add(MIDDLING)
        program.send("read this")
        await asyncio.sleep(0)
        assert chats.sending.is_busy
        chats.forget()
        await program.until(lambda: not program.controller.answering.is_busy)
        assert (chats.shown, chats.growing) == ((), None)

    program.run(story)
    with closing(ChatStore()) as store:
        (head,) = store.heads()
        assert [m.text for m in store.all_messages(head.id)] == ["read this"]


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_message_waits_for_the_file_that_is_being_read(program, tmp_path, has_begun):
    (tmp_path / "a.txt").write_text("words " * 600_000, encoding="utf-8")
    program.answers = (Answer(), Answer("Second."), Answer("Third."))

    async def story():
        chats, window, composer = program.controller.chats, program.window, program.window.composer
        if has_begun:
            await program.ask("one")
        await program.controller.counts.close()
        before = chats.shown
        composer.take_paths([tmp_path / "a.txt"])
        for _ in range(2):  # at once, and while it is read
            window.notice.on_close()
            program.send("read this")
            assert (composer.text, chats.shown) == ("read this", before)
            assert "Still reading “a.txt”" in window.notice.words
            await asyncio.sleep(0)
            assert composer.files.words == "Reading…"
        window.transcript.example_chosen.emit("an example")
        assert chats.shown == before
        await chats.reading.settled()
        composer.on_submit()
        assert chats.shown[-1].text == "read this"
        assert [file.name for file in chats.shown[-1].attachments] == ["a.txt"]
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)


def test_a_large_file_that_stays_behind_an_example_is_saved_beside_the_window_with_it(program):
    async def story():
        chats, window, composer = program.controller.chats, program.window, program.window.composer
        composer.editor.setPlainText("about this")
        composer.files.add(Attachment(name="a.txt", text="words " * 100_000))
        window.transcript.example_chosen.emit("an example")
        assert (composer.text, len(composer.files.files)) == ("about this", 1)
        assert chats.sending.is_busy
        await chats.sending.settled()
        with closing(ChatStore()) as store:  # as it was written with the question
            (head,) = store.heads()
            assert store.draft(head.id) == "about this"
            assert [file.name for file in store.drafts.files(head.id)] == ["a.txt"]
            assert (store.draft(None), store.drafts.files(None)) == ("", ())
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)


def test_a_file_that_is_read_for_another_conversation_holds_nothing_up(program, tmp_path):
    (tmp_path / "a.txt").write_text("words " * 600_000, encoding="utf-8")
    program.answers = (Answer(), Answer("Second."))

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("one")
        composer.take_paths([tmp_path / "a.txt"])
        await asyncio.sleep(0)
        chats.new()
        assert composer.files.words == "Reading…"
        program.send("two")
        assert [m.text for m in chats.shown] == ["two"]
        await program.until(lambda: not program.controller.answering.is_busy)
        await chats.reading.settled()

    program.run(story)


@pytest.mark.parametrize("is_begun", [False, True])
def test_of_files_that_change_while_they_are_saved_the_newest_are_kept(program, is_begun):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("one")
        await attach(program)
        composer.flush_draft()
        if is_begun:
            await asyncio.sleep(0.005)
        for files in ((SMALL[0],), SMALL):
            composer.files.set_files(files)
            composer.flush_draft()
        await chats.settled()
        assert not chats.unsent.is_behind
        assert kept(chats.current.id)[1] == SMALL

    program.run(story)


@pytest.mark.parametrize("has_begun", [False, True])
def test_files_that_were_taken_out_while_they_were_saved_do_not_come_back_after_the_message(program, has_begun):
    program.answers = (Answer(), Answer())

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        if has_begun:
            await program.ask("one")
        await attach(program)
        composer.flush_draft()
        await asyncio.sleep(0.005)
        assert chats.aside.is_busy
        composer.take_files()
        composer.flush_draft()
        await program.ask("go")
        await chats.settled()
        assert not chats.unsent.is_behind
        assert kept(chats.current.id)[1] == kept(None)[1] == ()

    program.run(story)
