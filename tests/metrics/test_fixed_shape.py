"""Answers of a fixed shape are another way to draft than those without one, by name, too: they cost more."""

from __future__ import annotations

import json

import jsonschema
import pytest

from app.metrics.compare import compare
from app.metrics.pictures import pictures
from app.metrics.report import row_of, verdicts
from app.metrics.session_export import write_session
from app.paths import resource
from app.protocol import Speculation
from tests.metrics.sessions import NGRAM, plain_steps, run_of, session

FIXED = Speculation(types=("ngram",), draft_tokens=4, fixed_shape=True)
SCHEMA = json.loads(resource("metrics.schema.json").read_text(encoding="utf-8"))


def answered(folder, ways):
    """Answer eight prompts, each at so many tokens per second in each way."""
    folder.mkdir(exist_ok=True)
    log = session(folder)
    for i in range(8):
        for way, tps in ways:
            log.add(run_of(plain_steps(40, tps * (1 - i / 100)), speculation=way, label=f"p{i}"))
    return log.to_metrics()


@pytest.fixture
def metrics(tmp_path):
    return answered(tmp_path, [(Speculation(), 50.0), (NGRAM, 70.0), (FIXED, 40.0)])


def test_a_verdict_says_which_of_the_two_it_is_about(metrics):
    told = {words.partition(", temperature")[0]: sentence for words, sentence, _ in verdicts(metrics)}
    assert told.keys() == {"ngram, length 4", "ngram, length 4, fixed shape"}
    assert told["ngram, length 4"].startswith("pays 1.40")
    assert told["ngram, length 4, fixed shape"].startswith("costs 20")
    assert "fixed shape: costs 20" in pictures(metrics)["verdicts"]


def test_an_export_says_it_of_verdicts_and_answers(metrics, tmp_path):
    write_session(metrics, tmp_path / "out")
    found = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert [comparison["fixed_shape"] for comparison in found["comparisons"]] == [False, True]
    assert ["fixed shape" in " ".join(row_of(run)) for run in metrics.runs[:3]] == [False, False, True]


def test_two_sessions_are_not_held_against_each_other_as_of_one_way(tmp_path):
    a, b = answered(tmp_path / "a", [(NGRAM, 70.0)]), answered(tmp_path / "b", [(FIXED, 40.0)])
    assert [(way.way, way.n_pairs) for way in compare(a, b).ways] == [
        ("ngram, length 4, greedy", 0),
        ("ngram, length 4, fixed shape, greedy", 0),
    ]
