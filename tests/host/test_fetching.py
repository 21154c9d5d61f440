"""An official build is fetched: found by its tag, gone on with, compared, unpacked, guarded; what lies is refused."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import tarfile
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest

from app.engine.devices import PINNED
from app.errors import (
    DiskFullError,
    DownloadError,
    HubError,
    HubNotFoundError,
    LoadError,
    NetworkError,
    RateLimitError,
    SettingsError,
    UsageError,
)
from app.host.fetching import fetch
from app.host.packs import BUILT_IN
from app.host.runtimes import Runtimes
from app.models import release
from app.models.patience import Patience
from app.models.release import Releases, build_named, builds_here
from app.paths import resource
from tests.cli.commands import run as command
from tests.fixtures import packs
from tests.hub_server import HubServer
from tests.release_server import COMMIT, TAG, ReleaseServer, packed

pytestmark = pytest.mark.linux

SOON = Patience(base_s=0.01, cap_s=0.05, n_tries=4, longest_asked_s=0.1, silence_s=5)


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    return packed(packs.pack(folder / "pack"), folder / f"llama-{TAG}-bin-test.tar.gz")


@pytest.fixture
def server(monkeypatch, tmp_path):
    import huggingface_hub

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    folder = tmp_path / "server"
    folder.mkdir()
    with HubServer() as hub:
        yield ReleaseServer(hub, folder)
        huggingface_hub.close_session()


def get(server, build, *, stop_at=None, tag="", spare_bytes=0):
    """Fetch; with ``stop_at`` close it once so many bytes are there. Return the steps."""

    async def run():
        seen = []
        releases = Releases(server.source, SOON)
        async with aclosing(fetch(build, Runtimes(), releases, tag, spare_bytes=spare_bytes)) as steps:
            async for step in steps:
                seen.append(step)
                if stop_at is not None and step.n_bytes >= stop_at:
                    break
        return seen

    return asyncio.run(run())


def left(home) -> list[str]:
    folder = home / "data" / "runtimes"
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


def test_the_resource_is_of_the_pinned_commit_and_has_builds_for_a_snapdragon_laptop():
    known = release.source()
    assert known.commit.startswith(PINNED.commit)
    assert [build.name for build in builds_here(known, "Windows", "ARM64")] == [
        "win-opencl-adreno-arm64",
        "win-cpu-arm64",
    ]
    assert builds_here(known, "Linux", "aarch64")[0].name == "linux-arm64-snapdragon"
    for build in known.builds:
        assert "{tag}" in build.file
        assert build.file.endswith((".zip", ".tar.gz"))
    with pytest.raises(UsageError, match="no build nonsense") as caught:
        build_named(known, "nonsense")
    assert "ubuntu" in caught.value.hint


def test_a_build_arrives_over_a_redirect_and_is_a_runtime(server, archive, home):
    steps = get(server, server.publish(archive))
    (pack,) = Runtimes().shelf().packs
    assert (pack.name, pack.is_ours, steps[-1].phase, steps[-1].detail) == (
        f"llama-{TAG}-bin-test",
        True,
        "done",
        pack.name,
    )
    assert "checking" in [step.phase for step in steps]
    assert server.hub.count("storage") == 1  # the bytes came from where the redirect led
    assert Runtimes().shelf().active == BUILT_IN  # chosen by a person, not by itself
    Runtimes().use(pack.name)
    assert Path(Runtimes().in_use().surroundings.runtime).parts[-2:] == (pack.name, f"llama-{TAG}")
    assert [name for name in left(home) if name.startswith((".new", "sha256"))] == []
    Runtimes().remove(pack.name)
    assert [name for name in left(home) if name != ".downloads"] == []


def test_a_connection_that_breaks_is_gone_on_with_and_a_stopped_one_as_well(server, archive):
    build, n = server.publish(archive), archive.stat().st_size
    server.hub.cuts = [n // 3, n // 2]
    server.hub.rate_bytes_s = 10e6
    get(server, build, stop_at=n // 4)
    assert Runtimes().shelf().packs == ()
    server.hub.rate_bytes_s = None
    assert get(server, build)[-1].phase == "done"
    assert max(seen.first for seen in server.hub.seen) >= n // 4


def test_bytes_that_are_not_those_of_the_release_are_deleted(server, archive, expect_log, home):
    expect_log("arrived damaged")
    server.hub.corrupt_at = archive.stat().st_size // 2
    build = server.publish(archive)
    with pytest.raises(DownloadError):
        get(server, build)
    assert [name for name in left(home) if name.endswith((".part", ".tar.gz"))] == []
    assert Runtimes().shelf().packs == ()
    # AND without the fault it arrives
    server.hub.corrupt_at = None
    assert get(server, build)[-1].phase == "done"


def test_a_release_that_lies_about_its_hash_is_caught(server, archive, expect_log):
    expect_log("arrived damaged")
    build = server.publish(archive, digest="sha256:" + "0" * 64)
    stored = server.hub.repos["ggml-org/llama.cpp"].files[archive.name]
    server.hub.repos["ggml-org/llama.cpp"].files[archive.name] = type(stored)(stored.source, "0" * 64, stored.is_lfs)
    with pytest.raises(DownloadError):
        get(server, build)
    assert Runtimes().shelf().packs == ()


@pytest.mark.parametrize(
    ("told", "kind", "words"),
    [
        ({"digest": None}, DownloadError, "no sha256"),
        ({"digest": "md5:0"}, DownloadError, "no sha256"),
        ({"size": 17}, DownloadError, "not as long"),
        ({"size": 0}, HubNotFoundError, "no file"),
        ({"name": "something-else.zip"}, HubNotFoundError, "no file"),
        ({"size": "many"}, HubError, "as it used to"),
    ],
)
def test_a_release_that_says_too_little_or_lies_is_refused(server, archive, told, kind, words):
    with pytest.raises(kind, match=words) as caught:
        get(server, server.publish(archive, **told))
    assert caught.value.hint


def test_a_hash_that_somebody_put_down_must_be_that_of_the_release(server, archive):
    build = server.publish(archive)
    known = hashlib.sha256(archive.read_bytes()).hexdigest()
    with pytest.raises(DownloadError, match="another file than the one that is known"):
        get(server, msgspec.structs.replace(build, sha256="0" * 64))
    assert server.hub.count("storage") == 0
    assert get(server, msgspec.structs.replace(build, sha256=known.upper()))[-1].phase == "done"


def test_a_tag_of_another_commit_is_refused_before_a_byte_is_fetched(server, archive):
    build = server.publish(archive)
    server.tell_ref({"object": {"sha": "deadbeef" + COMMIT[8:]}})
    with pytest.raises(LoadError, match="is of commit deadbee; this program needs 0c1e570"):
        get(server, build)
    assert server.hub.count("storage") == 0
    with pytest.raises(UsageError, match="no tag"):
        get(server, build, tag="../../x")


def test_a_server_that_answers_rubbish_without_end_or_not_at_all_is_said_to(server, archive, monkeypatch):
    build = server.publish(archive)
    for body, words in (
        (b"{", "as it used to"),
        (b"[" * 100_000, "as it used to"),
        (b'{"assets": [], "more": ' + b"[" * 100_000, "as it used to"),
        (b" " * (5 << 20), "does not give"),
    ):
        server.tell_release_bytes(body)
        with pytest.raises(HubError, match=words):
            get(server, build)
    for status, kind in ((403, RateLimitError), (429, RateLimitError), (404, HubNotFoundError), (500, HubError)):
        server.hub.statuses = [("hub", status, {})] * 8
        with pytest.raises(kind) as caught:
            get(server, build)
        assert "hub" not in caught.value.message
        assert "--add" in caught.value.hint
    server.hub.statuses = []
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(NetworkError, match="Offline"):
        get(server, build)


def test_a_disk_without_room_is_said_before_anything_is_fetched(server, archive):
    with pytest.raises(DiskFullError):
        get(server, server.publish(archive), spare_bytes=1 << 60)
    assert server.hub.count("storage") == 0


def test_a_build_that_does_not_pass_the_guard_leaves_nothing(server, tmp_path, home):
    folder = packs.with_llama(tmp_path / "bad", packs.OTHER_COMMIT, is_whole=True)
    build = server.publish(packed(folder, tmp_path / "bad.zip"))
    with pytest.raises(LoadError, match="commit deadbee instead of 0c1e570"):
        get(server, build)
    assert Runtimes().shelf().packs == ()
    assert [name for name in left(home) if name != ".downloads" and not name.endswith(".lock")] == []


def test_what_a_program_that_ended_left_half_unpacked_is_swept_away(server, archive, home):
    import os

    old, new = (home / "data" / "runtimes" / f".new-{name}" for name in ("old", "now"))
    for path in (old, new):
        path.mkdir(parents=True)
    os.utime(old, (1, 1))
    get(server, server.publish(archive))
    assert (old.exists(), new.exists()) == (False, True)


def test_a_mirror_that_cannot_be_read_is_said_to_be(monkeypatch, tmp_path):
    monkeypatch.setenv("SLIPSTREAM_RUNTIMES", str(tmp_path / "none.json"))
    with pytest.raises(SettingsError, match=r"none\.json"):
        release.source()
    lying = tmp_path / "lying.json"
    lying.write_bytes(resource("runtimes.json").read_bytes().replace(b"{file}", b"{password}"))
    monkeypatch.setenv("SLIPSTREAM_RUNTIMES", str(lying))
    with pytest.raises(SettingsError, match=r"lying\.json"):
        release.source()
    monkeypatch.delenv("SLIPSTREAM_RUNTIMES")
    assert msgspec.to_builtins(release.source())["tag"] == json.loads(resource("runtimes.json").read_bytes())["tag"]


def test_a_person_fetches_and_uses_one(server, archive, monkeypatch):
    build = server.publish(archive)
    monkeypatch.setenv("SLIPSTREAM_RUNTIMES", str(server.mirror(build)))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    done = command("runtime", "--fetch", "--build", "test")
    assert done.returncode == 0
    assert f"llama-{TAG}-bin-test is added" in done.stderr
    assert "Unpacking it" in done.stderr
    assert f"llama-{TAG}-bin-test" in done.stdout
    refused = command("runtime", "--fetch", "--build", "other")
    assert (refused.returncode, "no build other" in refused.stderr) == (2, True)
    assert command("runtime", "--tag", "b1").returncode == 2


# --- tars -------------------------------------------------------------------------------------------


def tarred(path: Path, *members: tuple[str, bytes | str]) -> Path:
    """Write a tar.gz; text is where a link leads."""
    import io

    with tarfile.open(path, "w:gz") as archive:
        for name, what in members:
            info = tarfile.TarInfo(name)
            if isinstance(what, str):
                info.type, info.linkname = tarfile.SYMTYPE, what
                archive.addfile(info)
            else:
                info.size = len(what)
                archive.addfile(info, io.BytesIO(what))
    return path


def test_a_tar_with_links_beside_their_files_is_unpacked(tmp_path):
    from app.host.unpacking import unpack

    path = tarred(tmp_path / "x.tar.gz", ("a/libllama.so", "libllama.so.0"), ("a/libllama.so.0", b"llama"))
    folder = unpack(path, tmp_path / "here")
    assert (folder.name, (folder / "libllama.so").read_bytes()) == ("a", b"llama")


@pytest.mark.parametrize(
    "members",
    [
        [("../outside", b"evil")],
        [("/outside", b"evil")],
        [("a", "/etc/passwd")],
        [("a", "../outside")],
        [("a", "..")],
        [("a", ".")],
        [("a", "b"), ("b", "a")],
        [("a", "nothing-there")],
        [("a", "b"), ("b", b"x"), ("a", b"evil")],
        [("a", b"1"), ("a", b"2")],
    ],
    ids=["parent", "root", "link out", "link up", "dots", "dot", "circle", "nowhere", "through a link", "twice"],
)
def test_a_tar_that_leads_elsewhere_is_refused_and_leaves_nothing(tmp_path, members):
    from app.host.unpacking import unpack

    path = tarred(tmp_path / "bad.tar.gz", *members)
    with pytest.raises(LoadError):
        unpack(path, tmp_path / "into" / "here")
    assert not (tmp_path / "into" / "here").exists()
    assert not (tmp_path / "outside").exists()


def test_a_damaged_tar_is_said_to_be(tmp_path):
    from app.host.unpacking import unpack

    whole = tarred(tmp_path / "bad.tar.gz", ("libllama.so", random.Random(1).randbytes(100_000)))
    data = whole.read_bytes()
    for body in (data[:50_000], b"no tar at all", data[:30_000] + b"\0" * 500 + data[30_500:]):
        whole.write_bytes(body)
        with pytest.raises((LoadError, UsageError), match=r"bad\.tar\.gz"):
            unpack(whole, tmp_path / "here")
        assert not (tmp_path / "here").exists()
