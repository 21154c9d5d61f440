"""A pull of what is in a cache on this disk uses it where it is; what is wrong there is fetched."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from pathlib import Path

import pytest

from app.models.download import Downloads, Progress
from app.models.library import Library
from app.models.part_file import PartFile
from app.models.remote import Item
from tests.fixtures.raw_gguf import RawGguf, small

REPO = "org/some-GGUF"
MIB = 1 << 20


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """Return the hub's cache of this machine, which is looked at."""
    monkeypatch.delenv("SLIPSTREAM_ONLY_OWN")
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "person" / ".cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("LLAMA_CACHE", raising=False)
    return tmp_path / "hub"


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "models"


def pull(hub, folder, item) -> list[Progress]:
    async def run():
        async with aclosing(Downloads(hub, folder, spare_bytes=0).get(item)) as steps:
            return [step async for step in steps]

    return asyncio.run(run())


def keep(cache: Path, item: Item, index: int, data: bytes) -> Path:
    """Put a file of an item into the cache, as the hub's client does."""
    file = item.files[index]
    place = cache / f"models--{file.repo.replace('/', '--')}"
    blob = place / "blobs" / file.digest.partition(":")[2]
    path = place / "snapshots" / file.commit / file.path
    for each in (blob, path):
        each.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(data)
    path.symlink_to(os.path.relpath(blob, path.parent))
    return path


def test_a_cached_file_is_used_where_it_is(server, hub, folder, cache, tmp_path):
    raw = small().bytes() + b"\0" * MIB
    source = tmp_path / "some-Q8_0.gguf"
    source.write_bytes(raw)
    server.add(REPO, source.name, source)
    item = hub.resolve(f"{REPO}:Q8_0")
    path = keep(cache, item, 0, raw)
    steps = pull(hub, folder, item)

    assert steps[-1].paths == (path,)
    assert "Used where it is" in steps[-1].detail
    assert "checking" in {step.phase for step in steps} or len(steps) < 3
    assert server.n_sent == 0
    assert list(folder.rglob("*.gguf")) == []
    assert [entry.path for entry in Library().entries()[1:]] == [path]
    assert list(Downloads(hub, folder).unfinished()) == []


def test_no_room_is_needed_for_what_is_there(server, hub, folder, cache, blob):
    source = blob(MIB, "some-Q8_0.gguf")
    server.add(REPO, source.name, source)
    item = hub.resolve(f"{REPO}:Q8_0")
    keep(cache, item, 0, source.read_bytes())

    async def run():
        async with aclosing(Downloads(hub, folder, spare_bytes=1 << 60).get(item)) as steps:
            return [step async for step in steps][-1].phase

    assert asyncio.run(run()) == "done"


@pytest.mark.parametrize("fault", ["byte", "length", "gone", "off", "elsewhere"])
def test_what_is_not_the_file_is_fetched(server, hub, folder, cache, blob, fault, monkeypatch, tmp_path):
    source = blob(MIB, "some-Q8_0.gguf")
    server.add(REPO, source.name, source)
    item = hub.resolve(f"{REPO}:Q8_0")
    data = bytearray(source.read_bytes())
    if fault == "byte":
        data[7] ^= 1
    path = keep(cache, item, 0, bytes(data[:-1] if fault == "length" else data))
    if fault == "gone":
        path.resolve().unlink()
    if fault == "off":
        monkeypatch.setenv("SLIPSTREAM_ONLY_OWN", "1")
    if fault == "elsewhere":  # a link out of the repository is not followed
        path.resolve().rename(tmp_path / path.resolve().name)
        path.unlink()
        path.symlink_to(tmp_path / item.files[0].digest.partition(":")[2])
    steps = pull(hub, folder, item)

    place = folder / REPO / source.name
    assert steps[-1].paths == (place,)
    assert place.read_bytes() == source.read_bytes()
    assert server.n_sent == MIB


def split(tmp_path: Path, n: int) -> list[Path]:
    paths = []
    for index in range(n):
        raw = small().add("split.no", 2, RawGguf().number(index, "H")).add("split.count", 2, RawGguf().number(n, "H"))
        path = tmp_path / f"big-Q8_0-{index + 1:05d}-of-{n:05d}.gguf"
        path.write_bytes(raw.bytes())
        paths.append(path)
    return paths


@pytest.mark.parametrize("cached", [(0, 1, 2), (0, 2), (1,)])
def test_parts_of_a_split_model_come_to_lie_together(server, hub, folder, cache, tmp_path, cached):
    paths = split(tmp_path, 3)
    for path in paths:
        server.add(REPO, path.name, path)
    item = hub.resolve(f"{REPO}:Q8_0")
    for index in cached:
        keep(cache, item, index, paths[index].read_bytes())
    last = pull(hub, folder, item)[-1]

    assert len({path.parent for path in last.paths}) == 1
    assert last.paths[0].is_relative_to(cache if len(cached) == 3 else folder)
    assert server.n_sent == sum(path.stat().st_size for index, path in enumerate(paths) if index not in cached)
    assert Library([last.paths[0].parent]).entries()[1].n_bytes == item.n_bytes


def test_what_had_arrived_of_a_part_is_not_mixed_with_what_the_cache_has(server, hub, folder, cache, tmp_path):
    paths = split(tmp_path, 2)
    for path in paths:
        server.add(REPO, path.name, path)
    item = hub.resolve(f"{REPO}:Q8_0")
    begun = PartFile(folder, item.files[0])
    begun.path.parent.mkdir(parents=True)
    begun.path.write_bytes(b"damaged on its way")
    keep(cache, item, 0, paths[0].read_bytes())
    last = pull(hub, folder, item)[-1]

    assert [path.read_bytes() for path in last.paths] == [path.read_bytes() for path in paths]
