from __future__ import annotations

import json

import msgspec
import pytest

from app.errors import EngineDiedError
from app.metrics.baseline import record
from app.metrics.export import metrics_json
from app.metrics.prompts import load_prompts
from app.metrics.recorder import RunRecorder
from app.metrics.redaction import redacted, without_paths
from app.metrics.session_export import prepared
from tests.metrics.sessions import GREEDY, NGRAM, OFF, plain_steps, run_of, session
from tests.metrics.test_export import check_recomputes


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Cannot read /home/ada/models/a b/secret.gguf: gone", "Cannot read …/secret.gguf: gone"),
        (r"C:\Users\Ada\models\x.gguf is truncated", "…/x.gguf is truncated"),
        (r"\\server\share\x.gguf", "…/x.gguf"),
        ("~/models/x.gguf", "…/x.gguf"),
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
