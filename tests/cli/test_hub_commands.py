"""pull, search and remove as a person runs them, against a hub on this machine."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from app.models.catalog import Catalog
from tests.cli.commands import COMMAND, ROOT, environment, run, started
from tests.fixtures import tiny_mtp

MIB = 1 << 20
REPO = "org/some-GGUF"
TOKEN = "hf_fortestsonly"


@pytest.fixture
def server(hub, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    (tmp_path / "share").mkdir()
    return hub


@pytest.fixture
def source(server, tmp_path):
    path = tmp_path / "source.bin"
    path.write_bytes(random.Random(5).randbytes(12 * MIB))
    server.add(REPO, "some-Q4_K_M.gguf", path)
    return path


def place(home) -> Path:
    return home / "data/models" / REPO / "some-Q4_K_M.gguf"


def part_bytes(home) -> int:
    return sum(path.stat().st_size for path in (home / "data/models/.downloads").glob("*.part"))


def wait_for(home, n_bytes: int) -> None:
    deadline = time.monotonic() + 90
    while part_bytes(home) < n_bytes and not place(home).exists():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_pull_prints_where_it_is(server, source, home):
    done = run("pull", f"{REPO}:Q4_K_M", "--json")

    assert done.returncode == 0, done.stderr
    (file,) = json.loads(done.stdout)["files"]
    assert Path(file["path"]).read_bytes() == source.read_bytes()
    assert file["bytes"] == 12 * MIB
    assert "100 %" in done.stderr


def test_a_pulled_model_is_listed_and_removed_to_the_trash(server, home, tiny_pair, tmp_path):
    server.add("org/tiny-GGUF", "tiny-Q8_0.gguf", tiny_pair.target)
    path = run("pull", "org/tiny-GGUF").stdout.strip()
    assert "tiny-Q8_0" in [model["name"] for model in json.loads(run("list", "--json").stdout)["models"]]

    removed = json.loads(run("remove", "tiny-Q8_0", "--json").stdout)

    assert removed == {"paths": [path], "in_trash": True}
    assert [model["name"] for model in json.loads(run("list", "--json").stdout)["models"]] == ["starter"]
    trashed = tmp_path / "share/Trash"
    assert (trashed / "files/tiny-Q8_0.gguf").read_bytes() == tiny_pair.target.read_bytes()
    assert f"Path={path}" in (trashed / "info/tiny-Q8_0.gguf.trashinfo").read_text()
    assert not (home / "data/models/org").exists()


def test_remove_keeps_what_is_not_ours(server, home, tiny_pair):
    starter = run("remove", "starter")
    other = run("remove", tiny_pair.target)

    assert (starter.returncode, other.returncode) == (2, 2)
    assert "pip uninstall" in starter.stderr
    assert "outside of our models folder" in other.stderr
    assert tiny_pair.target.exists()


def test_a_curated_pair_comes_as_one(server, home, tmp_path):
    pair = next(pair for pair in Catalog.load().pairs if pair.id == "qwen2.5-7b")
    for model in (pair.target, pair.draft):
        for file in model.files:
            path = tmp_path / file.path
            path.write_bytes(file.path.encode())
            server.add(model.repo, file.path, path)
    done = json.loads(run("pull", "qwen2.5-7b", "--json").stdout)

    assert done["title"] == pair.title
    assert [Path(file["path"]).read_text() for file in done["files"]] == [
        file.path for model in (pair.target, pair.draft) for file in model.files
    ]


@pytest.mark.linux
def test_ctrl_c_keeps_what_has_arrived(server, source, home):
    server.rate_bytes_s = 8 * MIB
    with started("pull", f"{REPO}:Q4_K_M") as process:
        wait_for(home, 3 * MIB)
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "What has arrived is kept: the same command goes on there." in said.decode()
    assert not place(home).exists()
    assert part_bytes(home) >= 3 * MIB

    # and what was begun can be dropped by its name
    assert run("remove", f"{REPO}:Q4_K_M").returncode == 0
    assert part_bytes(home) == 0


@pytest.mark.linux
def test_what_is_not_finished_is_listed_by_the_name_that_removes_it(server, home, source):
    server.cuts = [6 * MIB]
    server.rate_bytes_s = 20 * MIB
    with started("pull", REPO) as pulling:
        wait_for(home, 4 * MIB)
        pulling.kill()
        pulling.wait()
    (one,) = json.loads(run("list", "--json").stdout)["unfinished"]
    assert (one["title"], one["total_bytes"], one["is_running"]) == (REPO, 12 * MIB, False)
    assert one["bytes"] == part_bytes(home) > 0
    assert f"not finished: {REPO}\n" in run("list").stdout
    assert run("remove", one["title"]).returncode == 0
    assert json.loads(run("list", "--json").stdout)["unfinished"] == []


def test_heads_beside_a_model_on_the_hub_are_among_what_can_draft_for_it(server, tmp_path):
    pair = tiny_mtp.gemma4_pair(tmp_path)
    server.add("org/gem-GGUF", "gem-Q8_0.gguf", pair.target)
    server.add("org/gem-GGUF", "mtp-gem-Q8_0.gguf", pair.draft)
    found = json.loads(run("pair", "org/gem-GGUF", "--json").stdout)["suggestions"]
    assert (found[0]["kind"], found[0]["where"]) == ("assistant", "in the same repository")
    assert found[0]["pull"]


def test_the_catalog_names_what_pull_takes():
    words = run("catalog").stdout
    assert all(f"pull {pair.id}\n" in words for pair in Catalog.load().pairs)


def test_two_commands_do_not_write_the_same_file(server, source, home):
    server.rate_bytes_s = 2 * MIB
    with started("pull", f"{REPO}:Q4_K_M") as first:
        wait_for(home, MIB)
        server.rate_bytes_s = MIB // 16  # it is not over when the other has started, however long that takes
        second = run("pull", f"{REPO}:Q4_K_M")
        server.rate_bytes_s = None
        first.communicate(timeout=60)

    assert second.returncode == 1
    assert "another window or command" in second.stderr
    assert first.returncode == 0
    assert place(home).read_bytes() == source.read_bytes()


def kill_and_go_on(server, home, n_bytes: int, n_kills: int, chosen: random.Random) -> list[int]:
    """End the command hard at random places, then let it finish; return how much there was each time."""
    kept = []
    for at in sorted(chosen.randrange(n_bytes) for _ in range(n_kills)):
        with started("pull", f"{REPO}:Q4_K_M") as process:
            wait_for(home, at)
            process.kill()
            process.communicate()
        if place(home).exists():
            break
        kept.append(part_bytes(home))
    server.rate_bytes_s = None
    assert run("pull", f"{REPO}:Q4_K_M").returncode == 0
    return kept


@pytest.mark.linux
def test_ended_hard_it_goes_on(server, source, home):
    server.rate_bytes_s = 24 * MIB
    kept = kill_and_go_on(server, home, 12 * MIB, 3, random.Random(11))

    assert place(home).read_bytes() == source.read_bytes()
    assert {seen.first for seen in server.seen if seen.n_sent} == {0, *kept}  # nothing that was there is fetched again


@pytest.mark.linux
def test_a_disk_that_takes_no_more_is_said_and_nothing_is_lost(server, source, home):
    limited = subprocess.run(
        ["sh", "-c", 'ulimit -f 10240; exec "$@"', "sh", *COMMAND, "pull", REPO],  # 5 MiB, in blocks of 512 bytes
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert limited.returncode == 1
    assert "error: The disk is full. What has arrived is kept." in limited.stderr
    assert not place(home).exists()
    assert part_bytes(home) == 5 * MIB

    assert run("pull", REPO).returncode == 0
    assert place(home).read_bytes() == source.read_bytes()
    assert server.seen[-1].first == 5 * MIB


def test_search(server, source):
    server.repos[REPO].gated = "manual"
    found = json.loads(run("search", "some", "--json").stdout)["models"]

    assert found == [
        {
            "repo": REPO,
            "is_gated": True,
            "licence": "apache-2.0",
            "n_downloads": 1000,
            "n_likes": 10,
            "updated": "2026-11-01",
        }
    ]
    assert "terms to accept" in run("search", "some").stdout
    assert "Try fewer words" in run("search", "nothing", "like", "it").stdout


def test_a_token_is_in_no_output_and_no_log(server, source, home, monkeypatch):
    server.repos[REPO].gated = "auto"
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("HF_DEBUG", "1")
    wrong = run("pull", REPO)
    server.tokens, server.repos[REPO].admitted = {TOKEN}, {TOKEN}
    right = run("pull", REPO)

    assert (wrong.returncode, right.returncode) == (1, 0)
    logs = "".join(path.read_text() for path in (home / "logs").iterdir())
    assert TOKEN not in wrong.stdout + wrong.stderr + right.stdout + right.stderr + logs
    assert "X-Amz-Signature" not in logs


def test_offline_mode_is_said(server, source, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = run("pull", REPO)

    assert done.returncode == 1
    assert "Offline mode is on" in done.stderr
    assert server.seen == []


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("no-slash", 2, "neither a repository nor a curated pair"),
        (f"{REPO}:Q9_X", 1, "has no model in Q9_X"),
    ],
)
def test_names_that_lead_nowhere(server, source, name, code, words):
    done = run("pull", name)

    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert "hint: " in done.stderr
