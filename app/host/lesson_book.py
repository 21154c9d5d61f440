"""Keeps what a pair has taught, so that only the very first answer of a pair on a machine begins without experience."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import msgspec

from app.lessons import Lessons
from app.paths import cache_dir
from app.protocol import Load

logger = logging.getLogger(__name__)


class LessonBook:
    """One small file a pair, in the cache folder; without it the controller learns anew, so no fault here is raised.

    A pair is its two files as they are now, and the way they are loaded: other threads or another kind of memory
    cost otherwise.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._path: Path | None = None
        self._kept: Lessons | None = None

    def with_lessons(self, command: Load) -> Load:
        """Return the command with what is known of its pair; from now on :meth:`keep` is about this pair."""
        try:
            self._path = (self._folder or cache_dir() / "lessons") / f"{_key(command)}.json"
            self._kept = msgspec.json.decode(self._path.read_bytes(), type=Lessons)
        except FileNotFoundError:
            self._kept = None
        except (OSError, msgspec.MsgspecError) as fault:
            logger.info("what this pair has taught cannot be read: %s", fault)
            self._kept = None
        return msgspec.structs.replace(command, lessons=self._kept)

    def keep(self, lessons: Lessons) -> None:
        """Write down what the pair has taught so far."""
        if self._path is None or lessons in (self._kept, Lessons()):
            return
        part = self._path.with_suffix(".part")
        try:
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(msgspec.json.encode(lessons))
            part.replace(self._path)
        except OSError as fault:
            logger.info("what this pair has taught cannot be kept: %s", fault)
        else:
            self._kept = lessons


def _key(command: Load) -> str:
    """Return a name for the pair.

    Raises:
        OSError: a file cannot be looked at.
    """
    facts: list[object] = [command.n_threads, command.draft_n_threads, command.draft_n_ctx]
    facts += [msgspec.to_builtins(command.memory), msgspec.to_builtins(command.draft_memory)]
    for name in (command.target, command.draft):
        if name is not None:
            stat = Path(name).stat()
            facts.append([name, stat.st_size, stat.st_mtime_ns])
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:32]
