"""Moving the models folder: wherever it breaks off, each file is in one folder at least, whole, and ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from app.errors import DiskFullError, DownloadError, UsageError
from app.models.file_lock import FileLock
from app.models.library import Library
from app.models.models_folder import choose_folder, models_folder
from app.models.relocation import Relocation, check_not_moving, finish_pending, our_files
from app.models.transfer import StoppedError
from app.paths import config_dir, models_dir
from app.settings import Settings, load_settings, save_settings
from tests.fixtures.raw_gguf import small

FILES = {
    "org/repo/m.gguf": small().bytes() + b"\1" * 100_000,
    "org/repo/.m.gguf.pulled.json": b"{}",
    "own.gguf": small().add_u32("x", 1).bytes(),
    ".downloads/sha256-1.part": b"half of it",
    ".downloads/sha256-1.synced": b"{}",
}


@pytest.fixture
def old() -> Path:
    """Fill our folder."""
    for name, data in FILES.items():
        path = models_dir() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return models_dir()


@pytest.fixture(params=["same disk", pytest.param("another disk", marks=pytest.mark.linux)])
def new(request, tmp_path) -> Path:
    """Return where it is to go."""
    if request.param == "same disk":
        yield tmp_path / "new"
        return
    folder = Path("/dev/shm") / f"slipstream-move-{os.getpid()}"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def inside(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_everything_comes_along_with_its_times(old, new):
    mtime_ns = (old / "own.gguf").stat().st_mtime_ns
    move = Relocation(new)
    outcome = move.run()
    assert inside(new) == FILES
    assert not old.exists() or inside(old) == {}
    assert (new / "own.gguf").stat().st_mtime_ns == mtime_ns
    assert models_folder() == new
    assert (outcome.n_files, outcome.n_left, move.fraction) == (len(FILES), 0, 1)
    assert {entry.path for entry in Library().entries()[1:]} == {new / "own.gguf", new / "org/repo/m.gguf"}
    # AND back again
    Relocation(models_dir()).run()
    assert inside(models_dir()) == FILES
    assert load_settings()[0].models_folder == ""


class Counted(Relocation):
    """A move that is stopped when it has looked so many times whether it should stop."""

    def __init__(self, folder: Path, n_steps: int) -> None:
        super().__init__(folder)
        self.n_steps = n_steps

    def _check_stop(self) -> None:
        self.n_steps -= 1
        if self.n_steps < 0:
            self.stop()
        super()._check_stop()


def test_stopped_at_any_file_all_is_as_before(old, new):
    n_steps = 0
    while True:
        move = Counted(new, n_steps)
        try:
            move.run()
        except StoppedError:
            assert inside(old) == FILES
            assert not new.exists() or inside(new) == {}
            assert models_folder() == old
            n_steps += 1
            continue
        break
    assert n_steps > len(FILES)
    assert inside(new) == FILES


KILLED = """
import os, sys
from pathlib import Path
from app.models import relocation
move, n = relocation.Relocation(Path(sys.argv[1])), int(sys.argv[2])
def trace(frame, event, arg):
    global n
    if frame.f_code.co_filename.endswith(("relocation.py", "copying.py", "models_folder.py", "settings.py")):
        if event == "line":
            n -= 1
            if n < 0:
                os._exit(9)
        return trace
sys.settrace(trace)
move.run()
"""


def test_killed_anywhere_nothing_is_lost_and_the_next_try_ends_it(old, new):
    assert kill_again_and_again(old, new, every=230) >= 2


@pytest.mark.full
@pytest.mark.timeout(900)
def test_killed_in_every_tenth_line(old, new):
    for first in range(0, 2000, 10):
        kill_again_and_again(old, new, first, every=4000)
        shutil.rmtree(new)
        choose_folder(models_dir())
        for name, data in FILES.items():
            path = models_dir() / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def kill_again_and_again(old: Path, new: Path, first: int = 40, *, every: int) -> int:
    """Kill a move after so many lines, then after more, until one comes through; return how many were killed."""
    code, n_lines, n_killed = 9, first, 0
    while code == 9:
        command = [sys.executable, "-c", KILLED, str(new), str(n_lines)]
        code = subprocess.run(command, check=False, timeout=60).returncode
        n_killed += code == 9
        n_lines += every
        # THEN every file is whole, in our folder, whichever that is now
        ours = inside(models_folder())
        assert {name: ours.get(name) for name in FILES} == FILES
        finish_pending()
        assert set(inside(new) if new.exists() else ()) <= set(FILES)
        if models_folder() == new:
            break
    assert inside(new) == FILES
    assert not old.exists() or inside(old) == {}
    return n_killed


def test_a_move_that_died_at_its_end_is_finished_later(old, new):
    shutil.copytree(old, new)
    (config_dir() / "moved.json").write_text(f'{{"old": "{old}", "new": "{new}"}}')
    assert finish_pending() == 0  # it had not come to the setting: the old folder is still ours
    assert inside(old) == FILES
    (config_dir() / "moved.json").write_text(f'{{"old": "{old}", "new": "{new}"}}')
    (old / "own.gguf").write_bytes(b"another one")
    choose_folder(new)
    assert finish_pending() == 1
    assert inside(old) == {"own.gguf": b"another one"}
    assert inside(new) == FILES


def test_what_is_not_ours_stays(old, new):
    (old / "notes.txt").write_text("mine")
    Relocation(new).run()
    assert inside(old) == {"notes.txt": b"mine"}
    assert inside(new) == FILES


@pytest.mark.linux
def test_links_lead_to_the_same_files_and_folders_that_are_links_are_left(old, new, tmp_path):
    elsewhere = tmp_path / "elsewhere.gguf"
    elsewhere.write_bytes(small().add_u32("x", 2).bytes())
    (old / "link.gguf").symlink_to(os.path.relpath(elsewhere, old))
    (old / "org" / "inner.gguf").symlink_to("../own.gguf")
    (old / "lost.gguf").symlink_to(tmp_path / "gone.gguf")
    (old / "far").symlink_to(tmp_path)
    Relocation(new).run()
    assert (new / "link.gguf").read_bytes() == elsewhere.read_bytes()
    assert (new / "org" / "inner.gguf").resolve() == (new / "own.gguf").resolve()
    assert (new / "lost.gguf").is_symlink()
    assert elsewhere.exists()
    assert sorted(path.name for path in old.iterdir()) == ["far"]


def test_another_file_in_the_way_is_kept_and_the_same_one_is_used(old, new):
    new.mkdir()
    (new / "own.gguf").write_bytes(FILES["own.gguf"])
    (new / "org").mkdir()
    (new / "org" / "repo").mkdir()
    other = new / "org" / "repo" / "m.gguf"
    other.write_bytes(FILES["org/repo/m.gguf"][:-1] + b"\2")
    with pytest.raises(UsageError, match="is another file") as caught:
        Relocation(new).run()
    assert "Move it away" in caught.value.hint
    assert inside(old) == FILES
    assert set(inside(new)) == {"own.gguf", "org/repo/m.gguf"}
    other.write_bytes(b"short")
    with pytest.raises(UsageError, match="is another file"):
        Relocation(new).run()
    other.unlink()
    Relocation(new).run()
    assert inside(new) == FILES


def test_settings_that_name_a_file_in_the_folder_follow_it(old, new):
    save_settings(Settings(target=str(old / "own.gguf"), draft="starter", temperature=0.3))
    Relocation(new).run()
    settings = load_settings()[0]
    assert (settings.target, settings.draft, settings.temperature) == (str(new / "own.gguf"), "starter", 0.3)


def test_folders_that_will_not_do_are_refused_and_nothing_changes(old, tmp_path):
    (tmp_path / "file").write_text("")
    for folder, kind, words in (
        (old, UsageError, "already"),
        (old / "sub", UsageError, "one in the other"),
        (old.parent, UsageError, "one in the other"),
        (tmp_path / "file", DownloadError, "cannot be used"),
        (tmp_path / "file" / "sub", DownloadError, "cannot be used"),
    ):
        with pytest.raises(kind, match=words) as caught:
            Relocation(folder).run()
        assert caught.value.hint
    assert inside(old) == FILES
    assert models_folder() == old


def test_while_something_is_downloaded_it_is_not_moved_and_the_other_way_round(old, new):
    lock = FileLock(old / ".downloads" / "sha256-1.lock")
    lock.acquire()
    try:
        with pytest.raises(UsageError, match="being downloaded"):
            Relocation(new).run()
    finally:
        lock.release()
    moving = FileLock(config_dir() / "moving.lock")
    moving.acquire()
    try:
        with pytest.raises(DownloadError, match="being moved"):
            check_not_moving()
        with pytest.raises(UsageError, match="being moved already"):
            Relocation(new).run()
    finally:
        moving.release()
    check_not_moving()


@pytest.mark.linux
def test_another_disk_without_room_is_told_before_anything_is_copied(old):
    new = Path("/dev/shm") / f"slipstream-full-{os.getpid()}"
    try:
        with pytest.raises(DiskFullError):
            Relocation(new, spare_bytes=1 << 60).run()
        assert inside(old) == FILES
        assert inside(new) == {}
    finally:
        shutil.rmtree(new, ignore_errors=True)


def test_a_folder_whose_disk_is_away_is_an_empty_library(old, tmp_path):
    choose_folder(tmp_path / "drive" / "models")
    assert Library().entries()[1:] == []
    assert not (tmp_path / "drive").exists()
    with pytest.raises(UsageError, match="is not there"):
        Relocation(tmp_path / "other").run()


def test_nobody_takes_the_default_folder_for_the_chosen_one():
    app = Path(__file__).resolve().parents[2] / "app"
    users = {path.name for path in app.rglob("*.py") if "models_dir" in path.read_text(encoding="utf-8")}
    assert users == {"paths.py", "models_folder.py", "shelf_control.py"}  # the last two to go back to it


def test_the_chosen_folder_survives_a_broken_setting_elsewhere(tmp_path):
    choose_folder(tmp_path)
    path = config_dir() / "settings.json"
    path.write_text(path.read_text().replace('"n_ctx": 4096', '"n_ctx": "many"'))
    assert models_folder() == tmp_path
    assert list(our_files(tmp_path / "gone")) == []


@pytest.mark.linux
def test_a_note_that_cannot_be_written_is_told_and_nothing_changes(old, new):
    (config_dir() / "moved.json").mkdir()
    with pytest.raises(DownloadError, match="cannot be moved"):
        Relocation(new).run()
    assert inside(old) == FILES
    assert not new.exists() or inside(new) == {}


def test_a_folder_under_a_second_name_is_not_emptied(old, tmp_path):
    again = tmp_path / "again"
    again.symlink_to(old)
    choose_folder(again)
    (config_dir() / "moved.json").write_bytes(msgspec.json.encode({"old": str(old), "new": str(again)}))

    assert finish_pending() == len(FILES)
    assert inside(old) == FILES


@pytest.mark.linux
def test_a_name_that_is_no_text_is_refused_before_anything_is_made(old, tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff"))
    with pytest.raises(DownloadError, match="is not valid UTF-8"):
        Relocation(folder).run()
    assert not folder.exists()
    assert inside(old) == FILES
