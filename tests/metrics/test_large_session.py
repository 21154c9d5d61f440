"""A session of very many steps is exported in time, with progress, while others go on working, and opens again."""

from __future__ import annotations

import random

import pytest

from tests.benchmarks.session_export import export, record
from tests.fair_time import FairWatch
from tests.metrics.sessions import session

LIMIT_S = 10.0
PAUSE_S = 0.5
"""Longest that another thread may stand still, on a machine that others use, too."""


def check(folder, n_steps, n_runs, limit_s):
    rng, log = random.Random(1), session(folder)
    for i in range(n_runs):
        record(log, n_steps // n_runs, is_plain=i % 2 == 0, rng=rng)
    watch = FairWatch()
    took_s, pause_s, n_told, opened_s = export(log, folder / "out")
    print(f"{n_steps:,} steps: exported in {took_s:.2f} s, opened in {opened_s:.2f} s, longest pause {pause_s:.3f} s")
    assert watch.took_s - opened_s <= limit_s
    assert pause_s <= PAUSE_S
    assert n_told > n_runs
    assert {"metrics.json", "metrics.csv", "report.html"} <= {path.name for path in (folder / "out").iterdir()}


def test_a_session_of_many_steps_is_exported_in_time(tmp_path):
    check(tmp_path, 50_000, 50, LIMIT_S / 10)


@pytest.mark.full
@pytest.mark.timeout(600)
def test_a_session_of_a_million_steps_is_exported_in_time(tmp_path):
    check(tmp_path, 1_000_000, 1000, LIMIT_S)
