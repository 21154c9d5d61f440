"""A verdict from the window, on a screen: the whole way through the recording dialog with a real model."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QImage

from app.metrics.verdict import MIN_PAIRS
from tests.benchmarks.verdicts import hopeless
from tests.metrics.sessions import NGRAM, plain_steps, run_of

ROOT = Path(__file__).resolve().parents[2]
SHORT = tuple(
    f"Write two sentences about {what}." for what in ("the sea", "a dog", "rain", "bread", "the moon", "trains", "tea")
)


def needs_screen(test):
    """Mark a test of the real window on a display of its own."""
    missing = pytest.mark.skipif(shutil.which("Xvfb") is None, reason="needs Xvfb on the PATH")
    return pytest.mark.linux(missing(test))


def verdict_of(out, *arguments):
    """Run the benchmark; return its exit status and what it wrote."""
    command = [sys.executable, "-m", "tests.benchmarks.verdicts", "starter", "--out", str(out), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    path = out / "verdict.json"
    return done.returncode, done.stderr, json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


@needs_screen
@pytest.mark.full
@pytest.mark.timeout(660)
def test_ngram_on_prose_does_not_pay_and_the_screen_says_so(tmp_path):
    asked = ("--prompts", "prose", "--rounds", "2", "--expect", "cannot tell,costs", "--limit", "8")
    status, said, found = verdict_of(tmp_path, *asked)
    assert status == 0, said
    assert found["pairs"] == 8
    shows_it(tmp_path, found)


@needs_screen
@pytest.mark.full
@pytest.mark.timeout(330)
def test_short_answers_to_a_file_of_prompts_have_a_verdict_on_the_screen(tmp_path):
    prompts = tmp_path / "short.jsonl"
    prompts.write_text("".join(json.dumps({"name": words, "prompt": words}) + "\n" for words in SHORT))
    asked = ("--prompts", str(prompts), "--rounds", "1", "--expect", "cannot tell,costs", "--limit", "5")
    status, said, found = verdict_of(tmp_path, *asked)
    assert status == 0, said
    assert MIN_PAIRS <= found["pairs"] <= len(SHORT)
    shows_it(tmp_path, found)


def shows_it(folder, found):
    assert found["seen"] in found["verdict"].lower()
    assert found["any_rounding"] is False
    assert found["n_exact"] >= 0
    assert all({"n_exact", "longest_draft"} <= set(run) for run in found["runs"])
    for name in ("dialog", "recording", "verdict-light", "verdict-dark"):
        assert QImage(str(folder / f"{name}.png")).width() == 1280


def test_a_verdict_that_cannot_come_is_refused_before_anything_is_loaded(tmp_path):
    asked = ("--prompts", "prose", "--rounds", "1", "--length", "5", "--any-rounding", "--expect", "pays")
    status, said, found = verdict_of(tmp_path, *asked)
    assert (status, found) == (2, None)
    assert "too few answers" in said
    assert "ask for 2 or more" in said


def test_a_file_that_is_not_there_is_named_before_anything_is_shown(tmp_path):
    status, said, found = verdict_of(tmp_path, "--draft", "/nowhere/small.gguf", "--expect", "pays")
    assert (status, found) == (2, None)
    assert "there is no such file: /nowhere/small.gguf" in said


def test_answers_that_cannot_count_end_it_after_three():
    short = [run_of(plain_steps(8, 50.0), speculation=NGRAM) for _ in range(3)]
    plain = [run_of(plain_steps(40, 50.0)) for _ in range(3)]
    assert hopeless((*plain, *short[:2])) == ""
    assert hopeless((*plain, *short)).startswith(
        "none of 3 answers counts (with speculation): the last is left out: it"
    )
    unengaged = [replace(run_of(plain_steps(40, 50.0), speculation=NGRAM), engaged=False, not_engaged="No.")] * 3
    assert "speculation was not engaged. No." in hopeless(unengaged)
    assert hopeless((*short, run_of(plain_steps(40, 90.0), speculation=NGRAM))) == ""
