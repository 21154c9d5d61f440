"""PySide6 6.12.0 on Python 3.11 drops a reference to True at every emit and aborts after about a thousand."""

from __future__ import annotations

import subprocess
import sys

EMIT = """
import sys
from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal, Slot

class Source(QObject):
    flagged = Signal(bool)
    described = Signal(str, bool, int)
    given = Signal(object)

class Sink(QObject):
    def __init__(self):
        super().__init__()
        self.seen = []

    @Slot(bool)
    def on_flagged(self, flag): self.seen.append(flag)

    @Slot(str, bool, int)
    def on_described(self, text, flag, number): self.seen.append((text, flag, number))

    @Slot(object)
    def on_given(self, value): self.seen.append(value)

app, source, sink = QCoreApplication([]), Source(), Sink()
how = Qt.ConnectionType.QueuedConnection if sys.argv[1] == "queued" else Qt.ConnectionType.DirectConnection
for name in ("flagged", "described", "given"):
    getattr(source, name).connect(getattr(sink, f"on_{name}"), how)
before = sys.getrefcount(True), sys.getrefcount(False), sys.getrefcount(None)
for index in range(5000):
    source.flagged.emit(index % 2 == 0)
    source.described.emit("x", index % 2 == 0, index)
    source.given.emit(None if index % 3 else index % 2 == 0)
app.processEvents()
wanted = []
for index in range(5000):
    wanted += [index % 2 == 0, ("x", index % 2 == 0, index), None if index % 3 else index % 2 == 0]
assert sink.seen == wanted, "lost or out of order"
sink.seen.clear()
wanted.clear()
after = sys.getrefcount(True), sys.getrefcount(False), sys.getrefcount(None)
assert all(b - a < 100 for a, b in zip(after, before)), (before, after)
print("whole")
"""


def emit(how: str) -> subprocess.CompletedProcess[str]:
    # in a process of its own: the fault ends the interpreter
    return subprocess.run([sys.executable, "-c", EMIT, how], capture_output=True, text=True, timeout=100, check=False)


def test_five_thousand_emitted_flags_arrive():
    finished = emit("direct")
    assert (finished.returncode, finished.stdout.strip()) == (0, "whole"), finished.stderr


def test_five_thousand_queued_flags_arrive():
    finished = emit("queued")
    assert (finished.returncode, finished.stdout.strip()) == (0, "whole"), finished.stderr
