"""The long form: 1 GB, and all that can happen to it on the way. Its short forms are in test_download.py."""

from __future__ import annotations

import asyncio
import filecmp
import random
import time
from contextlib import aclosing

import pytest

from app.errors import DownloadError
from app.models.download import Downloads
from app.models.hub import Hub
from tests.cli.commands import run, started

pytestmark = [pytest.mark.full, pytest.mark.linux, pytest.mark.timeout(1800)]

MIB = 1 << 20
N_BYTES = 1000 * 1000 * 1000
REPO = "org/big-GGUF"


@pytest.fixture
def big(server, tmp_path, monkeypatch):
    """Serve 1 GB; commands of the test go to this hub."""
    path = tmp_path / "big.bin"
    chosen = random.Random(3)
    with path.open("wb") as file:
        for _ in range(N_BYTES // 1_000_000):
            file.write(chosen.randbytes(1_000_000))
    server.add(REPO, "big-Q4_K_M.gguf", path)
    for name, value in (
        ("HF_ENDPOINT", server.endpoint),
        ("HF_HUB_OFFLINE", "0"),
        ("HF_HOME", str(tmp_path / "no-login")),
        ("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring"),
    ):
        monkeypatch.setenv(name, value)
    return path


@pytest.fixture
def place(home):
    return home / "data/models" / REPO / "big-Q4_K_M.gguf"


def n_arrived(home) -> int:
    return sum(path.stat().st_size for path in (home / "data/models/.downloads").glob("*.part"))


def kill_at(home, place, n_bytes: int) -> None:
    with started("pull", REPO) as process:
        deadline = time.monotonic() + 300
        while n_arrived(home) < n_bytes and not place.exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
        process.communicate()


def test_fifty_cuts_ten_restarts_and_faults_between(server, big, home, place):
    chosen = random.Random(17)
    server.cuts = [chosen.randrange(N_BYTES) for _ in range(50)]
    server.rate_bytes_s = 60 * MIB
    for at in sorted(chosen.randrange(N_BYTES) for _ in range(10)):
        server.statuses = [("storage", status, {}) for status in chosen.sample((429, 500, 502, 503, 504), 2)]
        server.n_links_expired = 1
        kill_at(home, place, at)
    server.rate_bytes_s = None
    done = run("pull", REPO, timeout=900)

    assert done.returncode == 0, done.stderr
    assert filecmp.cmp(big, place, shallow=False)
    assert server.cuts == []
    assert server.n_sent - N_BYTES <= 60 * MIB


def test_a_server_without_ranges(server, big, place):
    server.ignores_ranges = True
    server.cuts = [N_BYTES // 5, N_BYTES // 2]
    done = run("pull", REPO, timeout=900)

    assert done.returncode == 0, done.stderr
    assert filecmp.cmp(big, place, shallow=False)


def test_one_corrupt_byte_of_a_billion(server, big, home, place):
    server.corrupt_at = N_BYTES - 12345
    done = run("pull", REPO, timeout=900)

    assert done.returncode == 1
    assert "arrived damaged" in done.stderr
    assert not place.exists()
    assert n_arrived(home) == 0


def test_changed_while_it_was_on_its_way(server, big, home, place, tmp_path):
    server.rate_bytes_s = 100 * MIB
    kill_at(home, place, N_BYTES // 3)
    server.rate_bytes_s = None
    new = tmp_path / "new.bin"
    new.write_bytes(random.Random(4).randbytes(50_000_000))
    server.add(REPO, "big-Q4_K_M.gguf", new)
    done = run("pull", REPO, timeout=900)

    assert done.returncode == 0
    assert "changed on the hub since this download was begun" in done.stderr
    assert filecmp.cmp(new, place, shallow=False)
    assert n_arrived(home) == 0


def test_a_stall_is_said_after_twenty_seconds(server, blob, tmp_path):
    server.add(REPO, "some-Q4_K_M.gguf", blob(8 * MIB))
    server.stall_at = 3 * MIB
    hub = Hub(server.endpoint, find=lambda: None)

    async def until_said() -> str:
        async with aclosing(Downloads(hub, tmp_path / "models").get(hub.resolve(REPO))) as steps:
            began_s = time.monotonic()
            async for step in steps:
                if step.n_bytes < 3 * MIB:
                    began_s = time.monotonic()
                if step.phase == "stalled":
                    assert step.rate_bytes_s == 0
                    assert step.eta_s is None
                    assert 19 < time.monotonic() - began_s < 23
                    return step.detail
        raise DownloadError("it never stalled")

    assert asyncio.run(until_said()).startswith("No bytes have come for 2")
