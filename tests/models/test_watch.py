"""What appears in the folders, grows there and vanishes is told, and a look that finds nothing new is cheap."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from app.models.library import Contents, Library
from app.models.models_folder import choose_folder
from app.models.watch import Watch
from app.paths import models_dir
from tests.fixtures.raw_gguf import small


class Counting(Library):
    """A library that counts how often it is searched."""

    n_searches = 0

    def contents(self) -> Contents:
        self.n_searches += 1
        return super().contents()


@pytest.fixture
def told() -> list[Contents]:
    return []


def names(contents: Contents) -> list[str]:
    return [entry.name for entry in contents.models[1:]]


def age(folder: Path) -> None:
    """Let all folders have changed a while ago."""
    for here, _, _ in os.walk(folder):
        os.utime(here, (time.time() - 60,) * 2)


def test_what_appears_and_vanishes_is_told(told):
    watch = Watch(Library(), told.append)
    assert watch.poll()
    place = models_dir() / "org" / "repo" / "m.gguf"
    place.parent.mkdir(parents=True)
    place.write_bytes(small().bytes())
    assert watch.poll()
    assert names(told[-1]) == ["m"]
    place.unlink()
    assert watch.poll()
    assert names(told[-1]) == []
    assert not watch.poll()


def test_without_a_change_nothing_is_searched(told):
    (models_dir() / "m.gguf").write_bytes(small().bytes())
    age(models_dir())
    library = Counting()
    watch = Watch(library, told.append)
    assert watch.poll()
    for _ in range(5):
        assert not watch.poll()
    assert library.n_searches == 1
    (models_dir() / "n.gguf").write_bytes(small().bytes())
    assert watch.poll()
    assert library.n_searches == 2


def test_a_file_that_grows_is_not_offered_before_it_is_whole(told):
    data = small().bytes() + b"\0" * 4096
    path = models_dir() / "m.gguf"
    path.write_bytes(data[:40])
    age(models_dir())
    watch = Watch(Library(), told.append)
    watch.poll()
    assert (names(told[-1]), len(told[-1].broken)) == ([], 1)
    before = models_dir().stat()
    with path.open("ab") as file:
        file.write(data[40:])
    assert models_dir().stat().st_mtime_ns == before.st_mtime_ns  # growing does not change the folder
    assert watch.poll()
    assert (names(told[-1]), told[-1].broken) == (["m"], ())


def test_another_models_folder_is_looked_at_at_once(told, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "m.gguf").write_bytes(small().bytes())
    age(tmp_path / "other")
    watch = Watch(Library(), told.append)
    watch.poll()
    choose_folder(tmp_path / "other")
    assert watch.poll()
    assert names(told[-1]) == ["m"]
    shutil.move(tmp_path / "other", tmp_path / "unplugged")
    assert watch.poll()
    assert names(told[-1]) == []
    shutil.move(tmp_path / "unplugged", tmp_path / "other")
    assert watch.poll()
    assert names(told[-1]) == ["m"]


def test_the_thread_tells_and_ends():
    seen = threading.Semaphore(0)
    watch = Watch(Library(), lambda _contents: seen.release(), interval_s=0.02)
    watch.start()
    assert seen.acquire(timeout=60)
    (models_dir() / "m.gguf").write_bytes(small().bytes())
    assert seen.acquire(timeout=60)
    watch.close()
    assert "library watch" not in [thread.name for thread in threading.enumerate()]


def test_a_fault_ends_one_look_and_not_the_watch(expect_log, told):
    class Failing(Library):
        fails = True

        def contents(self) -> Contents:
            if self.fails:
                self.fails = False
                raise RuntimeError("once")
            return super().contents()

    expect_log("looking for models failed")
    watch = Watch(Failing(), told.append, interval_s=0.02)
    watch.start()
    try:
        deadline_s = time.monotonic() + 60
        while not told and time.monotonic() < deadline_s:
            time.sleep(0.01)
    finally:
        watch.close()
    assert told
