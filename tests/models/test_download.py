"""Downloads over the real client from a hub on this machine that has faults to order."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing

import pytest

from app.errors import DiskFullError, DownloadError, HubAccessError, HubError, NetworkError, RateLimitError
from app.models.download import Downloads, Progress
from app.models.remote import Item, pair
from tests.models.conftest import SOON

MIB = 1 << 20
REPO = "org/some-GGUF"


async def collect(downloads: Downloads, item: Item) -> list[Progress]:
    async with aclosing(downloads.get(item)) as steps:
        return [step async for step in steps]


def pull(hub, folder, item, **how) -> list[Progress]:
    async def run():
        return await collect(Downloads(hub, folder, spare_bytes=0, **how), item)

    return asyncio.run(run())


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "models"


@pytest.fixture
def item(server, hub, blob):
    server.add(REPO, "some-Q4_K_M.gguf", blob(8 * MIB))
    return hub.resolve(f"{REPO}:Q4_K_M")


def place(folder, item):
    return folder / REPO / item.files[0].path


def names(folder):
    """Everything in the folder that a person would call a file."""
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.suffix == ".gguf")


def leftovers(folder):
    return sorted(p.name for p in (folder / ".downloads").iterdir())


def test_a_file_arrives_whole(server, hub, folder, item, blob):
    steps = pull(hub, folder, item)

    assert place(folder, item).read_bytes() == blob(8 * MIB).read_bytes()
    assert steps[-1].phase == "done"
    assert steps[-1].paths == (place(folder, item),)
    assert steps[-1].n_bytes == steps[-1].n_total_bytes == 8 * MIB
    assert leftovers(folder) == []
    assert server.n_sent == 8 * MIB


def test_what_is_there_is_not_fetched_again(server, hub, folder, item):
    pull(hub, folder, item)
    n_sent = server.n_sent

    assert pull(hub, folder, item)[-1].phase == "done"
    assert server.n_sent == n_sent


def test_fifty_cuts(server, hub, folder, item, blob):
    chosen = random.Random(7)
    server.cuts = [chosen.randrange(8 * MIB) for _ in range(50)]
    pull(hub, folder, item)

    assert place(folder, item).read_bytes() == blob(8 * MIB).read_bytes()
    assert server.cuts == []
    assert server.n_sent - 8 * MIB <= 50 * MIB
