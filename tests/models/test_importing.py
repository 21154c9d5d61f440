"""A file comes into our folder whole or not at all, and nothing else is touched on the way."""

from __future__ import annotations

import filecmp
import os
import shutil
import time
from pathlib import Path

import pytest

from app.errors import DiskFullError, DownloadError, ModelFileError, UsageError
from app.models.copying import BLOCK_BYTES
from app.models.file_lock import FileLock
from app.models.importing import Import
from app.models.library import Library
from app.models.models_folder import choose_folder
from app.models.relocation import Relocation
from app.models.transfer import StoppedError
from app.paths import config_dir, models_dir
from tests.cli.commands import started
from tests.fixtures import tiny
from tests.fixtures.raw_gguf import RawGguf, small


@pytest.fixture
def source(tmp_path) -> Path:
    """Return a model elsewhere, large enough for several blocks."""
    path = tmp_path / "elsewhere" / "m.gguf"
    path.parent.mkdir()
    path.write_bytes(small().bytes() + os.urandom(2 * BLOCK_BYTES))
    return path


@pytest.fixture
def far() -> Path:
    """Return a folder on another disk."""
    folder = Path("/dev/shm") / f"slipstream-test-{os.getpid()}"
    if not folder.parent.is_dir() or folder.parent.stat().st_dev == models_dir().stat().st_dev:
        pytest.fail("no second disk to test with")
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


class Counted(Import):
    """An import that is stopped when so many blocks were told."""

    def __init__(self, path: Path, n_blocks: int) -> None:
        super().__init__(path)
        self.n_blocks = n_blocks

    def _count(self, n_bytes: int) -> None:
        self.n_blocks -= 1
        if self.n_blocks < 0:
            self.stop()
        super()._count(n_bytes)


def everything() -> list[str]:
    return sorted(path.relative_to(models_dir()).as_posix() for path in models_dir().rglob("*") if not path.is_dir())


def test_a_copy_is_whole_and_in_the_list(source):
    one = Import(source)
    (place,) = one.run()
    assert place == models_dir() / "m.gguf"
    assert place.read_bytes() == source.read_bytes()
    assert place.stat().st_mtime_ns == source.stat().st_mtime_ns
    assert one.fraction == 1
    assert everything() == ["m.gguf"]
    assert Library().resolve("m").source == "folder"


def test_a_move_takes_it_along(source):
    data = source.read_bytes()
    (place,) = Import(source, "move").run()
    assert place.read_bytes() == data
    assert not source.exists()
    assert everything() == ["m.gguf"]


@pytest.mark.linux
def test_a_move_from_another_disk_copies_first(source, far):
    path = far / "far.gguf"
    shutil.copy(source, path)
    one = Import(path, "move")
    (place,) = one.run()
    assert one.n_bytes == 2 * source.stat().st_size
    assert place.read_bytes() == source.read_bytes()
    assert not path.exists()


def test_a_link_takes_no_room(source):
    (place,) = Import(source, "link").run()
    assert place.readlink() == source
    assert Library().resolve("m").path == place


def test_what_is_there_already_is_not_taken_again_and_another_file_is_not_replaced(source):
    (first,) = Import(source).run()
    again = Import(source)
    assert again.run() == (first,)
    assert again.was_there
    first.write_bytes(small().add_u32("x", 1).bytes())
    (second,) = Import(source).run()
    assert second == models_dir() / "m 2" / "m.gguf"
    assert first.read_bytes() == small().add_u32("x", 1).bytes()
    assert {entry.name for entry in Library().entries()[1:]} == {"m", "m 2/m"}


@pytest.mark.parametrize("how", ["copy", "link", "move"])
def test_a_split_model_comes_whole(tmp_path, how):
    for index in range(2):
        raw = small().add("split.no", 2, RawGguf().number(index, "H")).add("split.count", 2, RawGguf().number(2, "H"))
        (tmp_path / f"big-{index + 1:05d}-of-00002.gguf").write_bytes(raw.bytes())
    places = Import(tmp_path / "big-00001-of-00002.gguf", how).run()
    assert [place.name for place in places] == ["big-00001-of-00002.gguf", "big-00002-of-00002.gguf"]
    assert Library().resolve("big").n_bytes == sum(place.stat().st_size for place in places)


def test_a_file_named_by_its_hash_gets_a_name(source):
    blob = source.rename(source.with_name("sha256-" + "1" * 64))
    (place,) = Import(blob, name="hf.co/org/llama:7b").run()
    assert place.name == "hf.co-org-llama-7b.gguf"


def test_cancelled_at_any_block_nothing_stays(source):
    n_blocks = 0
    while True:
        one = Counted(source, n_blocks)
        try:
            one.run()
        except StoppedError:
            assert everything() == []
            n_blocks += 1
            continue
        break
    assert n_blocks >= 4
    assert everything() == ["m.gguf"]


def test_cancelled_between_two_parts_neither_stays(tmp_path):
    for index in range(2):
        raw = small().add("split.no", 2, RawGguf().number(index, "H")).add("split.count", 2, RawGguf().number(2, "H"))
        (tmp_path / f"big-{index + 1:05d}-of-00002.gguf").write_bytes(raw.bytes())
    with pytest.raises(StoppedError):
        Counted(tmp_path / "big-00001-of-00002.gguf", 2).run()  # of each part one block is copied and one compared
    assert everything() == []


def test_stopped_before_it_began(source):
    one = Import(source)
    one.stop()
    with pytest.raises(StoppedError):
        one.run()
    assert everything() == []


def test_without_room_nothing_is_begun(source):
    with pytest.raises(DiskFullError, match="free"):
        Import(source, spare_bytes=1 << 60).run()
    assert everything() == []
    assert Import(source, "link", spare_bytes=1 << 60).run()


def test_what_a_dead_import_left_is_deleted(source):
    parts = models_dir() / ".downloads"
    parts.mkdir()
    (parts / f"import-{'0' * 64}.part").write_bytes(b"half")
    Import(source).run()
    assert everything() == ["m.gguf"]


def test_no_model_is_refused_in_words(tmp_path, tiny_pair):
    tiny.text_file(tmp_path / "page.gguf")
    tiny.truncated(tmp_path / "half.gguf", tiny_pair.target)
    for name, words in (("page.gguf", "not a GGUF"), ("half.gguf", "ends after")):
        with pytest.raises(ModelFileError, match=words):
            Import(tmp_path / name).run()
    inside = models_dir() / "in.gguf"
    inside.write_bytes(small().bytes())
    with pytest.raises(UsageError, match="already"):
        Import(inside).run()
    assert everything() == ["in.gguf"]


def test_another_programs_file_is_not_moved_away(tmp_path, monkeypatch, source):
    monkeypatch.delenv("SLIPSTREAM_ONLY_OWN")
    monkeypatch.setenv("HF_HUB_CACHE", str(source.parent))
    with pytest.raises(UsageError, match="belongs to hub cache"):
        Import(source, "move").run()
    assert Import(source, "copy").run()
    assert source.exists()


def test_a_folder_that_cannot_be_made_is_told(source, tmp_path):
    (tmp_path / "file").write_text("")
    choose_folder(tmp_path / "file" / "models")
    with pytest.raises(DownloadError, match="cannot be copied"):
        Import(source).run()


@pytest.mark.parametrize("how", ["copy", "move", "link"])
def test_nothing_is_taken_in_while_the_folder_is_moved_and_it_is_not_moved_meanwhile(source, tmp_path, how):
    moving = FileLock(config_dir() / "moving.lock")
    config_dir().mkdir(parents=True, exist_ok=True)
    moving.acquire()
    try:
        with pytest.raises(DownloadError, match="being moved"):
            Import(source, how).run()
    finally:
        moving.release()
    assert source.exists()

    class Slow(Import):
        def _run(self, files):
            with pytest.raises(UsageError, match="being downloaded or imported"):
                Relocation(tmp_path / "new").run()
            with pytest.raises(DownloadError, match="being imported by another"):
                Import(source, how).run()
            return super()._run(files)

    (place,) = Slow(source, how).run()
    assert place.exists()


@pytest.mark.linux
def test_killed_in_the_middle_nothing_is_listed_and_the_next_one_is_whole(tmp_path, home):
    whole = tiny.llama(tmp_path / "large.gguf")
    with whole.open("r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(bytes(400 << 20))
    with started("import", whole) as process:
        parts = models_dir() / ".downloads"
        deadline_s = time.monotonic() + 60
        while sum(path.stat().st_size for path in parts.glob("import-*.part")) < 1 << 20:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline_s
            time.sleep(0.002)
        process.kill()
        process.communicate()
    assert list(models_dir().rglob("*.gguf")) == []
    (place,) = Import(whole).run()
    assert filecmp.cmp(whole, place, shallow=False)
    assert [path.name for path in parts.iterdir() if path.suffix == ".part"] == []


def test_a_hidden_file_is_in_the_list_afterwards(source):
    hidden = source.rename(source.with_name(".m.gguf"))
    assert Import(hidden).run() == (models_dir() / "m.gguf",)
    assert "m" in [entry.name for entry in Library().entries()]


def test_while_a_split_model_comes_in_its_parts_are_not_called_broken(source):
    part = models_dir() / "big-00002-of-00002.gguf"
    raw = small().add("split.no", 2, RawGguf().number(1, "H")).add("split.count", 2, RawGguf().number(2, "H"))
    part.write_bytes(raw.bytes())
    assert [file.path for file in Library().broken()] == [part]
    locks = models_dir() / ".downloads"
    locks.mkdir()
    running = FileLock(locks / "importing-1.lock")
    assert running.acquire()
    assert Library().broken() == []
    running.release()
