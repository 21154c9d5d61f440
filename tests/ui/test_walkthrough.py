"""The whole window by keyboard alone, on a display of its own: keys come from outside, as a person's do.

``full`` does the same with the real engine, and leaves a picture of every step in the folder that
``SLIPSTREAM_WALKTHROUGH`` names, or in the test's own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ("Xvfb", "openbox", "xdotool")
SIZE = "1280x800"

pytestmark = [
    pytest.mark.linux,
    pytest.mark.skipif(
        any(shutil.which(name) is None for name in PROGRAMS), reason=f"needs {', '.join(PROGRAMS)} on the PATH"
    ),
]


class Desk:
    """A display with a window manager and the program on it."""

    def __init__(self, stack, home, *, engine, pictures=None):
        self.pictures, self.n_steps = pictures, 0
        read, write = os.pipe()
        # -r: a key that is let go late, because the machine is busy, is not pressed twice
        options = ("-displayfd", str(write), "-screen", "0", f"{SIZE}x24", "-nolisten", "tcp", "-r")
        self._start(stack, ["Xvfb", *options], pass_fds=(write,))
        os.close(write)
        with os.fdopen(read) as numbers:
            display = f":{numbers.readline().strip()}"
        self.environ = {
            **os.environ,
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "SLIPSTREAM_HOME": str(home),
            "WALKTHROUGH_ENGINE": engine,
            "DBUS_SESSION_BUS_ADDRESS": "disabled:",
            "PYTHONPATH": str(ROOT),
        }
        self.environ.pop("WAYLAND_DISPLAY", None)
        self._start(stack, ["openbox", "--sm-disable"], env=self.environ)
        pipe = subprocess.PIPE
        argv = [sys.executable, "-m", "tests.ui.walkthrough_program"]
        self.program = self._start(stack, argv, env=self.environ, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)

    def _start(self, stack, argv, **how):
        how.setdefault("stdout", subprocess.DEVNULL)
        process = stack.enter_context(subprocess.Popen(argv, stderr=subprocess.DEVNULL, **how))
        stack.callback(process.kill)
        return process

    @property
    def state(self):
        self.program.stdin.write("\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())

    def keys(self, *keys):
        for key in keys:
            subprocess.run(["xdotool", "key", "--clearmodifiers", key], env=self.environ, check=True)

    def type(self, text):
        subprocess.run(["xdotool", "type", "--delay", "4", text], env=self.environ, check=True)

    def until(self, step, limit_s=60.0, **wanted):
        """Wait for a state; take a picture of it."""
        deadline = time.monotonic() + limit_s
        while True:
            state = self.state
            if all(holds(state[name]) if callable(holds) else state[name] == holds for name, holds in wanted.items()):
                break
            assert time.monotonic() < deadline, f"{step}: wanted {wanted}, but it is {state}"
            time.sleep(0.03)
        self.picture(step)
        return state

    def picture(self, step):
        self.n_steps += 1
        if self.pictures is not None:
            time.sleep(0.2)
            path = self.pictures / f"{self.n_steps:02}-{step.replace(' ', '-')}.png"
            subprocess.run(["import", "-window", "root", str(path)], env=self.environ, check=True)


def chat(desk):
    desk.until("started", in_front=True, ready=True, focus="Message")
    desk.keys("ctrl+n")
    desk.type("Tell me about trains")
    desk.until("typed", text="Tell me about trains")
    desk.keys("Return")
    desk.until("sent", busy=True, n_messages=2, said=bool)  # the model is loaded only now
    desk.keys("Escape")
    desk.until("stopped", busy=False, n_messages=2)
    desk.keys("ctrl+e")
    desk.until("answer in the field", editing=True)
    desk.keys("Escape")
    desk.until("left as it was", editing=False)
    desk.keys("alt+Up", "alt+Up", "e")
    desk.until("question in the field", editing=True, text="Tell me about trains")
    desk.type(" again")
    desk.keys("Return")
    desk.until("edited", busy=True, n_messages=2, said=bool)
    desk.keys("Escape")
    desk.until("stopped again", busy=False)
    desk.keys("ctrl+r")
    desk.until("answered again", busy=True, said=bool)
    desk.keys("Escape")
    desk.until("alternatives", busy=False, alternatives="2/2")
    desk.keys("alt+Left")
    desk.until("other branch", alternatives="1/2")


def find(desk):
    desk.keys("ctrl+f")
    desk.type("train")
    desk.until("found", found=lambda words: words and " of " in words)
    desk.keys("Return", "Escape")
    desk.until("find bar closed", found=None)
    desk.keys("ctrl+shift+f")
    desk.type("trains")
    desk.until("searched", query="trains", titles=lambda titles: len(titles) == 1)
    desk.keys("ctrl+a", "BackSpace")
    desk.until("search cleared", query="", searching=False)


def keep(desk):
    desk.keys("F2")
    desk.until("a name in its place", naming=True)
    desk.keys("ctrl+a")
    desk.type("Old trains")
    desk.keys("Return")
    desk.until("renamed", title="Old trains – Slipstream", titles=["Old trains"])
    desk.keys("ctrl+shift+d")
    desk.until("pinned", pinned=True)
    desk.keys("ctrl+shift+BackSpace")
    desk.until("deleted", titles=[], n_messages=0, notice=lambda words: "was deleted" in words)
    desk.keys("ctrl+shift+n")
    desk.until("undone", titles=["Old trains"], n_messages=2)


def look_around(desk):
    desk.keys("ctrl+shift+p")
    desk.until("palette", palette=True)
    desk.type("speed panel")
    desk.keys("Return")
    desk.until("panel hidden by its name", in_front=True, palette=False, panel=False)
    desk.keys("ctrl+j")
    desk.until("speed panel", panel=True)
    desk.keys("F1")
    desk.until("shortcuts", palette=True)
    desk.keys("Escape")
    desk.until("shortcuts closed", in_front=True)
    desk.keys("ctrl+comma")
    desk.until("settings", settings=True)
    desk.keys("Tab", "Down", "Down")
    desk.until("dark", dark=True)
    desk.keys("Up", "Escape")
    desk.until("light again", dark=False, in_front=True)
    desk.keys("ctrl+m")
    desk.until("models", models=True)
    desk.keys("Escape")
    desk.until("models closed", in_front=True)
    desk.keys("ctrl+shift+r")
    desk.until("devices", devices=True)
    desk.keys("Escape")
    desk.until("devices closed", in_front=True)


def export(desk, folder):
    path = folder / "trains.md"
    desk.keys("ctrl+shift+p")
    desk.until("palette again", palette=True)
    desk.type("export as markdown")
    desk.keys("Return")
    desk.until("asked where to", asked_where=True)
    desk.keys("ctrl+a")
    desk.type(str(path))
    desk.picture("where to")
    desk.keys("Return")
    desk.until("exported", in_front=True, notice=lambda words: words.startswith("Exported to"))
    assert "Tell me about trains again" in path.read_text(encoding="utf-8")


def walk(desk, folder):
    chat(desk)
    find(desk)
    keep(desk)
    look_around(desk)
    export(desk, folder)
    desk.keys("ctrl+q")
    desk.program.wait(60)


def test_everything_is_done_by_keys_alone(home, tmp_path):
    with ExitStack() as stack:
        walk(Desk(stack, home, engine="scripted"), tmp_path)


@pytest.mark.full
@pytest.mark.timeout(300)
def test_everything_is_done_by_keys_alone_with_the_real_engine(home, tmp_path):
    pictures = Path(os.environ.get("SLIPSTREAM_WALKTHROUGH") or tmp_path / "pictures")
    pictures.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        desk = Desk(stack, home, engine="real", pictures=pictures)
        walk(desk, tmp_path)
        assert len(list(pictures.glob("*.png"))) >= desk.n_steps
