"""Opening the chat database: check, upgrade, repair what is damaged, read into memory what cannot be written."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from app.chat.checking import FileCheck, patience_s, suspicion_of
from app.chat.database import connect, explain, is_damage, is_full, malformed, now
from app.chat.progress import Look
from app.chat.salvage import Salvaged, salvage
from app.chat.schema import migrate, version_of
from app.chat.shape import refuse_misshapen
from app.chat.upgrading import How, InUseError, NotUpgradedError, is_locked, lack_of_room, refuse_held, upgrade
from app.errors import StoreError

logger = logging.getLogger(__name__)

COMPANIONS = ("", "-wal", "-shm")
_LOOK_S = 0.1
_WAIT_S = 0.25
_IN_MEMORY = Path(":memory:")
_AS_EVER = How()
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


def open_database(path: Path, how: How = _AS_EVER) -> Opened:
    """Open a database, made if missing. What ``how`` raises ends an upgrade or a repair, with the file as it was.

    Raises:
        StoreError: it cannot be opened, or a newer version of the program made it.
        InUseError: another program has it, and ``how`` does not wait for that.
    """
    if path == _IN_MEMORY:
        db = connect(path, is_handed_on=how.is_handed_on)
        migrate(db, how.steps)
        return Opened(db, path, FileCheck(None), is_on_disk=False)
    if not _may_write(path):
        return _read_into_memory(path, how)
    while True:
        try:
            return _open_or_repair(path, how)
        except InUseError as fault:  # what is read into memory instead would be lost at the end
            _wait(path, fault, how)


def _wait(path: Path, fault: InUseError, how: How) -> None:
    """Wait for another program, without doing more than looking."""
    is_held = True
    while is_held:
        how.wait(fault)
        time.sleep(_WAIT_S)
        try:
            with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as db:
                refuse_held(db, path)
            is_held = False
        except InUseError:
            continue
        except sqlite3.Error:
            is_held = False  # whatever that is, opening says it


def _open_or_repair(path: Path, how: How) -> Opened:
    try:
        return _open(path, how)
    except InUseError:
        raise
    except StoreError as fault:
        if not is_damage(fault.__cause__):
            return _without_writing(path, fault, how)
        try:
            damage = repair(path, fault.__cause__, how)
        except StoreError as refusal:
            return _salvage_into_memory(path, refusal, how)
    return replace(_open(path, how), damage=damage)


def _without_writing(path: Path, fault: StoreError, how: How) -> Opened:
    """Read into memory what cannot be opened for want of room, or not be upgraded.

    Raises:
        StoreError: it is something else, or cannot be read either.
    """
    if isinstance(fault, NotUpgradedError):
        try:
            return replace(_read_into_memory(path, how), notice=fault)
        except StoreError:
            raise fault from fault.__cause__
    if isinstance(fault.__cause__, sqlite3.OperationalError) and path.exists() and is_full(path):
        return _read_into_memory(path, how)
    raise fault


def _open(path: Path, how: How) -> Opened:
    """Connect, check, upgrade."""
    db: sqlite3.Connection | None = None
    check: FileCheck | None = None
    try:
        if _whole(path).exists():
            _finish_repair(path)
        _refuse_newer(path, len(how.steps))
        db = connect(path, is_handed_on=how.is_handed_on)
        check = FileCheck(path)
        _heed(check, path, how.look)
        refuse_misshapen(db)
        notice = upgrade(db, path, how)
    except BaseException as fault:
        if check is not None:
            check.stop()
        if db is not None:
            db.close()
        if isinstance(fault, UnicodeDecodeError):  # the message of SQLite's error holds bytes of a broken schema
            fault = malformed(fault)
        if is_locked(fault):
            raise InUseError(path, fault) from fault
        if isinstance(fault, sqlite3.Error | OSError):
            raise explain(fault, path, "open") from fault
        raise
    return Opened(db, path, check, notice=notice)


def _heed(check: FileCheck, path: Path, look: Look) -> None:
    """Wait for a check as long as is worth it; to its end if damage was found after an earlier opening."""
    is_suspected = suspicion_of(path).exists()
    while is_suspected and not check.is_done:
        look()
        check.wait(_LOOK_S)
    if problem := check.wait(patience_s(path.stat().st_size)):
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


# --- repairing ----------------------------------------------------------------------------------------


def repair(path: Path, fault: BaseException | None, how: How) -> StoreError:
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
        saved = _salvage_into(fresh, path, how)
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
    except BaseException:  # it was stopped: the next opening begins again
        for suffix in COMPANIONS:
            path.with_name(fresh.name + suffix).unlink(missing_ok=True)
        raise
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


def _salvage_into(fresh: Path, damaged: Path, how: How) -> Salvaged:
    with closing(connect(fresh)) as db:
        migrate(db, how.steps)
        saved = salvage(damaged, db, how.look)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode = DELETE")  # one file, without companions, is what is renamed
    return saved


def _salvage_into_memory(path: Path, refusal: StoreError, how: How) -> Opened:
    """Show what can be read of a damaged database where no repaired one can be written."""
    db = connect(_IN_MEMORY, is_handed_on=how.is_handed_on)
    try:
        migrate(db, how.steps)
        saved = salvage(path, db, how.look)
    except BaseException as fault:
        db.close()
        if not isinstance(fault, OSError | sqlite3.Error):
            raise
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


def _read_into_memory(path: Path, how: How) -> Opened:
    """Read a database that cannot be written; what is said from now on lasts as long as the program.

    Raises:
        StoreError: it cannot be read either, or is from a newer version.
    """
    _refuse_newer(path, len(how.steps))
    db = connect(_IN_MEMORY, is_handed_on=how.is_handed_on)
    lack: StoreError | None = None
    try:
        if not (_may_write(path) and _read_in_place(path, db)):
            _read_elsewhere(path, db)
        if is_full(path) and version_of(db) < len(how.steps):
            lack = lack_of_room(db, path)
        migrate(db, how.steps, how.note)
    except BaseException as fault:
        db.close()
        if not isinstance(fault, sqlite3.Error | OSError):
            raise
        raise explain(fault, path, "read") from fault
    hint = "Free some space" if is_full(path) else "Check the permissions of the file and its folder"
    notice = lack or StoreError(
        f"{path} cannot be written. Your conversations can be read; what you write now is not saved.",
        f"{hint}, then start again.",
    )
    return Opened(db, path, FileCheck(None), notice=notice, is_on_disk=False)


def _read_in_place(path: Path, db: sqlite3.Connection) -> bool:
    """Read a database whose disk is full; return whether that could be done.

    Who has it alone needs no file beside it to read its log. A copy might have to be on the same disk.
    """
    try:
        with closing(sqlite3.connect(path, timeout=0)) as source:
            source.execute("PRAGMA locking_mode = EXCLUSIVE")
            source.backup(db)
    except sqlite3.Error:  # another program has it, too
        return False
    return True


def _read_elsewhere(path: Path, db: sqlite3.Connection) -> None:
    """Read a copy of a database: SQLite wants to write beside a file even to read its log."""
    with tempfile.TemporaryDirectory(prefix="slipstream-") as folder:
        for suffix in ("", "-wal"):
            companion = path.with_name(path.name + suffix)
            if companion.exists():
                shutil.copyfile(companion, Path(folder) / companion.name)
        with closing(sqlite3.connect(Path(folder) / path.name)) as source:
            source.backup(db)
