"""An hour of steps goes through the panel: what a redraw takes, and what memory stays."""

from __future__ import annotations

import pytest

from tests.benchmarks.panel import WARM_UP_SHARE, percentile, play

PAGES = {"over time": 0, "steps": 1, "by position": 2, "by context": 3}
REDRAW_MS = 8.0
GROWTH_MB = 12.0
"""What an allocator keeps or not; a leak of a single step's facts would be 200 MB in an hour."""


def check(minutes, every, page):
    drawn = play(minutes, every, page)
    timed = drawn.cpu_ms[round(WARM_UP_SHARE * len(drawn.cpu_ms)) :]
    p99_ms, growth_mb = percentile(timed, 0.99), drawn.memory_mb[-1] - drawn.memory_mb[1]
    print(f"{len(timed):,} redraws: p99 {p99_ms:.1f} ms, {growth_mb:+.1f} MB, over {minutes:g} minutes")
    assert p99_ms <= REDRAW_MS
    assert growth_mb <= GROWTH_MB
    return len(drawn.cpu_ms)


def test_some_minutes_of_steps_are_drawn_in_time(qapp):
    assert check(2.0, 10, PAGES["over time"]) == 120


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_an_hour_at_200_steps_a_second_leaves_memory_flat(qapp, page):
    assert check(60.0, 4, page) == 9000
