"""Packs: added, guarded, chosen, unpacked, removed; what hostile ones do is survived and said."""

from __future__ import annotations

import asyncio
import shutil
import stat
import time
import zipfile
from pathlib import Path

import pytest

from app.engine.discovery import GUARD_LIMIT_S, LOOK_LIMIT_S, discover
from app.engine.surroundings import Surroundings
from app.errors import EngineDiedError, EngineError, LoadError, UsageError
from app.host import ChatRequest, Host, PairChoice
from app.host.device_book import DeviceBook
from app.host.runtime_engine import RuntimeEngine
from app.host.runtimes import BUILT_IN, Runtimes, files_hash, files_stamp
from app.host.unpacking import unpack
from app.protocol import ChatMessage, Chunk
from tests.fixtures import packs

pytestmark = pytest.mark.linux


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Path:
    return packs.pack(tmp_path_factory.mktemp("packs") / "plain")


# --- the guard --------------------------------------------------------------------------------------


def test_a_copy_of_the_built_in_runtime_is_added_used_and_removed(plain):
    runtimes = Runtimes()
    pack = runtimes.add(plain)
    assert (pack.name, len(pack.sha256), runtimes.in_use().name) == ("plain", 64, BUILT_IN)
    runtimes.use("plain")
    assert runtimes.in_use().surroundings == Surroundings(str(plain))
    runtimes.remove("plain")
    assert (runtimes.in_use().name, runtimes.shelf().packs) == (BUILT_IN, ())
    assert (plain / packs.LLAMA).is_file()  # the person's own folder stays


@pytest.mark.parametrize(
    ("source", "is_whole", "kind", "words"),
    [
        (packs.ABORTS, False, EngineDiedError, "internal check failed"),
        (packs.SLEEPS, False, EngineError, "longer than 2 seconds"),
        (packs.LACKS, False, LoadError, "undefined symbol: llama_"),
        (packs.OTHER_COMMIT, True, LoadError, "commit deadbee instead of 0c1e570"),
    ],
    ids=["aborts", "sleeps", "lacks a symbol", "other commit"],
)
def test_a_hostile_pack_is_refused_with_the_reason(tmp_path, source, is_whole, kind, words):
    folder = packs.with_llama(tmp_path / "bad", source, is_whole=is_whole)
    runtimes = Runtimes(limit_s=2.0 if source == packs.SLEEPS else GUARD_LIMIT_S)
    with pytest.raises(kind, match=words) as caught:
        runtimes.add(folder)
    assert caught.value.hint
    assert runtimes.shelf().packs == ()


def test_nobody_waits_longer_than_half_a_minute():
    assert GUARD_LIMIT_S < 30 > LOOK_LIMIT_S


def test_a_pack_that_prints_is_used(tmp_path):
    folder = packs.with_llama(tmp_path / "loud", packs.PRINTS, is_whole=True)
    Runtimes().add(folder)


def test_a_pack_that_changes_for_the_worse_gives_way_to_the_built_in_one(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "pack")
    runtimes = Runtimes()
    runtimes.add(folder)
    runtimes.use("pack")
    before = runtimes.shelf().packs[0]
    packs.compile_library(packs.LACKS, folder / packs.LLAMA)
    in_use = runtimes.in_use()
    assert (in_use.name, in_use.surroundings) == (BUILT_IN, Surroundings())
    assert "undefined symbol" in in_use.why_not
    with pytest.raises(LoadError, match="undefined symbol"):
        runtimes.use("pack")
    # AND a sound one in its place is used again, by its own hash
    shutil.copy(plain / packs.LLAMA, folder)
    (folder / "libextra.so").write_text("new")
    assert runtimes.in_use().name == "pack"
    assert runtimes.shelf().packs[0].sha256 != before.sha256


def test_a_model_beside_the_libraries_is_neither_hashed_nor_a_change(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "pack")
    before = files_stamp(folder), files_hash(folder)
    (folder / "model.gguf").write_bytes(b"GGUF and many gigabytes")
    assert (files_stamp(folder), files_hash(folder)) == before


def test_a_pack_whose_folder_is_gone_gives_way(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "pack")
    runtimes = Runtimes()
    runtimes.add(folder)
    runtimes.use("pack")
    shutil.rmtree(folder)
    assert "no llama library" in runtimes.in_use().why_not


def test_a_pack_that_fails_in_the_engine_alone_gives_way_and_chat_goes_on(tmp_path, expect_log, tiny_pair):
    folder = packs.with_llama(tmp_path / "sly", packs.ABORTS_IN_THE_ENGINE, is_whole=True)
    runtimes = Runtimes()
    runtimes.add(folder)
    runtimes.use("sly")
    expect_log(r"WARNING app\.engine\.client: The engine process has ended.*")

    async def body():
        host = Host(make_engine=RuntimeEngine)
        try:
            loaded = await host.load(PairChoice(str(tiny_pair.target)))
            request = ChatRequest((ChatMessage("user", "Hello"),), max_tokens=4)
            return loaded, [event async for event in host.answer(request) if isinstance(event, Chunk)]
        finally:
            await host.close()

    loaded, chunks = asyncio.run(body())
    assert chunks
    (notice,) = [notice for notice in loaded.notices if notice.code == "runtime"]
    assert "sly is not used, the built-in one is" in notice.message
    assert "SIGABRT" in notice.message
    # AND it is not tried again by itself
    assert runtimes.shelf().packs[0].fault


# --- backends ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "state", "words"),
    [
        (packs.ABORTS, "died", "SIGABRT"),
        (packs.SLEEPS, "hung", "longer than 2 seconds"),
        (packs.LACKS, "refused", "does not load"),
        (packs.PRINTS, "refused", "does not load"),
    ],
    ids=["aborts", "sleeps", "is none", "prints"],
)
def test_a_hostile_backend_is_named_and_the_rest_is_found(tmp_path, source, state, words):
    folder = packs.with_backend(tmp_path / "pack", source)
    found = discover(Surroundings(str(folder)), limit_s=2.0 if source == packs.SLEEPS else LOOK_LIMIT_S)
    (backend,) = found.backends
    assert (backend.name, backend.state) == ("evil", state)
    assert words in backend.reason
    assert [device.name for device in found.devices] == ["CPU"]


def test_another_library_of_the_same_runtime_is_looked_at_again(tmp_path, monkeypatch):
    folder = packs.pack(tmp_path / "own")
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(folder))
    book, in_use = DeviceBook(drivers={}), Runtimes().in_use()
    assert book.find(in_use).backends == ()
    packs.compile_library(packs.LACKS, folder / packs.BACKEND)
    assert [backend.state for backend in book.find(in_use).backends] == ["refused"]


def test_a_backend_that_ended_its_process_is_left_alone_until_asked(tmp_path):
    folder = packs.with_backend(tmp_path / "pack", packs.ABORTS)
    runtimes = Runtimes()
    runtimes.add(folder)
    runtimes.use("pack")
    book, in_use = DeviceBook(drivers={"GPU": "1"}), runtimes.in_use()
    started_s = time.perf_counter()
    assert [b.state for b in book.find(in_use).backends] == ["died"]
    first_s, started_s = time.perf_counter() - started_s, time.perf_counter()
    # THEN the next look loads nothing
    assert [b.state for b in DeviceBook(drivers={"GPU": "1"}).find(in_use).backends] == ["died"]
    assert time.perf_counter() - started_s < first_s / 4
    # AND it is tried again when somebody asks, or it is another library, or there is another driver
    packs.compile_library(packs.LACKS, folder / packs.BACKEND)
    assert [b.state for b in book.find(in_use).backends] == ["refused"]
    assert [b.state for b in DeviceBook(drivers={"GPU": "2"}).find(in_use).backends] == ["refused"]


# --- zips -------------------------------------------------------------------------------------------


def zipped(path: Path, names: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in names.items():
            archive.writestr(name, data)
    return path


def test_a_zip_with_a_folder_inside_is_unpacked_and_used(plain, tmp_path):
    path = tmp_path / "llama-b1.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in plain.iterdir():
            archive.write(file, f"build/bin/{file.name}")
    runtimes = Runtimes()
    pack = runtimes.add(path)
    assert (pack.name, pack.is_ours) == ("llama-b1", True)
    assert Path(pack.folder).parts[-3:] == ("llama-b1", "build", "bin")
    runtimes.remove("llama-b1")
    assert not Path(pack.folder).exists()


@pytest.mark.parametrize(
    "name",
    ["../outside", "a/../../outside", "/outside", "..\\outside", "C:\\outside", "a:stream", "\\\\host\\share\\x"],
)
def test_a_zip_writes_nothing_outside_of_its_folder(tmp_path, name):
    path = zipped(tmp_path / "bad.zip", {"libllama.so": b"x", name: b"evil"})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(LoadError, match="outside"):
        unpack(path, tmp_path / "into" / "here")
    assert [file for file in sorted(tmp_path.rglob("*")) if file not in before and file.is_file()] == []


def test_a_zip_with_a_link_is_refused(tmp_path):
    path = tmp_path / "bad.zip"
    link = zipfile.ZipInfo("libllama.so")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(LoadError, match="link"):
        unpack(path, tmp_path / "here")
    assert not (tmp_path / "here").exists()


def test_what_is_no_zip_or_no_runtime_is_refused_and_leaves_nothing(tmp_path, home):
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK\3\4 and then nothing")
    empty = zipped(tmp_path / "empty.zip", {"readme.txt": b"hello"})
    runtimes = Runtimes()
    for path, words in ((broken, "not a zip"), (empty, "no llama library"), (tmp_path / "none", "not there")):
        with pytest.raises(UsageError, match=words):
            runtimes.add(path)
    assert list((home / "data" / "runtimes").glob("*")) == []


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_zip_is_said_to_be_and_leaves_nothing(tmp_path, method):
    path = tmp_path / "damaged.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("libllama.so", bytes(range(256)) * 400)
    data = bytearray(path.read_bytes())
    data[60:90] = bytes(30)
    path.write_bytes(data)
    with pytest.raises((UsageError, LoadError), match=r"damaged\.zip"):
        unpack(path, tmp_path / "here")
    assert not (tmp_path / "here").exists()


def test_an_unreadable_list_is_none(home):
    (home / "config").mkdir(parents=True)
    (home / "config" / "runtimes.json").write_text("{broken")
    assert Runtimes().in_use().name == BUILT_IN
