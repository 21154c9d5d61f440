"""Folders are where the person, or the environment, wants them; resources are found."""

from __future__ import annotations

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


def test_resources_are_found():
    assert paths.resource("metrics.schema.json").is_file()
