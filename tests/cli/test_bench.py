from __future__ import annotations

import json

from tests.cli.commands import run, run_here
from tests.fixtures import tiny_mtp
from tests.metrics.test_export import validate


def test_bench_measures_each_prompt_each_way(tmp_path, tiny_pair):
    prompts = tmp_path / "mine.jsonl"
    prompts.write_text('{"name": "one", "prompt": "abc"}\n{"name": "two", "prompt": "the quick brown"}\n')
    done = run(
        *(
            "bench",
            tiny_pair.target,
            "--draft-model",
            tiny_pair.draft,
            "--spec-type",
            "ngram",
            "--spec-type",
            "draft-simple",
        ),
        *("--draft-tokens", "2,4", "--prompts", prompts, "--max-tokens", 32, "--repeat", 3, "--json"),
    )

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    validate(document, "bench")
    ways = [("none", 0), ("ngram", 2), ("ngram", 4), ("draft-simple", 2), ("draft-simple", 4)]
    found = [(row["prompt"], row["spec_type"], row["draft_tokens"]) for row in document["rows"]]
    assert found == [(name, *way) for name in ("one", "two") for way in ways]
    assert all(row["identical_to_plain"] for row in document["rows"])
    assert all(row["n_runs"] == 3 for row in document["rows"])
    drafted = [row for row in document["rows"] if row["spec_type"] == "draft-simple"]
    assert all(row["acceptance"] > 0.3 and row["tokens_per_step"] > 1.2 for row in drafted)
    assert [c["n_pairs"] for c in document["comparisons"]] == [6, 6, 6, 6]
    assert all(row["n_pairs"] == 3 and row["predicted"]["ceiling"] > 0 for row in drafted)
    assert all(row["alpha_by_position"] for row in drafted)
    assert [s["prompt_set"] for s in document["sets"]] == ["mine"] * 5
    assert [[r["n_rows"] for r in at["rows"]] for at in document["costs"]] == [[1, 3, 5]]
    assert "[30/30]" in done.stderr


def test_bench_table_fits_and_names_every_way(tiny_pair):
    done = run("bench", tiny_pair.target, "--prompts", "code", "--draft-tokens", 4, "--repeat", 1, "--max-tokens", 16)

    assert done.returncode == 0, done.stderr
    assert "code-stack" in done.stdout
    assert "ngram 4" in done.stdout
    assert "cannot tell yet (2 more pairs needed)" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "…" not in done.stdout.split("Alpha by")[0]


def test_names_and_ways_that_are_long_fit_too(tiny_pair):
    done = run(
        *("bench", tiny_pair.target, "--draft-model", tiny_pair.draft, "--spec-type", "ngram,draft-simple"),
        *("--draft-tokens", "8,rolling", "--prompts", "languages,chat", "--repeat", 1, "--max-tokens", 16),
    )

    assert done.returncode == 0, done.stderr
    assert "ngram,draft-simple rolling" in done.stdout
    assert "languages-japanese" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "…" not in done.stdout.split("Alpha by")[0]


def test_cost_curve_alone(tiny_pair):
    done = run(
        *("bench", tiny_pair.target, "--draft-model", tiny_pair.draft, "--prompts", "none", "--cost-curve"),
        *("--rows", 3, "--at", "0,300", "--nctx", 512),
    )

    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines if line and line[0].isdecimal()] == ["1", "2", "3"]
    assert all(len(line) == 5 and float(line[1].replace(",", "")) > 0 for line in lines if line and line[0].isdecimal())
    assert any(line[:4] == ["a", "token", "by", "draft-simple"] for line in lines)


def test_cost_curve_as_json(tiny_pair):
    done = run(
        *("bench", tiny_pair.target, "--prompts", "none", "--cost-curve", "--rows", 2, "--at", "10", "--json"),
        *("--nctx", 512),
    )

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    validate(document, "bench")
    (at,) = document["costs"]
    assert (at["n_ctx"], [row["n_rows"] for row in at["rows"]]) == (10, [1, 2])
    assert document["rows"] == document["sets"] == []


def test_nothing_to_measure_is_wrong_usage(tiny_pair):
    done = run("bench", tiny_pair.target, "--prompts", "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--cost-curve" in done.stderr


def test_a_file_of_heads_drafts_as_heads_do_where_nobody_says_how(tmp_path):
    pair, prompts = tiny_mtp.gemma4_pair(tmp_path), tmp_path / "mine.jsonl"
    prompts.write_text('{"name": "one", "prompt": "abc"}\n')
    how = ("--draft-tokens", 2, "--prompts", prompts, "--max-tokens", 16, "--repeat", 1, "--json")
    done = run_here("bench", pair.target, "--draft-model", pair.draft, *how)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [row["spec_type"] for row in rows] == ["none", "draft-mtp"]
    assert rows[1]["acceptance"] is not None
