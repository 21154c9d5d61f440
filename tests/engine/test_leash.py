"""The ties between a child and us."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from app.engine import leash, win_job
from tests.fair_time import FairWatch

SLEEPER = "from app.engine import leash; leash.tie(); print('up', flush=True); import time; time.sleep(60)"
DEAF_SLEEPER = SLEEPER.replace("import time", "import signal, time; signal.signal(15, signal.SIG_IGN)")


def start(code: str, **how) -> leash.Child:
    child = leash.spawn([sys.executable, "-c", code], **how)
    assert child.process.stdout.readline() == b"up\n"
    return child


def test_our_own_processes_are_started_with_the_interpreter_that_runs_us():
    argv = leash.command("worker")
    assert Path(argv[0]).samefile(sys.executable)
    assert argv[1:] == ["-m", "app", "worker"]


def test_a_child_finds_this_package_wherever_it_is_started(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    child = start("import app; print('up', flush=True)")
    assert child.reap(5) == 0


def test_reaping_is_patient_and_then_not():
    child = start(DEAF_SLEEPER)
    began_s, watch = time.monotonic(), FairWatch()
    status = child.reap(0.3)
    assert status != 0
    assert time.monotonic() - began_s >= 0.3
    assert watch.took_s < 2
    assert child.process.stdin.closed
    assert child.process.stdout.closed


def test_killing_what_is_gone_is_fine():
    child = start("print('up', flush=True)")
    child.reap(5)
    child.kill()


@pytest.mark.linux
def test_a_tied_child_dies_with_the_thread_that_started_it():
    """Hence everything here starts a child on the thread that reads from it until its end."""
    children: list[leash.Child] = []
    thread = threading.Thread(target=lambda: children.append(start(SLEEPER)))
    thread.start()
    thread.join()
    assert children[0].process.wait(30) == -9
    children[0].reap(0)


@pytest.mark.linux
def test_a_tied_child_dies_with_a_parent_that_is_killed():
    code = f"from tests.engine.test_leash import *; print(start({SLEEPER!r}).process.pid, flush=True); time.sleep(60)"
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    grandchild = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    psutil.wait_procs([grandchild], timeout=30)
    assert not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE


@pytest.mark.linux
def test_ctrl_c_in_a_terminal_is_not_for_the_child():
    child = start(SLEEPER)
    assert os.getsid(child.process.pid) != os.getsid(0)
    child.kill()
    child.reap(5)


@pytest.mark.skipif(sys.platform == "win32", reason="there the Job does it")
def test_memory_is_capped_from_inside():
    code = (
        "from app.engine import leash; leash.limit_memory(512 << 20); print('up', flush=True)\n"
        "try: x = 'a' * (600 << 20)\n"
        "except MemoryError: raise SystemExit(7)"
    )
    assert start(code).reap(5) == 7


@pytest.mark.skipif(sys.platform == "win32", reason="there the Job does it")
@pytest.mark.parametrize(("called_off", "status"), [(False, -14), (True, 0)])
def test_a_process_can_set_its_own_end(called_off, status):
    wait = "leash.end_after(0); time.sleep(1.2)" if called_off else "time.sleep(60)"
    child = start(f"import time; from app.engine import leash; leash.end_after(1.0); print('up', flush=True); {wait}")
    assert child.process.wait(30) == status
    child.reap(0)


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the sizes are those of 64 bits")
def test_the_windows_structures_have_the_sizes_of_the_sdk():
    limits = win_job.limits(512 << 20)
    assert ctypes.sizeof(limits) == 144
    assert ctypes.sizeof(limits.basic) == 64
    assert limits.basic.flags == 0x2000 | 0x400 | 0x100
    assert limits.process_memory == 512 << 20
    assert win_job.limits(0).basic.flags == 0x2000 | 0x400
