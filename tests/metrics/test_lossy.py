"""Lenient acceptance is called lossy on every surface that shows how an answer was drafted, and enters no verdict."""

from __future__ import annotations

import re

import pytest

from app.cli.answer_lines import brief_line, profile_lines
from app.cli.bench_report import kind_text, way_text
from app.metrics.compare import compare, figure_rows, ratio_words
from app.metrics.session_export import write_session
from app.metrics.verdict import usable
from app.protocol import Engagement, Plan, Speculation, spec_name
from app.ui.figures import answer_title, exclusion, facts_of
from app.ui.standing import standing
from app.ui.wording import drafter_name, engagement_words, plan_words
from tests.metrics.sessions import NGRAM, OFF, plain_steps, run_of, session

LENIENT = Speculation(types=("ngram",), draft_tokens=4, lenient=0.3)


@pytest.fixture
def log(tmp_path):
    """Six pairs of plain and lossless answers, and six lossy ones that are twice as fast."""
    log = session(tmp_path)
    for _ in range(6):
        log.add(run_of(plain_steps(40, 10.0), speculation=OFF, label="p"))
        log.add(run_of(plain_steps(40, 11.0), speculation=NGRAM, label="p"))
        log.add(run_of(plain_steps(40, 20.0), speculation=LENIENT, label="p"))
    return log


def test_the_name_of_the_way_says_it():
    assert spec_name(LENIENT) == "ngram,lossy"
    assert spec_name(NGRAM) == "ngram"
    assert spec_name(Speculation(lenient=0.3)) == "none"


def test_no_verdict_takes_a_lossy_answer(log):
    lossy = log.runs[-1]
    assert not usable(lossy)
    assert log.comparison_of(lossy) is None
    assert [c.spec_type for c in log.comparisons()] == ["ngram"]
    assert "lossy" in exclusion(lossy)
    assert "lossy" in standing(log, is_on=True).note


def test_two_sessions_are_not_held_against_each_other_in_lossy_ways(log):
    metrics = log.to_metrics()
    ways = {way.way: way for way in compare(metrics, metrics, ("a", "b")).ways}
    lossy = next(way for name, way in ways.items() if "lossy" in name)
    assert lossy.ratio is None
    assert "lossy" in ratio_words(lossy)
    assert figure_rows(lossy)


def test_every_file_of_an_export_says_it(log, tmp_path):
    paths = write_session(log.to_metrics(), tmp_path / "out")
    named = {path.name: path.read_text(encoding="utf-8") for path in paths}
    for name in ("metrics.json", "metrics.csv", "report.md", "report.html"):
        assert len(re.findall("ngram, ?lossy", named[name])) >= 6, name
    told = [name for name, text in named.items() if "ngram" in text and name != "steps.csv"]
    assert all("lossy" in named[name] for name in told if name != "verdicts.svg")  # none is given


def test_every_line_of_the_command_line_says_it(log):
    lossy, lossless = log.runs[-1], log.runs[-2]
    assert any("lossy" in line for line in profile_lines(lossy))
    assert "lossy" in brief_line(lossy)
    assert "lossy" in way_text(LENIENT)
    assert "lossy" in kind_text(lossy.spec_type, 4)
    assert not any("lossy" in line for line in profile_lines(lossless))
    assert "lossy" not in brief_line(lossless)


def test_every_state_of_the_window_says_it(log):
    lossy = log.runs[-1]
    engagement = Engagement(engaged=True, drafter=lossy.spec_type, draft_tokens=4)
    assert drafter_name(lossy.spec_type) == "n-gram, lossy"
    assert "lossy" in engagement_words(engagement)
    assert "lossy" in plan_words(engagement, Plan("ngram", 3, 0.5, "", 0.0))
    assert "lossy" in plan_words(engagement, Plan("", 0, 0.5, "paused: expected 0.90x of plain speed", 0.0))
    assert any("lossy" in fact.value for fact in facts_of(lossy))
    assert "lossy" in answer_title(lossy, 3)


def test_ways_with_another_p_are_told_apart(log, tmp_path):
    loose = Speculation(types=("ngram",), draft_tokens=4, lenient=0.03)
    log.add(run_of(plain_steps(40, 30.0), speculation=loose, label="p"))
    metrics = log.to_metrics()
    ways = [way.way for way in compare(metrics, metrics).ways if "lossy" in way.way]
    assert len(ways) == 2, ways
    write_session(metrics, tmp_path / "out")
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert all(f"ngram,lossy, length 4, P {p}" in report for p in ("0.3", "0.03"))
