"""Models that other programs have got are found where they are, and whatever their folders hold does no harm."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from app.errors import ModelError, ModelFileError
from app.models import hub_cache, llama_cache
from app.models.found import MAX_NOTE_BYTES, gguf_files
from app.models.library import Library
from app.models.places import Place, Surroundings, hub_folders, other_places
from app.models.watch import Watch
from tests.fixtures.raw_gguf import RawGguf, small

ONE, TWO = "1" * 64, "2" * 64


def write(path: Path, raw: RawGguf | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((raw or small()).bytes())
    return path


def snapshot(cache: Path, repo: str, commit: str, name: str, digest: str, raw: RawGguf | None = None) -> Path:
    """Put a file into a cache as huggingface-hub does: bytes by hash, a link with the name."""
    place = cache / f"models--{repo.replace('/', '--')}"
    write(place / "blobs" / digest, raw)
    path = place / "snapshots" / commit / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(os.path.relpath(place / "blobs" / digest, path.parent))
    (place / "refs").mkdir(exist_ok=True)
    (place / "refs" / "main").write_text(commit)
    return path


def around(home: Path, platform: str = "linux", **environ: str) -> Surroundings:
    return Surroundings(home, environ, platform)


def library(surroundings: Surroundings) -> Library:
    return Library([], others=lambda: other_places(surroundings))


def listed(lib: Library) -> list[tuple[str, str]]:
    return [(entry.name, entry.source) for entry in lib.entries()][1:]


# --- the hub's cache --------------------------------------------------------------------------------


def test_what_the_hubs_own_client_has_got_is_found_in_place(server, tmp_path):
    source = write(tmp_path / "sources" / "some.gguf")
    server.add("org/some-GGUF", "sub/some-Q8_0.gguf", source)
    cache = tmp_path / "hub"
    code = (
        "import sys, huggingface_hub as hub; repo, path, cache, endpoint = sys.argv[1:]\n"
        "print(hub.hf_hub_download(repo, path, cache_dir=cache, endpoint=endpoint, token=False))\n"
        "(found,) = hub.scan_cache_dir(cache).repos\n"
        "print(*(file.file_path for revision in found.revisions for file in revision.files))"
    )
    command = [sys.executable, "-c", code, "org/some-GGUF", "sub/some-Q8_0.gguf", str(cache), server.endpoint]
    env = {**os.environ, "HF_HUB_OFFLINE": "0"}
    got, counted = subprocess.check_output(command, text=True, env=env, timeout=60).splitlines()
    lib = library(around(tmp_path, HF_HUB_CACHE=str(cache)))
    (entry,) = lib.entries()[1:]

    assert (entry.name, entry.source, entry.origin) == ("some-Q8_0", "hub cache", "org/some-GGUF")
    assert entry.path == Path(got)
    assert lib.resolve("some-Q8_0") == lib.resolve("org/some-GGUF:Q8_0") == lib.resolve("org/some-gguf") == entry
    # AND it is what the client itself counts
    assert counted == got


@pytest.mark.parametrize("variables", [{}, {"HF_HOME": "a"}, {"HF_HUB_CACHE": "b"}, {"XDG_CACHE_HOME": "c"}])
def test_the_cache_is_where_the_hubs_client_looks(tmp_path, variables):
    environ = {name: str(tmp_path / value) for name, value in variables.items()}
    code = "from huggingface_hub import constants; print(constants.HF_HUB_CACHE)"
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "XDG_", "HUGGINGFACE"))}
    env = {**clean, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path), **environ}
    said = subprocess.check_output([sys.executable, "-c", code], text=True, env=env, timeout=60).strip()
    assert hub_folders(Surroundings(tmp_path, environ, sys.platform)) == [Path(said)]


def test_of_two_snapshots_the_current_one_has_the_name_and_one_file_is_listed_once(tmp_path):
    old = snapshot(tmp_path, "org/some", "a" * 40, "m.gguf", ONE)
    new = snapshot(tmp_path, "org/some", "b" * 40, "m.gguf", TWO, small().add_u32("x", 1))
    (new.parent / "same.gguf").symlink_to(os.path.relpath(new.resolve(), new.parent))
    os.utime(old.parent, (time.time() + 60,) * 2)
    lib = library(around(tmp_path / "home", HF_HUB_CACHE=str(tmp_path)))
    assert listed(lib) == [("m", "hub cache"), ("org/some/m", "hub cache")]
    assert (lib.resolve("m").path, lib.resolve("org/some/m").path) == (new, old)


def test_a_missing_blob_is_told_and_unfinished_ones_are_not_looked_at(tmp_path):
    path = snapshot(tmp_path, "org/some", "a" * 40, "m.gguf", ONE)
    path.resolve().unlink()
    (path.parents[2] / "blobs" / f"{TWO}.incomplete").write_bytes(small().bytes()[:40])
    lib = library(around(tmp_path / "home", HF_HUB_CACHE=str(tmp_path)))
    (broken,) = lib.broken()
    assert listed(lib) == []
    assert (broken.path, broken.source) == (path, "hub cache")
    assert "there is no such file" in broken.reason
    with pytest.raises(ModelFileError, match="there is no such file") as caught:
        lib.resolve("m")
    assert "again" in caught.value.hint


def test_folders_that_are_no_repositories_are_passed_over(tmp_path):
    for name in (
        "models--",
        "models--..--..",
        "models--org",
        "models--a--b--c",
        "datasets--org--x",
        ".locks",
        "models--a--\n",
    ):
        write(tmp_path / name / "snapshots" / "a" / "m.gguf")
    (tmp_path / "models--org--file").write_bytes(b"")
    (tmp_path / "models--org--loop").symlink_to(tmp_path / "models--org--loop")
    assert list(hub_cache.find(tmp_path)) == []
    assert list(hub_cache.find(tmp_path / "gone")) == []


# --- llama.cpp --------------------------------------------------------------------------------------


def test_llama_cpps_flat_files_have_the_names_of_their_manifests(tmp_path):
    folder = tmp_path / "llama.cpp"
    named = write(folder / "org_some-GGUF_sub_some-Q4_0.gguf")
    manifest = {"ggufFile": {"rfilename": "sub/some-Q4_0.gguf", "size": 1}, "other": [1]}
    (folder / "manifest=org=some-GGUF=latest.json").write_text(json.dumps(manifest))
    older = write(folder / "org_other_file.gguf", small().add_u32("x", 1))
    address = "https://huggingface.co/org/other/resolve/main/other-Q8_0.gguf"
    (folder / "org_other_file.gguf.json").write_text(json.dumps({"etag": "x", "lastModified": "", "url": address}))
    bare = write(folder / "bare.gguf", small().add_u32("x", 2))
    write(folder / "half.gguf.downloadInProgress")
    lib = library(around(tmp_path, XDG_CACHE_HOME=str(tmp_path)))

    assert {(e.name, e.path, e.origin) for e in lib.entries()[1:]} == {
        ("some-Q4_0", named, "org/some-GGUF"),
        ("other-Q8_0", older, "org/other"),
        ("bare", bare, ""),
    }
    assert all(entry.source == "llama.cpp" for entry in lib.entries()[1:])


def test_llama_cache_holds_the_hubs_layout_too_and_the_platform_has_its_own_place(tmp_path):
    snapshot(tmp_path / "mine", "org/some", "a" * 40, "m.gguf", ONE)
    assert listed(library(around(tmp_path / "home", LLAMA_CACHE=str(tmp_path / "mine")))) == [("m", "llama.cpp")]
    for platform, environ, folder in (
        ("linux", {}, ".cache/llama.cpp"),
        ("darwin", {}, "Library/Caches/llama.cpp"),
        ("win32", {"LOCALAPPDATA": str(tmp_path / "local")}, "../local/llama.cpp"),
    ):
        write(tmp_path / "home" / folder / "m.gguf")
        places = other_places(around(tmp_path / "home", platform, **environ))
        (place,) = (place for place in places if place.source == "llama.cpp")
        assert [found.name for found in place.files()] == ["m"]


@pytest.mark.parametrize(
    "text",
    ['{"ggufFile": {"rfilename": "../../../etc/passwd"}}', '{"ggufFile": 7}', "[" * 100_000, "", '"\\ud800"', "{}"],
)
def test_manifests_that_lie_lead_nowhere(tmp_path, text):
    write(tmp_path / "org_x_m.gguf")
    (tmp_path / "manifest=org=x=latest.json").write_text(text)
    (tmp_path / "manifest=.json").write_text(text)
    (tmp_path / "org_x_m.gguf.json").write_text('{"url": "http://[::1"}')
    assert [(f.name, f.path.parent) for f in llama_cache.find(tmp_path)] == [("org_x_m", tmp_path)]


# --- Ollama -----------------------------------------------------------------------------------------


def ollama(folder: Path, name: str, digest: str, *, media: str = "application/vnd.ollama.image.model") -> None:
    path = folder / "manifests" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    layers = [{"mediaType": "application/vnd.ollama.image.license", "digest": f"sha256:{TWO}"}]
    path.write_text(json.dumps({"layers": [*layers, {"mediaType": media, "digest": digest, "size": 5}]}))


def test_ollamas_blobs_have_the_names_of_their_manifests(tmp_path):
    folder = tmp_path / ".ollama" / "models"
    for n in range(3):
        write(folder / "blobs" / f"sha256-{n:064x}", small().add_u32("x", n))
    ollama(folder, "registry.ollama.ai/library/llama3.2/latest", f"sha256:{0:064x}")
    ollama(folder, "registry.ollama.ai/someone/own/7b", f"sha256:{1:064x}")
    ollama(folder, "hf.co/org/some-GGUF/Q4_K_M", f"sha256:{2:064x}")
    lib = library(around(tmp_path))
    assert listed(lib) == [
        ("hf.co/org/some-GGUF:Q4_K_M", "Ollama"),
        ("llama3.2:latest", "Ollama"),
        ("someone/own:7b", "Ollama"),
    ]
    assert lib.resolve("llama3.2").path == folder / "blobs" / f"sha256-{0:064x}"
    assert lib.resolve("someone/own:7b").n_bytes == len(small().add_u32("x", 1).bytes())


@pytest.mark.parametrize(
    "digest", ["sha256:../../../../secret", "../secret", "", "sha256:" + "g" * 64, f"sha256:{ONE}x"]
)
def test_a_digest_that_is_none_is_not_followed(tmp_path, digest):
    folder = tmp_path / ".ollama" / "models"
    write(tmp_path / "secret")
    write(folder / "blobs" / "placeholder")
    ollama(folder, "registry.ollama.ai/library/evil/latest", digest)
    lib = library(around(tmp_path))
    assert (listed(lib), lib.broken()) == ([], [])


def test_ollamas_missing_and_half_blobs_are_broken(tmp_path):
    folder = tmp_path / ".ollama" / "models"
    ollama(folder, "registry.ollama.ai/library/gone/latest", f"sha256:{ONE}")
    ollama(folder, "registry.ollama.ai/library/half/latest", f"sha256:{TWO}")
    write(folder / "blobs" / f"sha256-{TWO}").write_bytes(small().bytes()[:30])
    lib = library(around(tmp_path))
    assert listed(lib) == []
    assert [(file.path.name, file.source) for file in lib.broken()] == [
        (f"sha256-{ONE}", "Ollama"),
        (f"sha256-{TWO}", "Ollama"),
    ]


# --- the others -------------------------------------------------------------------------------------


def test_lm_studio_in_its_home_in_an_older_one_and_in_a_folder_of_its_settings(tmp_path):
    write(tmp_path / ".lmstudio" / "models" / "org" / "repo" / "new.gguf")
    write(tmp_path / ".cache" / "lm-studio" / "models" / "org" / "repo" / "old.gguf", small().add_u32("x", 1))
    write(tmp_path / "far" / "models" / "org" / "repo" / "pointed.gguf", small().add_u32("x", 2))
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{tmp_path / 'far'}\n")
    write(tmp_path / "chosen" / "org" / "repo" / "chosen.gguf", small().add_u32("x", 3))
    (tmp_path / "far" / "settings.json").write_text(json.dumps({"downloadsFolder": str(tmp_path / "chosen"), "a": {}}))
    lib = library(around(tmp_path))
    assert listed(lib) == [(name, "LM Studio") for name in ("chosen", "pointed", "new", "old")]
    assert {entry.origin for entry in lib.entries()[1:]} == {"org/repo"}


def test_geniex_jan_and_gpt4all(tmp_path):
    write(tmp_path / ".cache" / "geniex" / "models" / "org" / "repo" / "g-Q4_0.gguf")
    (tmp_path / ".cache" / "geniex" / "models" / "org" / "repo" / "geniex.json").write_text("{}")
    jan = tmp_path / ".local" / "share" / "Jan" / "data" / "llamacpp" / "models"
    write(jan / "janhq" / "Jan-v1-Q4" / "model.gguf", small().add_u32("x", 1))
    (jan / "janhq" / "Jan-v1-Q4" / "model.yml").write_text("name: Jan\nmodel_path: llamacpp/models/x/model.gguf\n")
    elsewhere = write(tmp_path / "elsewhere" / "mine.gguf", small().add_u32("x", 2))
    write(tmp_path / "elsewhere" / "other.gguf", small().add_u32("x", 5))
    (jan / "linked").mkdir()
    (jan / "linked" / "model.yml").write_text(f'model_path: "{elsewhere}"\n')
    for name, path in (
        ("up", f"{tmp_path}/elsewhere/../elsewhere/other.gguf"),
        ("near", "../../secret.gguf"),
        ("odd", "/etc"),
    ):
        (jan / name).mkdir()
        (jan / name / "model.yml").write_text(f"model_path: {path}\n")
    gpt4all = tmp_path / ".local" / "share" / "nomic.ai" / "GPT4All"
    write(gpt4all / "gpt.gguf", small().add_u32("x", 3))
    write(gpt4all / "incomplete-gpt2.gguf", small().add_u32("x", 4))
    assert listed(library(around(tmp_path))) == [
        ("g-Q4_0", "GenieX"),
        ("janhq/Jan-v1-Q4", "Jan"),
        ("linked", "Jan"),
        ("gpt", "GPT4All"),
    ]


def test_names_that_are_taken_say_whose_they_are(tmp_path):
    own = tmp_path / "own"
    write(own / "m.gguf")
    write(tmp_path / ".lmstudio" / "models" / "org" / "repo" / "m.gguf", small().add_u32("x", 1))
    write(tmp_path / ".lmstudio" / "models" / "m.gguf", small().add_u32("x", 2))
    write(tmp_path / ".cache" / "geniex" / "models" / "org" / "repo" / "m.gguf", small().add_u32("x", 3))
    lib = Library([own], others=lambda: other_places(around(tmp_path)))
    names = [entry.name for entry in lib.entries()[1:]]
    assert names == ["m", "LM Studio/m", "org/repo/m", "GenieX/org/repo/m"]
    assert [lib.resolve(name).path for name in names] == [entry.path for entry in lib.entries()[1:]]


def test_nobody_looks_when_told_not_to(tmp_path):
    write(tmp_path / ".lmstudio" / "models" / "m.gguf")
    assert other_places(around(tmp_path, SLIPSTREAM_ONLY_OWN="1")) == []
    assert listed(library(around(tmp_path))) == [("m", "LM Studio")]


# --- hostile folders --------------------------------------------------------------------------------


@pytest.mark.linux
def test_links_in_circles_and_folders_that_may_not_be_read():
    with tempfile.TemporaryDirectory() as folder:  # others may not even pass through pytest's own
        _look_at_circles(Path(folder))


def _look_at_circles(tmp_path: Path) -> None:
    good = write(tmp_path / "a" / "good.gguf")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self.gguf").symlink_to(tmp_path / "self.gguf")
    (tmp_path / "b").symlink_to(tmp_path / "b")
    write(tmp_path / "secret" / "m.gguf").parent.chmod(0)
    os.mkfifo(tmp_path / "pipe.gguf")
    was = os.geteuid()
    try:
        if was == 0:  # the superuser may read anything
            tmp_path.chmod(0o755)
            (tmp_path / "secret").chmod(0)
            os.seteuid(65534)
        lib = Library([tmp_path])
        names, broken = [entry.name for entry in lib.entries()], [file.path.name for file in lib.broken()]
    finally:
        os.seteuid(was)
        (tmp_path / "secret").chmod(0o755)
    assert good.exists()
    assert names[1:] == ["good"]
    assert broken == ["pipe.gguf", "self.gguf"] or broken == ["self.gguf"]


def test_a_path_with_a_null_character_leads_nowhere(tmp_path):
    (tmp_path / ".lmstudio").mkdir()
    (tmp_path / ".lmstudio-home-pointer").write_bytes(b"/some\0where")
    (tmp_path / ".lmstudio" / "settings.json").write_text(json.dumps({"downloadsFolder": "/any\0where"}))
    jan = tmp_path / ".local" / "share" / "Jan" / "data" / "llamacpp" / "models" / "m"
    jan.mkdir(parents=True)
    (jan / "model.yml").write_bytes(b"model_path: /a\0b.gguf\n")
    lib = library(around(tmp_path))
    assert listed(lib) == []
    told = []
    assert Watch(lib, told.append).poll()
    assert told[0].models == lib.contents().models


def test_a_note_as_large_as_a_model_is_not_read(tmp_path):
    write(tmp_path / "org_x_m.gguf")
    note = b'{"ggufFile": {"rfilename": "m.gguf"}}'
    path = tmp_path / "manifest=org=x=latest.json"
    path.write_bytes(note + b" " * (MAX_NOTE_BYTES - len(note)))
    assert [found.name for found in llama_cache.find(tmp_path)] == ["m"]
    path.write_bytes(note + b" " * MAX_NOTE_BYTES)
    assert [found.name for found in llama_cache.find(tmp_path)] == ["org_x_m"]


def test_ten_thousand_files_are_listed_and_the_second_look_reads_no_header(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    raw = small().bytes()
    first = folder / "00000.gguf"
    first.write_bytes(raw)
    for n in range(1, 10_000):
        (folder / f"{n:05d}.gguf").hardlink_to(first)
    assert len(Library([folder]).entries()) == 10_001
    read_at_s = time.process_time()
    again = Library([folder])  # as in the next run of the program
    assert len(again.entries()) == 10_001
    assert time.process_time() - read_at_s < 4
    assert again.resolve("07777").path == folder / "07777.gguf"


def test_a_drive_that_is_taken_away_leaves_an_empty_place(tmp_path):
    drive = tmp_path / "drive"
    write(drive / "m.gguf")
    lib = Library([drive])
    assert [entry.name for entry in lib.entries()[1:]] == ["m"]
    drive.rename(tmp_path / "unplugged")
    assert lib.entries()[1:] == []
    (tmp_path / "unplugged").rename(drive)
    assert [entry.name for entry in lib.entries()[1:]] == ["m"]


def test_a_file_that_was_replaced_is_read_again_in_the_next_run(tmp_path):
    path = write(tmp_path / "m.gguf")
    assert Library([tmp_path]).entries()[1].architecture == "llama"
    path.write_bytes(RawGguf().add_text("general.architecture", "other").add_tensor("t", []).bytes() + b"\0" * 64)
    assert Library([tmp_path]).entries()[1].architecture == "other"
    path.write_bytes(b"<html>")
    lib = Library([tmp_path])
    assert (len(lib.entries()), len(lib.broken())) == (1, 1)


def test_places_are_found_lazily_and_depth_is_bounded(tmp_path):
    write(tmp_path / "1" / "2" / "3" / "4" / "deep.gguf")
    write(tmp_path / "1" / "2" / "3" / "4" / "5" / "deeper.gguf")
    assert [path.name for path in gguf_files(tmp_path)] == ["deep.gguf"]
    assert list(Place("folder", tmp_path / "gone", hub_cache.find).files()) == []


# --- notes in any state -----------------------------------------------------------------------------

SEEDS = (
    b'{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:' + b"1" * 64 + b'"}]}',
    b'{"ggufFile":{"rfilename":"a/b.gguf"}}',
    b"model_path: /nowhere/x.gguf\nname: x\n",
    b'{"downloadsFolder":"/nowhere"}',
    b'{"url":"https://huggingface.co/o/r/resolve/main/f.gguf"}',
    b"/nowhere/at/all",
)
NOTES = (
    ".ollama/models/manifests/registry.ollama.ai/library/m/t",
    ".cache/llama.cpp/manifest=o=r=t.json",
    ".cache/llama.cpp/o_r_f.gguf.json",
    ".cache/huggingface/hub/models--o--r/refs/main",
    ".local/share/Jan/data/llamacpp/models/x/model.yml",
    ".lmstudio/settings.json",
    ".lmstudio-home-pointer",
)
ODD = (b"\0", b"../", b"[[[[[[", b"\xff\xfe", b"~", b"//", b'"')


def mutated(chosen: random.Random) -> bytes:
    note = bytearray(chosen.choice(SEEDS))
    for _ in range(chosen.randrange(6)):
        at = chosen.randrange(len(note) + 1)
        change = chosen.choice((ODD, (chosen.randbytes(chosen.randrange(9)),), (b"",)))
        note[at : at + chosen.randrange(9)] = chosen.choice(change)
    return bytes(note)


def read_mutants(home: Path, seeds: range) -> None:
    for name in NOTES:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / ".cache/llama.cpp/o_r_f.gguf").write_bytes(b"GGUF")
    (home / ".cache/huggingface/hub/models--o--r/snapshots/abc").mkdir(parents=True)
    for seed in seeds:
        chosen = random.Random(seed)
        for name in NOTES:
            (home / name).write_bytes(mutated(chosen))
        lib = library(around(home))
        assert len(lib.entries()) >= 1, seed  # the search ends; a note may rightly lead to the root of the disk
        with pytest.raises(ModelError):
            lib.resolve("m:t")


def test_notes_of_other_programs_in_any_state(tmp_path):
    read_mutants(tmp_path, range(100))


@pytest.mark.full
@pytest.mark.timeout(900)
def test_notes_of_other_programs_in_many_states(tmp_path):
    read_mutants(tmp_path, range(100, 20_000))
