"""Everything a person has made: out and in from the window, with progress, a way out, and nothing half done."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import zipfile
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest
import qasync

from app.chat.backup import read_manifest
from app.chat.chat_settings import ConversationSettings
from app.chat.importing import read_path
from app.chat.store import ChatStore
from app.errors import StoreError
from app.models.transfer import StoppedError
from app.paths import resource
from app.ui.data_control import add_everything, export_everything
from app.ui.restoring import restore
from app.ui.work_dialog import Work, WorkDialog
from tests.ui.conftest import shows_dialog

pytestmark = shows_dialog

ROOT = Path(__file__).resolve().parents[2]


def fill(store, n):
    for number in range(n):
        made = store.create(f"Conversation {number}")
        store.append(made.id, "user", f"question {number}", "complete")
        store.append(made.id, "assistant", f"answer {number}", "complete")


def said(program):
    return program.window.notice.words


@pytest.mark.parametrize("kind", ["json", "md", "html", "txt"])
def test_all_conversations_go_into_one_file(program, tmp_path, kind):
    path = tmp_path / f"all.{kind}"

    async def story():
        fill(program.controller.store, 7)
        program.controller.data.export_all(path)
        await program.until(lambda: said(program))
        assert said(program) == f"7 conversations written to {path}."

    program.run(story)
    text = path.read_text(encoding="utf-8")
    assert all(f"answer {n}" in text for n in range(7))


def test_what_went_out_comes_in_again(program, tmp_path):
    path = tmp_path / "all.json"

    async def story():
        fill(program.controller.store, 3)
        program.controller.data.export_all(path)
        await program.until(lambda: "written" in said(program))
        program.controller.data.import_files([path])
        await program.until(lambda: "3 conversations with 6 messages" in said(program))
        assert len(program.controller.store.heads()) == 6
        assert program.window.sidebar.titles().count("Conversation 1") == 2

    program.run(story)


def test_presets_and_empty_folders_go_out_with_everything_and_come_in(home, tmp_path):
    path, brief = tmp_path / "all.json", ConversationSettings(system_prompt="Be brief.")
    with closing(ChatStore()) as store:
        fill(store, 1)
        store.folders.create("Empty")
        store.presets.save("Brief", brief)
        assert export_everything(store, path, Work().note) == 1
        jsonschema.validate(json.loads(path.read_text()), json.loads(resource("chats.schema.json").read_text()))
        add_everything(store, [read_path(path)], Work().note)
        assert [folder.name for folder in store.folders.all()] == ["Empty"]
        assert [(preset.name, preset.settings) for preset in store.presets.all()] == [("Brief", brief)]
    with closing(ChatStore(tmp_path / "other.db")) as other:
        add_everything(other, [read_path(path)], Work().note)
        assert [folder.name for folder in other.folders.all()] == ["Empty"]
        assert [(preset.name, preset.settings) for preset in other.presets.all()] == [("Brief", brief)]


def test_cancelling_an_import_in_its_presets_leaves_nothing_of_any_file(home, tmp_path):
    presets = [{"name": f"Preset {n}", "settings": {"top_k": n}} for n in range(50)]
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for n, file in enumerate(files):
        document = {"schema": "slipstream.chats/1", "exported_at": "2026-01-01T00:00:00Z", "conversations": []}
        file.write_text(json.dumps({**document, "folders": [f"Folder {n}"], "presets": presets[25 * n :]}))
    n_told = 0

    def stop_in_the_second(_n_done, _n_all):
        nonlocal n_told
        n_told += 1
        if n_told == 60:
            raise StoppedError

    with closing(ChatStore()) as store:
        with pytest.raises(StoppedError):
            add_everything(store, [read_path(file) for file in files], stop_in_the_second)
        assert store.presets.all() == ()
        assert store.folders.all() == ()
        assert n_told == 60


def test_a_file_that_is_none_is_refused_in_words_and_nothing_is_added(program, tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps({"messages": [{"role": "user", "content": "hello"}]}))
    bad.write_bytes(b"\x00\x01 no conversation")

    async def story():
        program.controller.data.import_files([good, bad])
        await program.until(lambda: said(program))
        assert program.controller.store.heads() == ()

    program.run(story)


def test_cancelling_an_import_leaves_nothing_of_it(home, tmp_path):
    store = ChatStore()
    fill(store, 5)
    work, path = Work(), tmp_path / "all.json"
    export_everything(store, path, work.note)
    found = [read_path(path)]

    def stop_at_three(n_done, _n_all):
        if n_done == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        add_everything(store, found, stop_at_three)
    assert len(store.heads()) == 5
    assert store.deleted() == (), "nor among those that can be brought back"
    store.close()


@pytest.fixture
def others(home, tmp_path):
    """A file of conversations, three of them in folders."""
    with closing(ChatStore(tmp_path / "other.db")) as other:
        for name in ("Old", "Taken", "New", "New"):
            folder = next((one for one in other.folders.all() if one.name == name), None) or other.folders.create(name)
            other.append(other.create(folder_id=folder.id).id, "user", "words")
        export_everything(other, tmp_path / "all.json", Work().note)
    return read_path(tmp_path / "all.json")


def test_of_an_import_nothing_is_seen_before_all_is_there(others):
    with closing(ChatStore()) as store:
        old = store.folders.create("Old")
        here = store.create("mine")

        def look(_n_done, _n_all):
            assert [folder.name for folder in store.folders.all()] == ["Old"]
            assert [head.id for head in store.heads()] == [here.id]
            assert store.search("words") == (), "and so nobody writes into what may be taken back"

        def look_then_stop(n_done, n_all):
            look(n_done, n_all)
            if n_done == 3:
                raise StoppedError

        with pytest.raises(StoppedError):
            add_everything(store, [others], look_then_stop)
        look(4, 4)
        assert store.deleted() == ()
        added = add_everything(store, [others], look)
        assert len(added.conversation_ids) == 4
        in_folders = {folder.name: folder.n_conversations for folder in store.folders.all()}
        assert in_folders == {"Old": 1, "Taken": 1, "New": 2}
        assert store.folders.all()[0].id == old.id


KILLED = """
import os, sys
from pathlib import Path
from app.chat.importing import read_path
from app.chat.store import ChatStore
from app.ui.data_control import add_everything
add_everything(ChatStore(), [read_path(Path(sys.argv[1]))], lambda n_done, _n_all: n_done == 3 and os._exit(9))
"""


def test_of_an_import_that_is_killed_nothing_is_seen_and_the_deleted_ones_have_the_rest(others, tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "all.json"], cwd=ROOT, check=False)
    assert done.returncode == 9
    with closing(ChatStore()) as store:
        assert store.heads() == ()
        assert store.folders.all() == ()
        assert len(store.deleted()) == 3, "which are erased some days later"


def test_what_went_wrong_first_is_what_is_said_also_if_taking_back_fails(others, expect_log):
    with closing(ChatStore()) as store:

        def lock_then_fail(n_done, _n_all):
            if n_done == 3:
                with store.transaction() as db:
                    db.execute(
                        "CREATE TRIGGER stuck BEFORE DELETE ON conversation BEGIN SELECT raise(ABORT, 'stuck'); END"
                    )
                raise StoppedError

        with pytest.raises(StoppedError):
            add_everything(store, [others], lock_then_fail)
        expect_log("stay among the deleted")
        assert store.heads() == ()
        assert len(store.deleted()) == 3


def test_an_import_of_which_somebody_brings_one_back_meanwhile_is_undone_but_for_that(others):
    with closing(ChatStore()) as store:
        kept = []

        def bring_one_back(n_done, _n_all):
            if n_done == 3:
                kept.append(store.deleted()[0].id)
                store.undelete(kept[0])
                store.append(kept[0], "user", "written meanwhile")

        with pytest.raises(StoreError, match="brought back"):
            add_everything(store, [others], bring_one_back)
        assert [head.id for head in store.heads()] == kept
        assert store.deleted() == ()
        assert len(store.search("meanwhile")) == 1


def test_a_cancelled_export_keeps_the_file_of_before(home, tmp_path):
    store, path = ChatStore(), tmp_path / "all.json"
    fill(store, 3)
    path.write_text("before")
    work = Work()
    work.stop()
    with pytest.raises(StoppedError):
        export_everything(store, path, work.note)
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".all")] == []
    store.close()


def test_the_progress_is_shown_and_cancel_asks_to_stop(put, qtbot):
    work = Work()
    dialog = WorkDialog(None, "Doing something…", work)
    qtbot.addWidget(dialog)
    dialog.show()
    work.note(3, 4)
    qtbot.waitUntil(lambda: dialog.progress.value() == 75)
    dialog.cancel.click()
    assert work.is_stopped
    assert dialog.isVisible(), "it goes when the work has ended"
    with pytest.raises(StoppedError):
        work.note(4, 4)
    dialog.end()
    assert not dialog.isVisible()


def test_long_work_leaves_the_window_alive_and_can_be_cancelled(program):
    begun, checked = threading.Event(), []

    def slow(note):
        begun.set()
        for n in range(10_000):
            note(n, 10_000)
            threading.Event().wait(0.002)

    async def story():
        control = program.controller.data

        async def work():
            await control._do("Something long…", slow)

        control._start(work())
        await program.until(lambda: control.dialog is not None)
        shown = control._work
        shown.clock_s = lambda: shown.began_s + 0.3
        await program.until(begun.is_set)
        await asyncio.sleep(0.25)
        assert not control.dialog.isVisible(), "it would only flash if that were all"
        shown.clock_s = lambda: shown.began_s + 0.5
        await program.until(control.dialog.isVisible)
        for _ in range(20):
            await asyncio.sleep(0.005)
            checked.append(control.dialog.isVisible())
        control.import_files([])
        assert said(program).startswith("Something else is under way.")
        control.dialog.cancel.click()
        await program.until(lambda: control.dialog is None)
        await program.until(lambda: said(program) == "Cancelled. Nothing was changed.")

    program.run(story)
    assert all(checked)


def test_work_can_begin_in_the_very_moment_that_other_work_has_ended(program):
    begun = []

    async def story():
        control = program.controller.data

        async def work():
            begun.append(len(begun))

        control._start(work())
        await asyncio.sleep(0)  # it has run; who waits for its end has not
        control._start(work())
        await program.until(lambda: len(begun) == 2)
        assert not said(program)

    program.run(story)


def test_everything_ends_with_the_window(program):
    begun = threading.Event()

    def slow(note):
        while True:
            begun.set()
            note(1, 2)
            threading.Event().wait(0.002)

    async def story():
        async def work():
            await program.controller.data._do("Something endless…", slow)

        program.controller.data._start(work())
        await program.until(begun.is_set)

    program.run(story)


def test_a_backup_is_made_checked_and_asked_about_before_it_is_restored(program, tmp_path):
    path, wanted = tmp_path / "everything.zip", []

    async def story():
        program.controller.data.on_restore = wanted.append
        fill(program.controller.store, 4)
        program.controller.data.back_up(path)
        await program.until(lambda: said(program))
        assert said(program) == f"{path} holds 4 conversations, with settings and baselines."
        program.controller.data.check_backup(path)
        await program.until(lambda: program.controller.data.question is not None)
        question = program.controller.data.question
        assert "4 conversations" in question.informativeText()
        made_at = read_manifest(path).made_at.astimezone()
        assert f"{made_at:%Y-%m-%d, %H:%M}" in question.informativeText(), "by the clock on the wall"
        question.reject()
        await program.until(lambda: program.controller.data.question is None)
        assert wanted == []
        program.controller.data.check_backup(path)
        await program.until(lambda: program.controller.data.question is not None)
        program.controller.data.question.answer.click()
        await program.until(lambda: wanted == [path])

    program.run(story)


def test_a_damaged_backup_is_refused_before_anything_ends(program, tmp_path):
    path = tmp_path / "damaged.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("slipstream-backup.json", "{}")

    async def story():
        program.controller.data.check_backup(path)
        await program.until(lambda: said(program))
        assert "not a backup" in said(program)
        assert program.controller.wanted_backup is None

    program.run(story)


def in_loop(qapp, work):
    loop = qasync.QEventLoop(qapp)
    with loop:
        return loop.run_until_complete(work)


def test_between_two_windows_a_backup_takes_the_place_of_what_is_here(qapp, home, tmp_path):
    from app.chat.backup import back_up

    store = ChatStore()
    fill(store, 2)
    back_up(tmp_path / "b.zip")
    fill(store, 3)
    store.close()
    said = in_loop(qapp, restore(tmp_path / "b.zip"))
    assert said.message == "The backup was restored."
    store = ChatStore()
    assert len(store.heads()) == 2
    said = in_loop(qapp, restore(tmp_path / "b.zip"))
    assert said.kind == "error", "another program has the chats open"
    store.close()
    assert in_loop(qapp, restore(tmp_path / "none.zip")).kind == "error"
