"""The token that a person gives: tried before it is kept, and never in the way of public models."""

from __future__ import annotations

import asyncio
import logging
import time

import keyring
import pytest
from keyring.backend import KeyringBackend

from app.errors import HubAccessError, NetworkError, RateLimitError
from app.host.background import beside
from app.host.hub_door import HubDoor
from app.models.hub_token import ACCOUNT, SERVICE
from tests.fair_time import FairWatch
from tests.host.test_pulling import REPO, server  # noqa: F401 - a fixture

RIGHT, WRONG = "hf_rightrightright", "hf_wrongwrongwrong"


class Memory(KeyringBackend):
    """A keyring that a test can look into."""

    priority = 1

    def __init__(self):
        super().__init__()
        self.kept = {}

    def get_password(self, service, username):
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self.kept[service, username] = password

    def delete_password(self, service, username):
        self.kept.pop((service, username), None)


@pytest.fixture
def ring():
    before, ours = keyring.get_keyring(), Memory()
    keyring.set_keyring(ours)
    yield ours
    keyring.set_keyring(before)


@pytest.fixture
def door(server, ring, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    source = tmp_path / "some.gguf"
    source.write_bytes(b"x" * 100)
    server.add(REPO, "some-Q8_0.gguf", source)
    server.add("org/public-GGUF", "public-Q8_0.gguf", source)
    server.repos[REPO].gated = "manual"
    server.repos[REPO].admitted = {RIGHT}
    server.tokens = {RIGHT}
    return HubDoor()


def opened(door, repo=REPO) -> int:
    """Read a file of a repository; return how many bytes came."""

    def read(hub):
        with hub.open(hub.resolve(repo).files[0], 0) as reply:
            return sum(map(len, reply.blocks))

    return asyncio.run(door.ask(read))


def test_a_wrong_token_is_not_kept_and_stands_in_no_ones_way(door, ring, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(HubAccessError) as refused:
        asyncio.run(door.give_token(WRONG, REPO))
    assert ring.kept == {}
    assert opened(door, "org/public-GGUF") == 100
    assert WRONG not in f"{refused.value} {refused.value.hint} {caplog.text}"


def test_the_right_one_is_kept_and_opens_and_can_be_forgotten(door, ring):
    assert "keyring" in asyncio.run(door.give_token(f"  {RIGHT}\n", REPO))
    assert ring.kept == {(SERVICE, ACCOUNT): RIGHT}
    assert opened(door) == 100
    asyncio.run(door.forget_token())
    assert ring.kept == {}
    with pytest.raises(HubAccessError):
        opened(door)


def test_without_a_keyring_it_is_kept_until_the_program_ends(door, monkeypatch):
    from keyring.backends import fail

    keyring.set_keyring(fail.Keyring())
    assert "until the program ends" in asyncio.run(door.give_token(RIGHT, REPO))
    assert opened(door) == 100
    asyncio.run(door.forget_token())
    with pytest.raises(HubAccessError):
        opened(door)


def test_what_cannot_be_a_token_is_not_sent(door, server):  # noqa: F811
    with pytest.raises(HubAccessError):
        asyncio.run(door.give_token("two words", REPO))
    assert server.seen == []


def test_a_hub_that_is_busy_does_not_lose_the_token_that_was_there(door, server, ring):  # noqa: F811
    asyncio.run(door.give_token(RIGHT, REPO))
    server.statuses = [("hub", 429, {"Retry-After": "0"})] * 3
    with pytest.raises((RateLimitError, NetworkError)):
        asyncio.run(door.give_token("hf_another", REPO))
    assert ring.kept == {(SERVICE, ACCOUNT): RIGHT}
    assert opened(door) == 100


def test_a_question_that_hangs_keeps_nobody_waiting():
    async def story():
        task = asyncio.ensure_future(beside(lambda: time.sleep(0.5)))
        await asyncio.sleep(0.01)
        task.cancel()
        watch = FairWatch()
        await asyncio.wait([task])
        assert watch.took_s < 0.2

    asyncio.run(story())
