"""How long until the window is painted, against a bare PySide6 window: two kinds of process, by turns.

Time runs from the start of the interpreter to the end of the first paint. Ours goes the way that ``python -m app`` goes
and is stopped where it would begin to load the rest.

    python -m tests.benchmarks.startup [--json] [--turns N]      QT_QPA_PLATFORM chooses the screen (default: offscreen)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.figures import Figure, arguments, ratios, report

ROOT = Path(__file__).resolve().parents[2]
NOT_BEFORE_THE_PAINT = ("pyqtgraph", "huggingface_hub", "numpy")

BARE = """
import sys
from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication, QMainWindow

class Window(QMainWindow):
    is_painted = False

    def paintEvent(self, event):
        super().paintEvent(event)
        self.is_painted = True

application = QApplication(sys.argv[:1])
window = Window()
window.resize(1280, 800)
window.show()
while not window.is_painted:
    application.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
print("painted", flush=True)
"""

OURS = """
import sys
import app.ui.app

def stop(application, window, theme, said):
    print("painted", *[name for name in {heavy} if name in sys.modules], flush=True)

app.ui.app._run = stop
from app.__main__ import main
main([])
""".replace("{heavy}", repr(NOT_BEFORE_THE_PAINT))


def time_s(code: str) -> float:
    """Start a process with this code; return the seconds until it says that its window is painted."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "SLIPSTREAM_HOME": home}
        began_s = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            said = (process.stdout.readline() if process.stdout else "").split()
            took_s = time.perf_counter() - began_s
        if said[:1] != ["painted"] or process.returncode != 0:
            raise SystemExit(f"the window was not painted (exit status {process.returncode})")
        if said[1:]:
            raise SystemExit(f"imported before the first paint: {', '.join(said[1:])}")
        return took_s


def measure(n_turns: int) -> list[Figure]:
    """Start each kind of process by turns."""
    for code in (BARE, OURS):  # compiled, and in the disk cache
        time_s(code)
    bare, ours = [], []
    for _ in range(n_turns):
        bare.append(time_s(BARE))
        ours.append(time_s(OURS))
    return [
        Figure("first_paint_ours_to_bare", ratios(ours, bare), "ratio", "<= 1.6"),
        Figure("first_paint", tuple(1e3 * s for s in ours), "ms"),
        Figure("first_paint_bare", tuple(1e3 * s for s in bare), "ms"),
    ]


def main() -> None:
    """Measure and print."""
    chosen = arguments("Time to the first paint, against a bare PySide6 window.", n_turns=20).parse_args()
    report(measure(chosen.turns), as_json=chosen.json)


if __name__ == "__main__":
    main()
