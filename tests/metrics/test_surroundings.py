from __future__ import annotations

import dataclasses
import subprocess
import sys
import time

import pytest

from app.metrics.surroundings import OwnTime, Reading, SystemSource, Watch

QUIET = Reading(0.0, 0.0, 0.0, 4, on_battery=False, power_mode="balanced", hottest_c=60.0, clock_share=0.95)


class Told:
    """Readings that the test wrote."""

    def __init__(self, *readings: Reading) -> None:
        self._left = list(readings)

    def read(self) -> Reading:
        return self._left.pop(0)


def notes(**changes: object) -> tuple[str, ...]:
    later = {"at_s": 10.0, "busy_s": 21.0, "own_s": 20.0, **changes}
    return Watch(Told(QUIET, dataclasses.replace(QUIET, **later))).notes()


def test_a_quiet_machine_is_nothing_to_speak_of():
    assert notes() == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"busy_s": 40.0}, "other programs kept 50% of the processor busy"),
        ({"busy_s": 400.0}, "other programs kept 100% of the processor busy"),
        ({"on_battery": True}, "the power supply changed to battery"),
        ({"power_mode": "low-power"}, "the power mode changed from balanced to low-power"),
        ({"hottest_c": 97.2}, "the processor was at 97 °C"),
        ({"clock_share": 0.5}, "the processor ran at 50% of its highest clock"),
    ],
)
def test_what_disturbs_is_said(changes, words):
    assert notes(**changes) == (words,)


def test_staying_on_battery_in_a_saving_mode_is_said():
    low = dataclasses.replace(QUIET, on_battery=True, power_mode="powersave")
    later = dataclasses.replace(low, at_s=10.0)
    assert Watch(Told(low, later)).notes() == ("on battery", "power mode: powersave")


def test_what_cannot_be_read_for_once_is_no_change():
    unknown = dataclasses.replace(QUIET, on_battery=None, power_mode="")
    assert Watch(Told(QUIET, unknown)).notes() == ()
    assert Watch(Told(unknown, QUIET)).notes() == ()


def test_a_machine_that_tells_nothing_gets_no_notes():
    unknown = Reading(0.0, 0.0, 0.0, 4)
    assert Watch(Told(unknown, dataclasses.replace(unknown, at_s=1.0))).notes() == ()


def test_this_machine_can_be_read_and_our_own_work_is_not_that_of_others():
    source = SystemSource()
    first = source.read()
    end_s = time.process_time() + 0.2
    while time.process_time() < end_s:
        pass
    last = source.read()

    assert last.own_s - first.own_s == pytest.approx(0.2, abs=0.1)
    assert last.busy_s - first.busy_s >= 0.15
    assert last.n_cores >= 1


@pytest.mark.parametrize(
    "has_ended_ones", [pytest.param(True, marks=pytest.mark.linux), False], ids=["system counts", "last look counts"]
)
def test_what_a_process_has_used_stays_ours_when_it_has_ended(has_ended_ones):
    work = "import time\nwhile time.process_time() < 0.6: pass\nprint('done', flush=True)\ninput()"
    own = OwnTime(has_ended_ones=has_ended_ones)
    first_s = own.read()
    with subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline().startswith(b"done")
        if not has_ended_ones:
            own.read()
        child.kill()
    assert own.read() - first_s > 0.5
