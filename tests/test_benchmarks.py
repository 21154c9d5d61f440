"""The benchmarks still run: their figures at the smallest size, so that a change of the engine is noticed here."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

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


LEAST = {"--sets": "chat", "--temperatures": "0", "--tokens": "8", "--prompts": "1"}
ON_A_PAIR = tuple(itertools.chain.from_iterable(LEAST.items()))
SMALLEST = {
    "attention": ("--model", "TARGET", "--at", "32"),
    "lossless": ("tiny:chain", "--prompts", "1", "--tokens", "8", "--lengths", "2"),
    "ngram": ("--model", "TARGET", "--sets", "edit", "--tokens", "8"),
    "session_export": ("--steps", "1000", "--runs", "10"),
    "shapes": ("TARGET", "--draft", "DRAFT", "--lengths", "2", "--lenient", "0.3", *ON_A_PAIR),
    "speculation": ("TARGET", "--draft", "DRAFT", "--types", "ngram,draft-simple", "--lengths", "2,auto", *ON_A_PAIR),
    "speculation --cold": ("TARGET", "--types", "ngram", *ON_A_PAIR),
    "trees": ("TARGET", "--draft", "DRAFT", "--rows", "4", *ON_A_PAIR),
    "trees --played": ("TARGET", "--draft", "DRAFT", "--rows", "4", *ON_A_PAIR),
}
"""Those that no other test runs and that a tiny pair, or none, is enough for: with arguments that take a second."""


@pytest.mark.parametrize("name", SMALLEST)
def test_it_starts_and_reports(name, tiny_pair):
    files = {"TARGET": str(tiny_pair.target), "DRAFT": str(tiny_pair.draft)}
    arguments = [files.get(word, word) for word in SMALLEST[name]]
    module, *flags = name.split()
    command = [sys.executable, "-m", f"tests.benchmarks.{module}", "--json", "--turns", "1", *flags, *arguments]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["figures"]
    assert figures
    assert all(figure["n"] > 0 for figure in figures.values())
