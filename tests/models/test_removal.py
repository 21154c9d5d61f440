"""Deleting models of ours: whole, to the trash, and nobody else's."""

from __future__ import annotations

import json
import shutil

import pytest

from app.errors import ModelNotFoundError, UsageError
from app.models.disk_use import disk_use
from app.models.library import Library
from app.models.removal import remove
from app.paths import models_dir
from tests.fixtures.raw_gguf import small


@pytest.fixture(autouse=True)
def trash(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    (tmp_path / "share").mkdir()
    return tmp_path / "share/Trash"


@pytest.fixture
def model(tiny_pair):
    """Put a model into our folder; return its path."""
    path = models_dir() / "org/tiny-GGUF/tiny-Q8_0.gguf"
    path.parent.mkdir(parents=True)
    shutil.copy(tiny_pair.target, path)
    return path


@pytest.mark.linux
def test_two_of_one_name_are_both_in_the_trash(model, trash):
    copy = model.read_bytes()
    remove("tiny-Q8_0")
    model.parent.mkdir(parents=True)
    model.write_bytes(copy)
    removed = remove("tiny-Q8_0")

    assert removed.paths == (model,)
    assert sorted(path.name for path in (trash / "files").iterdir()) == ["tiny-Q8_0 2.gguf", "tiny-Q8_0.gguf"]
    assert sorted(path.name for path in (trash / "info").iterdir()) == [
        "tiny-Q8_0 2.gguf.trashinfo",
        "tiny-Q8_0.gguf.trashinfo",
    ]
    assert not (models_dir() / "org").exists()
    assert models_dir().is_dir()


def test_for_good_is_for_good(model, trash):
    assert not remove("tiny-Q8_0", for_good=True).in_trash
    assert not model.exists()
    assert not trash.exists()


@pytest.mark.linux
def test_without_a_trash_nothing_is_deleted_unasked(model, tmp_path):
    (tmp_path / "share").rmdir()
    with pytest.raises(UsageError, match="has no trash") as caught:
        remove("tiny-Q8_0")
    assert "--for-good" in caught.value.hint
    assert model.exists()


def test_a_split_model_goes_whole_although_it_is_broken(model):
    parts = [model.with_name(f"big-{index:05d}-of-00003.gguf") for index in (1, 2, 3)]
    for part in parts:
        part.write_bytes(b"GGUF")
    assert parts[0] in [broken.path for broken in Library().broken()]

    assert remove("big-00001-of-00003", for_good=True).paths == tuple(parts)
    assert model.exists()


def test_what_is_not_ours_is_kept(model, tiny_pair):
    with pytest.raises(UsageError, match="Python package"):
        remove("starter")
    with pytest.raises(UsageError, match="outside of our models folder"):
        remove(str(tiny_pair.target))
    with pytest.raises(ModelNotFoundError):
        remove("no such model")
    assert tiny_pair.target.exists()
    assert model.exists()


def test_what_other_programs_have_is_kept_and_its_owner_named(tmp_path, tiny_pair, monkeypatch):
    monkeypatch.delenv("SLIPSTREAM_ONLY_OWN")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    blob = tmp_path / ".ollama/models/blobs" / f"sha256-{'1' * 64}"
    manifest = tmp_path / ".ollama/models/manifests/registry.ollama.ai/library/tiny/latest"
    for path in (blob, manifest):
        path.parent.mkdir(parents=True)
    shutil.copy(tiny_pair.target, blob)
    layers = [{"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{'1' * 64}"}]
    manifest.write_text(json.dumps({"layers": layers}))
    cached = tmp_path / "hub/models--org--tiny/snapshots/a/tiny-Q8_0.gguf"
    cached.parent.mkdir(parents=True)
    shutil.copy(tiny_pair.draft, cached)

    with pytest.raises(UsageError, match="belongs to Ollama") as caught:
        remove("tiny:latest")
    assert caught.value.hint == "Delete it with: ollama rm tiny:latest"
    with pytest.raises(UsageError, match="the cache of huggingface-hub") as caught:
        remove("tiny-Q8_0", for_good=True)
    assert "hf cache rm model/org/tiny" in caught.value.hint
    assert blob.exists()
    assert cached.exists()


def test_of_a_linked_model_only_the_link_goes(trash, tiny_pair):
    link = models_dir() / "linked.gguf"
    link.symlink_to(tiny_pair.target)
    removed = remove("linked")
    assert (removed.paths, removed.in_trash) == ((link,), False)
    assert not link.is_symlink()
    assert not trash.exists()
    assert tiny_pair.target.exists()


def test_what_is_not_for_chat_can_be_deleted_and_takes_its_room(model):
    half = model.with_name("mmproj-tiny.gguf")
    half.write_bytes(small().add_text("general.type", "mmproj").bytes())
    contents = Library().contents()
    assert [file.path for file in contents.others] == [half]
    ours = next(use for use in disk_use(contents).uses if use.source == "folder")
    assert (ours.n_files, ours.n_bytes) == (2, half.stat().st_size + model.stat().st_size)

    assert remove("mmproj-tiny", for_good=True).paths == (half,)
    assert not half.exists()
