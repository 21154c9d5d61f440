"""The window's downloads: one state each, from asking to the end, over restarts, pauses and refusals."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import pytest

from app.errors import DownloadError
from app.host.hub_door import HubDoor
from app.host.pulling import Pull, Pulls
from app.models.catalog import CatalogFile, CatalogModel, CatalogPair
from app.models.hub import Hub
from app.models.hub_token import Token
from app.models.patience import Patience
from app.models.remote import Item, RemoteFile
from app.paths import models_dir
from tests.hub_server import HubServer

REPO = "org/some-GGUF"
SOON = Patience(base_s=0.01, cap_s=0.05, n_tries=3, longest_asked_s=0.1, silence_s=5)
N_BYTES = 3 << 20


@pytest.fixture
def server(monkeypatch):
    import huggingface_hub

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with HubServer() as running:
        yield running
        huggingface_hub.close_session()


@pytest.fixture
def tokens():
    """Return the token that is found, changeable."""
    return [""]


@pytest.fixture
def hub(server, tokens):
    return Hub(server.endpoint, find=lambda: Token(tokens[0], "HF_TOKEN") if tokens[0] else None, patience=SOON)


@pytest.fixture
def pair(server, tmp_path):
    """Return a curated pair that the server has."""
    for seed, name in enumerate(("target", "draft")):
        source = tmp_path / f"{name}.gguf"
        source.write_bytes(random.Random(seed).randbytes(N_BYTES))
        server.add(REPO, source.name, source)
    return CatalogPair(
        id="some",
        title="Some target + draft",
        kind="draft model",
        architecture="llama",
        target=model("target.gguf"),
        draft=model("draft.gguf"),
        spec_type="draft-simple",
        draft_tokens=4,
        memory_bytes=1 << 30,
        laptops_gb=(16,),
        note="",
        sources=(),
    )


def model(path: str) -> CatalogModel:
    return CatalogModel(REPO, "Q4_0", "apache-2.0", (CatalogFile(path, None, None),))


async def until(holds, limit_s: float = 40.0) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            while not holds():
                await asyncio.sleep(0.01)
    assert holds()


def run(story, hub) -> None:
    async def whole():
        pulls = Pulls(HubDoor(hub))
        try:
            await story(pulls)
        finally:
            await pulls.close()

    asyncio.run(whole())


def test_a_pair_is_one_pull_with_one_progress(server, hub, pair):
    seen: list[Pull] = []

    async def story(pulls):
        pulls.subscribe(seen.append)
        assert pulls.get(pair).phase == "asking"
        assert pulls.get(pair) is pulls.find(pair.title)  # asked twice, begun once
        await until(lambda: not pulls.find(pair.title).is_running)

    run(story, hub)
    last = seen[-1]
    assert (last.phase, last.n_bytes, last.n_total_bytes) == ("done", 2 * N_BYTES, 2 * N_BYTES)
    assert [path.name for path in last.paths] == ["target.gguf", "draft.gguf"]
    assert all(path.is_file() for path in last.paths)
    assert len([seen for seen in server.seen if seen.n_sent]) == 2


def test_pause_restart_of_the_program_and_going_on_fetch_nothing_twice(server, hub, pair):
    server.rate_bytes_s = 2 << 20

    async def first(pulls):
        pulls.get(pair)
        await until(lambda: pulls.find(pair.title).n_bytes > 1 << 20)
        pulls.pause(pair.title)
        await until(lambda: not pulls.find(pair.title).is_running)
        assert pulls.find(pair.title).phase == "paused"

    async def second(pulls):
        assert pulls.pulls == ()
        await pulls.look()
        found = pulls.find(pair.title)
        assert (found.phase, found.n_total_bytes) == ("paused", 2 * N_BYTES)
        assert found.n_bytes > 1 << 20
        server.rate_bytes_s = None
        pulls.resume(pair.title)
        await until(lambda: not pulls.find(pair.title).is_running)
        assert pulls.find(pair.title).phase == "done"
        await pulls.look()
        assert len(pulls.pulls) == 1

    run(first, hub)
    run(second, hub)
    assert sum(seen.n_sent for seen in server.seen) < 2 * N_BYTES + (2 << 20)


def test_the_end_of_the_program_pauses_what_runs(server, hub, pair):
    server.rate_bytes_s = 1 << 20

    async def story(pulls):
        pulls.get(pair)
        await until(lambda: pulls.find(pair.title).n_bytes > 0)
        await pulls.close()
        assert pulls.find(pair.title).phase == "paused"

    run(story, hub)


def test_what_is_there_is_there_however_soon_it_is_stopped(hub, pair):
    async def story(pulls):
        pulls.subscribe(lambda pull: pulls.pause(pull.title) if pull.phase == "done" else None)
        pulls.get(pair)
        await until(lambda: not pulls.find(pair.title).is_running)
        await pulls.close()
        assert pulls.find(pair.title).phase == "done"
        assert all(path.is_file() for path in pulls.find(pair.title).paths)

    run(story, hub)


def test_cancelling_drops_what_has_arrived(server, hub, pair):
    server.rate_bytes_s = 1 << 20

    async def story(pulls):
        pulls.get(pair)
        await until(lambda: pulls.find(pair.title).n_bytes > 0)
        await pulls.remove(pair.title)
        assert pulls.find(pair.title) is None
        await pulls.look()
        assert pulls.pulls == ()

    run(story, hub)
    left = [path for path in models_dir().rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert left == []


def test_a_file_without_a_hash_is_refused_in_words_and_leaves_the_list(server, hub):
    item = Item("no hash", (RemoteFile(REPO, "c" * 40, "some.gguf", 10, "sha256:../../outside"),))

    async def story(pulls):
        pulls.get(item)
        await until(lambda: not pulls.find(item.title).is_running)
        failed = pulls.find(item.title)
        assert failed.phase == "failed"
        assert "names no hash" in failed.detail
        await pulls.remove(item.title)
        assert pulls.pulls == ()

    run(story, hub)
    assert server.seen == []


def test_a_finished_pull_leaves_the_list_and_not_the_disk(hub, pair):
    async def story(pulls):
        pulls.get(pair)
        await until(lambda: not pulls.find(pair.title).is_running)
        paths = pulls.find(pair.title).paths
        await pulls.remove(pair.title)
        assert pulls.find(pair.title) is None
        assert paths
        assert all(path.is_file() for path in paths)

    run(story, hub)


def test_no_hub_is_said_in_words_and_can_be_tried_again(server, hub, pair):
    server.statuses = [("hub", 500, {})] * 3

    async def story(pulls):
        pulls.get(pair)
        await until(lambda: not pulls.find(pair.title).is_running)
        failed = pulls.find(pair.title)
        assert failed.phase == "failed"
        assert "500" in failed.detail
        assert "later" in failed.hint
        assert failed.gated_repo == ""
        pulls.resume(pair.title)
        await until(lambda: pulls.find(pair.title).phase == "done")

    run(story, hub)


def test_gated_with_no_token_a_wrong_one_and_the_right_one(server, hub, pair, tokens):
    server.repos[REPO].gated = "manual"
    server.repos[REPO].admitted = {"hf_right"}
    server.tokens = {"hf_right"}
    said = []

    async def story(pulls):
        for token in ("", "hf_wrong"):
            tokens[0] = token
            hub.look_for_token()
            pulls.get(pair)
            await until(lambda: not pulls.find(pair.title).is_running)
            failed = pulls.find(pair.title)
            assert (failed.phase, failed.gated_repo) == ("failed", REPO)
            assert "hf_wrong" not in f"{failed.detail} {failed.hint}"
            said.append(failed.detail)
        tokens[0] = "hf_right"
        hub.look_for_token()
        pulls.resume_refused()
        await until(lambda: pulls.find(pair.title).phase == "done")

    run(story, hub)
    assert len(set(said)) == 2


def test_what_another_program_gets_is_not_dropped(server, hub, pair):
    server.rate_bytes_s = 1 << 20

    async def story(pulls):
        pulls.get(pair)
        await until(lambda: pulls.find(pair.title).n_bytes > 0)
        others = Pulls(HubDoor(hub))
        await others.look()
        assert "getting it" in others.find(pair.title).detail
        with pytest.raises(DownloadError):
            await others.remove(pair.title)
        assert others.find(pair.title) is not None

    run(story, hub)
