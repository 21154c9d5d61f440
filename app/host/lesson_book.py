"""Keeps what a pair has taught, so that only the very first answer of a pair on a machine begins without experience."""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import msgspec

from app.host.catalog_start import with_start
from app.lessons import Lessons, sound
from app.paths import cache_dir
from app.protocol import Done, Event, Load

MOST_BYTES = 256 * 1024
"""A larger file is not one of ours: what a pair teaches takes some kilobytes."""

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
        """Return the command with what is known of its pair, by the catalog, too; :meth:`keep` is now about it."""
        self._path = self._kept = None  # whatever becomes of this, what follows is not about the pair before
        try:
            self._path = (self._folder or cache_dir() / "lessons") / f"{_key(command)}.json"
            self._kept = sound(msgspec.json.decode(_read(self._path), type=Lessons))
        except FileNotFoundError:
            pass
        except (OSError, msgspec.MsgspecError, RecursionError, ValueError) as fault:
            logger.info("what this pair has taught cannot be read: %s", fault)
        return with_start(msgspec.structs.replace(command, lessons=self._kept))

    def note(self, event: Event) -> None:
        """Keep what an answer has taught, which its last event tells."""
        if isinstance(event, Done) and event.lessons is not None:
            self.keep(event.lessons)

    def keep(self, lessons: Lessons) -> None:
        """Write down what the pair has taught so far."""
        if self._path is None or lessons in (self._kept, Lessons()):
            return
        try:
            _write(self._path, msgspec.json.encode(lessons))
        except OSError as fault:
            logger.info("what this pair has taught cannot be kept: %s", fault)
        else:
            self._kept = lessons


def _read(path: Path) -> bytes:
    """Return a small regular file; nothing that lies there in its place can make this wait or fill the memory.

    Raises:
        OSError: it is not there, cannot be read, or is something else.
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is not a file")
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(f"{path} is larger than {MOST_BYTES} bytes")
    return content


def _write(path: Path, content: bytes) -> None:
    """Put a file in its place, whole, whoever else does so at the same time.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _key(command: Load) -> str:
    """Return a name for the pair.

    Raises:
        OSError: a file cannot be looked at.
    """
    facts: list[object] = [command.n_threads, command.draft_n_threads, command.draft_n_ctx]
    facts += [msgspec.to_builtins(command.memory), msgspec.to_builtins(command.draft_memory)]
    if command.placement.devices or command.draft_placement.devices:
        facts += [msgspec.to_builtins(part) for part in (command.placement, command.draft_placement, command.backends)]
    for name in (command.target, command.draft):
        if name is not None:
            stat = Path(name).stat()
            facts.append([name, stat.st_size, stat.st_mtime_ns])
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:32]
