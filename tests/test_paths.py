"""Folders are where the person, or the environment, wants them; resources are found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import paths

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", ["data_dir", "config_dir", "cache_dir", "log_dir", "models_dir"])
def test_all_folders_follow_the_environment_and_exist(name, home):
    folder = getattr(paths, name)()
    assert folder.is_dir()
    assert folder.is_relative_to(home)


def test_folders_are_apart(home):
    assert len({paths.data_dir(), paths.config_dir(), paths.cache_dir(), paths.log_dir()}) == 4


def test_without_it_they_are_the_persons_own(tmp_path):
    code = "from app import paths; print(paths.data_dir(), paths.config_dir(), sep='\\n')"
    environment = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "PATH": ""}
    output = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, env=environment, text=True, timeout=60)
    for line in output.splitlines():
        assert Path(line).is_relative_to(tmp_path)
        assert "Slipstream" in line


def no_home(*_words, **_more):
    raise RuntimeError("could not determine the home directory")  # as platformdirs does for a number without a name


@pytest.mark.parametrize(
    "of_platform", [no_home, lambda *_, **__: Path("~/.local/share"), lambda *_, **__: Path("rel")]
)
def test_a_person_without_a_home_is_told_so_and_nothing_is_made_here(of_platform, tmp_path, monkeypatch):
    monkeypatch.delenv("SLIPSTREAM_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="no home folder is known"):
        paths._folder("data", of_platform)
    assert list(tmp_path.iterdir()) == []
    # WHEN a folder is named, no home is asked for
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "named"))
    assert paths._folder("data", of_platform) == tmp_path / "named" / "data"


def test_resources_are_found():
    assert paths.resource("metrics.schema.json").is_file()


def test_from_source_there_is_no_bundle():
    assert paths.bundle_dir() is None


@pytest.mark.parametrize("is_portable", [False, True])
def test_a_marker_beside_the_launcher_keeps_everything_there(tmp_path, monkeypatch, is_portable):
    (tmp_path / "bundle.json").write_text("{}")
    if is_portable:
        (tmp_path / "portable.txt").touch()
    assert paths.home_dir(tmp_path) == Path(os.environ["SLIPSTREAM_HOME"])  # the environment counts first
    monkeypatch.delenv("SLIPSTREAM_HOME")
    assert paths.home_dir(tmp_path) == (tmp_path / "Slipstream data" if is_portable else None)


def test_an_installed_program_knows_its_bundle(tmp_path):
    # GIVEN a bundle with our module about folders, and its marker
    packages = tmp_path / "Slip stream ü" / "site-packages"
    (packages / "app").mkdir(parents=True)
    (packages / "app" / "__init__.py").touch()
    (packages / "app" / "paths.py").write_bytes(Path(paths.__file__).read_bytes())
    (packages.parent / "bundle.json").write_text("{}")
    (packages.parent / "portable.txt").touch()
    # THEN what it makes is inside
    environment = {name: value for name, value in os.environ.items() if name not in ("SLIPSTREAM_HOME", "PYTHONPATH")}
    code = "from app import paths; print(ascii(str(paths.data_dir())))"
    output = subprocess.check_output([sys.executable, "-c", code], cwd=packages, env=environment, text=True, timeout=60)
    assert output.strip() == ascii(str(packages.parent / "Slipstream data" / "data"))


def test_a_bundle_that_lacks_something_is_not_told_of_pip(tmp_path):
    assert paths.way_to_install("thing==1", None) == "Install it with: pip install thing==1"
    assert "pip" not in paths.way_to_install("thing==1", tmp_path)
    assert "models stay" in paths.way_to_install("thing==1", tmp_path)


def test_a_portable_copy_that_cannot_be_written_is_told_of_its_marker(tmp_path, monkeypatch):
    monkeypatch.delenv("SLIPSTREAM_HOME", raising=False)
    assert "SLIPSTREAM_HOME" in paths.way_to_write(tmp_path)
    (tmp_path / "portable.txt").touch()
    assert "delete portable.txt" in paths.way_to_write(tmp_path)
    assert "SLIPSTREAM_HOME" in paths.way_to_write(None)
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "elsewhere"))
    assert "portable" not in paths.way_to_write(tmp_path)
