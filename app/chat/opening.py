"""Opening the chat database: check, upgrade with a copy kept, repair what is damaged, read what cannot be written."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from app.chat.checking import PATIENCE_S, FileCheck, suspicion_of
from app.chat.database import connect, explain, is_damage, is_full, malformed, now
from app.chat.salvage import Salvaged, salvage
from app.chat.schema import MIGRATIONS, Step, migrate, version_of
from app.chat.shape import refuse_misshapen
from app.errors import StoreError

logger = logging.getLogger(__name__)

COMPANIONS = ("", "-wal", "-shm")
KEPT_COPIES = 3
_IN_MEMORY = Path(":memory:")
_READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}


@dataclass(frozen=True, slots=True)
class Opened:
    """An open database, and what is to be said about its opening."""

    connection: sqlite3.Connection
    path: Path
    check: FileCheck
    damage: StoreError | None = None
    notice: StoreError | None = None
    is_on_disk: bool = True


def open_database(path: Path, steps: tuple[Step, ...] = MIGRATIONS) -> Opened:
    """Open a database, made if missing.

    Raises:
        StoreError: it cannot be opened, or a newer version of the program made it.
    """
    if path == _IN_MEMORY:
        db = connect(path)
        migrate(db, steps)
        return Opened(db, path, FileCheck(None), is_on_disk=False)
    if not _may_write(path):
        return _read_into_memory(path, steps)
    try:
        return _open(path, steps)
    except StoreError as fault:
        if not is_damage(fault.__cause__):
            return _without_writing(path, fault, steps)
        try:
            damage = repair(path, fault.__cause__, steps)
        except StoreError as refusal:
            return _salvage_into_memory(path, refusal, steps)
    return replace(_open(path, steps), damage=damage)


def _without_writing(path: Path, fault: StoreError, steps: tuple[Step, ...]) -> Opened:
    """Read into memory what cannot be opened for want of room, or not be upgraded.

    Raises:
        StoreError: it is something else, or cannot be read either.
    """
    if isinstance(fault, _NotUpgradedError):
        try:
            return replace(_read_into_memory(path, steps), notice=fault)
        except StoreError:
            raise fault from fault.__cause__
    if isinstance(fault.__cause__, sqlite3.OperationalError) and path.exists() and is_full(path):
        return _read_into_memory(path, steps)
    raise fault


def _open(path: Path, steps: tuple[Step, ...]) -> Opened:
    """Connect, check, upgrade."""
    db: sqlite3.Connection | None = None
    check: FileCheck | None = None
    try:
        if _whole(path).exists():
            _finish_repair(path)
        _refuse_newer(path, len(steps))
        db = connect(path)
        check = FileCheck(path)
        _heed(check, path)
        refuse_misshapen(db)
        notice = upgrade(db, path, steps)
    except BaseException as fault:
        if check is not None:
            check.stop()
        if db is not None:
            db.close()
        if isinstance(fault, UnicodeDecodeError):  # the message of SQLite's error holds bytes of a broken schema
            fault = malformed(fault)
        if isinstance(fault, sqlite3.Error | OSError):
            raise explain(fault, path, "open") from fault
        raise
    return Opened(db, path, check, notice=notice)


def _heed(check: FileCheck, path: Path) -> None:
    """Wait for a check as long as is worth it; to its end if damage was found after an earlier opening."""
    is_suspected = suspicion_of(path).exists()
    if problem := check.wait(None if is_suspected else PATIENCE_S):
        raise malformed(problem)
    if is_suspected:
        suspicion_of(path).unlink(missing_ok=True)


def _refuse_newer(path: Path, n_known: int) -> None:
    """Refuse a database from the future before anything of it is touched.

    Opening for writing would fold its log into the file; a connection for reading leaves both as they are.
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    try:
        # With a log, its end decides; without, nothing but the file is read, and no companion is made.
        has_log = path.with_name(path.name + "-wal").exists()
        uri = f"{path.absolute().as_uri()}?mode=ro" + ("" if has_log else "&immutable=1")
        with closing(sqlite3.connect(uri, uri=True)) as db:
            found = version_of(db)
    except (sqlite3.Error, UnicodeDecodeError):
        return  # whatever that is, opening says it
    if found > n_known:
        copies = [
            copy for number in range(1, n_known + 1) for copy in path.parent.glob(f"{path.name}.format-{number}-*")
        ]
        newest = max(copies, key=lambda copy: copy.name.rpartition("format-")[2].partition("-")[2], default=None)
        raise StoreError(
            f"{path} was made by a newer version of Slipstream (format {found}, this one knows {n_known}).",
            "Start the newer version. The file was not touched."
            + (f" A copy from before the upgrade lies beside it: {newest.name}." if newest else ""),
        )


# --- upgrading ----------------------------------------------------------------------------------------


class _NotUpgradedError(StoreError):
    """The file is as it was; what is in it can still be read."""


def upgrade(db: sqlite3.Connection, path: Path, steps: tuple[Step, ...]) -> StoreError | None:
    """Bring a database to the newest version; an old one with content is copied first, and comes back if that fails.

    Raises:
        StoreError: the copy cannot be made, or a step failed; the file is as it was.
    """
    version = version_of(db)
    if version >= len(steps):
        return None
    if version == 0:
        migrate(db, steps)
        return None
    copy = _copy_before(db, path, version)
    try:
        migrate(db, steps)
    except BaseException as fault:
        _bring_back(db, copy, path)
        if not isinstance(fault, sqlite3.Error):
            raise
        raise _NotUpgradedError(
            f"The chat database {path} could not be upgraded to format {len(steps)}: {fault}. It is as it was, and"
            " what you write now is not saved.",
            f"Free some space or close other programs, then start again. A copy is in {copy.name}.",
        ) from fault
    _forget_old_copies(path)
    return StoreError(
        f"The chat database was upgraded to format {len(steps)}.", f"A copy of the old one is kept as {copy.name}."
    )


def _copy_before(db: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the database, its log included; a copy under its name is whole."""
    stamp = now().strftime("%Y%m%d-%H%M%S")
    copy = path.with_name(f"{path.name}.format-{version}-{stamp}")
    part = path.with_name(f"{path.name}.copying")  # the same name each time: a kill leaves one at most
    try:
        part.unlink(missing_ok=True)
        with closing(sqlite3.connect(part)) as target:
            db.backup(target)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(copy)
    except (sqlite3.Error, OSError) as fault:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise _NotUpgradedError(
            f"The chat database {path} has to be upgraded, and its copy cannot be written: {fault}. Your conversations"
            " can be read; what you write now is not saved.",
            "Free as much space as the file takes, then start again. The file was not touched.",
        ) from fault
    return copy


def _bring_back(db: sqlite3.Connection, copy: Path, path: Path) -> None:
    """Make the database what its copy is, in one transaction of SQLite's own."""
    if db.in_transaction:
        db.execute("ROLLBACK")
    try:
        with closing(sqlite3.connect(copy)) as source:
            if version_of(source) != version_of(db):  # steps before the failed one had been carried out
                source.backup(db)
    except sqlite3.Error as fault:
        raise StoreError(
            f"The chat database {path} is half upgraded and cannot be brought back: {fault}.",
            f"Close the program, and rename {copy.name} to {path.name}.",
        ) from fault


def _forget_old_copies(path: Path) -> None:
    copies = sorted(path.parent.glob(f"{path.name}.format-*"), key=lambda copy: copy.stat().st_mtime)
    for old in copies[:-KEPT_COPIES]:
        with suppress(OSError):
            old.unlink()


# --- repairing ----------------------------------------------------------------------------------------


def repair(path: Path, fault: BaseException | None, steps: tuple[Step, ...]) -> StoreError:
    """Keep a damaged database beside a new one that holds what can still be read of it; return what is to be said.

    A kill at any moment loses nothing: the damaged file stays in its place until the new one is whole under a name that
    says so, and from then on the next opening does what is left to do.
    """
    stamp = now().strftime("%Y%m%d-%H%M%S")
    aside = _free_name(path.with_name(f"{path.name}.damaged-{stamp}"))
    fresh = path.with_name(f"{path.name}.repaired")
    for suffix in COMPANIONS:
        path.with_name(fresh.name + suffix).unlink(missing_ok=True)
    try:
        saved = _salvage_into(fresh, path, steps)
        for suffix in COMPANIONS:
            companion = path.with_name(path.name + suffix)
            if companion.exists():
                _keep(companion, aside.with_name(aside.name + suffix))
        fresh.replace(_whole(path))
        _finish_repair(path)
    except (OSError, sqlite3.Error) as refusal:
        raise StoreError(
            f"The chat database {path} is damaged ({fault}) and cannot be repaired: {refusal}.",
            "Free some space and check the permissions of its folder, then start again. Nothing was deleted.",
        ) from refusal
    logger.warning("The chat database was damaged (%s); kept as %s; saved: %s", fault, aside, saved)
    return StoreError(
        f"The chat database was damaged ({fault}). {saved.words()} A new file was made of that; the damaged one was"
        f" kept as {aside.name}.",
        f"Keep {aside} until you have looked whether anything is missing.",
    )


def _whole(path: Path) -> Path:
    """Name of a repaired database that is whole and waits to take the place of the damaged one."""
    return path.with_name(f"{path.name}.repaired-whole")


def _finish_repair(path: Path) -> None:
    """Put a repaired database in the place of the damaged one, which is kept already."""
    for suffix in COMPANIONS[1:]:  # a log of the damaged one would be read into the new one
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    _whole(path).replace(path)
    suspicion_of(path).unlink(missing_ok=True)


def _keep(source: Path, target: Path) -> None:
    """Give a file a second name; where the disk knows no such thing, copy it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _salvage_into(fresh: Path, damaged: Path, steps: tuple[Step, ...]) -> Salvaged:
    with closing(connect(fresh)) as db:
        migrate(db, steps)
        saved = salvage(damaged, db)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode = DELETE")  # one file, without companions, is what is renamed
    return saved


def _salvage_into_memory(path: Path, refusal: StoreError, steps: tuple[Step, ...]) -> Opened:
    """Show what can be read of a damaged database where no repaired one can be written."""
    db = connect(_IN_MEMORY)
    try:
        migrate(db, steps)
        saved = salvage(path, db)
    except (OSError, sqlite3.Error):
        db.close()
        raise refusal from None
    notice = StoreError(f"{refusal.message} {saved.words()} What you write now is not saved.", refusal.hint)
    return Opened(db, path, FileCheck(None), notice=notice, is_on_disk=False)


def _free_name(path: Path) -> Path:
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


# --- what cannot be written ---------------------------------------------------------------------------


def _may_write(path: Path) -> bool:
    """Whether the file and its folder let us write; a missing folder is for opening to say."""
    if not path.exists():
        return True
    if not os.access(path, os.W_OK):
        return False
    try:
        probe = path.with_name(f"{path.name}.probe-{os.getpid()}")
        probe.touch()
        probe.unlink()
    except OSError as fault:
        return fault.errno not in _READ_ONLY
    return True


def _read_into_memory(path: Path, steps: tuple[Step, ...]) -> Opened:
    """Read a database that cannot be written; what is said from now on lasts as long as the program.

    Raises:
        StoreError: it cannot be read either, or is from a newer version.
    """
    _refuse_newer(path, len(steps))
    db = connect(_IN_MEMORY)
    try:
        # SQLite wants to write beside the file even to read its log: let it do so elsewhere.
        with tempfile.TemporaryDirectory(prefix="slipstream-") as folder:
            for suffix in ("", "-wal"):
                companion = path.with_name(path.name + suffix)
                if companion.exists():
                    shutil.copyfile(companion, Path(folder) / companion.name)
            with closing(sqlite3.connect(Path(folder) / path.name)) as source:
                source.backup(db)
        migrate(db, steps)
    except (sqlite3.Error, OSError) as fault:
        db.close()
        raise explain(fault, path, "read") from fault
    hint = "Free some space" if is_full(path) else "Check the permissions of the file and its folder"
    notice = StoreError(
        f"{path} cannot be written. Your conversations can be read; what you write now is not saved.",
        f"{hint}, then start again.",
    )
    return Opened(db, path, FileCheck(None), notice=notice, is_on_disk=False)
