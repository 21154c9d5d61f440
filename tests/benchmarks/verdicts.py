"""What the window's panel says about a pair: a baseline is recorded through its dialog on a screen of its own.

The real window is shown under its own Xvfb with the models that are named, records off and on by turns, and is asked
for its verdict. Pictures of the screen (the dialog, the recording, the verdict in light and dark) and what the panel
said go into a folder. The exit status is 1 if the verdict is not among those expected, 2 if there is none to be had:
then the recording is left as soon as that is known, and what the panel says is printed.

    python -m tests.benchmarks.verdicts TARGET [--draft FILE] [--length N|auto] [--any-rounding] [--prompts SET|FILE]
                                        [--rounds N] --expect pays|costs|"cannot tell"[,…] --out DIR [--limit MINUTES]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.metrics.baseline import MIN_RUNS
from app.metrics.prompts import SETS, load_prompts
from app.metrics.values import is_plain
from app.metrics.verdict import MIN_PAIRS, usable

if TYPE_CHECKING:
    from app.metrics.values import Run
    from app.ui.controller import Controller

SIZE = (1280, 800)
VERDICTS = ("pays", "costs", "cannot tell")
LIMIT_MINUTES = 10.0
ENOUGH_TRIES = 3
"""So many answers of a kind of which none counts: longer ones that may come later are not waited for."""
FORESEEN = 0.25
"""The share of a recording from which its end can be told."""


class NoVerdictError(Exception):
    """There is none to be had; the words say why."""


@dataclass(frozen=True, slots=True)
class Case:
    """What to record, and what is expected of it."""

    target: str
    draft: str | None
    length: int | str
    exact: bool
    prompts: str
    rounds: int
    expected: tuple[str, ...]
    out: Path
    limit_s: float


@contextmanager
def screen() -> Iterator[str]:
    """Start an Xvfb on a free display; its name.

    Raises:
        SystemExit: there is no Xvfb, or it does not start.
    """
    program = shutil.which("Xvfb")
    if program is None:
        raise SystemExit(_told("Xvfb is not installed; without a screen there is nothing to see.", 2))
    read, write = os.pipe()
    command = [program, "-displayfd", str(write), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        try:
            with os.fdopen(read) as said:
                number = said.readline().strip()  # an end of file if it could not start
            if not number:
                raise SystemExit(_told("Xvfb did not start.", 2))
            yield f":{number}"
        finally:
            server.terminate()


def _told(words: str, status: int) -> int:
    print(words, file=sys.stderr)
    return status


def run(case: Case) -> int:
    """Show the window, record, look, write; return the exit status."""
    import qasync

    from app.ui.app import make_application, open_window
    from app.ui.controller import Controller

    application = make_application()
    theme, window = open_window(application)
    window.resize(*SIZE)
    window.move(0, 0)
    window.build()
    loop = qasync.QEventLoop(application)

    async def whole() -> int:
        controller = Controller(window, theme)
        kinds = ("draft-simple",) if case.draft else ("ngram",)
        chosen = {"target": case.target, "draft": case.draft, "spec_types": kinds}
        chosen |= {"draft_tokens": case.length, "exact": case.exact}
        controller.choices.change(**chosen, speculation=True, temperature=0.0)
        controller.start()
        try:
            async with asyncio.timeout(case.limit_s):
                return await _record_and_look(controller, case)
        except TimeoutError:
            return _nothing(controller, case, f"no verdict within {case.limit_s / 60:g} minutes")
        except NoVerdictError as why:
            return _nothing(controller, case, str(why))
        finally:
            await controller.close()
            window.deleteLater()

    with loop:
        status: int = loop.run_until_complete(whole())
        return status


async def _record_and_look(controller: Controller, case: Case) -> int:
    window, host = controller.window, controller.host
    await controller.engine.settled()
    loaded = host.state.loaded
    if loaded is None or (case.draft is not None and loaded.draft is None):
        raise NoVerdictError(f"the pair is not loaded: {window.notice.words or window.status}")
    await _until(lambda: window.panel.charts is not None)
    await _choose_in_dialog(controller, case)
    await _follow(controller, case)
    for theme in ("light", "dark"):
        controller.actions.choose_theme(theme)
        await asyncio.sleep(1.0)
        _picture(controller, case.out / f"verdict-{theme}.png")
    said = _write(controller, case)
    if said["seen"] not in VERDICTS:
        raise NoVerdictError(str(said["seen"]))
    words = f"{said['verdict']} ({said['seen']}; expected {' or '.join(case.expected)})"
    if said["seen"] not in case.expected:
        return _told(f"{words}. {_panel_words(said)}", 1)
    print(words)
    return 0


async def _follow(controller: Controller, case: Case) -> None:
    """Wait for the end of the recording; leave it as soon as it is known that it brings no verdict, or not in time."""
    progress, began_s = controller.window.panel.foot.progress, time.monotonic()
    first: tuple[float, float] | None = None  # when the first answer was there, and the share: loads are no measure
    has_picture = False
    while controller.baselines.is_recording:
        runs = controller.host.session.runs
        if why := hopeless(runs):
            raise NoVerdictError(why)
        share, now_s = progress.value() / progress.maximum(), time.monotonic()
        first = first or ((now_s, share) if any(not run.excluded for run in runs) else None)
        if first is not None and share >= FORESEEN and share > first[1]:
            whole_s = now_s - began_s + (now_s - first[0]) / (share - first[1]) * (1 - share)
            if whole_s > case.limit_s:
                raise NoVerdictError(f"the recording would take {whole_s / 60:.1f} minutes")
        if not has_picture and len(runs) >= 4:
            await asyncio.sleep(1.0)
            _picture(controller, case.out / "recording.png")
            has_picture = True
        await asyncio.sleep(0.2)


def hopeless(runs: Sequence[Run]) -> str:
    """Say why these answers of a recording foretell that there will be no verdict; "" while there may be one."""
    from app.ui.figures import exclusion

    counted = [run for run in runs if not run.excluded]
    for kind, own in (
        ("with speculation", [run for run in counted if not is_plain(run)]),
        ("plain", [run for run in counted if is_plain(run)]),
    ):
        if len(own) >= ENOUGH_TRIES and not any(map(usable, own)):
            return f"none of {len(own)} answers counts ({kind}): the last {exclusion(own[-1])}. {own[-1].not_engaged}"
    return ""


def _nothing(controller: Controller, case: Case, why: str) -> int:
    """Keep what there is to see, and say what the panel says."""
    _picture(controller, case.out / "no-verdict.png")
    said = _write(controller, case)
    return _told(f"{why}. {_panel_words(said)}", 2)


def _panel_words(said: dict[str, object]) -> str:
    shown = {name: said[name] for name in ("state", "verdict", "note", "offer", "baseline", "foot") if said[name]}
    return "\n".join(["The panel:", *(f"  {name}: {words}" for name, words in shown.items())])


def _write(controller: Controller, case: Case) -> dict[str, object]:
    said = _said(controller, case)
    (case.out / "verdict.json").write_text(json.dumps(said, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return said


async def _choose_in_dialog(controller: Controller, case: Case) -> None:
    """Take the way that a person takes: open the dialog, choose prompts and rounds, press *Record*."""
    from PySide6.QtWidgets import QComboBox, QPushButton, QSpinBox

    from app.ui.baselines import BaselineDialog

    controller.window.panel.foot.baselines_requested.emit()
    await _until(lambda: controller.window.findChild(BaselineDialog) is not None)
    dialog = controller.window.findChild(BaselineDialog)
    if dialog is None:
        raise SystemExit(_told("the dialog did not open", 2))
    sets = next(iter(dialog.findChildren(QComboBox)))
    if case.prompts in SETS:
        sets.setCurrentIndex(sets.findData(case.prompts))
        sets.activated.emit(sets.currentIndex())
    else:  # the last entry asks for a file, by a dialog of the system's
        sets.setCurrentIndex(sets.count() - 1)
        dialog.on_file_chosen(case.prompts)
    next(iter(dialog.findChildren(QSpinBox))).setValue(case.rounds)
    record = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Record")
    await _until(record.isEnabled)
    await asyncio.sleep(0.5)
    _picture(controller, case.out / "dialog.png")
    record.click()
    await _until(lambda: controller.baselines.is_recording)


async def _until(holds: Callable[[], object]) -> None:
    while not holds():
        await asyncio.sleep(0.2)  # seldom: what waits here takes nothing from the engine


def _picture(controller: Controller, path: Path) -> None:
    """Keep what is on the screen, dialogs and all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not controller.window.screen().grabWindow(0).save(str(path)):
        raise SystemExit(_told(f"{path} could not be written", 2))


def _said(controller: Controller, case: Case) -> dict[str, object]:
    """Return what the panel says, and what it says it of."""
    panel, session = controller.window.panel, controller.host.session
    drafted = next((run for run in reversed(session.runs) if session.comparison_of(run)), None)
    found = session.comparison_of(drafted) if drafted is not None else None
    seen = found.verdict if found is not None else "nothing measured"
    if seen not in panel.verdict.lower():
        seen = f"{seen}, which the panel does not say"
    facts = session.to_metrics()
    return {
        "seen": seen,
        "expected": case.expected,
        "verdict": panel.verdict,
        "state": panel.state,
        "note": panel.note,
        "offer": panel.offer,
        "baseline": panel.baseline_words,
        "figures": panel.facts(),
        "foot": panel.foot.words.text(),
        "pairs": found.n_pairs if found is not None else 0,
        "interval": [found.speedup.low, found.speedup.high] if found is not None and found.speedup else None,
        "runs": [
            {
                "prompt": run.prompt,
                "drafting": run.spec_type,
                "tps": run.decode_tps,
                "tokens": run.tokens,
                "n_exact": run.n_exact,
                "longest_draft": max((step.proposed for step in run.steps), default=0),
            }
            for run in session.runs
            if not run.excluded
        ],
        "target": facts.target.name if facts.target else case.target,
        "draft_tokens": case.length,
        "any_rounding": not case.exact,
        "n_exact": found.n_exact if found is not None else None,
        "cores": facts.machine.cores,
    }


def parse() -> Case:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="What the window's panel says about a pair.")
    parser.add_argument("target", help="a model's name or file; 'starter' is the one that comes along")
    parser.add_argument("--draft", help="file of a draft model (default: n-gram drafts)")
    parser.add_argument("--length", default="auto", help="draft length (default: %(default)s)")
    parser.add_argument(
        "--any-rounding",
        action="store_true",
        help="drafts as long as asked, also where their rounding may tip a near tie",
    )
    parser.add_argument("--prompts", default="code", help="a built-in set or a file of prompts (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="answers to each prompt, each way (default: %(default)s)")
    parser.add_argument("--expect", required=True, help=f"of {', '.join(VERDICTS)}; several with commas")
    parser.add_argument("--out", type=Path, required=True, help="folder for pictures and verdict.json")
    parser.add_argument("--limit", type=float, default=LIMIT_MINUTES, help="minutes (default: %(default)s)")
    asked = parser.parse_args()
    expected = tuple(word.strip() for word in asked.expect.split(","))
    if unknown := set(expected) - set(VERDICTS):
        parser.error(f"no such verdict: {', '.join(sorted(unknown))}")
    n_prompts = len(load_prompts(asked.prompts))
    if n_prompts * asked.rounds < (least := max(MIN_RUNS, MIN_PAIRS)):
        needed = math.ceil(least / n_prompts)
        parser.error(
            f"too few answers for a verdict: {asked.prompts} has {n_prompts} prompts, {asked.rounds} each; "
            f"leave --rounds out, or ask for {needed} or more"
        )
    if missing := [
        name for name in (asked.target, asked.draft) if name and name.endswith(".gguf") and not Path(name).is_file()
    ]:
        parser.error(f"there is no such file: {', '.join(missing)}")
    length = int(asked.length) if asked.length.isdecimal() else asked.length
    return Case(
        target=asked.target,
        draft=asked.draft,
        length=length,
        exact=not asked.any_rounding,
        prompts=asked.prompts,
        rounds=asked.rounds,
        expected=expected,
        out=asked.out,
        limit_s=asked.limit * 60,
    )


def main() -> int:
    """Record on a screen of its own, in a home of its own."""
    case = parse()
    with tempfile.TemporaryDirectory() as home, screen() as display:
        os.environ.update(DISPLAY=display, QT_QPA_PLATFORM="xcb", SLIPSTREAM_HOME=home)
        return run(case)


if __name__ == "__main__":
    sys.exit(main())
