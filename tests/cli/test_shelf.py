"""``list``, ``infer``, ``pair`` and ``models-folder`` with models that other programs have, as a person runs them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.paths import models_dir
from tests.cli.commands import run
from tests.fixtures import tiny


@pytest.fixture
def others(tmp_path, monkeypatch, tiny_pair) -> Path:
    """Put a model into the hub's cache and one into Ollama's; return the person's home."""
    monkeypatch.delenv("SLIPSTREAM_ONLY_OWN")
    home = tmp_path / "person"
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "share"))
    for name in ("LLAMA_CACHE", "OLLAMA_MODELS"):
        monkeypatch.delenv(name, raising=False)
    snapshot = tmp_path / "hub" / "models--org--tiny-GGUF" / "snapshots" / "c0ffee"
    blob = home / ".ollama" / "models" / "blobs" / f"sha256-{'1' * 64}"
    manifest = home / ".ollama" / "models" / "manifests" / "registry.ollama.ai" / "library" / "tiny-draft" / "1b"
    for folder in (snapshot, blob.parent, manifest.parent):
        folder.mkdir(parents=True)
    shutil.copy(tiny_pair.target, snapshot / "tiny-Q8_0.gguf")
    shutil.copy(tiny_pair.draft, blob)
    layers = [{"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{'1' * 64}"}]
    manifest.write_text(json.dumps({"layers": layers}))
    return home


def test_what_others_have_is_listed_with_its_source_and_answers_by_name(others):
    facts = json.loads(run("list", "--json").stdout)
    assert [(m["name"], m["source"], m["origin"]) for m in facts["models"]] == [
        ("starter", "starter", ""),
        ("tiny-Q8_0", "hub cache", "org/tiny-GGUF"),
        ("tiny-draft:1b", "Ollama", ""),
    ]
    assert {use["source"]: use["n_files"] for use in facts["disk"]["uses"]} == {
        "starter": 1,
        "hub cache": 1,
        "Ollama": 1,
    }
    answered = run(
        "infer", "org/tiny-GGUF:Q8_0", "-p", "one", "--draft-model", "tiny-draft:1b", "--max-tokens", 8, "--json"
    )
    assert answered.returncode == 0, answered.stderr
    fits = json.loads(run("pair", "tiny-Q8_0", "tiny-draft:1b", "--json").stdout)
    assert (fits["fits"], fits["draft"]) == (True, "tiny-draft:1b")


def test_what_others_have_is_not_removed(others):
    done = run("remove", "tiny-draft:1b")
    assert done.returncode == 2
    assert "belongs to Ollama" in done.stderr
    assert "ollama rm tiny-draft:1b" in done.stderr


def test_a_name_with_control_characters_does_nothing_to_the_terminal(tiny_pair):
    shutil.copy(tiny_pair.target, models_dir() / "odd\x1b[2J.gguf")
    long = f"{'long-' * 20}name"
    shutil.copy(tiny_pair.draft, models_dir() / f"{long}.gguf")
    tiny.text_file(models_dir() / "bad\x1b]0;x\x07.gguf")
    shown = run("list").stdout
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "odd" in shown
    assert long in shown
    assert "On disk:" in shown
    assert "our folder" in shown


def test_a_file_and_another_programs_model_are_imported(others, tmp_path, tiny_pair):
    done = run("import", "tiny-draft:1b", "--json")
    assert json.loads(done.stdout) == {"paths": [str(models_dir() / "tiny-draft-1b.gguf")], "was_there": False}
    refused = run("import", "tiny-Q8_0", "--move")
    assert refused.returncode == 2
    assert "belongs to hub cache" in refused.stderr
    path = shutil.copy(tiny_pair.target, tmp_path / "own.gguf")
    assert run("import", path, "--move").returncode == 0
    assert not (tmp_path / "own.gguf").exists()
    names = [model["name"] for model in json.loads(run("list", "--json").stdout)["models"]]
    assert names == ["starter", "own", "tiny-draft-1b", "tiny-Q8_0", "tiny-draft:1b"]


def test_the_models_folder_moves_and_comes_back(tmp_path, tiny_pair):
    shutil.copy(tiny_pair.target, models_dir() / "tiny.gguf")
    new = tmp_path / "drive" / "models"
    moved = run("models-folder", new)
    assert moved.returncode == 0, moved.stderr
    assert f"Moved: 1 file, 94.0 kB.\nModels are kept in {new}\n" == moved.stdout
    assert json.loads(run("list", "--json").stdout)["models"][1]["path"] == str(new / "tiny.gguf")
    facts = json.loads(run("models-folder", "--default", "--json").stdout)
    assert (facts["is_default"], facts["n_moved"]) == (True, 1)
    assert (models_dir() / "tiny.gguf").exists()


def test_another_folder_is_used_as_it_is(tmp_path, tiny_pair):
    (tmp_path / "mine").mkdir()
    shutil.copy(tiny_pair.target, tmp_path / "mine" / "tiny.gguf")
    assert run("models-folder", tmp_path / "mine", "--use").returncode == 0
    assert json.loads(run("list", "--json").stdout)["models"][1]["name"] == "tiny"
    refused = run("models-folder", tmp_path / "mine")
    assert refused.returncode == 2
    assert "already" in refused.stderr
