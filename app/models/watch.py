"""Notices when models appear and vanish: looks at the folders' times now and then, and reads only what has changed.

Polling, because no watcher of a system sees network drives, caches behind links, and a folder that is not there yet.
A look without a change costs one ``stat`` a folder and one for each file that is not whole.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from app.models.found import folders_below
from app.models.library import Contents, Library

logger = logging.getLogger(__name__)

INTERVAL_S = 2.0
_SETTLE_S = 3.0
"""A folder that changed so recently may have changed again within the same tick of its clock."""

_END_S = 5.0

_SHARE = 0.05
"""Part of the time that looking may take where there are very many folders, or slow ones."""


class Watch:
    """A thread that tells what the library has, at the beginning and after each change."""

    def __init__(
        self, library: Library, on_change: Callable[[Contents], None], *, interval_s: float = INTERVAL_S
    ) -> None:
        self._library, self._on_change, self._interval_s = library, on_change, interval_s
        self._wake = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="library watch", daemon=True)
        self._folders: dict[Path, int] = {}
        self._files: dict[Path, tuple[int, int]] = {}
        self._tops: tuple[Path, ...] = ()
        self._is_settled = False
        self._told: Contents | None = None

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def look(self) -> None:
        """Look now; from any thread."""
        self._wake.set()

    def close(self) -> None:
        """End it; a drive that hangs is not waited for for long."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(_END_S)

    def _run(self) -> None:
        while not self._closing:
            self._wake.clear()
            began_s = time.monotonic()
            try:
                self.poll()
            except Exception:  # the next look may go better; the window lives on with what it knows
                logger.exception("looking for models failed")
            self._wake.wait(max(self._interval_s, (time.monotonic() - began_s) / _SHARE))

    def poll(self) -> bool:
        """Look once; tell whether anything was told."""
        if not self._has_changed():
            return False
        self._remember()
        contents = self._library.contents()
        self._files = {file.path: _state(file.path) for file in contents.broken}
        if contents == self._told or self._closing:
            return False
        self._told = contents
        self._on_change(contents)
        return True

    def _has_changed(self) -> bool:
        if not self._is_settled or self._tops != tuple(place.folder for place in self._library.places()):
            return True
        return any(_time(folder) != mtime_ns for folder, mtime_ns in self._folders.items()) or any(
            _state(path) != state for path, state in self._files.items()
        )

    def _remember(self) -> None:
        """Note the folders' times before their files are read: what comes in between is seen the next time."""
        places = self._library.places()
        self._tops = tuple(place.folder for place in places)
        self._folders = {folder: _time(folder) for folder in self._tops}
        for place in places:
            self._folders.update(folders_below(place.folder, place.depth))
        newest_s = max(self._folders.values(), default=0) / 1e9
        self._is_settled = not 0 <= time.time() - newest_s < _SETTLE_S


def _time(folder: Path) -> int:
    return _state(folder)[1]


def _state(path: Path) -> tuple[int, int]:
    try:
        state = path.stat()
    except (OSError, ValueError):  # gone, or no path at all
        return -1, -1
    return state.st_size, state.st_mtime_ns
