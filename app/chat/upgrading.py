"""Upgrading the chat database: an old one is copied first, and comes back if a step fails or the work is stopped.

A step and its number are one transaction: a program that is killed in the middle finds the file as it was before that
step, and goes on there at its next start.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from app.chat.database import is_full, now
from app.chat.progress import Look, Progress, no_look, no_progress, part_of
from app.chat.schema import MIGRATIONS, Step, migrate, version_of
from app.engine.byte_cursor import size_in_words
from app.errors import StoreError

KEPT_COPIES = 3
ROOM_FOR_STEPS = 3
"""How often the file must fit on its disk beside its copy: its index is made anew, in the log first.

Measured of 2,000 messages: 1.4 times of format 1, 2.6 to 2.8 times of formats 2 to 4.
"""
_PAGES_AT_ONCE = 1000
_HALF_COPY = re.compile(r"\.copying-(\d{1,9})")


class NotUpgradedError(StoreError):
    """The file is as it was; what is in it can still be read."""


class InUseError(StoreError):
    """Another program has the file and lets nobody else in: it upgrades it, as a rule, and will have done so soon."""

    def __init__(self, path: Path, fault: BaseException) -> None:
        super().__init__(
            f"Another program is using the chat database {path}, maybe to make it ready for a new version ({fault}).",
            "Wait until it has done so, or close it; then try again.",
        )


def refuse(fault: InUseError) -> None:
    """Do not wait for another program.

    Raises:
        InUseError: that one.
    """
    raise fault


class How(NamedTuple):
    """How a database is opened: the steps to the newest version, and who is told how far they are.

    ``is_handed_on``: whoever opens it gives it to another thread, where it stays. ``look`` is called during a repair or
    a long check, of which nobody knows how far it is. ``wait`` is called again and again while another program has the
    file; what it raises ends the waiting.
    """

    steps: tuple[Step, ...] = MIGRATIONS
    note: Progress = no_progress
    is_handed_on: bool = False
    look: Look = no_look
    wait: Callable[[InUseError], None] = refuse


def upgrade(db: sqlite3.Connection, path: Path, how: How) -> StoreError | None:
    """Bring a database to the newest version; an old one with content is copied first, and comes back if that fails.

    Raises:
        StoreError: the copy cannot be made, or a step failed; the file is as it was.
        InUseError: another program has it, and is not disturbed.
    """
    version = version_of(db)
    n_parts = len(how.steps) - version + 1
    if n_parts <= 1:
        return None
    if version == 0:
        migrate(db, how.steps)
        return None
    refuse_held(db, path)  # a copy would be made in vain
    _forget_half_copies(path)
    _forget_old_copies(path)  # of starts that were killed here
    if lack := lack_of_room(db, path):
        raise lack
    copy = _copy_before(db, path, version, part_of(how.note, 0, n_parts))
    is_as_left = _unwritten_by_others(db)
    try:
        migrate(db, how.steps, how.note, n_before=1)
    except BaseException as fault:
        if db.in_transaction:
            db.execute("ROLLBACK")
        is_ours = not is_locked(fault) and is_as_left()
        if is_ours and version_of(db) != version:  # steps before the failed one had been carried out
            _bring_back(db, copy, path)
        is_for_room = is_ours and isinstance(fault, sqlite3.Error) and ("full" in str(fault) or is_full(path))
        lack = lack_of_room(db, path) if is_for_room else None
        if lack or not (is_ours and isinstance(fault, sqlite3.Error)):
            with suppress(OSError):
                copy.unlink()  # it was stopped, and everything is as it was, or who has the file has a copy
        if not isinstance(fault, sqlite3.Error):
            raise
        if not is_ours:
            raise InUseError(path, fault) from fault
        if lack:
            raise lack_of_room(db, path) or lack from fault
        _forget_old_copies(path)
        raise NotUpgradedError(
            f"The chat database {path} could not be upgraded to format {len(how.steps)}: {fault}. It is as it was, and"
            " what you write now is not saved.",
            f"Free some space or close other programs, then start again. A copy is in {copy.name}.",
        ) from fault
    _forget_old_copies(path)
    return StoreError(
        f"The chat database was upgraded to format {len(how.steps)}.", f"A copy of the old one is kept as {copy.name}."
    )


def lack_of_room(db: sqlite3.Connection, path: Path) -> NotUpgradedError | None:
    """Return what is to be said if the disk of a database has no room for its copy and its upgrade.

    Args:
        db: the database, or what was read of it into memory.
        path: its file.
    """
    try:
        free_bytes = shutil.disk_usage(path.parent).free
    except OSError:
        return None  # writing will say it
    n_bytes = int(db.execute("PRAGMA page_count").fetchone()[0]) * int(db.execute("PRAGMA page_size").fetchone()[0])
    lacking_bytes = (1 + ROOM_FOR_STEPS) * n_bytes - free_bytes
    if lacking_bytes <= 0:
        return None
    return NotUpgradedError(
        f"The disk is full: making the chat database {path} ready for this version needs"
        f" {size_in_words((1 + ROOM_FOR_STEPS) * n_bytes)}, and {size_in_words(free_bytes)} are free. Nothing"
        " in it is lost: your conversations can be read, but what you write now is not saved.",
        f"Free {size_in_words(lacking_bytes)} more on that disk, then start again.",
    )


def _copy_before(db: sqlite3.Connection, path: Path, version: int, note: Progress) -> Path:
    """Copy the database, its log included; a copy under its name is whole."""
    stamp = now().strftime("%Y%m%d-%H%M%S")
    me = os.getpid()  # of two processes that copy at once each has its own
    copy = path.with_name(f"{path.name}.format-{version}-{stamp}-{me}")
    part = path.with_name(f"{path.name}.copying-{me}")
    try:
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(part)) as target:
            db.backup(target, pages=_PAGES_AT_ONCE, progress=lambda _, n_left, n: note(n - n_left, n))
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(copy)
    except BaseException as fault:
        for left in (part, part.with_name(f"{part.name}-journal")):
            with suppress(OSError):
                left.unlink(missing_ok=True)
        if not isinstance(fault, sqlite3.Error | OSError):
            raise
        raise lack_of_room(db, path) or NotUpgradedError(
            f"The chat database {path} has to be upgraded, and its copy cannot be written: {fault}. Your conversations"
            " can be read; what you write now is not saved.",
            "Free as much space as the file takes, then start again. The file was not touched.",
        ) from fault
    return copy


def refuse_held(db: sqlite3.Connection, path: Path) -> None:
    """Look whether another process lets nobody write; whatever else is wrong, writing says.

    Raises:
        InUseError: it does.
    """
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute("ROLLBACK")
    except sqlite3.Error as fault:
        if is_locked(fault):
            raise InUseError(path, fault) from fault


def is_locked(fault: BaseException) -> bool:
    """Whether another process has the database: what it does there is not to be undone."""
    words = str(fault)
    return isinstance(fault, sqlite3.OperationalError) and ("locked" in words or "busy" in words)


def _unwritten_by_others(db: sqlite3.Connection) -> Callable[[], bool]:
    """Return what says whether nobody else has written to a database since now."""

    def seen() -> int:
        return int(db.execute("PRAGMA data_version").fetchone()[0])

    before = seen()
    return lambda: seen() == before


def _bring_back(db: sqlite3.Connection, copy: Path, path: Path) -> None:
    """Make the database what its copy is, in one transaction of SQLite's own."""
    try:
        whole = f"{copy.absolute().as_uri()}?immutable=1"  # no file is made beside it, for which there may be no room
        with closing(sqlite3.connect(whole, uri=True)) as source:
            source.backup(db)
    except sqlite3.Error as fault:
        if "full" in str(fault) and (lack := lack_of_room(db, path)):
            raise lack from fault  # what has been done is whole in itself, and the next start goes on there
        raise StoreError(
            f"The chat database {path} is half upgraded and cannot be brought back: {fault}.",
            f"Close the program, and rename {copy.name} to {path.name}.",
        ) from fault


def _forget_half_copies(path: Path) -> None:
    """Give back what processes took that were killed while they copied."""
    import psutil

    for left in path.parent.glob(f"{path.name}.copying*"):
        maker = _HALF_COPY.search(left.name)
        if maker is None or not psutil.pid_exists(int(maker[1])):
            with suppress(OSError):
                left.unlink()


def _forget_old_copies(path: Path) -> None:
    """Keep the newest copies and the first of the oldest format, which later starts cannot make again."""
    copies = sorted(path.parent.glob(f"{path.name}.format-*"), key=lambda copy: copy.stat().st_mtime)
    oldest = min(copies, key=_format_of, default=None)
    for old in [copy for copy in copies if copy != oldest][: -KEPT_COPIES + 1]:
        with suppress(OSError):
            old.unlink()


def _format_of(copy: Path) -> int:
    number = copy.name.rpartition(".format-")[2].partition("-")[0]
    return int(number) if number.isdecimal() else sys.maxsize
