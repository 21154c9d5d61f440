"""Sessions, baselines and names that mean harm: opened, compared and exported, they are words and numbers."""

from __future__ import annotations

import csv
import html
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from app.errors import ExportError, UsageError
from app.metrics.baseline import BaselineStore, record
from app.metrics.compare import compare
from app.metrics.export import read_json
from app.metrics.pictures import pictures
from app.metrics.prompts import load_prompts
from app.metrics.redaction import without_paths
from app.metrics.session_export import FILES, export_session, open_session, prepared, write_session
from app.metrics.tables import as_text
from tests.metrics.sessions import NGRAM, plain_steps, run_of, session

FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "=1\r=2", '=HYPERLINK("http://x")')


@pytest.fixture
def log(tmp_path):
    log = session(tmp_path)
    for i in range(7):
        log.add(run_of(plain_steps(40, 50.0 + i), label=f"prompt of mine {i}"))
        log.add(run_of(plain_steps(40, 80.0 + i), speculation=NGRAM, label=f"prompt of mine {i}"))
    return log


def changed(metrics, **fields):
    """Return the session with these fields in each run."""
    return msgspec.structs.replace(metrics, runs=tuple(msgspec.structs.replace(run, **fields) for run in metrics.runs))


@pytest.mark.parametrize("words", FORMULAS)
def test_no_cell_of_a_table_is_a_formula(log, tmp_path, words):
    metrics = changed(log.to_metrics(), id=words, prompt=words, error=words, not_engaged=words, notes=(words,))
    write_session(metrics, tmp_path / "out")

    for name in ("metrics.csv", "steps.csv"):
        with (tmp_path / "out" / name).open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert "'" + words.replace("\r", "\n") in cells
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_numbers_stay_numbers():
    assert [as_text(value) for value in (-1.5, -3, None, True, "plain", "")] == [-1.5, -3, None, True, "plain", ""]


def test_a_report_in_markdown_fetches_nothing_and_links_nowhere(log, tmp_path):
    words = "![x](http://evil/p.png) [y](javascript:z) `q` <img src=x> \\[a](b) *c*"
    metrics = changed(log.to_metrics(), prompt=words, error=words)
    write_session(metrics, tmp_path / "out")

    report = (tmp_path / "out/report.md").read_text(encoding="utf-8")
    ours = re.findall(r"^!\[\w+\]\(\w+\.svg\)$", report, re.MULTILINE)
    assert len(re.findall(r"(?<!\\)\]\(", report)) == len(ours) > 0
    assert "<img" not in report


def test_a_report_in_html_runs_nothing(log, tmp_path):
    words = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    metrics = changed(log.to_metrics(), prompt=words, error=words, id=words, spec_type=words)
    metrics = msgspec.structs.replace(
        metrics,
        machine=msgspec.structs.replace(metrics.machine, cpu=words, os=words),
        comparisons=tuple(msgspec.structs.replace(one, sentence=words, spec_type=words) for one in metrics.comparisons),
    )
    paths = write_session(metrics, tmp_path / "out")

    for path in paths:
        if path.suffix in (".html", ".svg"):
            assert "<script" not in path.read_text(encoding="utf-8")
            assert "<img" not in path.read_text(encoding="utf-8")
    assert html.escape(words[:40]) in (tmp_path / "out/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", ["a\x00b\x1b[31mc", "\ufffe\uffff", "x" * 100_000, "\u202e\u200b", "]]><a>"])
def test_a_chart_stays_a_document_that_can_be_read(log, words):
    metrics = changed(log.to_metrics(), spec_type=words)
    metrics = msgspec.structs.replace(
        metrics,
        comparisons=tuple(
            msgspec.structs.replace(one, sentence=words, spec_type=words, n_beside_draft=-1, against=words)
            for one in metrics.comparisons
        ),
    )
    drawn = pictures(metrics)
    assert "verdicts" in drawn
    for drawing in drawn.values():
        ElementTree.fromstring(drawing)
        assert len(drawing) < 100_000


@pytest.mark.parametrize(
    ("fields", "is_read"),
    [
        ({"decode_tps": 0.0}, True),
        ({"decode_tps": -5.0, "tokens": -5}, True),
        ({"decode_tps": 5e-324, "ttft_s": 1e308}, True),
        ({"decode_tps": 1e308, "answer_s": 1e308}, True),
        ({"proposed": 2**63 - 1, "judged": -1}, True),
        ({"conditions": None}, True),
        ({"id": "same"}, True),
        ({"tokens": 1.5}, False),
        ({"seed": "x"}, False),
    ],
)
def test_a_session_with_figures_that_cannot_be_is_refused_or_compared_and_exported(log, tmp_path, fields, is_read):
    export_session(log.to_metrics(), tmp_path / "good", redact=False)
    document = json.loads((tmp_path / "good/metrics.json").read_text(encoding="utf-8"))
    for run in document["runs"][::2]:
        run.update(fields)
    (tmp_path / "bad.json").write_text(json.dumps(document), encoding="utf-8")

    if not is_read:
        with pytest.raises(ExportError, match="not an export of Slipstream"):
            open_session(tmp_path / "bad.json")
        return
    good, bad = open_session(tmp_path / "good"), open_session(tmp_path / "bad.json")
    for pair in ((good, bad), (bad, good), (bad, bad)):
        compare(*pair)
    assert {path.name for path in write_session(bad, tmp_path / "out")} >= set(FILES)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 1_000_000,
        b'{"x": ' + b"[" * 500_000,
        b"",
        b"\0" * 1000,
        b'{"schema": NaN}',
        '{"schema": "slipstream.metrics/1"}'.encode("utf-16"),
        b'{"schema": "\\ud800"}',
    ],
)
def test_what_is_no_export_is_refused_in_words(tmp_path, text):
    (tmp_path / "metrics.json").write_bytes(text)
    with pytest.raises(ExportError, match="not an export of Slipstream") as caught:
        open_session(tmp_path)
    assert caught.value.hint


def test_a_schema_that_somebody_made_up_is_not_repeated_in_full(log, tmp_path):
    export_session(log.to_metrics(), tmp_path / "out")
    path = tmp_path / "out/metrics.json"
    path.write_text(path.read_text(encoding="utf-8").replace("slipstream.metrics/1", "x" * 100_000), encoding="utf-8")
    with pytest.raises(ExportError, match="has the schema") as caught:
        read_json(path)
    assert len(caught.value.message) < 1000


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Cannot read /home/o'brien/models/secret.gguf: gone", "Cannot read …/secret.gguf: gone"),
        (r"C:\Users\D'Arcy O'Neil\models\x.gguf is short", "…/x.gguf is short"),
        ("No room in /home/ada", "No room in ~"),
        ("No room in /Users/ada.", "No room in ~."),
        (f"{Path.home()} cannot be written", "~ cannot be written"),
        (f"Cannot read {Path.home() / 'x y.gguf'}: gone", "Cannot read …/x y.gguf: gone"),
        (f"{Path.home()}less", f"…/{Path.home().name}less"),
        ("3 / 4 of the users / all", "3 / 4 of the users / all"),
    ],
)
def test_of_a_person_s_own_folder_nothing_is_left(text, left):
    assert without_paths(text) == left


def test_no_form_of_an_export_holds_what_is_private(log, tmp_path):
    secret = f"cannot read {tmp_path}/Zanzibar/my own/target.gguf"
    metrics = changed(log.to_metrics(with_paths=True), question="Zanzibar", error=secret, not_engaged=secret)
    metrics = msgspec.structs.replace(
        metrics, session=msgspec.structs.replace(metrics.session, name="Zanzibar") if metrics.session else None
    )
    paths = write_session(prepared(metrics), tmp_path / "out")

    assert len(paths) >= len(FILES)
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert not [word for word in ("Zanzibar", "prompt of mine", str(tmp_path), "my own") if word in text], path


@pytest.fixture
def store(log, tmp_path):
    store = BaselineStore(tmp_path / "baselines")
    (baseline,) = record((run for run in log.runs if run.spec_type == "none"), prompt_set="chat")
    store.save(baseline)
    return store


@pytest.mark.parametrize(
    "change",
    [
        lambda b: b.update(id="../precious"),
        lambda b: b.update(id="another"),
        lambda b: b["decode_tps"].update(median=0.0),
        lambda b: b["decode_tps"].update(low=-1.0),
        lambda b: b["samples"][0].update(decode_tps=0.0),
        lambda b: b["samples"][-1].update(decode_tps=-4.0),
        lambda b: b.update(draft_file="draft.gguf"),
        lambda b: b.update(kind="live"),
    ],
)
def test_a_baseline_that_cannot_be_is_passed_over(store, tmp_path, change):
    (path,) = (tmp_path / "baselines").iterdir()
    assert len(store.all()) == 1
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    assert store.all() == []
    assert path.exists()


def test_prompts_that_nest_too_deeply_are_refused_in_words(tmp_path):
    path = tmp_path / "prompts.jsonl"
    path.write_text('{"name": "a", "x": ' + "[" * 100_000 + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"prompts\.jsonl line 1") as caught:
        load_prompts(str(path))
    assert caught.value.hint
