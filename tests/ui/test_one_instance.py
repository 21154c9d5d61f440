"""One window per data folder, and what it leaves behind."""

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QDir

from app.ui.one_instance import OneInstance


def left_in_temp():
    return set(Path(QDir.tempPath()).glob("slipstream-*"))


def test_a_second_start_calls_the_first(qtbot, tmp_path):
    first, second = OneInstance(tmp_path), OneInstance(tmp_path)
    assert first.claim()
    first.listen()
    assert not second.claim()
    with qtbot.waitSignal(first.raise_requested, timeout=5000):
        assert second.call()
    first.release()
    assert not second.call()
    assert second.claim()
    second.release()


@pytest.mark.linux
def test_the_socket_lies_in_the_data_folder_and_replaces_what_a_crash_left(qtbot, tmp_path):
    assert sys.platform == "linux"
    before = left_in_temp()
    (tmp_path / "window.socket").write_text("left by a crash")
    first = OneInstance(tmp_path)
    first.listen()
    assert (tmp_path / "window.socket").is_socket()
    assert OneInstance(tmp_path).call()
    assert left_in_temp() == before
    first.release()
    assert not (tmp_path / "window.socket").exists()


def test_a_folder_with_a_long_path_has_one_too(qtbot, tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    first = OneInstance(folder)
    first.listen()
    assert OneInstance(folder).call()
    first.release()


def test_a_second_start_hands_on_the_files_that_it_was_given(qtbot, tmp_path):
    first = OneInstance(tmp_path)
    first.listen()
    files = [tmp_path / "a model ü.gguf", Path("/b\n.gguf")]
    with qtbot.waitSignal(first.files_given, timeout=5000) as given:
        assert OneInstance(tmp_path).call(files)
    assert given.args == [files]
    first.release()
