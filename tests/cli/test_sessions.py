"""``export`` and ``compare``, as a person runs them."""

from __future__ import annotations

import json

import jsonschema
import pytest

from app.metrics.session_export import FILES, export_session
from app.paths import resource
from tests.cli.commands import run
from tests.metrics.test_compare import answered

SCHEMA = json.loads(resource("metrics.schema.json").read_text(encoding="utf-8"))


def test_export_writes_every_form_without_prompts(tmp_path):
    metrics = answered(tmp_path / "s", 50.0, 80.0, "my secret plan ").to_metrics()
    export_session(metrics, tmp_path / "given", redact=False)
    done = run("export", tmp_path / "given", "--out", tmp_path / "out", "--png")

    assert done.returncode == 0, done.stderr
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {*FILES, "speed.svg", "chart.png"} <= written
    assert len(done.stdout.splitlines()) == len(written)
    for path in (tmp_path / "out").iterdir():
        assert b"secret" not in path.read_bytes(), path.name
    done = run("export", tmp_path / "given" / "metrics.json", "--out", tmp_path / "all", "--with-prompts")
    assert b"secret" in (tmp_path / "all" / "metrics.csv").read_bytes()


@pytest.mark.parametrize(
    ("missing", "hint"),
    [
        ("No module named 'pyqtgraph'", "hint: A part of Slipstream is missing or damaged: install it again."),
        (
            "libEGL.so.1: cannot open shared object file: No such file or directory",
            "hint: The system library libEGL.so.1 is missing; the README lists what Qt needs.",
        ),
    ],
)
def test_charts_that_cannot_be_drawn_say_what_is_missing(tmp_path, monkeypatch, missing, hint):
    export_session(answered(tmp_path / "s", 50.0, 80.0).to_metrics(), tmp_path / "given")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "pyqtgraph.py").write_text(f"raise ImportError({missing!r})\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))
    done = run("export", tmp_path / "given", "--out", tmp_path / "out", "--png")

    assert done.returncode == 1
    assert done.stderr.splitlines() == [f"error: Pictures cannot be drawn: {missing}.", hint]
    assert (tmp_path / "out" / "metrics.json").is_file(), "what needs no picture is there"


def test_export_of_nothing_is_one_line_and_a_hint(tmp_path):
    done = run("export", tmp_path, "--out", tmp_path / "out")

    assert done.returncode == 1
    line, hint = done.stderr.splitlines()
    assert line == f"error: There is no exported session at {tmp_path}."
    assert hint.startswith("hint: ")


def test_compare_prints_both_and_as_json(tmp_path):
    for name, factor in (("a", 1.0), ("b", 1.2)):
        export_session(
            answered(tmp_path / f"s{name}", 50.0 * factor, 80.0 * factor).to_metrics(), tmp_path / name, redact=False
        )
    done = run("compare", tmp_path / "a", tmp_path / "b" / "metrics.json")

    assert done.returncode == 0, done.stderr
    assert "ngram, length 4, greedy" in done.stdout
    assert "decode speed of B ÷ A: 1.2" in done.stdout
    found = json.loads(run("compare", tmp_path / "a", tmp_path / "b", "--json").stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert found["ways"][0]["n_pairs"] == 7


def test_compare_keeps_its_columns_and_the_terminal(tmp_path):
    for name, factor in (("a", 1.0), ("b", 1.2)):
        export_session(answered(tmp_path / f"s{name}", 50.0 * factor, 80.0 * factor).to_metrics(), tmp_path / name)
    path = tmp_path / "b" / "metrics.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["machine"]["cpu"] = "\x1b]0;mine\x07a processor\r\x1b[2K"
    path.write_text(json.dumps(document), encoding="utf-8")
    done = run("compare", tmp_path / "a", tmp_path / "b")

    assert done.returncode == 0, done.stderr
    assert not [mark for mark in ("\x1b", "\x07", "\r") if mark in done.stdout]
    assert "]0;minea processor" in done.stdout
    head, answers, speed = done.stdout.split("ngram, length 4, greedy\n")[1].splitlines()[:3]
    for column in (head.index("A"), head.index("B")):
        assert answers[column - 2 : column + 1] == "  7"
        assert speed[column - 2 : column].isspace()
        assert speed[column].isdigit()
    assert "  verdict of A: " in done.stdout
