"""A hub on this machine for the tests of this folder, and the real client on the way to it."""

from __future__ import annotations

import random

import pytest

from app.models.hub import Hub
from app.models.patience import Patience
from tests.hub_server import HubServer

SOON = Patience(base_s=0.01, cap_s=0.05, n_tries=4, longest_asked_s=0.1, silence_s=5)
"""Waits that a test can afford."""


@pytest.fixture
def server(monkeypatch):
    """Start a hub; the client may go there although the tests are offline, and keeps no connection afterwards."""
    import huggingface_hub

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with HubServer() as running:
        yield running
        huggingface_hub.close_session()


@pytest.fixture
def hub(server):
    """Return our side of it, without a token."""
    return Hub(server.endpoint, find=lambda: None, patience=SOON)


@pytest.fixture
def blob(tmp_path):
    """Return a maker of files with bytes that nothing repeats."""

    def make(n_bytes: int, name: str = "blob.bin", seed: int = 1):
        path = tmp_path / "sources" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(random.Random(seed).randbytes(n_bytes))
        return path

    return make
