"""Announcements of newer versions: believed with the right signature only, asked for without telling."""

from __future__ import annotations

import json

import pytest

from app.errors import NetworkError, UpdateError
from app.host import updates
from app.host.updates import Announcement, Feed
from tests.announcements import Publisher, served

PUBLISHER = Publisher()


@pytest.fixture(autouse=True)
def _online(monkeypatch):
    """Let the hub's client go to this machine's own servers."""
    from huggingface_hub import constants
    from huggingface_hub.utils import close_session

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    close_session()
    yield
    close_session()


def test_a_signed_announcement_is_believed():
    found = updates.verified(PUBLISHER.document(version="1.2", notes="Faster."), PUBLISHER.key)
    assert found == Announcement(version="1.2", page="https://example.org/get", notes="Faster.")


def tampered() -> bytes:
    document = json.loads(PUBLISHER.document())
    document["signed"] = json.loads(Publisher().document(version="99.1"))["signed"]
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (tampered(), "wrong signature"),
        (Publisher().document(), "wrong signature"),
        (b"<html>Sign in to this network</html>", "no announcement"),
        (b'{"signed": "AA=="}', "no announcement"),
        (b"\xff", "no announcement"),
        (PUBLISHER.signed(b"[1]"), "no announcement"),
        (PUBLISHER.document(version="1.2; rm -rf"), "cannot be checked"),
        (PUBLISHER.document(page="http://example.org/"), "no safe page"),
        (PUBLISHER.document(page="file:///etc/passwd"), "no safe page"),
    ],
)
def test_anything_else_is_not(raw, words):
    with pytest.raises(UpdateError, match=words) as caught:
        updates.verified(raw, PUBLISHER.key)
    assert caught.value.hint


def test_a_key_that_is_none_believes_nothing():
    with pytest.raises(UpdateError, match="cannot be checked"):
        updates.verified(PUBLISHER.document(), b"short")


@pytest.mark.parametrize(
    ("announced", "current", "is_newer"),
    [
        ("0.2.0", "0.1.0", True),
        ("0.10", "0.9.9", True),
        ("0.1.0", "0.1.0", False),
        ("0.1", "0.1.0", False),
        ("0.0.9", "0.1.0", False),  # an old announcement, sent again
        ("9.9", "0.1.0+trial", False),
    ],
)
def test_only_a_higher_version_is_newer(announced, current, is_newer):
    assert updates.is_newer(Announcement(version=announced, page=""), current) is is_newer


def test_it_asks_one_address_and_tells_nothing():
    with served(PUBLISHER.document()) as (address, asked):
        assert updates.ask(Feed(address, PUBLISHER.key)).version == "99.0"
    (request,) = asked
    assert request["path"] == "/newest.json"
    assert request["User-Agent"] == "slipstream"
    assert {name.lower() for name in request} <= {
        "path", "host", "user-agent", "accept", "accept-encoding", "connection", "x-request-id", "x-amzn-trace-id"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (302, {"Location": "http://127.0.0.1:1/"}, b""),
        (404, {}, b"not here"),
        (200, {}, b"x" * (updates.LIMIT_BYTES + 1)),
    ],
)
def test_redirects_refusals_and_floods_are_faults(status, headers, body):
    with served(body, status, headers) as (address, _), pytest.raises(UpdateError):
        updates.ask(Feed(address, PUBLISHER.key))


def test_no_connection_is_a_fault_of_the_network():
    with served(b"") as (address, _):
        pass
    with pytest.raises(NetworkError, match="cannot be reached"):
        updates.ask(Feed(address, PUBLISHER.key))


@pytest.mark.parametrize("address", ["http://example.org/newest.json", "ftp://127.0.0.1/", "file:///etc/passwd", ""])
def test_an_unsafe_address_is_not_asked(address):
    with pytest.raises(UpdateError, match="not a safe one"):
        updates.ask(Feed(address, PUBLISHER.key))


def test_offline_mode_holds(monkeypatch):
    from huggingface_hub import constants
    from huggingface_hub.utils import close_session

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    close_session()
    with served(PUBLISHER.document()) as (address, asked):
        with pytest.raises(NetworkError, match="Offline mode"):
            updates.ask(Feed(address, PUBLISHER.key))
        assert asked == []


def test_a_bundle_says_where_and_with_which_key(tmp_path):
    assert updates.feed() is None
    (tmp_path / "bundle.json").write_text('{"version": "0.1.0"}')
    assert updates.feed(tmp_path) is None
    (tmp_path / "bundle.json").write_text('{"version": "0.1.0", "feed": "https://example.org/n", "key": "AAEC"}')
    assert updates.feed(tmp_path) == Feed("https://example.org/n", b"\0\1\2")


def test_it_is_due_once_a_day_and_when_the_clock_was_put_back(home):
    assert updates.is_due()
    updates.note_asked(1_000_000.0)
    assert not updates.is_due(1_000_000.0 + updates.DAY_S - 1)
    assert updates.is_due(1_000_000.0 + updates.DAY_S)
    assert updates.is_due(999_999.0)
    (home / "cache" / "updates.json").write_bytes(b"\xff not json")
    assert updates.is_due(1_000_001.0)


def test_asking_touches_no_file_but_its_note(home):
    with served(PUBLISHER.document()) as (address, _):
        part = home / "data" / "models" / ".downloads" / "x.part"
        part.parent.mkdir(parents=True)
        part.write_bytes(b"half")
        updates.ask(Feed(address, PUBLISHER.key))
        updates.note_asked()
    files = sorted(path.name for path in home.rglob("*") if path.is_file())
    assert files == ["updates.json", "x.part"]
    assert part.read_bytes() == b"half"
