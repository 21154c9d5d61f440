"""Lenient acceptance is called lossy in everything that commands print, as text and as JSON."""

from __future__ import annotations

import json

import pytest

from app.metrics.session_export import export_session
from app.protocol import Speculation
from tests.cli.commands import run_here
from tests.metrics.sessions import OFF, plain_steps, run_of, session

LENIENT = ("--spec-type", "draft-simple", "--draft-tokens", 4, "--lenient", 0.05, "--temperature", 1, "--seed", 3)


def unlabelled(text: str, name: str = "draft-simple") -> list[str]:
    """Return the places that name the way to draft and do not call it lossy."""
    flat = " ".join(text.split())  # tables break names where they like
    parts = flat.split(name)[1:]
    return [part[:40] for part in parts if not part.lstrip().startswith(",lossy") and "lossy" not in part[:12]]


@pytest.fixture
def asked(tiny_pair):
    return (tiny_pair.target, "--draft-model", tiny_pair.draft, *LENIENT)


def test_infer_says_it_in_every_form(asked):
    ask = ("infer", *asked, "-p", "abc", "--max-tokens", 24)
    text, document, lines = run_here(*ask), run_here(*ask, "--json"), run_here(*ask, "--stream-json")
    assert text.returncode == document.returncode == lines.returncode == 0, text.stderr + lines.stderr
    assert "speculation: draft-simple,lossy" in text.stdout
    assert "lossy: acceptance is lenient (P = 0.05)" in text.stdout
    assert not unlabelled(text.stdout)
    found = json.loads(document.stdout)
    assert (found["spec_type"], found["lenient"]) == ("draft-simple,lossy", 0.05)
    *_, last = map(json.loads, lines.stdout.splitlines())
    assert last["spec_type"] == "draft-simple,lossy"
    engaged = next(json.loads(line) for line in lines.stdout.splitlines() if '"engagement"' in line)
    assert engaged["engagement"]["drafter"] == "draft-simple,lossy"


def test_bench_gives_such_a_way_no_verdict_and_says_why(asked, tmp_path):
    prompts = tmp_path / "mine.jsonl"
    prompts.write_text('{"name": "one", "prompt": "abc"}\n')
    ask = ("bench", *asked, "--prompts", prompts, "--max-tokens", 16, "--repeat", 1)
    text, document = run_here(*ask), run_here(*ask, "--json")
    assert text.returncode == document.returncode == 0, text.stderr + document.stderr
    assert "no verdict, it is lossy" in " ".join(text.stdout.split())
    assert not unlabelled(text.stdout)
    found = json.loads(document.stdout)
    assert [row["spec_type"] for row in found["rows"]] == ["none", "draft-simple,lossy"]
    assert not [c for c in found["comparisons"] if c["verdict"] in ("pays", "costs")]


def test_compare_gives_such_a_way_no_ratio_and_says_why(tmp_path):
    lenient = Speculation(types=("draft-simple",), draft_tokens=4, lenient=0.3)
    for name in ("a", "b"):
        (tmp_path / f"s{name}").mkdir()
        log = session(tmp_path / f"s{name}")
        for _ in range(6):
            log.add(run_of(plain_steps(40, 10.0), speculation=OFF, label="p"))
            log.add(run_of(plain_steps(40, 20.0), speculation=lenient, label="p"))
        export_session(log.to_metrics(), tmp_path / name)
    text = run_here("compare", tmp_path / "a", tmp_path / "b")
    document = run_here("compare", tmp_path / "a", tmp_path / "b", "--json")
    assert text.returncode == document.returncode == 0, text.stderr + document.stderr
    assert not unlabelled(text.stdout)
    assert "lossy answers are not the same text" in text.stdout
    ways = json.loads(document.stdout)["ways"]
    assert [way["ratio"] for way in ways if "lossy" in way["way"]] == [None]


def test_a_server_that_answers_so_says_it_when_it_starts(capfd, tiny_pair):
    from app.cli.serve import ServeOptions, _say

    made = ServeOptions(str(tiny_pair.target), spec_type="ngram", lenient=0.3).server()
    _say("http://127.0.0.1:1", made)
    assert "lossy" in capfd.readouterr().err
