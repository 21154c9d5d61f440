"""A verdict from the window, on a screen: the whole way through the recording dialog with a real model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

ROOT = Path(__file__).resolve().parents[2]


def verdict_of(out, *arguments):
    """Run the benchmark; return its exit status and what it wrote."""
    command = [sys.executable, "-m", "tests.benchmarks.verdicts", "starter", "--out", str(out), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    path = out / "verdict.json"
    return done.returncode, done.stderr, json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


@pytest.mark.full
@pytest.mark.linux
@pytest.mark.timeout(660)
def test_ngram_on_prose_does_not_pay_and_the_screen_says_so(tmp_path):
    status, said, found = verdict_of(tmp_path, "--prompts", "prose", "--rounds", "2", "--expect", "cannot tell,costs")
    assert status == 0, said
    assert found["pairs"] == 8
    assert found["seen"] in found["verdict"].lower()
    assert found["any_rounding"] is False
    assert found["n_exact"] >= 0
    assert all({"n_exact", "longest_draft"} <= set(run) for run in found["runs"])
    for name in ("dialog", "recording", "verdict-light", "verdict-dark"):
        assert QImage(str(tmp_path / f"{name}.png")).width() == 1280


def test_a_verdict_that_cannot_come_is_refused_before_anything_is_loaded(tmp_path):
    asked = ("--prompts", "prose", "--rounds", "1", "--length", "5", "--any-rounding", "--expect", "pays")
    status, said, found = verdict_of(tmp_path, *asked)
    assert (status, found) == (2, None)
    assert "too few answers" in said
