"""The end of the program while the database refuses: asked in words, and nothing goes without a yes."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing

import pytest
from PySide6.QtCore import Qt

from app.chat.archive import archive_json
from app.chat.chat_settings import ConversationSettings
from app.chat.conversation import Attachment
from app.chat.importing import read_chats
from app.chat.progress import no_progress
from app.chat.store import ChatStore
from app.ui.data_control import add_everything, also_words
from tests.doubles import POEM
from tests.ui.conftest import shows_dialog
from tests.ui.test_answering import stored
from tests.ui.test_chats import locked

pytestmark = shows_dialog
NOTES = Attachment(name="notes.txt", text="one")


async def asked(program, *, before=None):
    """Wait until the question stands on the screen, another one than before."""
    parting = program.controller.chats.parting
    await program.until(lambda: parting.question not in (None, before) and parting.question.isVisible())
    return parting.question


async def save_to(path, program, question):
    """Answer the question with a file, and wait for the end of the program."""
    parting = program.controller.chats.parting
    question.file.click()
    await program.until(lambda: parting.dialog is not None)
    parting.dialog.fileSelected.emit(str(path))
    await program.controller.closed()


def test_trying_again_saves_once_the_database_takes_it(program, qtbot):
    async def story():
        program.controller.chats.retry.setInterval(100_000)
        with locked():
            await program.ask("first")
            program.window.close()
            question = await asked(program)
            assert question.text() == "2 messages could not be saved."
            assert question.informativeText()
            assert question.quit.text() == "Quit and lose 2 messages"
            assert program.window.isVisible()
            qtbot.keyClick(question, Qt.Key.Key_Return)  # the default: try again
            question = await asked(program, before=question)
        qtbot.keyClick(question, Qt.Key.Key_Escape)
        await program.controller.closed()
        assert not program.window.isVisible()

    program.run(story)
    assert [m.text for m in stored(program)] == ["first", POEM]


def test_the_loop_goes_on_while_it_is_asked(program):
    async def story():
        with locked():
            await program.ask("first")
            program.window.close()
            question = await asked(program)
            for _ in range(20):
                await asyncio.sleep(0)
            assert program.controller.chats.parting.question is question
        question.again.click()
        await program.controller.closed()

    program.run(story)


def test_what_is_not_saved_goes_into_a_file_that_can_be_imported(program, tmp_path):
    path = tmp_path / "kept.json"

    async def story():
        parting = program.controller.chats.parting
        with locked():
            await program.ask("first")
            program.window.composer.editor.setPlainText("half a thought")
            program.window.composer.files.add(NOTES)
            program.window.close()
            question = await asked(program)
            question.file.click()
            await program.until(lambda: parting.dialog is not None)
            parting.dialog.reject()
            question = await asked(program, before=question)  # given up: asked again
            question.file.click()
            await program.until(lambda: parting.dialog is not None)
            parting.dialog.fileSelected.emit(str(tmp_path / "no" / "folder.json"))
            question = await asked(program, before=question)
            assert "Cannot write" in program.window.notice.words
            await save_to(path, program, question)

    program.run(story)
    (record,) = read_chats(path.read_bytes()).records
    assert [m.text for m in record.messages] == ["first", POEM]
    assert (record.draft, record.draft_files) == ("half a thought", (NOTES,))
    assert json.loads(path.read_text(encoding="utf-8"))["schema"] == "slipstream.chats/1"


def test_quitting_anyway_loses_what_was_said_to_be_lost(program):
    async def story():
        await program.ask("first")
        with locked():
            await program.ask("second")
            program.window.close()
            (await asked(program)).quit.click()
            await program.controller.closed()

    program.run(story)
    assert [m.text for m in stored(program)] == ["first", POEM]


def test_a_draft_alone_is_asked_about_too(program):
    async def story():
        with locked():
            program.window.composer.editor.setPlainText("half a thought")
            program.window.close()
            question = await asked(program)
            assert question.text() == "What you typed or changed could not be saved."
        question.again.click()
        await program.controller.closed()

    program.run(story)
    with closing(ChatStore()) as store:
        (head,) = store.heads()
        assert store.draft(head.id) == "half a thought"


def test_a_database_that_refuses_is_not_asked_for_nothing(program):
    async def story():
        await program.ask("first")
        with locked():
            program.window.close()
            await program.controller.closed()
            assert program.controller.chats.parting.question is None

    program.run(story)


def test_what_went_into_a_store_in_memory_is_asked_about(program, tmp_path):
    path = tmp_path / "kept.json"
    program.store = ChatStore.in_memory()
    old = program.store.create("from before")
    program.store.append(old.id, "user", "old words")

    async def story():
        chats = program.controller.chats
        chats.new()
        await program.ask("first")
        program.window.composer.editor.setPlainText("half a thought")
        chats.new()
        program.window.composer.editor.setPlainText("another one")
        program.window.close()
        question = await asked(program)
        assert question.text() == "2 messages could not be saved."
        assert question.informativeText() == "Conversations are not being saved."
        assert question.again not in question.buttons()
        assert question.defaultButton() is question.escapeButton() is question.file
        await save_to(path, program, question)
        assert not program.window.isVisible()

    program.run(story)
    records = read_chats(path.read_bytes()).records
    assert sorted((r.draft, *(m.text for m in r.messages)) for r in records) == [
        ("another one",), ("half a thought", "first", POEM)]  # fmt: skip


def test_what_was_to_be_new_goes_into_that_file_where_another_is_open(program, tmp_path):
    path = tmp_path / "kept.json"
    program.store = ChatStore.in_memory()
    old = program.store.create("from before")

    async def story():
        chats = program.controller.chats
        chats.new()
        program.window.composer.editor.setPlainText("a new thought")
        chats.open(old.id)
        program.window.close()
        await save_to(path, program, await asked(program))

    program.run(story)
    assert [record.draft for record in read_chats(path.read_bytes()).records] == ["a new thought"]


def test_a_message_that_is_being_changed_goes_into_that_file_too(program, tmp_path):
    path = tmp_path / "kept.json"
    program.store = ChatStore.in_memory()
    old = program.store.create("from before")
    program.store.append(old.id, "user", "old words")

    async def story():
        parting, composer = program.controller.chats.parting, program.window.composer
        program.window.transcript.asked.emit(0, "edit")
        composer.editor.setPlainText("new words")
        program.window.close()
        question = await asked(program)
        assert question.text() == "What you typed or changed could not be saved."
        question.file.click()
        await program.until(lambda: parting.dialog is not None)
        parting.dialog.reject()  # given up: asked again
        question = await asked(program, before=question)
        await save_to(path, program, question)

    program.run(story)
    (record,) = read_chats(path.read_bytes()).records
    assert record.draft == "new words"


@pytest.mark.parametrize("change", ["title", "settings", "pin", "folder"])
def test_what_was_changed_in_a_store_in_memory_is_asked_about(program, tmp_path, change):
    path = tmp_path / "kept.json"
    program.store = ChatStore.in_memory()
    old = program.store.create("from before")
    program.store.append(old.id, "user", "old words")

    async def story():
        controller = program.controller
        if change == "title":
            controller.chats.rename(old.id, "Albatross")
        elif change == "settings":
            controller.chats.change_settings(ConversationSettings(top_k=7))
        elif change == "pin":
            controller.keeping.pin(old.id, True)
        else:
            controller.keeping.new_folder(old.id)
        program.window.close()
        question = await asked(program)
        assert question.text() == "What you typed or changed could not be saved."
        await save_to(path, program, question)

    program.run(story)
    (record,) = read_chats(path.read_bytes()).records
    is_kept = {
        "title": (record.title, record.is_named) == ("Albatross", True),
        "settings": record.settings.top_k == 7,
        "pin": record.is_pinned,
        "folder": record.folder == "New folder",
    }
    assert is_kept[change]


def test_presets_and_folders_of_a_store_in_memory_are_asked_about_and_can_be_imported(program, tmp_path):
    path, saved = tmp_path / "kept.json", ConversationSettings(top_k=7)
    program.store = ChatStore.in_memory()
    program.store.presets.save("From before", ConversationSettings(top_k=1))
    program.store.folders.create("Birds")
    inside = program.store.create("in a folder", folder_id=program.store.folders.create("Old name").id)
    program.store.append(inside.id, "user", "old words")

    async def story():
        controller = program.controller
        program.store.presets.save("Careful", saved)
        program.store.folders.create("Fish")
        controller.keeping.rename_folder(inside.folder_id, "New name")
        program.window.close()
        question = await asked(program)
        assert question.text() == "What you typed or changed could not be saved."
        await save_to(path, program, question)

    program.run(story)
    found = read_chats(path.read_bytes())
    assert [(record.title, record.folder) for record in found.records] == [("in a folder", "New name")]
    assert found.shelf.folders == ("New name", "Fish")
    assert [(preset.name, preset.settings) for preset in found.shelf.presets] == [("Careful", saved)]
    with closing(ChatStore()) as store:
        assert also_words(add_everything(store, [found], no_progress)) == ["Also added: 2 folders, 1 preset."]
        again = add_everything(
            store, [read_chats(archive_json((), found.shelf))], no_progress
        )  # nothing is there twice
        assert also_words(again) == []
        assert [folder.name for folder in store.folders.all()] == ["New name", "Fish"]
        assert [(preset.name, preset.settings) for preset in store.presets.all()] == [("Careful", saved)]


def test_a_preset_that_was_deleted_in_memory_asks_nothing(program):
    program.store = ChatStore.in_memory()
    kept = program.store.presets.save("From before", ConversationSettings(top_k=1))

    async def story():
        program.store.presets.delete(kept.id)
        program.window.close()
        await program.controller.closed()

    program.run(story)


def test_a_refused_title_and_refused_settings_are_tried_again_and_asked_about(program, tmp_path):
    path = tmp_path / "kept.json"

    async def story():
        chats = program.controller.chats
        chats.retry.setInterval(100_000)
        await program.ask("first")
        first = chats.current.id
        chats.new()
        await program.ask("second")
        with locked():
            chats.rename(first, "Albatross")
            assert "The title was not saved." in program.window.notice.words
            chats.change_settings(ConversationSettings(top_k=7))
            assert chats.retry.isActive()
        chats.on_retry()
        assert chats.store.load(first).title == "Albatross"
        assert chats.store.settings(chats.current.id).top_k == 7
        with locked():
            chats.rename(first, "Pelican")
            chats.rename(chats.current.id, "Gull")
            chats.change_settings(ConversationSettings(top_k=8))
            program.window.close()
            question = await asked(program)
            assert question.text() == "What you typed or changed could not be saved."
            await save_to(path, program, question)

    program.run(story)
    records = read_chats(path.read_bytes()).records
    assert [(r.title, r.is_named, r.settings.top_k, len(r.messages)) for r in records] == [
        ("Gull", True, 8, 2),
        ("Pelican", True, None, 2),
    ]


def test_a_store_in_memory_that_was_only_read_is_let_go(program):
    program.store = ChatStore.in_memory()
    program.store.append(program.store.create("from before").id, "user", "old words")

    async def story():
        program.window.close()
        await program.controller.closed()

    program.run(story)


class FaultyStore(ChatStore):
    """A store with a fault that is no refusal of the database."""

    is_faulty = False

    @property
    def is_on_disk(self):
        if self.is_faulty:
            raise RuntimeError("a fault of ours")
        return super().is_on_disk


def test_a_fault_while_saving_does_not_keep_the_program_from_being_closed(program, expect_log):
    expect_log("saving at the end failed")
    program.store = FaultyStore()

    async def story():
        program.store.is_faulty = True
        program.window.close()
        await asyncio.wait_for(program.controller.closed(), 20)

    program.run(story)


def test_the_file_holds_an_open_edit_and_what_was_to_be_new(program, tmp_path):
    path = tmp_path / "kept.json"

    async def story():
        chats, composer = program.controller.chats, program.window.composer
        chats.retry.setInterval(100_000)
        await program.ask("first")
        first = chats.current.id
        chats.new()
        with locked():
            composer.editor.setPlainText("a new thought")
            chats.open(first)
            composer.editor.setPlainText("half a thought")
            program.window.transcript.asked.emit(0, "edit")
            composer.editor.setPlainText("first of all")
            program.window.close()
            question = await asked(program)
            await save_to(path, program, question)

    program.run(story)
    drafts = [record.draft for record in read_chats(path.read_bytes()).records]
    assert drafts == ["half a thought\n\nfirst of all", "a new thought"]


def test_a_refused_draft_of_a_new_conversation_is_asked_about_where_another_is_open(program):
    async def story():
        chats, composer = program.controller.chats, program.window.composer
        chats.retry.setInterval(100_000)
        await program.ask("first")
        first = chats.current.id
        chats.new()
        with locked():
            composer.editor.setPlainText("a new thought")
            chats.open(first)
            program.window.close()
            question = await asked(program)
        question.again.click()
        await program.controller.closed()

    program.run(story)
    with closing(ChatStore()) as store:
        assert store.draft(None) == "a new thought"
