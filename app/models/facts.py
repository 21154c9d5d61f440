"""What the headers of known files say, kept from one run to the next: a hundred models are not read at every start.

A file is the same as long as its path, size and time of change are. Only sound models are kept; what is broken is
looked at each time, since it may have become whole.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

import msgspec

from app.paths import cache_dir

logger = logging.getLogger(__name__)

MAX_FILES = 20_000
"""Files that are remembered; the one that was learned first is forgotten first."""

VERSION = 2
"""Of what is drawn from a header; a change of it makes all be read again."""


class Facts(msgspec.Struct, frozen=True, array_like=True):
    """What a listing says of one file. ``is_drafter``: it only drafts for a target; ``n_parts``: of a split model."""

    n_bytes: int
    mtime_ns: int
    architecture: str
    quantisation: str
    is_drafter: bool
    n_parts: int


class _Kept(msgspec.Struct, frozen=True):
    version: int
    files: dict[str, Facts]


class FactBook:
    """The facts of all files that were read; for one thread at a time."""

    def __init__(self) -> None:
        self._files: dict[str, Facts] | None = None
        self._is_changed = False

    def get(self, path: Path, state: os.stat_result) -> Facts | None:
        """Return what is known of a file in this state."""
        facts = self._known().get(str(path))
        is_same = facts is not None and (facts.n_bytes, facts.mtime_ns) == (state.st_size, state.st_mtime_ns)
        return facts if is_same else None

    def put(self, path: Path, facts: Facts) -> None:
        """Remember a file."""
        files = self._known()
        files.pop(str(path), None)
        files[str(path)] = facts
        while len(files) > MAX_FILES:
            del files[next(iter(files))]
        self._is_changed = True

    def save(self) -> None:
        """Keep what is new for the next run; a cache that cannot be written is none."""
        if not self._is_changed:
            return
        self._is_changed = False
        try:
            path = _path()
            part = path.with_suffix(f".{os.getpid()}")
            part.write_bytes(msgspec.json.encode(_Kept(VERSION, self._known())))
            part.replace(path)
        except OSError as fault:
            logger.info("the facts of models are not kept: %s", fault)

    def _known(self) -> dict[str, Facts]:
        if self._files is None:
            self._files = {}
            try:
                kept = msgspec.json.decode(_path().read_bytes(), type=_Kept)
            except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
                logger.info("no facts of models are known: %s", fault)
            else:
                self._files = kept.files if kept.version == VERSION else {}
        return self._files


def _path() -> Path:
    return cache_dir() / "models.json"
