from __future__ import annotations

import json
import math

import jsonschema
import msgspec
import pytest

from app.metrics.compare import compare, figure_rows, ratio_words, totals
from app.metrics.power import Power
from app.metrics.session_export import export_session, open_session, prepared
from app.metrics.verdict import DRIFT
from app.paths import resource
from app.protocol import Sampling
from tests.metrics.sessions import HELLO, NGRAM, loaded, plain_steps, run_of, session

SCHEMA = json.loads(resource("metrics.schema.json").read_text(encoding="utf-8"))


def answered(folder, plain_tps, fast_tps, prefix="chat-p", n=7):
    """Make a session of named prompts, each answered plain and drafted; the later the slower."""
    folder.mkdir(parents=True, exist_ok=True)
    log = session(folder)
    for i in range(n):
        log.add(run_of(plain_steps(40, plain_tps * (1 - i / 100)), label=f"{prefix}{i}"))
        log.add(run_of(plain_steps(40, fast_tps * (1 - i / 90)), speculation=NGRAM, label=f"{prefix}{i}"))
    return log


def test_two_sessions_with_the_same_prompts_have_a_ratio(tmp_path):
    a, b = (answered(tmp_path / name, 50.0 * f, 80.0 * f).to_metrics() for name, f in (("a", 1.0), ("b", 1.5)))
    found = compare(a, b)

    assert [way.way for way in found.ways] == ["off, greedy", "ngram, length 4, greedy"]
    assert found.differences == ()
    plain, fast = found.ways
    assert plain.n_pairs == fast.n_pairs == 7
    assert plain.ratio.median == pytest.approx(1.5)
    assert fast.a.verdict.startswith("pays 1.5")
    assert plain.a.decode_tps.median == pytest.approx(48.5)
    assert ("answers", "7", "7") in figure_rows(plain)
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(msgspec.json.encode(found)))


def test_a_difference_as_from_day_to_day_is_none(tmp_path):
    a, b = (answered(tmp_path / name, 50.0 * f, 80.0 * f).to_metrics() for name, f in (("a", 1.0), ("b", 1.03)))
    for way in compare(a, b).ways:
        assert way.ratio.median == pytest.approx(1.03)
        assert way.ratio.low < 1 < way.ratio.high
        assert way.ratio.low == pytest.approx(1.03 / math.exp(DRIFT))


@pytest.mark.parametrize("redact", [True, False])
def test_two_exports_of_one_session_allow_for_no_other_day_and_pair_no_answer_with_itself(tmp_path, redact):
    log = answered(tmp_path / "a", 50.0, 80.0)
    first = prepared(log.to_metrics(), redact=redact)
    assert [ratio_words(way) for way in compare(first, prepared(log.to_metrics(), redact=redact)).ways] == [
        "none: these are the same answers of one session"
    ] * 2
    for i in range(7):
        log.add(run_of(plain_steps(40, 51.5 * (1 - i / 100)), label=f"chat-p{i}"))
    second = prepared(log.to_metrics(), redact=redact)
    for a, b, ratio in ((first, second, 1.03), (second, first, 1 / 1.03)):
        plain, drafted = compare(a, b).ways
        assert (plain.n_pairs, drafted.n_pairs) == (7, 0)
        assert plain.ratio.median == pytest.approx(ratio)
        assert (plain.ratio.low > 1) == (ratio > 1)
        assert drafted.ratio is None
    assert compare(first, prepared(log.to_metrics(), redact=not redact)).ways[0].n_pairs == 0, "names and numbers"


def test_another_target_has_figures_and_no_ratio(tmp_path):
    a = answered(tmp_path / "a", 50.0, 80.0).to_metrics()
    log = session(tmp_path / "a")
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF other")
    log.set_loaded(HELLO, loaded(other, n_threads=8))
    for i in range(7):
        log.add(run_of(plain_steps(40, 60.0), label=f"chat-p{i}"))
    found = compare(a, log.to_metrics())

    assert {(one.what, one.a, one.b) for one in found.differences} == {
        ("target", "target.gguf", "other.gguf"),
        ("threads", "2", "8"),
    }
    assert found.ways[0].ratio is None
    assert ratio_words(found.ways[0]) == "none: the targets differ"
    assert found.ways[1].b is None


def test_power_and_sampler_are_among_the_differences(tmp_path):
    a, b = session(tmp_path), session(tmp_path)
    for log, power, top_k in ((a, Power(on_battery=False), 40), (b, Power(on_battery=True), 20)):
        for i in range(7):
            log.add(run_of(plain_steps(40, 50.0), label=f"chat-p{i}", power=power, sampling=Sampling(1, top_k=top_k)))
    found = {(one.what, one.a, one.b) for one in compare(a.to_metrics(), b.to_metrics()).differences}
    assert ("power supply", "mains", "battery") in found
    assert ("sampler", "top-k 40, top-p 0.95, min-p 0.05", "top-k 20, top-p 0.95, min-p 0.05") in found


def test_numbered_prompts_of_redacted_sessions_are_not_taken_for_each_other(tmp_path):
    """Number 1 of one session is not number 1 of the other."""
    a, b = (prepared(answered(tmp_path / name, 50.0, 80.0, "own ").to_metrics()) for name in "ab")
    assert [run.prompt for run in a.runs[:3]] == ["prompt 1", "prompt 1", "prompt 2"]
    found = compare(a, b)

    assert found.ways[0].n_pairs == 0
    assert "own prompts are left out" in found.ways[0].no_ratio


def test_marked_and_unfinished_answers_are_left_out(tmp_path):
    log = answered(tmp_path / "a", 50.0, 80.0)
    whole = log.to_metrics()
    log.add(run_of(plain_steps(40, 1.0), label="x", stop="cancelled"))
    marked = log.add(run_of(plain_steps(40, 1.0), label="y"))
    log.mark([marked.id], excluded="the recording was interrupted")
    found = compare(whole, log.to_metrics())

    assert found.ways[0].a == found.ways[0].b


def test_an_export_of_another_machine_opens_beside_ours(tmp_path):
    here = answered(tmp_path / "a", 50.0, 80.0).to_metrics()
    far = msgspec.structs.replace(here, machine=msgspec.structs.replace(here.machine, cpu="Snapdragon X Elite"))
    export_session(far, tmp_path / "far")
    found = compare(here, open_session(tmp_path / "far"))

    assert [(one.what, one.b) for one in found.differences] == [("processor", "Snapdragon X Elite")]
    assert "14 answers (7 plain)" in totals(here)
