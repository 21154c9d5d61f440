"""What keeps the program from starting is shown in a window where no terminal shows it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.ui.last_words import box
from tests.ui.conftest import shows_dialog

ROOT = Path(__file__).resolve().parents[2]


@shows_dialog
def test_message_and_hint_are_in_the_window(qtbot):
    made = box("The folder /x cannot be made: Permission denied.", "Set SLIPSTREAM_HOME to another.")
    qtbot.addWidget(made)
    made.show()
    assert made.text() == "The folder /x cannot be made: Permission denied."
    assert made.informativeText() == "Set SLIPSTREAM_HOME to another."
    assert [button.isVisible() for button in made.buttons()] == [True]


@pytest.mark.linux
@pytest.mark.parametrize("platform", ["offscreen", ""])
def test_an_installed_program_without_a_screen_ends_by_itself_with_its_words(tmp_path, platform):
    # GIVEN a bundle's layout, a data folder that cannot be made, and nobody to close a window
    packages = tmp_path / "site-packages"
    shutil.copytree(ROOT / "app", packages / "app", ignore=shutil.ignore_patterns("__pycache__"))
    (packages / "app" / "resources").symlink_to(ROOT / "resources")
    (tmp_path / "bundle.json").write_text("{}")
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment |= {"PYTHONPATH": str(packages), "SLIPSTREAM_HOME": "/dev/null/x", "QT_QPA_PLATFORM": platform}
    words = [sys.executable, "-m", "app"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("hint: ")
    assert len(lines) == 2
