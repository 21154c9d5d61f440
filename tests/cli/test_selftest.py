from __future__ import annotations

import csv
import json

import pytest

from tests.cli.commands import run
from tests.fair_time import FairWatch
from tests.metrics.test_export import check_recomputes, validate


@pytest.mark.timeout(600)
def test_selftest_does_the_whole_job_and_its_files_hold(tmp_path):
    out = tmp_path / "results"
    watch = FairWatch()
    done = run("selftest", "--out", out, timeout=580)

    assert done.returncode == 0, done.stdout + done.stderr
    assert watch.took_s < 180
    assert "A formula is drawn" in done.stdout
    document = json.loads((out / "metrics.json").read_bytes())
    validate(document)
    check_recomputes(document)
    assert document["baseline"]["n_runs"] >= 6
    assert document["baseline"]["kind"] == "recorded"
    assert max(comparison["n_pairs"] for comparison in document["comparisons"]) >= 6
    assert {run["spec_type"] for run in document["runs"]} == {"none", "ngram", "draft-simple"}
    with (out / "metrics.csv").open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [run["id"] for run in document["runs"]]
    for name in ("chart.png", "window.png"):
        assert (out / name).stat().st_size > 10_000
    assert (out / "report.md").read_text(encoding="utf-8").startswith("# Slipstream")


def test_selftest_that_cannot_write_is_one_line_and_a_hint(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    done = run("selftest", "--out", in_the_way / "results")

    assert done.returncode == 1
    line, hint = done.stderr.splitlines()
    assert line.startswith("error: Cannot write")
    assert hint.startswith("hint: ")
