"""How often is drawn: what a drawing costs is paid for before the next one, from a share that depends on the cores."""

import time

import psutil
import pytest

from app.ui.pace import SHARE, SPARE_SHARE, Pace


def spend(pace, seconds):
    """Use the processor for so long, on the clock of the pace; return what it took by that clock."""
    begun = time.thread_time()
    with pace.metered():
        while time.thread_time() - begun < seconds:
            pass
    return time.thread_time() - begun


def test_a_dear_drawing_is_paid_for_before_the_next():
    pace = Pace(100, 10_000)
    pace.leave_cores(psutil.cpu_count(logical=False) or 1)
    took_s = spend(pace, 0.004) + spend(pace, 0.004)  # computed and painted apart, but one drawing
    assert pace.next_ms() == pytest.approx(1000 * took_s / SHARE, rel=0.2)


def test_where_a_core_is_left_it_is_as_often_as_there_is_anything_to_see():
    pace = Pace(100, 10_000)
    pace.leave_cores(0)
    spend(pace, 0.004)
    assert pace.next_ms() == 100 > 1000 * 0.004 / SPARE_SHARE


def test_waits_stay_within_limits_and_follow_the_cost():
    pace = Pace(200, 1000)
    pace.leave_cores(psutil.cpu_count(logical=False) or 1)
    assert pace.next_ms() == 200, "nothing is known yet"
    spend(pace, 0.05)
    assert pace.next_ms() == 1000
    for _ in range(30):
        spend(pace, 0.0002)
        wait_ms = pace.next_ms()
    assert wait_ms == 200


def test_what_is_drawn_between_two_looks_is_one_drawing():
    pace = Pace(100, 10_000)
    pace.leave_cores(psutil.cpu_count(logical=False) or 1)
    spend(pace, 0.003)
    first = pace.next_ms()
    assert pace.next_ms() == first, "nothing was drawn since"
