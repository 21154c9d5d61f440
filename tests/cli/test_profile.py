from __future__ import annotations

import json

from app.metrics.profile import LOW_ACCEPTANCE
from tests.cli.commands import run


def prompts_file(folder):
    path = folder / "mine.jsonl"
    path.write_text("".join(f'{{"name": "q{i}", "prompt": "Say {i} words"}}\n' for i in range(3)), encoding="utf-8")
    return path


def test_profile_ranks_real_drafters_and_writes_its_files(tmp_path, tiny_pair):
    out = tmp_path / "out"
    finished = run(
        "profile", tiny_pair.target, "--prompts", prompts_file(tmp_path), "--draft-model", tiny_pair.draft,
        "--draft-tokens", "4", "--rounds", "1", "--max-tokens", "20", "--nctx", "256", "--out", out, "--json",
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    result = json.loads(finished.stdout)
    assert result["schema"] == "slipstream.profile/1"
    assert {row["candidate"]["spec_type"] for row in result["rows"]} == {"ngram", "draft-simple"}
    model = next(row for row in result["rows"] if row["candidate"]["draft"])
    assert model["candidate"]["memory_bytes"] > tiny_pair.draft.stat().st_size
    assert all(trial["speculative"]["steps"] for trial in result["trials"])
    assert sorted(path.name for path in out.iterdir()) == ["profile.csv", "profile.json", "training.jsonl"]
    assert json.loads((out / "profile.json").read_text())["rows"] == result["rows"]
    assert len((out / "training.jsonl").read_text().splitlines()) == 3
    written = (out / "profile.json").read_text(encoding="utf-8")
    for told in (finished.stdout, written, (out / "profile.csv").read_text(encoding="utf-8")):
        assert "Say 1 words" not in told, "prompts stay here"
        assert '"q1"' not in told, "so do the person's own names for them"
        assert str(tmp_path) not in told
    assert result["prompts"] == ["prompt 1", "prompt 2", "prompt 3"]
    if model["acceptance"] < LOW_ACCEPTANCE:
        assert any("larger draft" in words for words in result["advice"])


def test_prompts_are_kept_on_request_and_a_device_can_be_named(tmp_path, tiny_pair):
    finished = run(
        "profile", tiny_pair.target, "--prompts", prompts_file(tmp_path), "--draft-model", "none", "--with-prompts",
        "--draft-tokens", "4", "--rounds", "1", "--max-tokens", "16", "--nctx", "256", "--compute", "cpu", "--json",
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    result = json.loads(finished.stdout)
    assert result["prompts"] == ["q0", "q1", "q2"]
    assert {trial["plain"]["question"] for trial in result["trials"]} == {f"Say {i} words" for i in range(3)}
    refused = run("profile", tiny_pair.target, "--prompts", prompts_file(tmp_path), "--compute", "no-such-device")
    assert refused.returncode != 0
    assert "no-such-device" in refused.stderr


def test_a_draft_that_does_not_exist_is_told_before_anything_is_measured(tmp_path, tiny_pair):
    finished = run("profile", tiny_pair.target, "--prompts", prompts_file(tmp_path), "--draft-model", "nobody-has-this")
    assert finished.returncode == 1
    assert "nobody-has-this" in finished.stderr
    assert "round" not in finished.stderr


def test_length_nought_is_refused(tmp_path):
    finished = run("profile", "starter", "--prompts", prompts_file(tmp_path), "--draft-tokens", "0")
    assert finished.returncode == 2
    assert "--draft-tokens 0" in finished.stderr
