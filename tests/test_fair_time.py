"""The watch that limits are held against: it leaves the neighbours out, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tests.fair_time import FairWatch


def spin(cpu_s: float) -> None:
    until_s = time.thread_time() + cpu_s
    while time.thread_time() < until_s:
        pass


def test_what_hangs_takes_its_time_whatever_the_neighbours_do():
    watch = FairWatch()
    time.sleep(0.3)
    assert 0.03 <= watch.took_s < 0.6


@pytest.mark.linux
def test_the_time_that_a_neighbour_had_the_processor_is_left_out():
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    neighbour = subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
    try:
        neighbour.stdout.readline()
        began_s, watch = time.monotonic(), FairWatch()
        spin(0.4)
        by_the_clock_s, fair_s = time.monotonic() - began_s, watch.took_s
    finally:
        os.sched_setaffinity(0, before)
        neighbour.kill()
        neighbour.communicate()
    assert by_the_clock_s > 0.6
    assert fair_s < 0.75 * by_the_clock_s
