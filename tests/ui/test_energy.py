from __future__ import annotations

import msgspec

from app.ui.figures import facts_of
from tests.metrics.sessions import plain_steps, run_of


def energy_of(run):
    return next(fact for fact in facts_of(run) if fact.name == "Energy")


def test_tokens_per_watt_hour_are_shown_with_what_was_measured():
    run = msgspec.structs.replace(run_of(plain_steps(50, 10.0)), energy_j=36.0, energy_source="processor package")
    assert energy_of(run).value == "5,000 tokens/Wh"
    assert "processor package" in energy_of(run).meaning


def test_without_a_meter_it_is_not_available():
    run = msgspec.structs.replace(run_of(plain_steps(50, 10.0)), energy_j=None, energy_source="")
    assert energy_of(run).value == "not available"
