"""Measuring devices: what is measured, what is chosen, what happens to a place that does not work."""

from __future__ import annotations

import asyncio

import pytest

from app.host import Host
from app.host.device_trial import LEAST_GAIN, PlaceSpeed, choose, measure_devices
from app.metrics.recorder import SessionLog
from app.metrics.stats import decode_tps
from tests.doubles import Answer, ScriptedEngine


def speeds(**tps: float) -> list[PlaceSpeed]:
    return [
        PlaceSpeed(place, value, value, 3) if value else PlaceSpeed(place, fault="no") for place, value in tps.items()
    ]


@pytest.mark.parametrize(
    ("table", "chosen"),
    [
        ({"cpu": 10.0, "RPC0": 20.0}, "RPC0"),
        ({"cpu": 20.0, "RPC0": 10.0}, "cpu"),
        ({"cpu": 10.0, "RPC0": 10.2}, "cpu"),
        ({"cpu": 10.0, "RPC0": 10.4}, "RPC0"),
        ({"cpu": 0.0, "RPC0": 1.0, "HTP0": 2.0}, "HTP0"),
        ({"cpu": 0.0}, ""),
    ],
)
def test_the_fastest_is_chosen_and_the_processor_where_it_is_nearly_as_fast(table, chosen):
    assert choose(speeds(**table)) == chosen
    if chosen:
        assert table[chosen] * 1.03 >= max(table.values())
    assert LEAST_GAIN <= 1.03


def test_places_take_turns_and_one_that_does_not_work_is_named(tiny_pair):
    said = []

    async def body():
        return await measure_devices(("cpu", "gpu"), said.append, target=str(tiny_pair.target))

    trial = asyncio.run(asyncio.wait_for(body(), 60))
    assert trial.choice == "cpu"
    first, second = trial.speeds
    assert (first.place, first.n_answers, second.place, second.n_answers) == ("cpu", 3, "gpu", 0)
    assert first.decode_tps > 0 < first.prefill_tps
    assert "No GPU" in second.fault
    assert said == [
        "Measuring cpu, 1 of 3…",
        "Measuring gpu, 1 of 3…",
        "Measuring cpu, 2 of 3…",
        "Measuring cpu, 3 of 3…",
    ]


def test_when_time_is_up_each_place_has_been_measured_once(tiny_pair):
    async def body():
        session = SessionLog()
        host = Host(make_engine=lambda: ScriptedEngine([Answer()]), session=session)
        try:
            trial = await measure_devices(("cpu",), str, target=str(tiny_pair.target), host=host, limit_s=0.0)
            return trial, len(session.runs), session.runs[-1]
        finally:
            await host.close()

    trial, n_runs, run = asyncio.run(asyncio.wait_for(body(), 30))
    assert (trial.speeds[0].n_answers, n_runs) == (1, 2)  # a short one that warms up, and one that counts
    assert trial.speeds[0].decode_tps == pytest.approx(decode_tps(run.steps), abs=0.01)


def test_a_place_that_never_answers_is_named_and_the_next_gets_another_engine(tiny_pair):
    engines = iter([ScriptedEngine([Answer(pace_s=100)]), ScriptedEngine([Answer()])])

    async def body():
        host = Host(make_engine=lambda: next(engines), session=SessionLog())
        where = ("cpu", " cpu")  # twice the same place, by two names
        try:
            return await measure_devices(
                where, str, target=str(tiny_pair.target), host=host, limit_s=0.0, answer_limit_s=1.0
            )
        finally:
            await host.close()

    trial = asyncio.run(asyncio.wait_for(body(), 30))
    assert {speed.place: (speed.n_answers, speed.fault) for speed in trial.speeds} == {
        "cpu": (0, "It did not answer within 1 seconds."),
        " cpu": (1, ""),
    }
    assert trial.choice == " cpu"
