"""Bandwidth, time left and stalls, on a clock of the test."""

from __future__ import annotations

import pytest

from app.models.meter import STALL_S, WINDOW_S, Meter
from app.models.patience import Patience


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def feed(meter: Meter, clock: Clock, n_bytes: int, seconds: float, at: int = 0) -> int:
    for _ in range(round(seconds * 5)):
        clock.now_s += 0.2
        at += n_bytes // 5
        meter.count(at)
    return at


def test_the_rate_is_that_of_the_last_seconds(clock):
    meter = Meter(clock)
    at = feed(meter, clock, 1000, 30)
    assert meter.rate_bytes_s == pytest.approx(1000)
    feed(meter, clock, 5000, 2 * WINDOW_S, at)
    assert meter.rate_bytes_s == pytest.approx(5000)
    assert meter.eta_s(10_000) == pytest.approx(2)


def test_nothing_is_foretold_before_a_byte_has_come(clock):
    meter = Meter(clock)
    assert meter.eta_s(1) is None
    clock.now_s += 1
    meter.count(0)
    assert (meter.rate_bytes_s, meter.eta_s(1)) == (0, None)


def test_silence_is_counted_from_the_last_byte_and_the_rate_falls_to_none(clock):
    meter = Meter(clock)
    at = feed(meter, clock, 1000, 10)
    feed(meter, clock, 0, STALL_S, at)

    assert meter.silence_s == pytest.approx(STALL_S)
    assert meter.rate_bytes_s == 0
    assert meter.eta_s(1000) is None
    meter.count(at + 1)
    assert meter.silence_s == 0


def test_waits_double_up_to_a_cap_with_jitter():
    patience = Patience(base_s=1, cap_s=30)
    waits = [[patience.delay_s(n) for _ in range(200)] for n in range(9)]

    for n, each in enumerate(waits):
        longest = min(30, 2**n)
        assert longest / 2 <= min(each) < max(each) <= longest
        assert max(each) - min(each) > longest / 8


def test_what_a_server_asks_for_is_granted_within_reason():
    patience = Patience(base_s=1, cap_s=30, longest_asked_s=300)
    assert patience.delay_s(0, 17) == 17
    assert patience.delay_s(0, 1e9) == 300
