"""Take the picture of the window that the README shows: the starter answers, with speculation and without, by turns.

    python packaging/picture.py [--out FILE] [--display N] [--turns N]

The program is the one of this source; figures and texts are what it measured and said. Needs what ``smoke.py`` does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import smoke
from bundle.desk import Desk, until
from bundle.project import PACKAGING, ROOT

FIRST = "Write a Python function that reads a file and returns its lines as a list."
AGAIN = "Show the function again, for {name}.txt."
NAMES = ("book", "notes", "letter", "diary", "poem", "report")
TURNS = 17
"""One answer, then eight without speculation and eight with it: from six pairs on there may be a verdict."""

SETTINGS = {"max_tokens": 96, "temperature": 0.0, "theme": "light"}


def ask(desk: Desk, home: Path, n_turns: int) -> None:
    """Ask, and turn speculation off and on between the answers; the last one has it on."""
    for turn in range(n_turns):
        desk.press("ctrl+l")
        desk.type(AGAIN.format(name=NAMES[(turn - 1) // 2 % len(NAMES)]) if turn else FIRST)
        desk.press("Return")
        until(lambda wanted=turn + 1: len(smoke.answers(home)) >= wanted, smoke.ANSWER_S, f"answer {turn + 1}")
        time.sleep(1)
        if turn < n_turns - 1:
            desk.press("ctrl+k")
            time.sleep(0.5)


def take(out: Path, display: int, n_turns: int) -> None:
    """Start the program, let it answer, and keep what is on the screen."""
    with tempfile.TemporaryDirectory() as folder, Desk(display) as desk:
        home = Path(folder)
        (home / "config").mkdir()
        (home / "config" / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
        environment = {**desk.environment(), "SLIPSTREAM_HOME": folder, "SLIPSTREAM_ONLY_OWN": "1", "LANG": "C.UTF-8"}
        with subprocess.Popen([sys.executable, "-m", "app"], env=environment, cwd=ROOT) as program:
            try:
                desk.wait_for("Slipstream", smoke.START_S)
                time.sleep(3)
                ask(desk, home, n_turns)
                time.sleep(2)
                desk.window_picture("Slipstream", out)
            finally:
                program.terminate()
                program.wait(smoke.QUIT_S)


def main() -> int:
    """Take it; return the exit code."""
    parser = argparse.ArgumentParser(description="Take the README's picture.")
    parser.add_argument(
        "--out", type=Path, default=PACKAGING / "window.png", help="file (default: packaging/window.png)"
    )
    parser.add_argument("--display", type=int, default=97, help="number of the virtual screen")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"answers (default: {TURNS})")
    chosen = parser.parse_args()
    take(chosen.out, chosen.display, chosen.turns)
    print(f"{chosen.out}: {chosen.out.stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
