"""How long an engine may take to stop follows what its steps take."""

from __future__ import annotations

import asyncio
import time

import pytest

from app.engine.death import HINT
from app.errors import EngineDiedError
from app.host.jobs import Job
from app.host.patience import LEAST_S, MOST_S, TIMES, UNSEEN_S, Patience
from app.host.turn import end_if_stuck
from app.protocol import Engagement, Prefill, Started

STARTED = Started(1, 600, 0, Engagement(engaged=False, reason="Off."))


def test_on_the_processor_a_step_is_broken_off_and_elsewhere_the_first_long_one_is_waited_for():
    assert Patience(True).seconds == LEAST_S
    device = Patience(False)
    assert device.seconds == UNSEEN_S
    device.note(STARTED)
    device.note(Prefill(1, 40, 600))  # short: tells nothing of a long one
    assert device.seconds == UNSEEN_S
    device.note(Prefill(1, 552, 600))
    assert device.seconds == LEAST_S
    device.note(STARTED)
    device.note(Prefill(1, 88, 88))
    assert device.seconds == LEAST_S


def test_steps_that_take_long_are_given_a_multiple_of_that():
    slow = Patience(True)
    slow.note(STARTED)
    slow._heard_s -= 20  # as if that much time had passed
    slow.note(Prefill(1, 128, 600))
    assert slow.seconds == pytest.approx(TIMES * 20, abs=1)
    slow.note(STARTED)  # what lies between two answers is no step
    slow._heard_s -= 500
    slow.note(STARTED)
    assert slow.seconds == pytest.approx(TIMES * 20, abs=1)


def test_a_night_asleep_in_mid_answer_is_no_step():
    slept = Patience(True)
    slept.note(STARTED)
    slept._heard_s -= 28_800
    slept.note(Prefill(1, 128, 600))
    assert slept.seconds == MOST_S


@pytest.mark.parametrize("is_over", [True, False])
def test_an_engine_that_has_ended_while_the_loop_stood_is_not_taken_for_one_that_hangs(is_over, expect_log):
    if not is_over:
        expect_log("did not stop within")

    class Engine:
        n_closed = 0

        async def close(self):
            self.n_closed += 1

    class Short(Patience):
        seconds = 0.2

    async def whole():
        engine, patience, job = Engine(), Short(True), Job()
        watching = asyncio.ensure_future(end_if_stuck(engine, job, patience))
        await asyncio.sleep(0)
        if is_over:
            asyncio.get_running_loop().call_later(0.25, job.over.set)
        time.sleep(0.3)  # the loop stands: the limit and the end of the answer come due together
        await watching
        return engine.n_closed, patience.why

    n_closed, why = asyncio.run(whole())
    assert (n_closed, bool(why)) == (int(not is_over), not is_over)


def test_what_was_waited_for_in_vain_is_said_and_nothing_else():
    patience, fault = Patience(False), EngineDiedError("The engine was stopped.", HINT)
    assert patience.explained(fault) is fault
    patience.end(180.0)
    assert "did not stop within 180 s" in patience.explained(fault).message
