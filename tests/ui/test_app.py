"""The program as a process: the first paint, one instance, the end, a kill."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest

from app.chat.backup import back_up
from app.chat.store import ChatStore
from app.ui.one_instance import OneInstance

ROOT = Path(__file__).parents[2]


@contextmanager
def spawn(home, code=None, **more):
    """Start the program, or a script; whatever happens, it is gone at the end."""
    command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "app"]
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "SLIPSTREAM_HOME": str(home), **more}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(holds, limit_s=60.0):
    deadline = time.monotonic() + limit_s
    while not (found := holds()):
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.05)
    return found


def engines_of(pid):
    try:
        return [child for child in psutil.Process(pid).children(recursive=True) if "worker" in child.cmdline()]
    except psutil.NoSuchProcess:
        return []


def left_of(home):
    """Return the processes that have this data folder; a child keeps it though its parent has gone."""
    told = psutil.process_iter(["environ"])
    return [one for one in told if (one.info["environ"] or {}).get("SLIPSTREAM_HOME") == str(home)]


PAINTED = """
import sys
from app.ui.app import make_application, open_window
theme, window = open_window(make_application())
heavy = {"asyncio", "qasync", "msgspec", "numpy", "pyqtgraph", "huggingface_hub", "pygments", "sqlite3", "llama_cpp"}
print(window.is_painted, sorted(heavy & set(sys.modules)))
"""


def test_the_first_paint_comes_before_everything_heavy(home):
    with spawn(home, PAINTED) as process:
        out, err = process.communicate(timeout=60)
    assert out == "True []\n", err


PAINTERS = """
from pathlib import Path
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter
from app.ui.app import make_application
make_application()
image = QImage(2000, 2000, QImage.Format.Format_ARGB32_Premultiplied)
image.fill(Qt.GlobalColor.white)
painter = QPainter(image)
painter.fillRect(image.rect(), QColor(10, 20, 30, 40))
painter.drawImage(0, 0, image.scaled(1500, 1500))
painter.end()
print([name for file in Path("/proc/self/task").glob("*/comm") if "pooled" in (name := file.read_text())])
"""


@pytest.mark.linux
def test_nothing_is_painted_by_other_threads_which_would_wait_for_cores_that_the_engine_has(home):
    with spawn(home, PAINTERS) as process:
        out, err = process.communicate(timeout=60)
    assert out == "[]\n", err


NEVER_THE_ENGINE = """
import sys
import app.ui.controller, app.ui.charts, app.ui.render
print(sorted(name for name in sys.modules if name.split(".")[0] == "llama_cpp" or name.startswith("app.engine.llama")))
"""


def test_the_window_never_loads_llama_cpp(home):
    with spawn(home, NEVER_THE_ENGINE) as process:
        out, err = process.communicate(timeout=60)
    assert out == "[]\n", err


def test_a_second_start_calls_the_first_and_leaves(qapp, qtbot, tmp_path):
    first, second = OneInstance(tmp_path), OneInstance(tmp_path)
    assert first.claim()
    assert not second.claim()
    first.listen()
    code = f"""
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.ui.one_instance import OneInstance
app = QCoreApplication([])
other = OneInstance(Path({str(tmp_path)!r}))
sys.exit(0 if not other.claim() and other.call() else 1)
"""
    with qtbot.waitSignal(first.raise_requested, timeout=40_000), spawn(tmp_path, code) as process:
        qtbot.waitUntil(lambda: process.poll() is not None, timeout=40_000)
    assert process.returncode == 0
    first.release()
    assert second.claim()
    second.release()


def test_a_claim_without_an_answer_does_not_keep_anybody_out(qapp, tmp_path):
    first, second = OneInstance(tmp_path), OneInstance(tmp_path)
    assert first.claim()
    assert not second.call(), "nobody listens"
    first.release()


@pytest.mark.linux
def test_a_second_process_leaves_with_success(home):
    with spawn(home) as first:
        wait_for(lambda: (home / "data" / "window.lock").exists() and engines_of(first.pid))
        with spawn(home) as second:
            assert second.wait(timeout=60) == 0
        assert first.poll() is None
        first.kill()


@pytest.mark.linux
def test_a_killed_window_leaves_no_engine_and_the_next_start_works(home):
    with spawn(home) as process:
        engine = wait_for(lambda: engines_of(process.pid))[0]
        process.kill()
    wait_for(lambda: not engine.is_running())
    with spawn(home) as again:
        wait_for(lambda: engines_of(again.pid))
        with closing(ChatStore(home / "data" / "chats.db")) as store:
            assert store.heads() == ()
        again.kill()
    wait_for(lambda: not left_of(home))


CLOSING = """
import asyncio, sys
from PySide6.QtCore import QTimer
from app.ui import app
from app.ui.main_window import MainWindow
built = MainWindow.build
def build(self):
    built(self)
    QTimer.singleShot(int(sys.argv[1]) if len(sys.argv) > 1 else 1500, self.close)
MainWindow.build = build
sys.exit(app.main())
"""


@pytest.mark.linux
@pytest.mark.parametrize("after_ms", [0, 300, 1500])
def test_closing_ends_everything_at_any_moment(home, after_ms):
    with spawn(home, CLOSING.replace("else 1500", f"else {after_ms}")) as process:
        _out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    wait_for(lambda: not left_of(home), limit_s=10)


@pytest.mark.linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_closes_in_good_order(home, number):
    with spawn(home) as process:
        engine = wait_for(lambda: engines_of(process.pid))[0]
        time.sleep(1.0)
        process.send_signal(number)
        _out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert err == ""
    assert not engine.is_running()
    assert (home / "config" / "window.ini").exists()


FAULTY = """
import sys
from PySide6.QtCore import QTimer
from app.ui import app
from app.ui.main_window import MainWindow
built = MainWindow.build
def build(self):
    built(self)
    self.sidebar.new_requested.connect(lambda: 1 / 0)
    self.tries = QTimer(interval=500)  # a slow machine still imports at the first one
    self.tries.timeout.connect(lambda: self.close() if self.notice.words else self.sidebar.new_requested.emit())
    self.tries.start()
close = MainWindow.closeEvent
def closed(self, event):
    if self.tries.isActive():
        self.tries.stop()
        print(self.notice.words, flush=True)
    close(self, event)
MainWindow.closeEvent = closed
MainWindow.build = build
sys.exit(app.main())
"""


def test_a_fault_in_a_slot_is_told_and_the_window_lives(home):
    with spawn(home, FAULTY) as process:
        out, _err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == "Something unexpected went wrong (ZeroDivisionError). The details are in the log.\n"


RESTORING = """
import gc, json, sys, threading
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog
from app.ui import app
from app.ui.main_window import MainWindow
from app.ui.question import Question

built, windows, elsewhere = MainWindow.build, [], []

def note_where(phase, info):
    if threading.current_thread() is not threading.main_thread():
        elsewhere.append(threading.current_thread().name)

gc.set_threshold(20)
gc.callbacks.append(note_where)

def build(self):
    built(self)
    windows.append(self)
    self.timer = QTimer(self, interval=50)
    self.timer.timeout.connect(restore if len(windows) == 1 else look)
    self.timer.start()

def restore():
    window = windows[0]
    questions = window.findChildren(Question)
    dialogs = window.findChildren(QFileDialog)
    if questions:
        window.timer.stop()
        questions[0].answer.click()
    elif dialogs:
        if dialogs[0].isVisible():
            dialogs[0].filesSelected.emit(sys.argv[1:])
            dialogs[0].accept()
    elif window.sidebar.titles() and window.action_list.find("data.restore") and not window.notice.words:
        window.action_list.run("data.restore")

def look():
    window = windows[1]
    if window.notice.words and window.sidebar.titles():
        window.timer.stop()
        print(json.dumps([window.notice.words, window.sidebar.titles(), elsewhere]))
        window.close()

MainWindow.build = build
sys.exit(app.main())
"""


@pytest.mark.linux
def test_a_backup_is_restored_between_two_windows(home, tmp_path):
    backup = tmp_path / "everything.zip"
    with closing(ChatStore()) as store:
        store.append(store.create("Before the backup").id, "user", "question", "complete")
        back_up(backup)
        store.append(store.create("After the backup").id, "user", "question", "complete")
    script = tmp_path / "restoring.py"
    script.write_text(RESTORING, encoding="utf-8")
    command = [sys.executable, str(script), str(backup)]
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "SLIPSTREAM_HOME": str(home), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    words, titles, collected_elsewhere = json.loads(done.stdout)
    assert words.startswith("The backup was restored. What was here before is in ")
    assert titles == ["Before the backup"]
    assert not collected_elsewhere, "a thread beside the windows collects garbage: what is Qt's in it would crash"
    # AND what took no part in it is kept
    kept = Path(words.rpartition(" is in ")[2].removesuffix("."))
    with closing(ChatStore(kept / "data" / "chats.db")) as store:
        assert {head.title for head in store.heads()} == {"Before the backup", "After the backup"}
