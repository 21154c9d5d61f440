"""Packs: added, guarded, chosen, unpacked, removed; what hostile ones do is survived and said."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import stat
import subprocess
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.engine.discovery import GUARD_LIMIT_S, LOOK_LIMIT_S, Backend, Found, discover
from app.engine.probe import Device, Runtime
from app.engine.surroundings import Surroundings
from app.errors import EngineDiedError, EngineError, LoadError, SettingsError, UsageError
from app.host import ChatRequest, Host, PairChoice
from app.host.device_book import DeviceBook, known_as
from app.host.one_writer import one_writer
from app.host.packs import BUILT_IN
from app.host.runtime_engine import RuntimeEngine
from app.host.runtimes import InUse, Runtimes, files_hash, files_stamp
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


@pytest.fixture
def bundle(plain, tmp_path) -> Path:
    """Make a bundle that brings a runtime along, and a file of no meaning beside it."""
    shutil.copytree(plain, tmp_path / "Slip ü" / "runtimes" / "opencl", symlinks=True)
    (tmp_path / "Slip ü" / "runtimes" / "note.txt").touch()
    return tmp_path / "Slip ü"


def test_a_runtime_that_came_with_the_program_is_on_the_list_and_used_once_it_is_chosen(bundle):
    runtimes = Runtimes(bundle=bundle)
    (pack,) = runtimes.shelf().packs
    assert (pack.name, pack.folder, runtimes.in_use().name) == ("opencl", str(bundle / "runtimes" / "opencl"), BUILT_IN)
    assert Runtimes().shelf().packs == ()  # nothing was kept of that
    runtimes.use("opencl")
    assert (runtimes.in_use().name, len(runtimes.shelf().packs[0].sha256)) == ("opencl", 64)
    with pytest.raises(UsageError, match="came with Slipstream"):
        runtimes.remove("opencl")
    assert runtimes.in_use().name == "opencl"


def test_a_chosen_runtime_of_a_bundle_is_found_where_the_bundle_was_moved_to(bundle):
    Runtimes(bundle=bundle).use("opencl")
    moved = bundle.rename(bundle.with_name("moved"))
    # WHEN the bundle lies elsewhere, THEN its runtime is the one that was chosen, and the only one
    (pack,) = Runtimes(bundle=moved).shelf().packs
    assert pack.folder == str(moved / "runtimes" / "opencl")
    assert Runtimes(bundle=moved).in_use().surroundings.runtime == pack.folder


def test_a_runtime_of_a_persons_own_keeps_its_name_beside_one_of_the_bundle(bundle, plain, tmp_path):
    own = tmp_path / "opencl"
    shutil.copytree(plain, own, symlinks=True)
    Runtimes().add(own)
    Runtimes().use("opencl")
    both = Runtimes(bundle=bundle)
    assert [pack.name for pack in both.shelf().packs] == ["opencl", "opencl-2"]
    assert both.in_use().surroundings.runtime == str(own)
    both.use("opencl-2")
    assert both.in_use().surroundings.runtime == str(bundle / "runtimes" / "opencl")


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


def page_faults_of_children() -> int:
    """Return a number that every process which we started and waited for has made larger."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt


def test_a_backend_that_ended_its_process_is_left_alone_until_asked(tmp_path):
    folder = packs.with_backend(tmp_path / "pack", packs.ABORTS)
    runtimes = Runtimes()
    runtimes.add(folder)
    runtimes.use("pack")
    book, in_use = DeviceBook(drivers={"GPU": "1"}), runtimes.in_use()
    n_before = page_faults_of_children()
    assert [b.state for b in book.find(in_use).backends] == ["died"]
    n_after = page_faults_of_children()
    assert n_after > n_before
    # THEN the next look starts no process that could load anything
    assert [b.state for b in DeviceBook(drivers={"GPU": "1"}).find(in_use).backends] == ["died"]
    assert page_faults_of_children() == n_after
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


@pytest.mark.parametrize(
    "content", [b"{broken", b'{"packs": 1}', b"\xff\xfe", b"[" * 100_000, b'{"of_a_newer_one": 1}']
)
def test_an_unreadable_list_is_none_is_said_and_kept_when_another_takes_its_place(home, expect_log, content):
    config = home / "config"
    config.mkdir(parents=True)
    (config / "runtimes.json").write_bytes(content)
    in_use = Runtimes().in_use()
    assert in_use.name == BUILT_IN
    assert "cannot be read" in in_use.why_not
    expect_log("kept as runtimes.json.broken")
    Runtimes().add_server("127.0.0.1:1")
    assert (config / "runtimes.json.broken").read_bytes() == content
    assert Runtimes().in_use().why_not == ""
    assert Runtimes().shelf().servers == ("127.0.0.1:1",)


# --- several programs at once -----------------------------------------------------------------------

ADDS = """
import sys
from app.host.runtimes import Runtimes
for number in range(4):
    Runtimes().add_server(f"127.0.0.1:{sys.argv[1]}{number}")
    Runtimes().set_switches({f"GGML_{sys.argv[1]}_{number}": "1"})
"""


def test_what_several_programs_change_at_once_is_all_kept(home):
    programs = [subprocess.Popen([sys.executable, "-c", ADDS, str(number)]) for number in (1, 2, 3, 4)]
    assert [program.wait(60) for program in programs] == [0] * 4
    shelf = Runtimes().shelf()
    assert (len(shelf.servers), len(shelf.switches)) == (16, 16)
    assert [path.name for path in (home / "config").iterdir()] == ["runtimes.json"]


def test_what_changes_while_a_pack_is_looked_at_is_kept(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "slow")
    runtimes = Runtimes(limit_s=2.0)
    runtimes.add(folder)
    packs.compile_library(packs.SLEEPS, folder / packs.LLAMA)
    with ThreadPoolExecutor(1) as pool:
        using = pool.submit(runtimes.use, "slow")
        time.sleep(0.5)
        Runtimes().add_server("127.0.0.1:1")
        Runtimes().add(plain)
        with pytest.raises(LoadError, match="longer than 2 seconds"):
            using.result(20)
    shelf = runtimes.shelf()
    assert (shelf.servers, [pack.name for pack in shelf.packs]) == (("127.0.0.1:1",), ["slow", "plain"])
    assert shelf.packs[0].fault


def test_a_pack_that_was_removed_while_it_was_looked_at_does_not_come_back(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "slow")
    runtimes = Runtimes(limit_s=2.0)
    runtimes.add(folder)
    packs.compile_library(packs.SLEEPS, folder / packs.LLAMA)
    with ThreadPoolExecutor(1) as pool:
        using = pool.submit(runtimes.use, "slow")
        time.sleep(0.5)
        Runtimes().remove("slow")
        with pytest.raises(LoadError):
            using.result(20)
    assert runtimes.shelf().packs == ()


def test_two_packs_of_one_name_that_come_at_once_are_both_kept(plain, tmp_path):
    path = zipped(tmp_path / "same.zip", {file.name: file.read_bytes() for file in plain.iterdir()})
    with ThreadPoolExecutor(2) as pool:
        added = list(pool.map(lambda _: Runtimes().add(path), range(2)))
    assert sorted(pack.name for pack in added) == ["same", "same-2"]
    assert sorted(pack.name for pack in Runtimes().shelf().packs) == ["same", "same-2"]
    for pack in added:
        assert (Path(pack.folder) / packs.LLAMA).is_file()


def test_a_program_that_hangs_with_the_lock_is_named_in_time(home):
    path = home / "config" / "runtimes.json"
    with one_writer(path), pytest.raises(SettingsError, match="Another program is changing") as caught:  # noqa: SIM117
        with one_writer(path, wait_s=0.1):
            pass
    assert caught.value.hint
    Runtimes().add_server("127.0.0.1:1")


def test_two_programs_that_prove_devices_at_once_keep_both(tmp_path, monkeypatch):
    in_use, path = Runtimes().in_use(), tmp_path / "devices.json"
    books = [DeviceBook(path, drivers={}) for _ in range(4)]
    devices = [Device(f"GPU{number}", "gpu", "one", "Vulkan", 0, 0) for number in range(4)]
    books[0].find(in_use)

    def note(number: int) -> None:
        for count in range(10):
            books[number].note_failure(in_use, devices[number], f"failed {count}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(note, range(4)))
    assert [books[0].standing(in_use, device).reason for device in devices] == ["failed 9"] * 4


def test_looking_anew_keeps_what_is_proved(tmp_path):
    in_use, book = Runtimes().in_use(), DeviceBook(tmp_path / "devices.json", drivers={})
    (processor,) = book.find(in_use).devices
    assert book.standing(in_use, processor).state == "untried"
    assert book.prove(in_use, book.find(in_use), processor).state == "works"
    book.find(in_use, again=True)
    assert book.standing(in_use, processor).state == "works"


def test_what_answers_at_an_address_with_another_memory_is_another_device(tmp_path):
    def lent(total: int) -> Found:
        device = Device("RPC0", "gpu", "10.0.0.1:50052", "RPC", total // 2, total)
        backend = Backend("rpc", "found", (device,), ("10.0.0.1:50052",))
        processor = Device("CPU", "cpu", "one", "CPU", 1, 1)
        runtime = Runtime("0.3.36", "0.5.0-dev", "0.25.3", "0c1e570", "CPU :", "", (processor,))
        return Found(runtime, (backend,))

    names = [known_as(lent(total).devices[1], lent(total)) for total in (8 << 30, 16 << 30, 8 << 30)]
    assert names[0] == names[2] != names[1]


# --- packs that go away -----------------------------------------------------------------------------


def test_a_file_in_the_place_of_a_pack_gives_way(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "pack")
    runtimes = Runtimes()
    runtimes.add(folder)
    runtimes.use("pack")
    shutil.rmtree(folder)
    folder.write_text("no folder")
    assert "no llama library" in runtimes.in_use().why_not


def test_a_pack_whose_files_come_and_go_while_it_is_looked_at_ends_nobody(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "pack")
    runtimes, is_over = Runtimes(), threading.Event()
    runtimes.add(folder)
    runtimes.use("pack")

    def disturb() -> None:
        extra, number = folder / "libextra.so", 0
        while not is_over.is_set():
            number += 1
            extra.write_bytes(b"x" * number)
            extra.unlink()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(disturb)
        try:
            in_use = InUse("pack", Surroundings(str(folder)))
            seen = {runtimes.in_use().name for _ in range(4)}
            for _ in range(200):
                DeviceBook(drivers={}).standing(in_use, Device("CPU", "cpu", "one", "CPU", 0, 0))
        finally:
            is_over.set()
    assert seen <= {"pack", BUILT_IN}


def test_a_folder_whose_name_is_no_text_is_refused(plain, tmp_path):
    folder = shutil.copytree(plain, Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")))
    with pytest.raises(UsageError, match="no valid text"):
        Runtimes().add(folder)
    assert Runtimes().shelf().packs == ()
