"""Other servers as models: added, listed, tried, asked by name, removed; their keys are kept and never shown."""

from __future__ import annotations

import json

import pytest

from app.settings import load_settings
from tests.chat_server import MODELS, WORDS, ChatServer
from tests.cli.commands import run

KEY = "sk-a-secret-of-the-test"


@pytest.fixture(autouse=True)
def _no_keyring(home, monkeypatch):
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.delenv("SLIPSTREAM_API_KEY", raising=False)


def test_a_server_is_added_asked_by_name_tried_and_removed():
    with ChatServer() as server:
        place = server.url.removeprefix("http://")
        added = run("servers", "--add", server.url)
        assert added.returncode == 0, added.stderr
        assert f"  speaks@{place}\n" in added.stdout
        assert server.asked == []
        done = run("infer", f"speaks@{place}", "-p", "Hi", "--json")
        assert json.loads(done.stdout)["text"] == "".join(WORDS)
        assert json.loads(done.stdout)["reported_by_server"]["decode_tps"] == 42.5
        other = run("infer", f"nobody@{place}", "-p", "Hi")
        assert other.returncode == 2
        assert "has no model nobody" in other.stderr
    tried = json.loads(run("servers", "--test", "--json").stdout)["servers"]
    assert tried[0]["models"] == list(MODELS)
    assert "There is no server" in tried[0]["fault"]
    removed = run("servers", "--remove", server.url)
    assert "No other servers." in removed.stdout
    assert load_settings()[0].servers == ()


def test_a_key_is_asked_for_sent_and_never_shown():
    with ChatServer(KEY) as server:
        refused = run("servers", "--add", server.url)
        assert refused.returncode == 1
        assert "Incorrect API key" in refused.stderr
        added = run("servers", "--add", server.url, "--key", text_in=f"{KEY}\n")
        assert added.returncode == 0, added.stderr
        assert "no keyring to keep the key in" in added.stderr
        assert KEY not in added.stdout + added.stderr
    assert KEY not in load_settings()[0].__repr__()


def test_the_key_of_the_environment_goes_to_no_server_that_it_may_not_be_of(monkeypatch):
    with ChatServer() as one, ChatServer() as other:
        for server in (one, other):
            assert run("servers", "--add", server.url).returncode == 0
        monkeypatch.setenv("SLIPSTREAM_API_KEY", KEY)
        assert run("servers", "--test").returncode == 0
        assert {*one.keys, *other.keys} == {""}
        run("servers", "--remove", other.url)
        assert run("servers", "--test").returncode == 0
        assert one.keys[-1] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--key",), "Add --add URL"),
        (("--add", "ftp://here"), "is not the address of a server"),
        (("--remove", "127.0.0.1:9"), "is not among the servers"),
    ],
)
def test_words_that_do_not_go_together(words, said):
    done = run("servers", *words)
    assert done.returncode == 2
    assert said in done.stderr
