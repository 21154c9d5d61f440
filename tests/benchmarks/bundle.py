"""How long until the window of a built bundle is painted, against the same from source: by turns.

Both go the way that a start goes and are stopped where they would begin to load the rest; the bundle goes through its
launcher's own lines. The files are in the disk's cache for both.

    python -m tests.benchmarks.bundle BUNDLE [--json] [--turns N]     QT_QPA_PLATFORM chooses the screen
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.figures import Figure, arguments, ratios, report
from tests.benchmarks.startup import OURS, ROOT


def through_launcher(bundle: Path) -> list[str]:
    """Return the launcher's command line with our code in place of the program's module."""
    launcher = bundle.resolve() / "slipstream"
    lines = launcher.read_text(encoding="utf-8").replace('"$0"', shlex.quote(str(launcher)))
    wanted = lines.replace('-m app "$@"', '-c "$1"')
    if wanted == lines:
        raise SystemExit("the launcher does not start the program as expected")
    return ["/bin/sh", "-c", wanted, "sh", OURS]


def time_s(command: Sequence[str]) -> float:
    """Start it; return the seconds until it says that its window is painted."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "SLIPSTREAM_HOME": home}
        began_s = time.perf_counter()
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
            said = (process.stdout.readline() if process.stdout else "").split()
            took_s = time.perf_counter() - began_s
        if said != ["painted"] or process.returncode:
            raise SystemExit(f"the window was not painted: {said}, exit status {process.returncode}")
        return took_s


def measure(bundle: Path, n_turns: int) -> list[Figure]:
    """Start each by turns."""
    commands = {"source": [sys.executable, "-c", OURS], "bundle": through_launcher(bundle)}
    for command in commands.values():
        time_s(command)
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(n_turns):
        for name, command in commands.items():
            taken[name].append(time_s(command))
    figures = [Figure("first_paint_bundle_to_source", ratios(taken["bundle"], taken["source"]), "ratio", "<= 1.3")]
    return [
        *figures,
        *(Figure(f"first_paint_{name}", tuple(1e3 * s for s in all_s), "ms") for name, all_s in taken.items()),
    ]


def main() -> None:
    """Measure and print."""
    parser = arguments("Time to the first paint of a bundle, against source.", n_turns=20)
    parser.add_argument("bundle", type=Path)
    chosen = parser.parse_args()
    report(measure(chosen.bundle, chosen.turns), as_json=chosen.json)


if __name__ == "__main__":
    main()
