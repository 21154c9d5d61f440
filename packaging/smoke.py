"""Try a built bundle as a person would, on a virtual screen (Linux): chat, speculation off and on, export, quit.

    python packaging/smoke.py BUNDLE [--display N] [--pictures DIR] [--window-only] [--through WORD...]

``--through`` puts words before the launcher's: ``--through unshare -n`` tries it without a network. Needs Xvfb,
openbox, xdotool and ImageMagick on the machine that tries, nothing on the one that is tried.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from bundle.desk import Desk, until

QUESTIONS = ("Write the word water ten times.", "Write the word stone ten times.", "Write the word light ten times.")
RESULTS = ("metrics.json", "metrics.csv", "steps.csv", "report.md", "report.html", "chart.png", "window.png")
MAX_TOKENS = 160
"""A small model may go on and on: an answer ends here, on a slow machine too, before it is no longer waited for."""

FOLDER_DIALOG, TRIES = "^Export session metrics into a folder$", 3
ANSWER_S, START_S, QUIT_S, SELFTEST_S = 120.0, 60.0, 15.0, 300.0


@dataclass(frozen=True, slots=True)
class Tried:
    """A launcher, the words before it, and where the program's folders are, seen from here and from the program.

    ``may_say``: a pattern of lines on its standard error that are no fault.
    """

    launcher: str
    home: Path
    inner_home: str
    through: Sequence[str] = ()
    pictures: Path | None = None
    may_say: str = ""
    notes: list[str] = field(default_factory=list)

    def command(self, *words: str) -> list[str]:
        """Return a command line of the program."""
        setting = [f"HOME={self.inner_home}", f"SLIPSTREAM_HOME={self.inner_home}", "SLIPSTREAM_ONLY_OWN=1"]
        return [*self.through, "env", *setting, self.launcher, *words]

    def say(self, words: str) -> None:
        """Tell how far it has come."""
        self.notes.append(words)
        print(words, flush=True)


def answers(home: Path) -> list[str]:
    """Return the whole answers in the database, in order."""
    path = home / "data" / "chats.db"
    if not path.is_file():
        return []
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT text FROM message WHERE role = 'assistant' AND state = 'complete' ORDER BY id")
        return [text for (text,) in rows]


def prepare(tried: Tried) -> None:
    """Set how long an answer may become; everything else is as at a first start."""
    place = tried.home / "config"
    place.mkdir(exist_ok=True)
    settings = place / "settings.json"
    settings.write_text(json.dumps({"max_tokens": MAX_TOKENS}), encoding="utf-8")
    for path in (place, settings):
        os.chown(path, tried.home.stat().st_uid, -1)


def chat(tried: Tried, desk: Desk) -> None:
    """Ask with speculation on, off, and on again, each time until the answer is saved."""
    for number, question in enumerate(QUESTIONS):
        if number:
            desk.press("ctrl+k")
            time.sleep(0.5)
        desk.press("ctrl+l")
        desk.type(question)
        desk.press("Return")
        until(lambda wanted=number + 1: len(answers(tried.home)) >= wanted, ANSWER_S, f"answer {number + 1}")
        tried.say(f"answer {number + 1}: {len(answers(tried.home)[number])} characters")
    if not all(text.strip() for text in answers(tried.home)):
        raise SystemExit("an answer is empty")


def export(tried: Tried, desk: Desk) -> None:
    """Export the session's metrics, and look into them: three answers, the middle one without speculation."""
    place = tried.home / "out"
    place.mkdir(exist_ok=True)
    os.chown(place, tried.home.stat().st_uid, -1)
    desk.press("ctrl+shift+e")
    desk.wait_for("^Export session metrics$")
    picture(tried, desk, "export")
    desk.press("Return")
    name_folder(desk, f"{tried.inner_home}/out")
    until(lambda: list(place.glob("*/report.html")), 60, "the export")
    desk.wait_for("Slipstream")
    metrics = json.loads(next(place.glob("*/metrics.json")).read_text(encoding="utf-8"))
    ways = [run["spec_type"] for run in metrics["runs"]]
    if [way == "none" for way in ways] != [False, True, False]:
        raise SystemExit(f"speculation was not on, off and on again: {ways}")
    tried.say(f"exported; drafters: {', '.join(ways)}")


def name_folder(desk: Desk, folder: str) -> None:
    """Type a folder into the dialog; again, where its name did not arrive whole, as happens on a busy machine.

    Raises:
        SystemExit: it never did.
    """
    for _ in range(TRIES):
        desk.wait_for(FOLDER_DIALOG)
        desk.press("ctrl+a")
        desk.type(folder)
        desk.press("Return")
        time.sleep(2)
        if not desk.find(FOLDER_DIALOG):
            return
        desk.press("Return")  # closes what the dialog has to say of a folder that is not there
        time.sleep(1)
    raise SystemExit(f"the folder {folder} could not be named")


def picture(tried: Tried, desk: Desk, name: str) -> None:
    """Keep what is on the screen, if that is wanted."""
    if tried.pictures is not None:
        tried.pictures.mkdir(parents=True, exist_ok=True)
        desk.picture(tried.pictures / f"{name}.png")


def window(tried: Tried, display: int) -> None:
    """Go through the window.

    Raises:
        SystemExit: something did not happen.
    """
    prepare(tried)
    with Desk(display) as desk, tempfile.TemporaryFile() as log:
        program = subprocess.Popen(tried.command(), env=desk.environment(), stdout=log, stderr=log)
        try:
            began_s = time.monotonic()
            desk.wait_for("Slipstream", START_S)
            tried.say(f"window after {time.monotonic() - began_s:.1f} s")
            time.sleep(3)
            chat(tried, desk)
            picture(tried, desk, "chat")
            export(tried, desk)
            picture(tried, desk, "end")
            desk.press("ctrl+q")
            until(lambda: program.poll() is not None, QUIT_S, "the end of the program")
        except BaseException:
            picture(tried, desk, "fault")
            log.seek(0)
            sys.stderr.write(log.read().decode(errors="replace"))
            raise
        finally:
            if program.poll() is None:
                program.kill()
            program.wait()
        log.seek(0)
        lines = log.read().decode(errors="replace").splitlines()
        said = "\n".join(line for line in lines if not (tried.may_say and re.fullmatch(tried.may_say, line)))
        if program.returncode or said:
            raise SystemExit(f"exit status {program.returncode}, and it said: {said}")
    tried.say("quit")


def selftest(tried: Tried) -> None:
    """Run the main job without a screen.

    Raises:
        SystemExit: it failed, or a result is missing.
    """
    out = tried.home / "selftest"
    words = tried.command("selftest", "--out", f"{tried.inner_home}/selftest")
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(words, env=environment, timeout=SELFTEST_S, check=False)
    if done.returncode:
        raise SystemExit(f"selftest ended with {done.returncode}")
    if absent := [name for name in RESULTS if not (out / name).is_file()]:
        raise SystemExit(f"selftest left out {', '.join(absent)}")
    tried.say("selftest passed")


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Try a built bundle on a virtual screen.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--display", type=int, default=97, help="number of the virtual screen")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the screen")
    parser.add_argument("--window-only", action="store_true", help="leave out selftest")
    parser.add_argument("--through", nargs=argparse.REMAINDER, default=[], help="words before the launcher's")
    return parser.parse_args()


def main() -> int:
    """Try it; return the exit code."""
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        launcher = str(options.bundle.resolve() / "slipstream")
        tried = Tried(launcher, home, str(home), options.through, options.pictures)
        window(tried, options.display)
        if not options.window_only:
            selftest(tried)
    print("smoke: all is well")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
