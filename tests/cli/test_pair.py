"""pair and catalog as a person runs them."""

from __future__ import annotations

import contextlib
import io
import json
import shutil

import pytest

from app.cli import program
from app.errors import UsageError
from app.models.catalog import Catalog
from tests.cli.commands import run
from tests.fixtures import tiny, tiny_mtp


def said(*arguments: object) -> str:
    """Run a command in this process, which has all that it needs in memory by now; return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert program.run([*map(str, arguments)]) == 0
    return output.getvalue()


def told(*arguments: object) -> dict:
    return json.loads(said("pair", *arguments, "--json"))


def told_by_a_process(*arguments: object) -> dict:
    done = run("pair", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_a_pair_that_fits(tiny_pair):
    answer = told(tiny_pair.target, tiny_pair.draft, "--nctx", 1024)

    assert answer["fits"] is True
    assert "whose texts are the same" in answer["reasons"][0]
    assert answer["kind"] == "draft model"
    memory = answer["memory"]
    assert (memory["n_ctx"], memory["exact"], memory["n_ctx_max"]) == (1024, True, 8192)
    assert memory["target"]["kv_bytes"] == memory["draft"]["kv_bytes"] == 1024 * 2 * 64 * 2
    assert memory["total_bytes"] == memory["target"]["total_bytes"] + memory["draft"]["total_bytes"]
    (device,) = memory["devices"]
    assert device["device"] == "CPU"
    assert 0 < device["free_bytes"] <= device["memory_bytes"]


def test_a_pair_that_does_not_fit_names_the_rule_and_the_token(tiny_pair):
    answer = told(tiny_pair.target, "starter")
    words = said("pair", tiny_pair.target, "starter")

    assert answer["fits"] is False
    assert answer["memory"] is None
    assert [rule for rule in ("different types", "differ by", "Token 5 is") if rule in " ".join(answer["reasons"])] == [
        *("different types", "differ by", "Token 5 is"),
    ]
    assert "does not fit" in words
    assert "Token 5 is" in words


def test_a_target_alone_lists_what_can_draft_for_it(home):
    folder = home / "data" / "models"
    folder.mkdir(parents=True)
    pair = tiny_mtp.gemma4_pair(folder)
    answer = told("tiny-gemma4")
    words = said("pair", "tiny-gemma4")

    assert answer["kind"] == "n-gram"
    assert [one["draft"] for one in answer["suggestions"]] == ["tiny-gemma4-assistant", None]
    assert answer["suggestions"][0]["memory"]["draft"]["kv_bytes"] == 0
    assert "1. tiny-gemma4-assistant (assistant" in words
    assert words.index("1. tiny-gemma4-assistant") < words.index("2. n-gram")
    assert told(pair.target, pair.draft)["fits"] is True


def test_of_many_drafters_the_best_are_shown(tiny_pair, home):
    folder = home / "data" / "models"
    folder.mkdir(parents=True)
    for n in range(13):
        shutil.copy(tiny_pair.draft, folder / f"small-{n:02d}.gguf")
    done = run("pair", tiny_pair.target)
    assert "\n  10. " in done.stdout
    assert "\n  11. " not in done.stdout
    assert "\n  and 4 more; --json has them all\n" in done.stdout
    assert len(json.loads(run("pair", tiny_pair.target, "--json").stdout)["suggestions"]) == 14


def test_own_heads_are_told(tmp_path):
    answer = told(tiny_mtp.qwen35_embedded(tmp_path / "m.gguf"))

    assert (answer["kind"], answer["fits"]) == ("embedded heads", True)
    assert answer["memory"]["draft"]["weights_bytes"] == 0
    assert answer["memory"]["draft"]["kv_bytes"] > 0


def test_the_device_decides_what_is_said_of_the_quantisation(tmp_path):
    path = tiny.llama(tmp_path / "m.gguf", quantisation="F16")
    assert told(path, "--compute", "npu")["warnings"] == told(path)["warnings"] == []


def test_what_is_not_there_says_so(tmp_path):
    missing = run("pair", "no-such-model")
    broken = run("pair", "starter", tiny.text_file(tmp_path / "page.gguf"))

    assert (missing.returncode, broken.returncode) == (1, 1)
    assert "No model is called 'no-such-model'" in missing.stderr
    assert "not a GGUF file" in broken.stderr


def test_a_lie_in_the_header_ends_only_the_process_that_looked(tmp_path):
    path = tiny.llama(tmp_path / "m.gguf")
    data = path.read_bytes()
    key = b"llama.block_count"
    at = data.index(key) + len(key) + 4
    path.write_bytes(data[:at] + b"\0\0\0\0" + data[at + 4 :])
    done = run("pair", path)

    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


# --- with a hub -------------------------------------------------------------------------------------


def test_a_pair_is_judged_before_it_is_pulled(hub, tiny_pair, home):
    hub.add("org/target-GGUF", "target-Q8_0.gguf", tiny_pair.target)
    hub.add("org/draft-GGUF", "draft-Q8_0.gguf", tiny_pair.draft)
    answer = told_by_a_process("org/target-GGUF:Q8_0", "org/draft-GGUF", "--nctx", 1024)

    assert answer["fits"] is True
    assert answer["memory"]["exact"] is False
    here = told(tiny_pair.target, tiny_pair.draft, "--nctx", 1024)
    assert answer["memory"]["target"]["kv_bytes"] == here["memory"]["target"]["kv_bytes"]
    assert list(home.rglob("*.gguf")) == []
    assert told_by_a_process("org/target-GGUF", "starter")["fits"] is False


def test_drafters_on_the_hub_are_suggested_with_what_to_pull(hub, tiny_pair, home, tmp_path):
    target = tiny.llama(tmp_path / "Tiny-1M-instruct.gguf")
    hub.add("org/Tiny-0.001M-GGUF", "Tiny-Q8_0.gguf", tiny_pair.draft)
    hub.add("org/Tiny-1M-GGUF", "Tiny-1M-Q8_0.gguf", target)
    answer = told_by_a_process("org/Tiny-1M-GGUF")
    words = run("pair", target, "--hub")
    silent = run("pair", target)

    assert (answer["hub_problem"], answer["complete"]) == ("", True)
    pulled = {one["draft"]: (one["where"], one["pull"]) for one in answer["suggestions"]}
    name = "org/Tiny-0.001M-GGUF:Tiny-Q8_0.gguf"
    assert pulled[name] == ("on the hub", name)
    assert pulled[None][1] == ""
    assert f"{name} (draft model" in words.stdout
    assert "--hub looks there, too" in silent.stderr
    assert name not in silent.stdout
    assert list(home.rglob("*.gguf")) == []


def test_a_hub_with_a_fault_keeps_nobody_from_what_is_here(hub, tmp_path):
    hub.statuses = [("hub", 503, {})] * 3
    answer = told_by_a_process(tiny.llama(tmp_path / "Tiny-1M-instruct.gguf"), "--hub")
    assert "status 503" in answer["hub_problem"]
    assert [one["kind"] for one in answer["suggestions"]] == ["n-gram"]


def test_what_the_hub_does_not_have_is_said(hub):
    done = run("pair", "org/nothing:Q4_0")

    assert done.returncode == 1
    assert "org/nothing" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_catalog_is_listed_and_held_against_a_hub(hub):
    small = json.loads(said("catalog", "--memory", 16, "--json"))["pairs"]
    checked = run("catalog", "--check", "--json")
    facts = json.loads(checked.stdout)

    assert "google/gemma-4-26B-A4B-it-qat-q4_0-gguf:Q4_0" in said("catalog")
    assert 0 < len(small) < len(Catalog.load().pairs)
    assert (checked.returncode, facts["ok"]) == (1, False)
    assert all(file["problem"] for file in facts["files"]), "this hub has none of them"
    with pytest.raises(UsageError, match="no pairs for 8 GB"):
        program.run(["catalog", "--memory", "8"])
