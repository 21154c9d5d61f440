"""The start on a database that takes long to open: the window is there, says what it does, and can be closed."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

import pytest
import qasync

from app.chat.checking import suspicion_of
from app.chat.database import connect
from app.chat.schema import MIGRATIONS, migrate, version_of
from app.chat.store import ChatStore, store_path
from app.chat.upgrading import How
from app.errors import StoreError
from app.models.transfer import StoppedError
from app.ui.controller import run as run_program
from app.ui.restoring import Said
from app.ui.store_opening import open_store, open_store_behind, wait_for_store
from app.ui.work_dialog import Work, WorkDialog
from tests.chat.test_opening import content, migrate_held, old_database, spoil
from tests.ui.conftest import shows_dialog

pytestmark = shows_dialog


def held(gate):
    """Return steps to a newer format, one of which waits in its middle."""

    def wait(_db, note):
        note(1, 2)
        assert gate.wait(30)
        note(2, 2)

    return (*MIGRATIONS, wait)


def run(qapp, story):
    with qasync.QEventLoop(qapp) as loop:
        return loop.run_until_complete(story())


async def shown(window):
    """Wait until the window says what is done."""
    while not (dialogs := [d for d in window.findChildren(WorkDialog) if d.isVisible()]):
        await asyncio.sleep(0.02)
    return dialogs[0]


def test_an_upgrade_is_said_with_its_progress_while_the_window_lives(home, qapp, window):
    gate = threading.Event()
    old_database(store_path())

    async def story():
        opening = asyncio.ensure_future(open_store_behind(window, held(gate)))
        dialog = await shown(window)
        assert "for this version" in dialog.words.text()
        assert "copy" not in dialog.words.text(), "none is made of a file that cannot be written"
        assert not window.composer.isEnabled()
        while dialog.progress.value() < 90:  # the copy, the other steps and half of the last
            await asyncio.sleep(0.02)
        assert dialog.progress.value() < 100
        gate.set()
        store = await opening
        assert window.composer.isEnabled()
        assert not [d for d in window.findChildren(WorkDialog) if d.isVisible()]
        return store

    with closing(run(qapp, story)) as store:
        assert len(store.search("albatross")) == 30  # on this thread, though another has opened it
        assert "format-1" in store.notice.hint


def test_quitting_meanwhile_leaves_the_file_as_it_was_and_no_copy(home, qapp, window):
    gate = threading.Event()
    old_database(store_path())
    before = content(store_path())

    async def story():
        opening = asyncio.ensure_future(open_store_behind(window, held(gate)))
        dialog = await shown(window)
        dialog.cancel.click()
        assert dialog.words.text() == "Stopping…"
        gate.set()
        return await opening

    assert run(qapp, story) is None
    assert content(store_path()) == before
    assert list(store_path().parent.glob("chats.db.*")) == []
    with closing(ChatStore()) as store:
        assert len(store.search("albatross")) == 30


def test_closing_the_window_meanwhile_is_quitting(home, qapp, window):
    gate = threading.Event()
    old_database(store_path())

    async def story():
        opening = asyncio.ensure_future(open_store_behind(window, held(gate)))
        await shown(window)
        window.close()
        gate.set()
        return await opening

    assert run(qapp, story) is None


def test_a_close_before_anybody_listened_is_quitting(home, qapp, window):
    gate = threading.Event()
    old_database(store_path())
    before = content(store_path())

    async def story():
        window.close()
        opening = asyncio.ensure_future(open_store_behind(window, held(gate)))
        while window.status != "Stopping…":
            await asyncio.sleep(0.02)
        gate.set()
        return await opening

    assert run(qapp, story) is None
    assert content(store_path()) == before


def test_model_files_that_are_opened_meanwhile_wait_for_the_program(home, qapp, window):
    gate = threading.Event()
    old_database(store_path())
    window.wanted_files = [Path("one.gguf")]

    async def story():
        opening = asyncio.ensure_future(open_store_behind(window, held(gate)))
        await shown(window)
        window.files_given.emit([Path("two.gguf")])
        gate.set()
        return await opening

    run(qapp, story).close()
    assert window.wanted_files == [Path("one.gguf"), Path("two.gguf")]
    window.files_given.emit([Path("three.gguf")])
    assert len(window.wanted_files) == 2, "from now on the program takes them"


@pytest.mark.parametrize("is_quit", [False, True])
def test_another_program_that_upgrades_is_waited_for_and_nothing_is_read_into_memory(home, qapp, window, is_quit):
    old_database(store_path())
    holder = connect(store_path())
    holder.execute("BEGIN IMMEDIATE")

    async def story():
        opening = asyncio.ensure_future(open_store_behind(window))
        dialog = await shown(window)
        while "Another program" not in dialog.words.text():
            await asyncio.sleep(0.02)
        assert dialog.progress.accessibleName() == dialog.words.text()
        assert dialog.progress.maximum() == 0, "how far it is, nobody knows"
        assert not window.composer.isEnabled()
        if is_quit:
            dialog.cancel.click()
        else:
            migrate_held(holder)
            holder.execute("COMMIT")
        return await opening

    store = run(qapp, story)
    holder.close()
    if is_quit:
        assert store is None
        return
    with closing(store):
        assert store.is_on_disk
        assert store.notice is None
        assert len(store.search("albatross")) == 30


def test_how_a_restore_went_is_said_also_to_who_quits_while_what_it_brought_is_made_ready(home, qapp, window, theme):
    old_database(store_path())
    holder = connect(store_path())
    holder.execute("BEGIN IMMEDIATE")

    async def story():
        running = asyncio.ensure_future(
            run_program(window, theme, Said("info", "It was restored.", "What was is kept."))
        )
        dialog = await shown(window)
        assert window.notice.words == "It was restored. What was is kept."
        assert window.notice.isEnabled()
        dialog.cancel.click()
        return await running

    assert run(qapp, story) is None
    holder.close()


@pytest.mark.parametrize(("n_done", "after_s", "is_said"), [(99, 0.9, False), (99, 1.1, True), (20, 0.5, True)])
def test_an_upgrade_that_nearly_ends_is_not_said(home, qapp, window, n_done, after_s, is_said):
    work = Work()
    work.clock_s = lambda: work.began_s + after_s
    work.note(n_done, 100)

    async def story():
        opening: Future[ChatStore] = Future()
        waiting = asyncio.ensure_future(wait_for_store(window, work, opening))
        await asyncio.sleep(0.2)
        seen = [dialog.isVisible() for dialog in window.findChildren(WorkDialog)]
        opening.set_result(ChatStore())
        (await waiting).close()
        return seen

    assert run(qapp, story) == [True] * is_said


def test_a_repair_that_takes_long_is_said_and_quitting_leaves_it_to_the_next_start(home, qapp, window, expect_log):
    gate = threading.Event()
    with closing(ChatStore()) as store:
        for n in range(100):
            store.append(store.create(f"c{n}").id, "user", f"text {n} " * 50)
    spoil(store_path())
    before = store_path().read_bytes()

    async def story():
        opening = asyncio.ensure_future(open_store_behind(window, held(gate)))
        dialog = await shown(window)
        assert "repaired" in dialog.words.text()
        assert dialog.progress.maximum() == 0, "how far it is, nobody knows"
        dialog.cancel.click()
        assert dialog.words.text() == "Stopping…"
        gate.set()
        return await opening

    assert run(qapp, story) is None
    assert store_path().read_bytes() == before
    assert not [p for p in store_path().parent.iterdir() if "damaged" in p.name or "repaired" in p.name]
    expect_log("database was damaged")
    with closing(ChatStore()) as store:
        assert store.damage is not None


def test_a_check_that_is_waited_for_to_its_end_can_be_stopped(home):
    with closing(ChatStore()) as store:
        chat = store.create()
        for n in range(100):
            store.append(chat.id, "user", f"{n} " + os.urandom(100_000).hex())
    suspicion_of(store_path()).touch()
    work = Work()
    work.stop()
    with pytest.raises(StoppedError):
        ChatStore(how=How(note=work.note, look=work.look))
    assert suspicion_of(store_path()).exists()


def test_what_was_wrong_with_a_file_is_said_also_to_who_wanted_to_quit(home, qapp, window):
    with closing(ChatStore()) as store:
        store.damage = StoreError("The chat database was damaged.", "Keep it.")
        work, opening = Work(), Future()
        opening.set_result(store)
        window.close()
        work.stop()

        async def story():
            return await wait_for_store(window, work, opening)

        assert run(qapp, story) is store
        assert not window.is_close_requested
        store.damage = None
        assert run(qapp, story) is None


def test_what_opens_at_once_is_there_at_once_and_nothing_is_said(home, qapp, window):
    async def story():
        store = await open_store_behind(window)
        assert window.findChildren(WorkDialog) == []
        return store

    with closing(run(qapp, story)) as store:
        assert store.create("one").id == 1


def test_a_disk_that_refuses_gives_a_store_in_memory_that_says_so(home, qapp, window):
    store_path().mkdir(parents=True)  # no file can be there

    async def story():
        return await open_store_behind(window)

    with closing(run(qapp, story)) as store:
        assert not store.is_on_disk
        assert "not saved" in store.notice.hint
        assert store.create("one").id == 1


def test_each_step_tells_how_far_it_is_and_never_goes_back(home):
    path = store_path()
    old_database(path)
    told = []
    with closing(ChatStore(path, How(note=lambda n_done, n_all: told.append(n_done / n_all)))):
        pass
    assert told == sorted(told)
    assert len(set(told)) > 60  # each message of each step that reads them all
    assert told[-1] == 1
    with closing(connect(path)) as db:
        assert version_of(db) == len(MIGRATIONS)


def test_an_upgrade_that_is_killed_again_and_again_keeps_few_copies(home):
    path = store_path()
    old_database(path)
    for n in range(6):
        path.with_name(f"chats.db.format-1-2026010{n}-000000").write_bytes(path.read_bytes())
    with closing(open_store()):
        pass
    assert len(list(path.parent.glob("chats.db.format-*"))) == 3


def test_the_index_is_the_same_as_one_that_is_made_anew(home):
    """Broken characters and all: what is taken out of it is what was put in."""
    at = "2026-01-01T00:00:00+00:00"
    with closing(connect(store_path())) as db:
        migrate(db, MIGRATIONS[:1])
        db.execute("INSERT INTO conversation(id, title, created_at, updated_at) VALUES (1, 'Old', ?, ?)", (at, at))
        db.execute(
            "INSERT INTO message(conversation_id, role, text, state, created_at) VALUES (1, 'user', CAST(? AS TEXT),"
            " 'complete', ?)",
            (b"albatross \xff\xfe \xc3 pelican \xe2\x82", at),
        )
        migrate(db, MIGRATIONS[:4])
        db.execute("UPDATE message SET reasoning = CAST(? AS TEXT)", (b"heron \xff stork",))
        migrate(db)
        db.execute("INSERT INTO message_text(message_text, rank) VALUES ('integrity-check', 1)")
    with closing(ChatStore()) as store:
        assert all(len(store.search(word)) == 1 for word in ("albatross", "pelican", "heron", "stork"))
        store.update(1, "nothing", "complete")
        assert store.search("pelican") == ()
