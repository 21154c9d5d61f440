"""Which files llama.cpp has taken before, so that a known good file is tried only once.

A file is the same as long as its path, size and time of change are. Only good verdicts are kept: what failed may have
failed for want of memory, and trying again costs nothing but the trial.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from app.engine.trial import Trial
from app.models.library import LibraryEntry
from app.paths import cache_dir

logger = logging.getLogger(__name__)

MAX_FILES = 500
"""Files that are remembered; the one that was tried first is forgotten first."""

Key = tuple[str, int, int]


class Try(Protocol):
    """A trial of one file: see :class:`app.engine.trial.Trial`."""

    def run(self) -> None:
        """Try it; blocks, and raises what is wrong with the file."""

    def stop(self) -> None:
        """End it now."""


class _Kept(msgspec.Struct, frozen=True):
    good: tuple[Key, ...] = ()


class Tried:
    """The memory of trials."""

    def __init__(self, make: Callable[[Path], Try] = Trial) -> None:
        self._make = make
        self._good: dict[Key, None] | None = None

    def needed(self, entry: LibraryEntry) -> Try | None:
        """Return the trial that a file has to pass, or None if it is known. Blocks for as long as a small file takes.

        The starter comes with us and was tried before it left.
        """
        return None if entry.source == "starter" or _key(entry) in self._known() else self._make(entry.path)

    def passed(self, entry: LibraryEntry) -> None:
        """Remember that a file is good."""
        good, key = self._known(), _key(entry)
        if key is None:
            return
        good[key] = None
        while len(good) > MAX_FILES:
            del good[next(iter(good))]
        try:
            path = _path()
            part = path.with_suffix(f".{os.getpid()}")
            part.write_bytes(msgspec.json.encode(_Kept(tuple(good))))
            part.replace(path)
        except OSError as fault:
            logger.info("the verdict on %s is not kept: %s", entry.path.name, fault)

    def _known(self) -> dict[Key, None]:
        if self._good is None:
            try:
                self._good = dict.fromkeys(msgspec.json.decode(_path().read_bytes(), type=_Kept).good)
            except (OSError, msgspec.MsgspecError, RecursionError) as fault:
                logger.info("no verdicts are known: %s", fault)
                self._good = {}
        return self._good


def _path() -> Path:
    return cache_dir() / "tried.json"


def _key(entry: LibraryEntry) -> Key | None:
    """Return what tells whether a file is still the one that was tried; None if it is gone."""
    try:
        facts = entry.path.stat()
    except OSError:
        return None
    return str(entry.path.absolute()), facts.st_size, facts.st_mtime_ns
