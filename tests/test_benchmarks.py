"""The benchmarks still run: their figures at the smallest size, so that a change of the engine is noticed here."""

from __future__ import annotations

from tests.benchmarks.memory import WAYS, FastMotion, measure_fast_motion


def test_memory_in_fast_motion():
    figures = {figure.name: figure.values for figure in measure_fast_motion(1500, n_session_tokens=750, n_runs=2)}
    assert figures["fast_motion_tokens"][0] >= 1500
    assert figures["fast_motion_answers"][0] > 2
    assert len(figures["fast_motion_rss_end_to_start"]) == 1
    assert 30 < figures["session_log_step"][0] < 1000


def test_every_way_drafts_in_fast_motion(tmp_path):
    """What the script lacks the session would miss; a drafter that failed would leave the day to the others."""
    motion = FastMotion(tmp_path)
    runs = [motion.answer() for _ in range(24)]
    drafted = {step.drafter for run in runs for step in run.steps if step.accepted}
    assert {name for way in WAYS for name in way.types} <= drafted
    assert not [run.not_engaged for run in runs if "went on at plain speed" in run.not_engaged]
    motion.session.close()
