from __future__ import annotations

import json

from tests.cli.commands import run
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
    assert "[30/30]" in done.stderr


def test_bench_table_fits_and_names_every_way(tiny_pair):
    done = run("bench", tiny_pair.target, "--prompts", "code", "--draft-tokens", 4, "--repeat", 1, "--max-tokens", 16)

    assert done.returncode == 0, done.stderr
    assert "code-stack" in done.stdout
    assert "ngram 4" in done.stdout
    assert "cannot tell yet (2 more pairs needed)" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
