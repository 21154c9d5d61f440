from __future__ import annotations

import json

import msgspec
import pytest

from app.errors import EngineDiedError
from app.metrics.baseline import record
from app.metrics.export import metrics_json
from app.metrics.machine import machine
from app.metrics.profile import Candidate, Profile, Trialled, advice, row_of
from app.metrics.prompts import load_prompts
from app.metrics.recorder import RunRecorder
from app.metrics.redaction import redacted, redacted_profile, without_paths
from app.metrics.session_export import prepared
from app.metrics.values import AppInfo
from tests.fair_time import FairWatch
from tests.metrics.sessions import GREEDY, NGRAM, OFF, plain_steps, run_of, session
from tests.metrics.test_export import check_recomputes


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Cannot read /home/ada/models/a b/secret.gguf: gone", "Cannot read …/secret.gguf: gone"),
        (r"C:\Users\Ada\models\x.gguf is truncated", "…/x.gguf is truncated"),
        (r"\\server\share\x.gguf", "…/x.gguf"),
        ("~/models/x.gguf", "…/x.gguf"),
        ("./kunde-mueller/x.gguf", "…/x.gguf"),
        ("Cannot read ../anna/kunde mueller/x.gguf: gone", "Cannot read …/x.gguf: gone"),
        ("Two of them (../../anna/x.gguf)", "Two of them (…/x.gguf)"),
        ("Two of them (kunde/x.gguf)", "Two of them (…/x.gguf)"),
        (r".\kunde\x.gguf is short", "…/x.gguf is short"),
        (r"..\anna\x.gguf", "…/x.gguf"),
        ("anna/models/x.GGUF was not tried", "…/x.GGUF was not tried"),
        ("'anna/x.gguf' is short", "'…/x.gguf' is short"),
        ("and so on ... or/and e.g. 1./2.", "and so on ... or/and e.g. 1./2."),
        ("5 tok/s and 3/4 of them", "5 tok/s and 3/4 of them"),
        ("accepted ÷ proposed", "accepted ÷ proposed"),
    ],
)
def test_of_a_path_the_last_part_stays(text, left):
    assert without_paths(text) == left


@pytest.fixture
def log(tmp_path):
    log = session(tmp_path)
    built_in = load_prompts("chat")[0].name
    for i in range(7):
        name = built_in if i == 0 else f"my divorce {i}"
        log.add(run_of(plain_steps(40, 50.0 + i), label=name))
        log.add(run_of(plain_steps(40, 80.0 + i), speculation=NGRAM, label=name))
    (log.baseline,) = record(
        (run for run in log.runs if run.spec_type == "none"), prompt_set="divorce", name="Lovelace's evening"
    )
    recorder = RunRecorder(label="", speculation=OFF, sampling=GREEDY, question="how do I leave Lovelace")
    log.add(recorder.finish(EngineDiedError("The engine died loading /home/lovelace/m.gguf")))
    return log


def test_nothing_of_ones_own_is_left_and_everything_recomputes(log, tmp_path):
    metrics = prepared(log.to_metrics(with_paths=True))
    text = b"".join(metrics_json(metrics)).decode()

    for private in ("divorce", "Lovelace", "lovelace", str(tmp_path)):
        assert private not in text
    document = json.loads(text)
    check_recomputes(document)
    assert document["session"]["redacted"] is True
    assert document["runs"][0]["prompt"] == load_prompts("chat")[0].name
    assert document["comparisons"][0]["n_pairs"] == 7
    assert document["baseline"]["prompt_set"] == "own prompts"


def test_one_prompt_has_one_number_everywhere(log):
    metrics = redacted(log.to_metrics())
    plain = {run.id: run.prompt for run in metrics.runs}

    assert [run.prompt for run in metrics.runs[2:6]] == ["prompt 1", "prompt 1", "prompt 2", "prompt 2"]
    assert all(plain[sample.run_id] == sample.prompt for sample in metrics.baseline.samples)
    assert all(plain[fast] == plain[slow] for fast, slow in metrics.comparisons[0].pairs)


def test_what_is_not_private_stays_as_it_was(log):
    before, after = log.to_metrics(), redacted(log.to_metrics())

    assert after.comparisons == before.comparisons
    assert [run.steps for run in after.runs] == [run.steps for run in before.runs]
    assert msgspec.structs.replace(after.runs[0], prompt="") == msgspec.structs.replace(before.runs[0], prompt="")


def test_with_everything_by_choice(log, tmp_path):
    metrics = prepared(log.to_metrics(with_paths=True), redact=False)

    assert metrics.target.path == str(tmp_path / "target.gguf")
    assert metrics.runs[-1].question == "how do I leave Lovelace"
    assert metrics.session.redacted is False


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("./kunde-mueller/x.gguf", "x.gguf"),
        ("../anna/x.gguf", "x.gguf"),
        ("kunde mueller/x.gguf", "x.gguf"),
        (r"kunde-mueller\x.gguf", "x.gguf"),
        (r"C:\anna\x.gguf", "x.gguf"),
        ("org/name-GGUF:Q4_K_M", "org/name-GGUF:Q4_K_M"),
        ("tiny draft", "tiny draft"),
    ],
)
def test_a_draft_that_was_named_by_a_path_is_named_by_its_file_in_a_profile(given, left):
    draft = Candidate(spec_type="draft-simple", draft_tokens=4, draft=given)
    unfit = {given: f"Cannot read {given}: gone" if " " not in given else "It is gone."}
    profile = Profile(
        app=AppInfo("0.1.0", "", ""),
        machine=machine("CPU"),
        target=None,
        prompts=(),
        temperature=0.0,
        seed=1,
        max_tokens=64,
        n_rounds=1,
        rows=(),
        unfit=unfit,
        recommended=draft,
        advice=advice((), unfit),
    )
    found = redacted_profile(profile)
    assert (found.recommended.draft, *found.unfit) == (left, left)
    assert found.advice[-1].startswith(f"{left} was not tried")
    text = msgspec.json.encode(found).decode()
    assert "anna" not in text
    assert "mueller" not in text


def test_two_drafts_of_one_file_name_stay_two_in_a_profile(log):
    given = ("/home/anna/a/x.gguf", "/home/anna/b/x.gguf", "x.gguf", "x.gguf (2)")
    ways = [Candidate(spec_type="draft-simple", draft_tokens=4, draft=name) for name in given[:2]]
    runs = log.to_metrics().runs
    trials = [Trialled(candidate=way, prompt="p", round=0, speculative=runs[1], plain=runs[0]) for way in ways]
    unfit = {given[2]: "It is short.", given[3]: "It is gone."}
    rows = [row_of(way, trials) for way in ways]
    profile = Profile(
        app=AppInfo("0.1.0", "", ""),
        machine=machine("CPU"),
        target=None,
        prompts=("p",),
        temperature=0.0,
        seed=1,
        max_tokens=64,
        n_rounds=1,
        rows=tuple(rows),
        unfit=unfit,
        recommended=ways[1],
        advice=(f"Use {ways[1].words}: pays.", *advice((), unfit)[1:]),
        trials=tuple(trials),
    )
    found = redacted_profile(profile)
    assert [row.candidate.draft for row in found.rows] == ["x.gguf", "x.gguf (2)"]
    assert [trial.candidate.draft for trial in found.trials] == ["x.gguf", "x.gguf (2)"]
    assert found.recommended.draft == "x.gguf (2)"
    assert found.unfit == {"x.gguf (3)": "It is short.", "x.gguf (2) (2)": "It is gone."}
    assert "x.gguf (2)" in found.advice[0]
    assert found.advice[1:] == ("x.gguf (3) was not tried: It is short.", "x.gguf (2) (2) was not tried: It is gone.")
    assert "anna" not in msgspec.json.encode(found, enc_hook=list).decode()


def test_a_line_as_no_program_writes_it_takes_no_time_and_hides_its_paths():
    hostile = "./ " * 100_000 + "/home/anna/geheim.gguf"
    watch = FairWatch()
    text = without_paths(f"{hostile}\nCannot open /home/anna/x.gguf")
    assert watch.took_s < 5
    assert "anna" not in text
    assert text.endswith("Cannot open …/x.gguf")
