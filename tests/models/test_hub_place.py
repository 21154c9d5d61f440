"""Which hub is asked, and that none is while the settings say so."""

from __future__ import annotations

import socket

import pytest

from app.errors import NetworkError
from app.models.hub import Hub
from app.models.hub_faults import Asked
from app.models.hub_http import Access, ShortLimits, fetch_short, open_range
from app.models.hub_place import DEFAULT_ENDPOINT, hub_address, refuse_offline
from app.models.remote import RemoteFile
from app.settings import Settings, save_settings, settings_path


def test_the_settings_come_first_then_the_environment_then_the_usual_hub(home, monkeypatch):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert hub_address() == DEFAULT_ENDPOINT
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:7/")
    assert hub_address() == "http://127.0.0.1:7"
    save_settings(Settings(hub_endpoint="http://127.0.0.1:8/mirror/"))
    assert hub_address() == "http://127.0.0.1:8/mirror"
    assert Hub().endpoint == "http://127.0.0.1:8/mirror"
    assert Hub("http://127.0.0.1:9").endpoint == "http://127.0.0.1:9"


@pytest.mark.parametrize("text", ["nowhere", "ftp://x", "http://", "http://x:port"])
def test_what_is_no_address_is_said_to_be_none_and_where_it_stands(home, text):
    save_settings(Settings(hub_endpoint=text))
    with pytest.raises(NetworkError, match="in the settings is"):
        hub_address()


def test_offline_opens_no_connection_at_all(home):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}"
        save_settings(Settings(offline=True, hub_endpoint=endpoint))
        file = RemoteFile("org/name", "main", "a.gguf", 10, None)
        access = Access(endpoint, None, 1.0)
        ways = (
            lambda: Hub().search("x"),
            lambda: Hub().repository("org/name"),
            lambda: open_range(access, file, 0).__enter__(),
            lambda: fetch_short(endpoint, Asked(endpoint, None), 1.0, ShortLimits(100, 1.0)),
        )
        for way in ways:
            with pytest.raises(NetworkError, match="Offline is on in the settings"):
                way()
        with pytest.raises(TimeoutError):
            server.accept()


def test_settings_that_cannot_be_read_do_not_stand_in_the_way(home):
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    settings_path().write_text("{ broken")
    refuse_offline()
    assert settings_path().read_text() == "{ broken", "it is put aside by those who read all of it"
