"""A model hub on this machine for commands that get what is missing."""

from __future__ import annotations

import pytest

from tests.hub_server import HubServer


@pytest.fixture
def hub(monkeypatch, tmp_path):
    with HubServer() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.endpoint)
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("HF_HOME", str(tmp_path / "no-login"))
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        monkeypatch.delenv("HF_TOKEN", raising=False)
        yield running
