"""Speculation turned off and on with the draft model in memory: a baseline of its own, named so wherever it shows."""

from __future__ import annotations

import json
import math
import random
import re

import pytest

from app.metrics.baseline import record
from app.metrics.compare import compare
from app.metrics.export import metrics_json, read_json
from app.metrics.session_export import export_session, prepared
from app.metrics.values import BESIDE_DRAFT
from app.metrics.verdict import SESSION_DEVIATION, Sample, judge, pair_up
from app.protocol import Speculation
from app.ui.figures import comparison_words, facts_of
from app.ui.standing import standing
from tests.metrics.sessions import HELLO, NGRAM, loaded, plain_steps, run_of, session
from tests.metrics.test_export import check_recomputes, validate
from tests.metrics.test_verdict import RECORDED, SPEEDUPS, quiet, recorded, steady

DRAFTED = Speculation(types=("draft-simple",), draft_tokens=4)


@pytest.fixture
def draft(tmp_path):
    path = tmp_path / "draft.gguf"
    path.write_bytes(b"GGUF draft")
    return path


def toggled(log, n, plain_tps, fast_tps, speculation=DRAFTED):
    """Answer by turns with speculation off and on."""
    for i in range(n):
        log.add(run_of(plain_steps(40, plain_tps * (1 + 0.004 * (i % 3 - 1)))))
        log.add(run_of(plain_steps(40, fast_tps), speculation=speculation))


def alone(log, tmp_path):
    """Load the target without a draft model."""
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf"))


def test_turning_speculation_off_and_on_gives_a_verdict(tmp_path, draft):
    log = session(tmp_path, draft)
    toggled(log, 6, 50.0, 75.0)
    (comparison,) = log.comparisons()
    assert (comparison.verdict, comparison.n_pairs, comparison.n_beside_draft) == ("pays", 6, 6)
    assert comparison.against == f"against {BESIDE_DRAFT}"
    live = log.current_baseline()
    assert (live.kind, live.n_runs, live.draft_file) == ("live", 6, "draft.gguf")
    assert live.name == "this session, draft model in memory"


def test_it_is_no_baseline_that_could_be_recorded(tmp_path, draft):
    log = session(tmp_path, draft)
    toggled(log, 6, 50.0, 75.0)
    with pytest.raises(Exception, match="had a drafter loaded or fed"):
        record((run for run in log.runs if run.spec_type == "none"), prompt_set="x")


def test_ngram_with_the_draft_model_in_memory_is_held_against_it_too(tmp_path, draft):
    log = session(tmp_path, draft)
    toggled(log, 6, 50.0, 75.0, NGRAM)
    assert log.comparisons()[0].n_beside_draft == 6


@pytest.mark.parametrize("other", ["none", "other name", "other content", "other device"])
def test_answers_with_another_draft_file_or_none_are_no_halves(tmp_path, draft, other):
    log = session(tmp_path, draft)
    for i in range(6):
        log.add(run_of(plain_steps(40, 50.0 + i)))
    if other == "none":
        alone(log, tmp_path)
    elif other == "other device":
        log.set_loaded(HELLO, loaded(tmp_path / "target.gguf", draft, draft_device="GPU0"))
    else:
        name = "second.gguf" if other == "other name" else draft.name
        second = tmp_path / "elsewhere" / name
        second.parent.mkdir()
        second.write_bytes(b"GGUF draft" if other == "other name" else b"GGUF another draft")
        log.set_loaded(HELLO, loaded(tmp_path / "target.gguf", second))
    for _ in range(6):
        log.add(run_of(plain_steps(40, 80.0), speculation=DRAFTED))
    assert log.comparisons()[0].n_pairs == 0
    assert log.baseline_of(log.runs[-1]) is None
    note = standing(log, is_on=True).note
    assert "No verdict against the last plain answer: the draft model draft.gguf" in note
    words = comparison_words([(1, log.runs[0]), (7, log.runs[6])])
    assert words.startswith("Answer 7 against 1: no comparison under unlike conditions: the draft model draft.gguf ")


def test_two_drafts_of_one_name_are_judged_apart(tmp_path, draft):
    second = tmp_path / "elsewhere" / draft.name
    second.parent.mkdir()
    second.write_bytes(b"GGUF another draft")
    log = session(tmp_path, draft)
    log.add(run_of(plain_steps(40, 80.0), speculation=DRAFTED))
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf", second))
    log.add(run_of(plain_steps(40, 80.0), speculation=DRAFTED))
    assert len(log.comparisons()) == 2


def test_a_drafter_that_was_asked_and_drafted_nothing_is_not_off(tmp_path, draft):
    """It may have caught up or looked on meanwhile."""
    log = session(tmp_path, draft)
    auto = Speculation(types=("draft-simple",), draft_tokens="auto")
    for _ in range(6):
        log.add(run_of(plain_steps(40, 50.0), speculation=auto))
        log.add(run_of(plain_steps(40, 75.0), speculation=DRAFTED))
    assert [comparison.n_pairs for comparison in log.comparisons()] == [0, 0]
    assert log.current_baseline() is None


def test_a_baseline_by_its_definition_comes_first(tmp_path, draft):
    log = session(tmp_path)
    for i in range(6):
        log.add(run_of(plain_steps(40, 60.0 + i % 2)))
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf", draft))
    toggled(log, 8, 50.0, 75.0)
    (comparison,) = log.comparisons()
    assert (comparison.n_pairs, comparison.n_beside_draft) == (8, 2)
    plain = [log.runs[log._places[plain]].conditions.draft_file for _, plain in comparison.pairs]
    assert plain == [None] * 6 + ["draft.gguf"] * 2
    assert comparison.against == f"against {BESIDE_DRAFT} (2 of 8 pairs)"
    assert log.current_baseline().draft_file is None
    assert log.current_baseline().n_runs == 6


@pytest.mark.parametrize("is_recorded_first", [True, False])
def test_a_recorded_one_comes_first_and_takes_no_pair_back(tmp_path, draft, is_recorded_first):
    before = session(tmp_path)
    for i in range(6):
        before.add(run_of(plain_steps(40, 60.0 + i % 2), label=f"p{i}"))
    recorded = record(before.runs, prompt_set="x")
    log = session(tmp_path, draft)
    if is_recorded_first:
        log.take_up(recorded)
        toggled(log, 6, 50.0, 75.0)
        assert log.comparisons()[0].n_beside_draft == 0
    else:
        toggled(log, 6, 50.0, 75.0)
        first = log.comparisons()[0]
        log.take_up(recorded)
        assert log.comparisons() == (first,)
        log.add(run_of(plain_steps(40, 75.0), speculation=DRAFTED))
        assert log.comparisons()[0].pairs[:6] == first.pairs
        assert log.comparisons()[0].pairs[6][1] in {sample.run_id for sample in recorded[0].samples}
    assert log.current_baseline().kind == "recorded"
    assert log.current_baseline().draft_file is None


def test_what_came_first_stays_whatever_comes_later():
    rng = random.Random(5)
    arrivals = []
    for i in range(80):
        is_drafted = rng.random() < 0.5
        one = Sample(f"r{i}", rng.choice(["", "a"]), 50.0, 1024, is_beside_draft=not is_drafted and rng.random() < 0.5)
        arrivals.append((one, is_drafted))
    whole = pair_up(arrivals)
    assert any(pair.plain.is_beside_draft for pair in whole)
    for n in range(80):
        part = pair_up(arrivals[:n])
        assert part == whole[: len(part)]


# --- named wherever it shows ----------------------------------------------------------------------------------


def test_the_panel_names_it(tmp_path, draft):
    log = session(tmp_path, draft)
    toggled(log, 6, 50.0, 75.0)
    said = standing(log, is_on=True)
    assert said.verdict.startswith("Speculation pays 1.5")
    assert said.note.startswith(f"Held against {BESIDE_DRAFT}.")
    assert said.baseline.endswith("6 answers, this session, speculation off, draft model in memory")
    assert "no baseline" not in said.note
    assert facts_of(log.runs[0])[0].value == "off, draft model in memory"
    assert "as fast" in comparison_words([(1, log.runs[0]), (2, log.runs[1])])
    alone(log, tmp_path)
    for i in range(2):
        log.add(run_of(plain_steps(40, 50.0 + i)))
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf", draft))
    for _ in range(2):
        log.add(run_of(plain_steps(40, 75.0), speculation=DRAFTED))
    said = standing(log, is_on=True)
    assert f"6 of 8 pairs are held against {BESIDE_DRAFT}; the others against the baseline." in said.note
    assert "2 answers, this session, speculation off (4 more within 1,024" in said.baseline


@pytest.mark.parametrize("redact", [True, False])
def test_every_form_of_an_export_names_it_and_it_recomputes(tmp_path, draft, redact):
    log = session(tmp_path, draft)
    toggled(log, 7, 50.0, 75.0)
    document = json.loads(b"".join(metrics_json(prepared(log.to_metrics(), redact=redact))))
    validate(document)
    check_recomputes(document)
    assert document["comparisons"][0]["n_beside_draft"] == 7
    assert document["baseline"]["draft_file"] == "draft.gguf"
    export_session(log.to_metrics(), tmp_path / "out", redact=redact)
    for name in ("report.md", "report.html"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        (verdict,) = re.findall(r"pays 1\.\d\d× \([^)]*\), against [^*<]*", text)
        assert verdict.endswith(BESIDE_DRAFT)
        (line,) = [line for line in text.splitlines() if "Baseline: " in line]
        assert BESIDE_DRAFT in line
        assert len(re.findall(r"(?:\| |<td class=\"t\">)off, draft model in memory", text)) == 7
    assert "baseline, draft model in memory" in (tmp_path / "out" / "speed.svg").read_text(encoding="utf-8")
    assert "plain: draft model in memory" in (tmp_path / "out" / "verdicts.svg").read_text(encoding="utf-8")
    rows = (tmp_path / "out" / "metrics.csv").read_text(encoding="utf-8").splitlines()
    assert sum(",none," in row and ",draft.gguf," in row for row in rows) == 7
    assert read_json(tmp_path / "out" / "metrics.json").comparisons == log.comparisons()


def test_two_sessions_are_compared_with_it_as_a_way_of_its_own(tmp_path, draft):
    a, b = session(tmp_path, draft), session(tmp_path)
    toggled(a, 6, 50.0, 75.0)
    toggled(b, 6, 50.0, 75.0, NGRAM)
    found = {way.way: way for way in compare(a.to_metrics(), b.to_metrics()).ways}
    assert found["off, draft model in memory, greedy"].b is None
    assert found["off, greedy"].a is None
    assert found["draft-simple, length 4, greedy"].a.verdict.endswith(BESIDE_DRAFT)
    assert found["ngram, length 4, greedy"].b.verdict.endswith(")")


def test_an_export_of_before_opens_with_nothing_said_of_it(tmp_path, draft):
    log = session(tmp_path, draft)
    toggled(log, 6, 50.0, 75.0)
    document = json.loads(b"".join(metrics_json(log.to_metrics())))
    for comparison in document["comparisons"]:
        del comparison["n_beside_draft"], comparison["against"]
    for run in document["runs"]:
        del run["conditions"]["draft_fingerprint"]
    del document["baseline"]["draft_file"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    found = read_json(path)
    assert (found.comparisons[0].n_beside_draft, found.comparisons[0].words) == (0, found.comparisons[0].sentence)
    assert found.baseline.draft_file is None


# --- how often it misleads ------------------------------------------------------------------------------------


def session_of(rng, truth, noises):
    """Some turns of off and on, with a stored baseline that comes in at any time, and free chat beside named prompts.

    Plain answers of now have a speed of 1 without noise, all of a stored one that of its day.
    """
    day, arrivals, noise = math.exp(rng.gauss(0, SESSION_DEVIATION)), [], iter(noises)
    comes_in = rng.randrange(60)
    for n in range(60):
        if n == comes_in:
            arrivals += [(Sample(f"s{i}", rng.choice("ab"), day, 1024), False) for i in range(6)]
        name = rng.choice(["", "", "a", "b"])
        if rng.random() < 0.5:
            arrivals.append((Sample(f"d{n}", name, truth * math.exp(next(noise)), 1024), True))
        else:
            arrivals.append((Sample(f"p{n}", name, 1.0, 1024, is_beside_draft=rng.random() < 0.7), False))
    return arrivals


def check_toggling(n_trials):
    for noise in (quiet, steady, recorded):
        for truth in SPEEDUPS:
            rng = random.Random(f"{truth} {noise.__name__} toggled")
            missed = wrong = n_beside = 0
            for _ in range(n_trials):
                noises = [*noise(rng), *noise(rng)]
                pairs = pair_up(session_of(rng, truth, noises))
                n_beside += sum(pair.plain.is_beside_draft for pair in pairs)
                is_stored = [pair.plain.run_id.startswith("s") for pair in pairs]
                said = [
                    judge([pair.log_ratio for pair in pairs[:n]], sum(is_stored[:n])) for n in range(6, len(pairs) + 1)
                ]
                missed += any(not one.speedup.low <= truth <= one.speedup.high for one in said if one.speedup)
                wrong += any(
                    (one.word == "pays" and truth <= 1) or (one.word == "costs" and truth >= 1) for one in said
                )
            print(f"{noise.__name__:8} toggled {truth:4}: missed {missed / n_trials:.1%}, wrong {wrong / n_trials:.1%}")
            assert n_beside > 5 * n_trials
            assert missed <= 0.05 * n_trials, (truth, noise)
            assert wrong <= 0.025 * n_trials, (truth, noise)


def test_it_misleads_no_more_often():
    assert len(RECORDED) >= 150
    check_toggling(200)


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_it_misleads_no_more_often_in_full():
    check_toggling(1000)


def test_a_copy_of_the_draft_is_the_same_draft(tmp_path, draft):
    log = session(tmp_path, draft)
    copy = tmp_path / "elsewhere" / draft.name
    copy.parent.mkdir()
    copy.write_bytes(draft.read_bytes())
    for i in range(6):
        log.add(run_of(plain_steps(40, 50.0 + i % 2)))
    log.set_loaded(HELLO, loaded(tmp_path / "target.gguf", copy))
    for _ in range(6):
        log.add(run_of(plain_steps(40, 80.0), speculation=DRAFTED))
    assert log.comparisons()[0].n_beside_draft == 6


def test_a_draft_that_cannot_be_read_is_like_no_other(tmp_path):
    log = session(tmp_path, tmp_path / "gone.gguf")
    toggled(log, 6, 50.0, 75.0)
    assert log.comparisons()[0].n_pairs == 0
    assert log.baseline_of(log.runs[-1]) is None
