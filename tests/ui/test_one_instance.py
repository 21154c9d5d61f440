"""One window per data folder, and what it leaves behind."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QDir, QTimer

from app.ui.one_instance import OneInstance
from tests.ui.conftest import LIMIT_MS

ROOT = Path(__file__).resolve().parents[2]


def test_a_second_start_calls_the_first(qtbot, tmp_path):
    first, second = OneInstance(tmp_path), OneInstance(tmp_path)
    assert first.claim()
    first.listen()
    assert not second.claim()
    with qtbot.waitSignal(first.raise_requested, timeout=LIMIT_MS):
        assert second.call()
    first.release()
    assert not second.call()
    assert second.claim()
    second.release()


def test_a_start_beside_one_that_does_not_listen_yet_waits_for_it(qtbot, tmp_path):
    # GIVEN one that has the claim, and will listen when its window is painted
    first = OneInstance(tmp_path)
    assert first.claim()
    code = (
        "import sys; from pathlib import Path; from PySide6.QtCore import QCoreApplication; "
        "from app.ui.one_instance import OneInstance; app = QCoreApplication([]); "
        "print('starts', flush=True); print(OneInstance(Path(sys.argv[1])).give_way())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as second:
        try:
            # WHEN another starts meanwhile
            assert second.stdout.readline() == "starts\n"
            time.sleep(0.3)
            with qtbot.waitSignal(first.raise_requested, timeout=LIMIT_MS):
                first.listen()
            # THEN it leaves the window to the first
            assert second.communicate(timeout=60)[0] == "True\n"
        finally:
            second.kill()
    first.release()


def test_a_start_takes_over_from_one_that_ends_before_it_listens(qtbot, tmp_path):
    first, second = OneInstance(tmp_path), OneInstance(tmp_path)
    assert first.claim()
    QTimer.singleShot(0, first.release)
    qtbot.wait(50)
    assert not second.give_way()
    assert not first.claim()
    second.release()


@pytest.mark.linux
def test_the_socket_lies_in_the_data_folder_and_replaces_what_a_crash_left(qtbot, tmp_path, monkeypatch):
    assert sys.platform == "linux"
    (tmp_path / "temp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temp"))  # in the machine's own, others come and go
    (tmp_path / "window.socket").write_text("left by a crash")
    first = OneInstance(tmp_path)
    first.listen()
    assert (tmp_path / "window.socket").is_socket()
    assert OneInstance(tmp_path).call()
    assert QDir.tempPath() == str(tmp_path / "temp")
    assert list((tmp_path / "temp").iterdir()) == []
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
    with qtbot.waitSignal(first.files_given, timeout=LIMIT_MS) as given:
        assert OneInstance(tmp_path).call(files)
    assert given.args == [files]
    first.release()
