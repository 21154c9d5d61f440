"""What the window's panel says about a pair: a baseline is recorded through its dialog on a screen of its own.

The real window is shown under its own Xvfb with the models that are named, records off and on by turns, and is asked
for its verdict. Pictures of the screen (the dialog, the recording, the verdict in light and dark) and what the panel
said go into a folder. The exit status is 1 if the verdict is not among those expected, 2 if there is none to be had.

    python -m tests.benchmarks.verdicts TARGET [--draft FILE] [--length N|auto] [--any-rounding] [--prompts SET]
                                        [--rounds N] --expect pays|costs|"cannot tell"[,…] --out DIR [--limit MINUTES]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.metrics.baseline import MIN_RUNS
from app.metrics.prompts import load_prompts
from app.metrics.verdict import MIN_PAIRS

if TYPE_CHECKING:
    from app.ui.controller import Controller

SIZE = (1280, 800)
VERDICTS = ("pays", "costs", "cannot tell")


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
            return _told(f"no verdict within {case.limit_s / 60:g} minutes: {window.panel.foot.words.text()}", 2)
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
        _picture(controller, case.out / "not-loaded.png")
        return _told(f"the pair is not loaded: {window.notice.words or window.status}", 2)
    await _until(lambda: window.panel.charts is not None)
    await _choose_in_dialog(controller, case)
    await _until(lambda: len(host.session.runs) >= 4 or not controller.baselines.is_recording)
    await asyncio.sleep(1.0)
    _picture(controller, case.out / "recording.png")
    await _until(lambda: not controller.baselines.is_recording)
    for theme in ("light", "dark"):
        controller.actions.choose_theme(theme)
        await asyncio.sleep(1.0)
        _picture(controller, case.out / f"verdict-{theme}.png")
    said = _said(controller, case)
    (case.out / "verdict.json").write_text(json.dumps(said, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{said['verdict']} ({said['seen']}; expected {' or '.join(case.expected)})")
    return 0 if said["seen"] in case.expected else 1


async def _choose_in_dialog(controller: Controller, case: Case) -> None:
    """Take the way that a person takes: open the dialog, choose prompts and rounds, press *Record*."""
    from PySide6.QtWidgets import QComboBox, QPushButton, QSpinBox

    from app.ui.baselines import BaselineDialog

    controller.window.panel.foot.baselines_requested.emit()
    await _until(lambda: controller.window.findChild(BaselineDialog) is not None)
    dialog = controller.window.findChild(BaselineDialog)
    if dialog is None:
        raise SystemExit(_told("the dialog did not open", 2))
    sets = next(box for box in dialog.findChildren(QComboBox) if box.findData(case.prompts) >= 0)
    sets.setCurrentIndex(sets.findData(case.prompts))
    sets.activated.emit(sets.currentIndex())
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
    parser.add_argument("--prompts", default="code", help="a built-in set (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="answers to each prompt, each way (default: %(default)s)")
    parser.add_argument("--expect", required=True, help=f"of {', '.join(VERDICTS)}; several with commas")
    parser.add_argument("--out", type=Path, required=True, help="folder for pictures and verdict.json")
    parser.add_argument("--limit", type=float, default=20.0, help="minutes (default: %(default)s)")
    asked = parser.parse_args()
    expected = tuple(word.strip() for word in asked.expect.split(","))
    if unknown := set(expected) - set(VERDICTS):
        parser.error(f"no such verdict: {', '.join(sorted(unknown))}")
    if len(load_prompts(asked.prompts)) * asked.rounds < max(MIN_RUNS, MIN_PAIRS):
        parser.error(f"too few answers for a verdict: {asked.prompts}, {asked.rounds} each")
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
