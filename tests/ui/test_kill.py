"""Kill the window at random moments of streaming, editing and branching: nothing shown for two seconds is gone."""

import json
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from app.chat.store import ChatStore

ROOT = Path(__file__).parents[2]
N_KILLS = int(os.environ.get("SLIPSTREAM_TEST_KILLS", "200"))

TICK_S = 0.05

# The real program; a timer plays the person, and what is on the screen is reported every 50 ms.
SCRIPT = """
import json, random, sys
from PySide6.QtCore import QTimer
from app.ui import app
from app.ui.main_window import MainWindow

built = MainWindow.build
def build(self):
    built(self)
    self.timer = QTimer(self, interval=50)
    self.timer.timeout.connect(lambda: play(self))
    self.timer.start()
MainWindow.build = build

draw = random.Random(int(sys.argv[1]))

def play(window):
    texts = window.transcript.texts()
    if "ready" in window.status:
        act(window, len(texts))
    elif draw.random() < 0.02:
        window.composer.stopped.emit()
    print(json.dumps(window.transcript.texts()), flush=True)

def act(window, n):
    what = draw.choice(["ask", "edit", "regenerate", "go_on", "earlier", "later", "answer"]) if n > 1 else "ask"
    at = draw.randrange(0, n, 2) if n else 0
    if what == "ask":
        window.composer.sent.emit(f"Tell me a long story, number {n}.")
    elif what in ("edit", "answer"):
        window.composer.edited.emit(at + (what == "answer"), f"Tell me another one, number {draw.random()}.")
    else:
        window.transcript.asked.emit(min(at + 1, n - 1), what)

sys.exit(app.main())
"""


class Shown:
    """What the program had on its screen, and when."""

    def __init__(self, stream):
        self.moments = [(float("-inf"), [])]  # a window may be killed before it has shown anything for long
        self._thread = threading.Thread(target=self._read, args=(stream,))
        self._thread.start()

    def _read(self, stream):
        for line in stream:
            if line.endswith("\n"):
                self.moments.append((time.monotonic(), json.loads(line)))

    def join(self):
        self._thread.join()

    def before(self, moment, for_s):
        """Return what had been there for so long at a moment, by the clock and by the program's own ticks."""
        known = [(at, texts) for at, texts in self.moments if at <= moment]
        known = known[: max(1, len(known) - round(for_s / TICK_S))]
        return [texts for at, texts in known if at <= moment - for_s][-1]


def kill_after(home, wait_s, seed=1):
    """Run the program, kill it ``wait_s`` after the first word of an answer; return what had been shown 2 s before."""
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "SLIPSTREAM_HOME": str(home)}
    command = [sys.executable, "-c", SCRIPT, str(seed)]
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as process:
        shown = Shown(process.stdout)
        try:
            deadline = time.monotonic() + 60
            while not any(len(texts) > 1 and texts[-1] for _at, texts in shown.moments):
                assert time.monotonic() < deadline, "no answer began"
                time.sleep(0.05)
            time.sleep(wait_s)
        finally:
            children = psutil.Process(process.pid).children(recursive=True)
            killed_s = time.monotonic()
            process.kill()
        process.wait()
        shown.join()
    _gone, alive = psutil.wait_procs(children, timeout=40)
    assert not alive, f"left behind: {alive}"
    return shown.before(killed_s, 2.0)


def check(home, shown):
    with closing(ChatStore(home / "data" / "chats.db")) as store:
        assert store.damage is None
        assert store.integrity() == "ok"
        store.recover()
        messages = store.all_messages(store.heads()[0].id)
    texts = [message.text for message in messages]
    for n, text in enumerate(shown):
        assert not text or any(one.startswith(text) for one in texts), f"message {n} was lost: {text!r}"
    assert all(message.state != "streaming" for message in messages)


@pytest.mark.linux
@pytest.mark.timeout(200)
def test_three_kills_lose_nothing(home):
    for wait_s in (0.3, 2.6, 4.7):
        check(home, kill_after(home, wait_s))


@pytest.mark.linux
@pytest.mark.full
@pytest.mark.timeout(3600)
def test_two_hundred_kills_of_the_window_lose_nothing(home):
    moments = random.Random(20)
    for seed in range(N_KILLS):
        check(home, kill_after(home, moments.uniform(0, 5), seed))
