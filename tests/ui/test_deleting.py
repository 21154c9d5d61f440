"""Deleted conversations: brought back, erased for good, erased after their time; and damage that is found late."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from app.chat.checking import FileCheck
from app.chat.store import ChatStore, store_path
from app.ui.question import Question
from tests.doubles import POEM
from tests.ui.conftest import shows_dialog
from tests.ui.test_chats import locked


def titles():
    with closing(sqlite3.connect(store_path())) as db:
        return [row[0] for row in db.execute("SELECT title FROM conversation ORDER BY id")]


def delete_one(title, *, days_ago=0):
    with closing(ChatStore()) as store:
        made = store.create(title)
        store.append(made.id, "user", f"about {title}")
        store.delete(made.id)
        with store.transaction() as db:
            db.execute(
                "UPDATE conversation SET deleted_at = strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', ?) WHERE id = ?",
                (f"-{days_ago} days", made.id),
            )


@shows_dialog
def test_a_deleted_conversation_is_brought_back_after_a_restart(program):
    delete_one("Trains")

    async def story():
        assert program.window.sidebar.titles() == []
        deleting = program.controller.deleting
        deleting.open_dialog()
        assert deleting.dialog.list.count() == 1
        assert deleting.dialog.list.item(0).text().startswith("Trains\ndeleted")
        assert "30 days" in deleting.dialog.about.text()
        deleting.dialog.bring_back.click()
        assert program.window.sidebar.titles() == ["Trains"]
        assert program.controller.chats.current.title == "Trains"
        assert deleting.dialog.list.count() == 0
        assert not deleting.dialog.bring_back.isEnabled()
        deleting.dialog.reject()

    program.run(story)


@shows_dialog
def test_one_is_erased_for_good_only_after_asking(program):
    delete_one("Trains")
    delete_one("Boats")

    async def story():
        deleting = program.controller.deleting
        deleting.open_dialog()
        for answer in (False, True):
            deleting.dialog.list.setCurrentRow(0)
            deleting.dialog.erase.click()
            (question,) = deleting.dialog.findChildren(Question)
            (question.answer if answer else question.escapeButton()).click()
            question.setParent(None)
            if not answer:
                assert titles() == ["Trains", "Boats"]
        await program.until(lambda: deleting.dialog.list.count() == 1)
        assert len(titles()) == 1
        deleting.dialog.reject()

    program.run(story)


def test_what_was_deleted_long_ago_is_erased_after_the_start_and_nothing_else(program):
    delete_one("Old", days_ago=31)
    delete_one("Young", days_ago=29)

    async def story():
        program.controller.start()
        assert titles() == ["Old", "Young"]  # the start does not wait for it
        await program.until(lambda: not program.controller.engine.is_loading)
        program.controller.deleting.erase_old()
        await program.until(lambda: titles() == ["Young"])
        await program.ask("go")
        assert program.window.notice.words == ""

    program.run(story, is_started=False)


def test_damage_that_is_found_late_is_told(program, tmp_path):
    async def story():
        store = program.controller.store
        store.check = FileCheck(None)
        store.check.problem = "wrong # of entries in index message_by_parent"
        program.controller.deleting.on_look()
        assert "is damaged" in program.window.notice.words
        assert "repaired at the next start" in program.window.notice.words

    program.run(story)


def test_undo_brings_back_what_the_database_had_refused_before_the_deletion(program):
    async def story():
        chats, deleting = program.controller.chats, program.controller.deleting
        chats.retry.setInterval(100_000)
        await program.ask("first")
        deleted = chats.current.id
        with locked():
            await program.ask("second")
            program.window.composer.editor.setPlainText("half a thought")
            deleting.delete(deleted)
            assert chats.current.id == deleted
            assert "was not deleted" in program.window.notice.words
            assert [m.text for m in chats.shown] == ["first", POEM, "second", POEM]
        deleting.delete(deleted)
        assert (chats.current, chats.shown) == (None, ())
        deleting.undelete(deleted)
        assert [m.text for m in chats.shown] == ["first", POEM, "second", POEM]
        assert program.window.composer.text == "half a thought"

    program.run(story)
