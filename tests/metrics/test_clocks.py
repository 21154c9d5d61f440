from __future__ import annotations

import time

import pytest

from app.metrics.clocks import Clocks, ClockWatch
from app.metrics.recorder import RunRecorder
from app.metrics.verdict import usable
from app.protocol import Step
from tests.metrics.sessions import GREEDY, NGRAM, events, plain_steps, session


class Hands:
    """Clocks that the test moves."""

    def __init__(self) -> None:
        self.wall, self.elapsed, self.awake = 1e9, 5000.0, 4000.0

    def clocks(self) -> Clocks:
        return Clocks(lambda: self.wall, lambda: self.elapsed, lambda: self.awake)

    def move(self, wall_s: float, elapsed_s: float, awake_s: float) -> None:
        self.wall += wall_s
        self.elapsed += elapsed_s
        self.awake += awake_s


@pytest.mark.parametrize(
    ("moves", "fault"),
    [
        ((10.0, 10.0, 10.0), ""),
        ((10.4, 10.0, 10.0), ""),  # a time server's small correction
        ((3610.0, 10.0, 10.0), "the computer's clock was set by +3600 s meanwhile"),
        ((-50.0, 10.0, 10.0), "the computer's clock was set by -60 s meanwhile"),
        ((40.0, 40.0, 10.0), "the computer slept for 30 s meanwhile"),
    ],
)
def test_what_became_of_the_clocks_is_told(moves, fault):
    hands = Hands()
    watch = ClockWatch(hands.clocks())
    hands.move(*moves)

    assert watch.fault() == fault


def test_the_clocks_of_this_machine_go_on_together():
    watch = ClockWatch()
    time.sleep(0.05)
    assert watch.fault() == ""


def answer(hands, steps, speculation=NGRAM):
    recorder = RunRecorder(label="a", speculation=speculation, sampling=GREEDY, clocks=hands.clocks())
    for event in events(steps, engaged=True, reason=""):
        recorder.on_event(event)
    return recorder


@pytest.mark.parametrize("moves", [(3600.0, 1.0, 1.0), (90.0, 90.0, 1.0)])
def test_an_answer_with_a_clock_change_is_marked_and_enters_no_verdict(tmp_path, moves):
    log, hands = session(tmp_path), Hands()
    for _ in range(6):
        log.add(answer(hands, plain_steps(40, 80.0)).finish())
    before = log.comparisons()
    recorder = answer(hands, plain_steps(40, 1.0))
    hands.move(*moves)
    run = log.add(recorder.finish())

    assert run.excluded.endswith("meanwhile")
    assert run.stop_reason == "length"
    assert not usable(run)
    assert log.comparisons() == before
    assert log.comparison_of(run) is None


def test_engine_times_that_run_backwards_are_marked(tmp_path):
    steps = plain_steps(40, 80.0)
    steps[20] = Step(0.01, 1, 0, 0, 0, 0, 0.0, 0.01, 40, "")
    run = answer(Hands(), steps).finish()

    assert run.excluded == "the engine's clock ran backwards"
    assert not usable(run)
