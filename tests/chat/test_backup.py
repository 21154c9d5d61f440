import json
import os
import shutil
import zipfile
from contextlib import closing

import pytest

from app.chat.backup import MANIFEST, back_up, read_manifest, restore
from app.chat.chat_settings import ConversationSettings
from app.chat.store import ChatStore
from app.errors import ExportError
from app.paths import config_dir, data_dir
from app.settings import Settings, load_settings, save_settings


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def live(text):
    """Have a home with something of everything."""
    with closing(ChatStore()) as store:
        store.append(store.create("talk").id, "user", text)
        store.presets.save("Brief", ConversationSettings(top_k=1))
    (data_dir() / "baselines").mkdir(exist_ok=True)
    (data_dir() / "baselines" / "one.json").write_text(f'{{"is": "{text}"}}')
    save_settings(Settings(system_prompt=text))
    (data_dir() / "models").mkdir(exist_ok=True)
    (data_dir() / "models" / "big.json").write_text("not this")
    (config_dir() / "runtimes.json").write_text("nor this")


def state():
    with closing(ChatStore()) as store:
        texts = [hit.snippet for hit in store.search("albatross") + store.search("pelican")]
        presets = [preset.name for preset in store.presets.all()]
    return texts, presets, (data_dir() / "baselines" / "one.json").read_text(), load_settings()[0].system_prompt


def test_everything_goes_into_one_file_and_comes_back(home, tmp_path):
    live("albatross")
    before = state()
    manifest = back_up(tmp_path / "all.zip")
    assert (manifest.n_conversations, manifest.n_messages) == (1, 1)
    assert {file.path for file in manifest.files} == {
        "data/chats.db",
        "data/baselines/one.json",
        "config/settings.json",
    }
    live("pelican")
    assert state() != before
    restored = restore(tmp_path / "all.zip")
    assert state() == before
    kept = home / "data" / "backups"
    assert restored.kept_in.startswith(str(kept))
    (folder,) = kept.iterdir()
    with closing(ChatStore(folder / "data" / "chats.db")) as old:
        assert len(old.search("pelican")) == 1
    assert "pelican" in (folder / "config" / "settings.json").read_text()
    assert not list(data_dir().glob(".restore-*"))


@pytest.mark.linux
def test_what_is_not_there_or_is_no_file_is_said_and_not_waited_for(home, tmp_path):
    os.mkfifo(tmp_path / "pipe.zip")
    for name, words in (("gone.zip", "No such file"), ("pipe.zip", "it is a pipe or a device, not a file")):
        with pytest.raises(ExportError) as caught:
            read_manifest(tmp_path / name)
        assert caught.value.message == f"Cannot read {tmp_path / name}: {words}" + (
            " or directory." if "gone" in name else "."
        )


def test_a_backup_whose_packed_bytes_are_broken_is_refused_in_words(home, tmp_path):
    live("albatross " * 500)
    back_up(path := tmp_path / "all.zip")
    data = path.read_bytes()
    at = data.index(b"data/chats.db") + 60
    path.write_bytes(data[:at] + b"\xff" * 200 + data[at + 200 :])
    with pytest.raises(ExportError, match="damaged"):
        read_manifest(path)


def test_a_backup_of_a_running_program_holds_one_moment_and_the_log(home, tmp_path):
    with closing(ChatStore()) as store:
        chat = store.create()
        store.append(chat.id, "user", "albatross")
        manifest = back_up(tmp_path / "all.zip")
        store.append(chat.id, "user", "later")
    assert manifest.n_messages == 1
    restore(tmp_path / "all.zip")
    with closing(ChatStore()) as store:
        assert [m.text for m in store.load(chat.id).messages] == ["albatross"]


def test_nothing_is_restored_under_a_program_that_writes(home, tmp_path):
    live("albatross")
    back_up(tmp_path / "all.zip")
    with closing(ChatStore()) as store:
        with pytest.raises(ExportError, match="as it was") as caught:
            restore(tmp_path / "all.zip")
        assert "Close" in caught.value.hint
        store.append(1, "user", "goes on")
    assert state()[0]
    restore(tmp_path / "all.zip")


def test_an_empty_home_is_backed_up_and_filled(home, tmp_path):
    assert back_up(tmp_path / "empty.zip").files == ()
    live("albatross")
    back_up(tmp_path / "all.zip")
    before = state()
    for file in (data_dir() / "chats.db", config_dir() / "settings.json"):
        file.unlink()
    restore(tmp_path / "all.zip")
    assert state() == before
    restore(tmp_path / "empty.zip")  # takes nothing away
    assert state() == before


def rewrite(path, **changes):
    """Give some files of an archive other content."""
    with zipfile.ZipFile(path) as old:
        files = {name: changes.get(name, old.read(name)) for name in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, data in files.items():
            new.writestr(name, data)


def manifest_with(source, **values):
    with zipfile.ZipFile(source) as archive:
        return json.dumps({**json.loads(archive.read(MANIFEST)), **values})


def one_file(name):
    return lambda path: rewrite(path, **{MANIFEST: manifest_with(path, files=[{**FILE, "path": name}])})


FILE = {"n_bytes": 1, "sha256": "0"}
OUTSIDE = ("../evil", "data/../../evil", "data", "/etc/passwd", "data/C:/x", "other/x.json", "data/models/x.json")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"not an archive"),
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: rewrite(path, **{"config/settings.json": b"{}"}),
        lambda path: rewrite(path, **{MANIFEST: b"[]"}),
        lambda path: rewrite(path, **{MANIFEST: manifest_with(path, database_format=99)}),
        *map(one_file, OUTSIDE),
    ],
)
def test_a_backup_that_is_not_whole_or_means_harm_changes_nothing(home, tmp_path, damage):
    live("albatross")
    path = tmp_path / "all.zip"
    back_up(path)
    damage(path)
    live("pelican")
    before = state()
    with pytest.raises(ExportError) as caught:
        restore(path)
    assert caught.value.hint
    assert state() == before
    assert not (home / "data" / "backups").exists()
    assert not list(home.rglob("evil*"))


def test_a_restore_that_fails_half_way_puts_everything_back(home, tmp_path):
    live("albatross")
    (config_dir() / "sub").mkdir()
    (config_dir() / "sub" / "last.json").write_text("{}")
    manifest = back_up(tmp_path / "all.zip")
    assert manifest.files[-1].path == "config/sub/last.json"
    live("pelican")
    shutil.rmtree(config_dir() / "sub")
    (config_dir() / "sub").write_text("a file where the last one's folder has to be")
    before = state()
    with pytest.raises(ExportError, match="as it was"):
        restore(tmp_path / "all.zip")
    assert state() == before


def test_a_place_that_cannot_be_written_is_an_error_with_a_hint(home, tmp_path):
    live("albatross")
    with pytest.raises(ExportError) as caught:
        back_up(tmp_path / "missing" / "all.zip")
    assert caught.value.hint
    assert list(tmp_path.iterdir()) == [home]
