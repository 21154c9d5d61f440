"""A throw-away process is heard, and nobody waits for what it does instead of answering."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import tracemalloc

import psutil
import pytest

from app.engine import leash
from app.engine.hearing import KEPT_LOG_BYTES, MOST_BYTES, hear
from app.engine.probe import probe
from app.errors import EngineDiedError
from tests.fair_time import FairWatch

FORKS = """
import os, sys, time
if os.fork() == 0:
    time.sleep(60)
    os._exit(0)
"""


def heard(code: str, timeout_s: float = 20.0):
    child = leash.spawn([sys.executable, "-c", code], stderr=subprocess.PIPE)
    watch = FairWatch()
    found = hear(child, b"question\n", timeout_s)
    return child, found, watch.took_s


def of_group(pid: int) -> list[psutil.Process]:
    """Return who is left of a group; who was told to end is given a moment."""
    until_s = time.monotonic() + 5
    while (found := _of_group(pid)) and time.monotonic() < until_s:
        time.sleep(0.05)
    return found


def _of_group(pid: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == pid and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (OSError, psutil.Error):
            continue
    return found


def test_an_answer_and_its_log_are_heard():
    _, found, _ = heard("import sys; print('said', sys.stdin.readline().strip()); sys.exit('why')")
    assert (found.output, found.lines, found.status) == (b"said question\n", ["why"], 1)
    assert (found.is_late, found.is_flood) == (False, False)


@pytest.mark.linux
def test_a_child_that_is_left_behind_with_the_pipes_is_not_waited_for_and_ended():
    child, found, took_s = heard(f"{FORKS}\nprint('answer', flush=True)")
    assert (found.output, found.status) == (b"answer\n", 0)
    assert took_s < 5
    assert of_group(child.process.pid) == []


@pytest.mark.linux
def test_a_child_of_one_that_hangs_ends_with_it():
    child, found, took_s = heard(f"{FORKS}\ntime.sleep(60)", timeout_s=0.5)
    assert found.is_late
    assert took_s < 5
    assert of_group(child.process.pid) == []


@pytest.mark.linux
def test_a_child_that_left_the_group_with_the_pipes_is_not_waited_for():
    leaves = "os.setsid(); print(os.getpid(), flush=True); os.write(write, b'x'); time.sleep(8)"
    code = f"import os\nread, write = os.pipe()\n{FORKS.replace('time.sleep(60)', leaves)}\nos.read(read, 1)"
    _, found, took_s = heard(code)
    assert took_s < 6
    psutil.Process(int(found.output)).kill()
    for thread in threading.enumerate():  # then the pipes are let go
        if thread.name == "probe-ear":
            thread.join(5)
            assert not thread.is_alive()


@pytest.mark.parametrize("descriptor", [1, 2])
def test_a_gigabyte_is_neither_kept_nor_waited_for(descriptor):
    code = f"import os\nfor _ in range(1 << 14): os.write({descriptor}, b'x' * 65536)\n"
    tracemalloc.start()
    try:
        _, found, took_s = heard(code)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * MOST_BYTES
    assert took_s < 15
    assert (found.is_flood, found.status != 0) == ((True, True) if descriptor == 1 else (False, False))
    assert len(found.log) <= KEPT_LOG_BYTES


def test_one_that_closes_its_output_and_lives_on_is_late():
    _, found, took_s = heard("import os, time; os.close(1); os.close(2); time.sleep(60)", timeout_s=0.5)
    assert found.is_late
    assert took_s < 3


def test_one_that_reads_nothing_and_ends_is_heard():
    _, found, _ = heard("import os; os.close(0); os.write(1, b'deaf')")
    assert (found.output, found.status) == (b"deaf", 0)


@pytest.mark.parametrize("code", ["os.write(1, b'\\xff\\xfe{')", "os.write(1, b'[' * 200000)", "os.close(1)"])
def test_garbage_is_no_answer(code):
    with pytest.raises(EngineDiedError, match="it left"):
        probe([sys.executable, "-c", f"import os; {code}"])


def test_a_flood_is_called_one():
    with pytest.raises(EngineDiedError, match="wrote without end"):
        probe([sys.executable, "-c", "import os\nwhile True: os.write(1, b'x' * 65536)"])
