"""The conversations: list, search, rename, delete and undo, drafts, exports, and a database that fails."""

import asyncio
import html
import json
import os
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from app.chat.schema import MIGRATIONS, migrate
from app.chat.store import ChatStore, store_path
from tests.doubles import POEM, Answer
from tests.fair_time import FairWatch
from tests.ui.conftest import shows_dialog
from tests.ui.test_answering import stored


def test_an_empty_start_says_what_to_do(program):
    async def story():
        window = program.window
        assert window.transcript.welcome.isVisible()
        assert window.sidebar.titles() == []
        assert window.status == "The starter model is ready. Everything stays on this computer."
        assert window.composer.editor.hasFocus() or not window.isActiveWindow()

    program.run(story)


def test_new_and_open(program):
    async def story():
        chats, window = program.controller.chats, program.window
        await program.ask("About trains")
        first = chats.current.id
        chats.new()
        assert chats.current is None
        assert window.windowTitle() == "Slipstream"
        await program.ask("About boats")
        assert window.sidebar.titles() == ["About boats", "About trains"]
        window.sidebar.conversation_chosen.emit(first)
        assert window.transcript.views[0].text == "About trains"
        assert window.windowTitle() == "About trains – Slipstream"

    program.run(story)


def test_the_newest_conversation_is_open_at_the_next_start(program, qapp, theme, qtbot):
    async def story():
        await program.ask("Remember me")

    program.run(story)

    async def again():
        assert program.window.transcript.views[0].text == "Remember me"
        assert program.said == POEM

    program.run(again)


def test_what_a_crash_left_is_shown_as_interrupted(program):
    with closing(ChatStore()) as store:
        chat = store.create("Crashed")
        store.append(chat.id, "user", "q")
        half = store.append(chat.id, "assistant", "", "streaming")
        store.update(half.id, "Half a sen", "streaming")

    async def story():
        assert program.said == "Half a sen"
        assert "interrupted" in program.last_answer.mark
        assert [m.content for m in program.controller.chats.history()] == ["q", "Half a sen"]

    program.run(story)


def test_search_finds_what_was_said(program, qtbot):
    async def story():
        await program.ask("About trains")
        program.controller.chats.new()
        await program.ask("About boats")
        qtbot.keyClicks(program.window.sidebar._search, "boats")
        await program.until(lambda: program.window.sidebar.titles() == ["About boats"])
        program.window.sidebar._search.setText("nothing like it")
        await program.until(lambda: program.window.sidebar._nothing.text() == "Nothing found.")
        program.window.sidebar._search.clear()
        await program.until(lambda: len(program.window.sidebar.titles()) == 2)

    program.run(story)


def test_rename_in_place(program, qtbot):
    async def story():
        await program.ask("Old title")
        view = program.window.sidebar._list()
        view.setFocus()
        view.edit(view.currentIndex())
        await program.until(lambda: view.findChild(type(program.window.sidebar._search)) is not None)
        editor = view.findChild(type(program.window.sidebar._search))
        assert editor.accessibleName() == "New title"
        editor.setText("New title of it")
        qtbot.keyClick(editor, Qt.Key.Key_Return)
        await program.until(lambda: program.window.sidebar.titles() == ["New title of it"])
        assert program.window.windowTitle() == "New title of it – Slipstream"

    program.run(story)


def test_delete_by_key_and_undo(program, qtbot):
    async def story():
        await program.ask("Precious")
        view = program.window.sidebar._list()
        qtbot.keyClick(view, Qt.Key.Key_Delete)
        assert program.window.sidebar.titles() == []
        assert program.window.transcript.welcome.isVisible()
        assert program.window.notice.words == "“Precious” was deleted."
        program.window.notice.on_action()
        assert program.window.sidebar.titles() == ["Precious"]
        assert program.said == POEM

    program.run(story)


def test_deleted_conversations_are_not_listed_at_the_next_start_and_can_be_had_back(program):
    async def story():
        await program.ask("Not precious")
        program.controller.deleting.delete(program.controller.chats.current.id)

    program.run(story)

    async def again():
        assert program.window.sidebar.titles() == []
        (head,) = program.controller.store.deleted()
        program.controller.deleting.undelete(head.id)
        assert program.window.sidebar.titles() == ["Not precious"]

    program.run(again)


def test_the_conversation_that_is_being_answered_is_not_deleted(program):
    program.answers = (Answer(pace_s=0.02),)

    async def story():
        program.send("go")
        await program.until(lambda: program.controller.chats.current is not None)
        program.controller.deleting.delete(program.controller.chats.current.id)
        assert "being written" in program.window.notice.words
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)
    assert len(stored(program)) == 2


def test_what_is_typed_without_a_pause_is_kept_too(program, qtbot):
    async def story():
        for _ in range(60):
            qtbot.keyClicks(program.window.composer.editor, "word ")
            await asyncio.sleep(0.05)
            if program.controller.chats.store.draft(None).startswith("word word word"):
                return
        pytest.fail("nothing was kept in 3 s of typing")

    program.run(story)


def test_drafts_are_kept_per_conversation_and_over_restarts(program, qtbot):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        await program.ask("one")
        first = chats.current.id
        qtbot.keyClicks(composer.editor, "half a thought")
        chats.new()
        assert composer.text == ""
        qtbot.keyClicks(composer.editor, "another")
        chats.open(first)
        assert composer.text == "half a thought"
        chats.new()
        assert composer.text == "another"

    program.run(story)

    async def again():
        drafts = [program.window.composer.text]
        for title_id in program.controller.chats.refresh():
            program.controller.chats.open(title_id)
            drafts.append(program.window.composer.text)
        assert set(drafts) == {"half a thought", "another"}

    program.run(again)


def test_what_was_typed_into_a_new_conversation_outlives_a_kill(program, qtbot):
    def kept():
        with closing(ChatStore()) as store:
            return store.draft(None)

    async def story():
        await program.ask("one")
        program.controller.chats.new()
        qtbot.keyClicks(program.window.composer.editor, "half a thought")
        await program.until(lambda: kept() == "half a thought")

    program.run(story)
    with closing(ChatStore()) as store:
        assert store.draft(None) == ""  # a program that ends in order has made a conversation of it
        store.save_draft(None, "never sent")  # what one that is killed leaves

    async def again():
        (newest, *_rest) = program.controller.chats.refresh()
        program.controller.chats.open(newest)
        assert program.window.composer.text == "never sent"
        await program.ask("now sent")

    program.run(again)
    assert kept() == ""


def test_what_is_to_be_said_about_the_opening_is_said(program):
    with closing(sqlite3.connect(store_path(), isolation_level=None)) as db:
        migrate(db, MIGRATIONS[:1])

    async def story():
        assert "upgraded" in program.window.notice.words

    program.run(story)


@shows_dialog
@pytest.mark.parametrize("kind", ["md", "json", "html", "txt"])
def test_export_of_a_conversation(program, tmp_path, kind):
    async def story():
        await program.ask("Take this / with you?")
        program.window.sidebar.export_requested.emit(program.controller.chats.current.id, kind)
        (dialog,) = program.window.findChildren(QFileDialog)
        assert dialog.selectedFiles()[0].endswith(f"Take this with you.{kind}")
        dialog.fileSelected.emit(str(tmp_path / f"out.{kind}"))
        dialog.reject()
        await program.until(lambda: "Exported" in program.window.notice.words)

    program.run(story)
    text = (tmp_path / f"out.{kind}").read_text(encoding="utf-8")
    if kind == "json":
        text = json.loads(text)["conversations"][0]["messages"][1]["text"]
    assert html.unescape(text.replace("<br />", "")).count(POEM.splitlines()[0]) == 1


def test_export_that_cannot_be_written_is_said(program, tmp_path):
    async def story():
        await program.ask("x")
        program.controller.chats.exporting.write_export(program.controller.chats.current.id, tmp_path / "no" / "x.md")
        assert "Cannot write" in program.window.notice.words

    program.run(story)


def test_a_locked_database_is_said_and_caught_up_with(program):
    async def story():
        await program.ask("first")
        with closing(sqlite3.connect(store_path(), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            program.send("second")
            assert "not saved yet" in program.window.notice.words
            await program.until(lambda: not program.controller.answering.is_busy)
            assert program.said == POEM, "the answer is on the screen though it cannot be saved"
            program.controller.chats.new()
            assert program.window.transcript.views, "what is not saved stays on the screen"
            other.execute("ROLLBACK")
        await program.ask("third")

    program.run(story)
    assert [m.text for m in stored(program)] == ["first", POEM, "second", POEM, "third", POEM]


def test_what_a_locked_database_refused_is_saved_by_itself_when_it_is_free(program):
    async def story():
        program.controller.chats.retry.setInterval(50)
        with closing(sqlite3.connect(store_path(), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await program.ask("first")
            assert "not saved" in program.window.notice.words
            other.execute("ROLLBACK")
        await program.until(lambda: "saved now" in program.window.notice.words)
        assert [m.text for m in stored(program)] == ["first", POEM]
        assert not program.controller.chats.retry.isActive()

    program.run(story)


@contextmanager
def locked():
    """Hold the database as another program does."""
    with closing(sqlite3.connect(store_path(), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_the_end_of_an_answer_that_a_locked_database_refused_is_written_later(program):
    program.answers = (Answer(pace_s=0.01),)

    async def story():
        program.send("go")
        await program.until(lambda: program.said)
        with locked():
            await program.until(lambda: not program.controller.answering.is_busy)
            assert "not saved" in program.window.notice.words
            program.controller.chats.new()
            assert program.said == POEM, "what is not saved stays on the screen"
        program.controller.chats.new()
        assert program.window.transcript.welcome.isVisible()

    program.run(story)
    assert [(m.text, m.state) for m in stored(program)] == [("go", "complete"), (POEM, "complete")]


def test_the_end_of_an_answer_elsewhere_that_a_locked_database_refused_is_written_later(program):
    program.answers = (Answer(pace_s=0.01),)

    async def story():
        program.send("go")
        await program.until(lambda: program.said)
        chat = program.controller.chats.current.id
        program.controller.chats.new()
        with locked():
            await program.until(lambda: not program.controller.answering.is_busy)
            program.controller.chats.open(chat)
            assert program.controller.chats.current is None, "the row holds less than was said"
        program.controller.chats.open(chat)
        assert program.said == POEM

    program.run(story)


@pytest.mark.parametrize("leaves", [False, True])
def test_an_answer_that_began_while_the_database_was_locked_is_saved_as_it_grows(program, leaves):
    program.answers = (Answer(pace_s=0.05),)

    async def story():
        chats = program.controller.chats
        with locked():
            program.send("go")
            await program.until(lambda: program.said)
        if leaves:
            chats.new()
        program.controller.answering.on_save_due()
        with closing(ChatStore()) as other:
            (chat,) = (head.id for head in other.heads())
            question, answer = other.load(chat).messages
        assert (question.text, answer.state) == ("go", "streaming")
        assert POEM.startswith(answer.text)
        assert answer.text
        await program.until(lambda: not program.controller.answering.is_busy)
        chats.open(chat)
        assert [view.text for view in program.window.transcript.views] == ["go", POEM]

    program.run(story)
    assert [(m.text, m.state) for m in stored(program)] == [("go", "complete"), (POEM, "complete")]


@shows_dialog
def test_a_database_that_cannot_be_opened_leaves_a_working_window(program, home):
    (home / "data").mkdir(parents=True)
    store_path().mkdir()

    async def story():
        words = program.window.notice.words
        assert words.startswith("Cannot open the chat database")
        assert "not saved" in words
        assert (await program.ask("still here?")).text == POEM
        program.window.close()
        parting = program.controller.chats.parting
        await program.until(lambda: parting.question is not None)
        assert parting.question.text() == "2 messages could not be saved."
        parting.question.quit.click()
        await program.controller.closed()

    program.run(story)


def test_a_database_of_a_newer_version_is_said_to_be_one_and_stays_as_it_is(program, home):
    # GIVEN data that the next version has upgraded
    store_path().parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(store_path())) as db:
        db.execute("PRAGMA user_version = 99")
    before = store_path().read_bytes()

    async def story():
        # THEN the window tells why no conversation is there, and what becomes of what is written now
        words = program.window.notice.words
        assert "newer version" in words
        assert "not touched" in words
        assert "Until then conversations are not saved" in words

    program.run(story)
    assert store_path().read_bytes() == before


def test_a_damaged_database_is_set_aside_and_said(program, home, expect_log):
    expect_log("database was damaged")
    (home / "data").mkdir(parents=True)
    store_path().write_bytes(b"ruined" * 2000)

    async def story():
        assert "was damaged" in program.window.notice.words
        await program.ask("go on")

    program.run(story)
    assert len(list(Path(home / "data").glob("chats.db.damaged-*"))) == 1
    assert len(stored(program)) == 2


def test_opening_a_long_conversation_is_quick(program):
    with closing(ChatStore()) as store:
        chat = store.create("Long")
        for n in range(300):
            store.append(chat.id, "user" if n % 2 else "assistant", f"# {n}\n\nSome `code` and text. " + "word " * 60)
        other = store.create("Short")
        store.append(other.id, "user", "x")

    async def story():
        watch = FairWatch()
        program.controller.chats.open(chat.id)
        took_s = watch.took_s
        assert took_s < 0.5 * (4 if os.environ.get("CI") else 2), f"{took_s:.2f} s"

    program.run(story)


def test_the_next_window_opens_the_conversation_that_was_open(program):
    with closing(ChatStore()) as store:
        store.append(store.create("Older").id, "user", "x")
        store.append(store.create("Newer").id, "user", "y")

    async def story():
        older = program.controller.chats.refresh()[-1]
        program.controller.chats.open(older)

    program.run(story)

    async def again():
        assert program.controller.chats.current.title == "Older"

    program.run(again)


def test_another_conversation_of_the_same_number_is_not_taken_for_the_last(program):
    with closing(ChatStore()) as store:
        store.append(store.create("Of another database").id, "user", "x")
        store.append(store.create("Newest").id, "user", "y")
    program.window.remember_conversation(1, "2020-01-01T00:00:00+00:00")

    async def story():
        assert program.controller.chats.current.title == "Newest"

    program.run(story)


@pytest.mark.parametrize("number", ["9" * 5000, "-3", "x", "\u0663", "99999999999999999999"])
def test_a_number_that_can_be_none_opens_the_newest(program, number):
    program.window.remember_conversation(number)
    with closing(ChatStore()) as store:
        store.append(store.create("Newest").id, "user", "y")

    async def story():
        assert program.controller.chats.current.title == "Newest"

    program.run(story)
