"""What a test has left behind: threads, child processes, top-level windows, running timers."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.fair_time import FairWatch

GRACE_S = 3.0
"""How long something may take to end after the test."""

OUR_OWN_THREADS = ("pytest_timeout", "pytest-timeout")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is there at one moment."""

    threads: frozenset[threading.Thread]
    processes: frozenset[psutil.Process]
    windows: frozenset[int]
    timers: frozenset[int] | None

    @classmethod
    def take(cls, *, has_window: bool = False) -> Snapshot:
        """Look now; at timers only where there is a window, since that takes as long as there are objects."""
        timers = frozenset(map(_address, _timers())) if has_window else None
        return cls(
            frozenset(threading.enumerate()),
            frozenset(_children()),
            frozenset(map(_address, _windows())),
            timers,
        )


def since(before: Snapshot) -> list[str]:
    """Describe what is there now and was not before, after a grace period; end the processes among it."""
    threads = _outlasting(lambda: (t for t in threading.enumerate() if t not in before.threads and not _is_ours(t)))
    processes = _outlasting(lambda: (p for p in _children() if p not in before.processes))
    described = [f"thread {thread.name}" for thread in threads] + [_describe(process) for process in processes]
    described += [f"window {window!r}" for window in _new(_windows, before.windows)]
    if before.timers is not None:
        timers = [timer for timer in _new(_timers, before.timers) if not _is_of(timer, before.windows)]
        described += [_describe_timer(timer) for timer in timers]
    for process in processes:
        process.kill()
    return described


def _outlasting(find: Callable[[], Iterable[Any]]) -> list[Any]:
    watch = FairWatch()
    while (found := list(find())) and watch.took_s < GRACE_S:
        time.sleep(0.01)
    return found


def _is_ours(thread: threading.Thread) -> bool:
    return thread.name.startswith(OUR_OWN_THREADS)


def _children() -> list[psutil.Process]:
    if _has_no_child():
        return []
    return psutil.Process().children(recursive=True)


def _has_no_child() -> bool:
    """Whether that is known for sure, at once: to look through all processes of the machine takes milliseconds."""
    try:
        lists = list(Path("/proc/self/task").glob("*/children"))
        return bool(lists) and not any(one.read_bytes() for one in lists)
    except OSError:  # a thread has ended, or this is another system
        return False


def _describe(process: psutil.Process) -> str:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return f"process {process.pid}, which ended but was not waited for"
        return f"process {process.pid} ({' '.join(process.cmdline())})"
    except psutil.NoSuchProcess:
        return f"process {process.pid}, which has just ended"


def _windows() -> list[Any]:
    """Return the top-level widgets that nobody owns, if there is a QApplication."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    if widgets is None or widgets.QApplication.instance() is None:
        return []
    return [w for w in widgets.QApplication.topLevelWidgets() if w.parent() is None and not w.inherits("QTipLabel")]


def _timers() -> list[Any]:
    """Return the Qt timers that run, of those that Python knows; none where there is no QApplication.

    What was there before the module's first test is frozen, so few objects are looked at.
    """
    widgets = sys.modules.get("PySide6.QtWidgets")
    if widgets is None or widgets.QApplication.instance() is None:
        return []
    kind, is_there = sys.modules["PySide6.QtCore"].QTimer, sys.modules["shiboken6"].isValid
    found = [each for each in gc.get_objects() if issubclass(type(each), kind)]
    return [timer for timer in found if is_there(timer) and timer.isActive()]


def _is_of(timer: Any, windows: frozenset[int]) -> bool:
    """Tell whether a timer belongs to one of these windows: one that several tests share lives on with its timers."""
    owner = timer.parent()
    while owner is not None and not owner.isWidgetType():
        owner = owner.parent()
    return owner is not None and _address(owner.window()) in windows


def _describe_timer(timer: Any) -> str:
    owner = timer.parent()
    return f"a timer of {timer.interval()} ms that runs, of {type(owner).__name__ if owner is not None else 'nobody'}"


def _address(thing: Any) -> int:
    """Return where a thing of Qt itself lies: Python's wrapper of it comes and goes."""
    return sys.modules["shiboken6"].getCppPointer(thing)[0]


def _new(find: Callable[[], list[Any]], before: frozenset[int]) -> list[Any]:
    new = [each for each in find() if _address(each) not in before]
    if not new:
        return []
    del new
    gc.collect()
    core = sys.modules["PySide6.QtCore"]
    core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)
    return [each for each in find() if _address(each) not in before]
