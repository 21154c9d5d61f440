"""No screen: in words, and without Qt's abort."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import NoDisplayError
from app.ui.display import plugin_fault, require_display

pytestmark = pytest.mark.linux


@pytest.mark.parametrize("platform", ["offscreen", "minimal", "vnc:size=100x100"])
def test_platforms_without_a_screen_need_none(platform):
    require_display({"QT_QPA_PLATFORM": platform})


def test_other_systems_always_have_one():
    require_display({}, platform="win32")


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({}, "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set."),
        ({"DISPLAY": ""}, "There is no display"),
        ({"DISPLAY": ":12345"}, "The display :12345 does not answer."),
        ({"QT_QPA_PLATFORM": "wayland"}, "There is no Wayland display: WAYLAND_DISPLAY is not set."),
        ({"QT_QPA_PLATFORM": "wayland", "WAYLAND_DISPLAY": "no-such"}, "no-such"),
    ],
)
def test_no_display_says_what_to_do(environ, message):
    with pytest.raises(NoDisplayError) as caught:
        require_display(environ)
    assert message in caught.value.message
    assert "`selftest --out DIR`" in caught.value.hint


def test_a_wayland_display_that_answers_is_enough(tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-9"))
        server.listen()
        environ = {"WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": str(tmp_path)}
        if plugin_fault("wayland"):  # its libraries are missing here: then X is tried
            with pytest.raises(NoDisplayError, match="no display"):
                require_display(environ)
        else:
            require_display(environ)


def start(environ, *arguments):
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments], env=environ, cwd=root, capture_output=True, text=True, timeout=60
    )


def bare_environment(home, **more):
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("DISPLAY", "WAYLAND", "QT_", "XDG_"))
    }
    return {**kept, "SLIPSTREAM_HOME": str(home), **more}


@pytest.mark.parametrize("more", [{}, {"DISPLAY": ":12345"}], ids=["none", "dead"])
def test_the_window_command_without_a_screen_is_one_line_and_a_hint(home, more):
    done = start(bare_environment(home, **more))
    assert done.returncode == 1
    line, hint = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert "display" in line
    assert "selftest" in hint
    assert "Aborted" not in done.stderr


NO_CURSOR = """
import ctypes, sys
from app.ui import display
real = ctypes.CDLL

class Without(real):
    def __init__(self, name, *more, **rest):
        if "xcb-cursor" in str(name) or "qxcb" in str(name):
            raise OSError("libxcb-cursor.so.0: cannot open shared object file: No such file or directory")
        super().__init__(name, *more, **rest)

ctypes.CDLL = Without
try:
    display.require_display({"DISPLAY": ":0"})
except display.NoDisplayError as fault:
    print(fault.message, "|", fault.hint)
"""


def test_missing_libraries_are_named_with_the_command_that_installs_them():
    """The system's loader is what is replaced here: no machine can be asked to lose a library."""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", NO_CURSOR], cwd=root, capture_output=True, text=True, timeout=60)
    message, _bar, hint = done.stdout.partition(" | ")
    assert message.startswith("Qt's xcb plugin cannot load: libxcb-cursor.so.0"), done.stderr
    assert "sudo apt-get install" in hint
    assert "libxcb-cursor0" in hint
    assert "selftest" in hint
