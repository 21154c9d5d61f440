"""The rules of conftest.py catch what they are there to catch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SINS = """
import logging, os, socket, subprocess, sys, threading, time, warnings
import pytest

def test_clean(): pass

def test_log(): logging.getLogger("app.x").warning("odd")

def test_announced_log(expect_log):
    expect_log("WARNING app.x: odd")
    logging.getLogger("app.x").warning("odd")

def test_missing_log(expect_log): expect_log("never comes")

def test_thread(): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()

def test_short_thread(): threading.Thread(target=time.sleep, args=(0.2,), daemon=True).start()

def test_process():
    global process
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])

def test_that_process_was_ended(): assert process.wait(5) != 0

def test_window(qapp):
    global window
    from PySide6.QtWidgets import QWidget
    window = QWidget()

def test_owned_window(qtbot):
    from PySide6.QtWidgets import QWidget
    qtbot.addWidget(QWidget())

def test_timer(qapp):
    global timer
    from PySide6.QtCore import QTimer
    timer = QTimer()
    timer.start(60_000)

def test_timer_of_a_window_that_goes(qtbot):
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QWidget
    window = QWidget()
    qtbot.addWidget(window)
    QTimer(window).start(60_000)

def test_qt_warning(qapp):
    from PySide6.QtCore import qWarning
    qWarning("odd")

def leave_a_loop():
    import asyncio, qasync
    loop = qasync.QEventLoop()
    loop.call_later(60, print)
    loop.run_until_complete(asyncio.sleep(0, loop))
    loop.close()
    return loop

def collect_elsewhere():
    import gc
    thread = threading.Thread(target=gc.collect)
    thread.start()
    thread.join()

def test_loop_with_a_timer(qapp): leave_a_loop()

def test_its_timer_is_gone(qapp): collect_elsewhere()

@pytest.fixture
def loop(qapp): return leave_a_loop()

def test_loop_of_a_fixture(loop): loop.itself = loop

def test_that_loop_is_gone(qapp): collect_elsewhere()

def test_failing_with_a_loop(qapp):
    loop = leave_a_loop()
    assert loop.is_running()

def test_that_one_is_gone_too(qapp): collect_elsewhere()

def test_python_warning(): warnings.warn("odd")

def test_far_address(): socket.create_connection(("192.0.2.1", 80), timeout=1)

def test_far_name(): socket.getaddrinfo("example.com", 80)

def test_near_address():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()): pass

def test_home_a(home):
    from app.paths import data_dir
    assert data_dir().is_relative_to(home) and not list(data_dir().iterdir())
    (data_dir() / "x").touch()

def test_home_b(home): test_home_a(home)

@pytest.mark.full
def test_long(): pass
"""

BAD = {
    "test_log",
    "test_missing_log",
    "test_thread",
    "test_process",
    "test_window",
    "test_timer",
    "test_qt_warning",
    "test_failing_with_a_loop",
    "test_python_warning",
    "test_far_address",
    "test_far_name",
}


def run_pytest(folder: Path, *arguments: str, test: str = "", full: str = "0") -> str:
    (folder / "test_sins.py").write_text(SINS)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", str(ROOT / "pyproject.toml")]
    command += ["--rootdir", str(ROOT), "-p", "no:cacheprovider", "-q", "-rA", *arguments]
    command += [f"{folder / 'test_sins.py'}{test}"]
    environment = {**os.environ, "SLIPSTREAM_FULL": full}
    finished = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=100, env=environment, check=False
    )
    return finished.stdout + finished.stderr


def test_each_sin_is_caught_and_nothing_else(tmp_path):
    output = run_pytest(tmp_path)
    lines = [line.split() for line in output.splitlines() if line.startswith(("FAILED", "ERROR "))]
    assert {line[1].split("::")[1] for line in lines} == BAD, output
    assert "1 deselected" in output
    assert "unexpected log: WARNING app.x: odd" in output
    assert "left behind: window" in output
    assert "left behind: a timer of 60000 ms that runs, of nobody" in output


def test_long_forms_run_when_asked_for(tmp_path):
    assert "1 passed" in run_pytest(tmp_path, "-m", "full")
    assert "1 passed" in run_pytest(tmp_path, test="::test_long", full="1")
    assert "1 deselected" in run_pytest(tmp_path, test="::test_long")
