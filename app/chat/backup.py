"""Everything a person has made, in one file: chats, presets, settings, baselines. Models are not in it.

A backup is a ZIP archive: the database as one file (its log folded in), the small files of the data and configuration
folders, and a manifest with the size and SHA-256 of each. Restoring checks all of that first, copies what is there
into a folder beside, and puts the new files in their place; a failure in between brings everything back.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Literal

import msgspec

from app.chat.database import now
from app.chat.opening import COMPANIONS
from app.chat.progress import Progress, no_progress
from app.chat.schema import MIGRATIONS, version_of
from app.chat.zip_faults import BROKEN
from app.errors import ExportError
from app.named_files import open_named
from app.paths import config_dir, data_dir

SCHEMA: Literal["slipstream.backup/1"] = "slipstream.backup/1"
MANIFEST = "slipstream-backup.json"

_DATABASE = "chats.db"
_CHUNK = 1 << 20
_PAGES = 4096
"""How many pages of the database are copied at a time."""
_MAX_MANIFEST_BYTES = 16 << 20
_LEFT_OUT = ("models", "backups", "runtimes")
"""Folders of the data folder that are large, or can be fetched again."""
_OF_THIS_MACHINE = {"moved.json", "runtimes.json"}
"""Files that say where things lie on one machine."""
_ENDINGS = {".json", ".jsonl", ".csv", ".toml"}


class BackupFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a backup; ``path`` begins with ``data/`` or ``config/``."""

    path: str
    n_bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup holds."""

    schema: Literal["slipstream.backup/1"] = SCHEMA
    made_at: datetime
    database_format: int
    n_conversations: int
    n_messages: int
    files: tuple[BackupFile, ...]


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What a restore did; ``kept_in`` is where lies what was there before."""

    manifest: Manifest
    kept_in: str


class _Meter:
    """Adds up bytes of several pieces of work, and tells how far all of it is."""

    def __init__(self, n_all: int, note: Progress) -> None:
        self._n_all, self._note, self._n_done = n_all, note, 0

    def add(self, n_bytes: int) -> None:
        self.reach(self._n_done + n_bytes)

    def reach(self, n_bytes: int) -> None:
        self._n_done = min(n_bytes, self._n_all)
        self._note(self._n_done, self._n_all)


def back_up(path: Path, note: Progress = no_progress) -> Manifest:
    """Write everything into one file; the program may be running, and go on writing, meanwhile.

    ``note`` is told how many bytes are done, and may raise to stop: then there is no file, or the one of before.

    Raises:
        ExportError: it cannot be written, or what it is of cannot be read.
    """
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    small = list(_small_files())
    database_bytes = _bytes_of(data_dir() / _DATABASE)
    meter = _Meter(2 * database_bytes + sum(_bytes_of(source) for source, _ in small), note)
    try:
        with tempfile.TemporaryDirectory(prefix="slipstream-") as folder:
            database = Path(folder) / _DATABASE
            facts = _copy_database(data_dir() / _DATABASE, database, meter)
            meter.reach(database_bytes)
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
                files = [_add(archive, database, f"data/{_DATABASE}", meter)] if facts[0] else []
                files += [_add(archive, source, name, meter) for source, name in small]
                manifest = Manifest(
                    made_at=now(),
                    database_format=facts[0],
                    n_conversations=facts[1],
                    n_messages=facts[2],
                    files=tuple(files),
                )
                archive.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=2))
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except (OSError, sqlite3.Error) as fault:
        raise ExportError(
            f"The backup {path} cannot be written: {fault}.", "Choose another place, or free some space."
        ) from fault
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return manifest


def read_manifest(path: Path, note: Progress = no_progress) -> Manifest:
    """Read what a backup holds, and check every byte of it; ``note`` may raise to stop.

    Raises:
        ExportError: it is none, is damaged, or a newer version made it.
    """
    try:
        whole = open_named(path)
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault
        raise ExportError(f"Cannot read {path}: {reason}.", "Check the name and the permissions.") from fault
    try:
        with whole, zipfile.ZipFile(whole) as archive:
            manifest = _manifest(archive)
            meter = _Meter(sum(file.n_bytes for file in manifest.files), note)
            for file in manifest.files:
                with archive.open(file.path) as source:
                    _check(source, file, None, meter)
    except BROKEN as fault:
        raise _damaged(path, fault) from fault
    return manifest


def restore(path: Path, note: Progress = no_progress) -> Restored:
    """Put what a backup holds in the place of what is there, all or nothing; what was there is kept in a folder beside.

    No other process may have the chats open meanwhile. ``note`` may raise to stop as long as nothing has been changed.

    Raises:
        ExportError: the backup is damaged, or something cannot be written; everything is as it was then.
    """
    manifest = read_manifest(path)
    meter = _Meter(sum(file.n_bytes for file in manifest.files), note)
    stamp = now().strftime("%Y%m%d-%H%M%S")
    kept = _free_folder(data_dir() / "backups" / f"before-restore-{stamp}")
    try:
        with tempfile.TemporaryDirectory(prefix=".restore-", dir=data_dir()) as folder:
            fresh = Path(folder)
            with open_named(path) as whole, zipfile.ZipFile(whole) as archive:
                for file in manifest.files:
                    _extract(archive, file, fresh, meter)
            _refuse_while_open(data_dir() / _DATABASE)
            _swap(fresh, manifest, kept)
    except (sqlite3.Error, *BROKEN) as fault:
        raise ExportError(
            f"The backup {path} was not restored: {fault}. Everything is as it was.",
            "Close the program and free some space, then try again.",
        ) from fault
    return Restored(manifest=manifest, kept_in=str(kept))


# --- writing ------------------------------------------------------------------------------------------


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _copy_database(source: Path, target: Path, meter: _Meter) -> tuple[int, int, int]:
    """Copy the database as it is at one moment; return its format and how much is in it (zeros: there is none)."""
    if not source.exists():
        return 0, 0, 0
    uri = f"{source.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(uri, uri=True)) as db, closing(sqlite3.connect(target)) as copy:
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on writers do not begin the copy anew
        page_bytes = int(db.execute("PRAGMA page_size").fetchone()[0])
        db.backup(copy, pages=_PAGES, progress=lambda _s, left, n: meter.reach((n - left) * page_bytes))
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without companions
        version = version_of(copy)
        n_conversations = copy.execute("SELECT count(*) FROM conversation").fetchone()[0] if version else 0
        n_messages = copy.execute("SELECT count(*) FROM message").fetchone()[0] if version else 0
    return version, int(n_conversations), int(n_messages)


def _small_files() -> Iterator[tuple[Path, str]]:
    """Yield the small files of a person's folders, and their names in a backup."""
    for kind, folder in (("data", data_dir()), ("config", config_dir())):
        for source in sorted(folder.rglob("*")):
            inside = source.relative_to(folder)
            if inside.parts[0] in _LEFT_OUT or inside.parts[0].startswith("."):
                continue
            if source.name in _OF_THIS_MACHINE or source.suffix not in _ENDINGS:
                continue
            if source.is_file() and not source.is_symlink():
                yield source, f"{kind}/{inside.as_posix()}"


def _add(archive: zipfile.ZipFile, source: Path, name: str, meter: _Meter) -> BackupFile:
    """Copy a file into an archive; what is counted and hashed is what was written."""
    digest, n_bytes = hashlib.sha256(), 0
    with source.open("rb") as file, archive.open(name, "w", force_zip64=True) as target:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            target.write(chunk)
            n_bytes += len(chunk)
            meter.add(len(chunk))
    return BackupFile(path=name, n_bytes=n_bytes, sha256=digest.hexdigest())


# --- reading ------------------------------------------------------------------------------------------


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    if archive.getinfo(MANIFEST).file_size > _MAX_MANIFEST_BYTES:
        raise ExportError("This backup is damaged: its table of contents is too long.", "Choose another file.")
    try:
        manifest = msgspec.json.decode(archive.read(MANIFEST), type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise ExportError(
            f"This is not a backup, or a newer version made it: {fault}.", "Choose another file."
        ) from fault
    if manifest.database_format > len(MIGRATIONS):
        raise ExportError(
            f"A newer version of Slipstream made this backup (format {manifest.database_format}, this one knows"
            f" {len(MIGRATIONS)}).",
            "Restore it with the newer version. Nothing was touched.",
        )
    for file in manifest.files:
        _target(file)
    return manifest


def _target(file: BackupFile) -> Path:
    """Return where a file belongs.

    Raises:
        ExportError: outside of a person's folders.
    """
    parts = PurePosixPath(file.path).parts
    is_inside = len(parts) > 1 and parts[0] in ("data", "config") and ".." not in parts and "\\" not in file.path
    if not is_inside or ":" in file.path or parts[1] in _LEFT_OUT:
        raise ExportError(
            f"This backup holds a file for a place that is not ours: {file.path}.", "Choose another file."
        )
    return (data_dir() if parts[0] == "data" else config_dir()).joinpath(*parts[1:])


def _check(source: IO[bytes], file: BackupFile, target: IO[bytes] | None, meter: _Meter) -> None:
    """Read a file to its end, and write it on if there is a target; refuse it unless it is what the manifest says."""
    digest, n_bytes = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        n_bytes += len(chunk)
        if n_bytes > file.n_bytes:
            break
        meter.add(len(chunk))
        if target is not None:
            target.write(chunk)
    if n_bytes != file.n_bytes or digest.hexdigest() != file.sha256:
        raise ExportError(
            f"This backup is damaged: {file.path} is not what it was.", "Nothing was touched. Choose another file."
        )


def _extract(archive: zipfile.ZipFile, file: BackupFile, fresh: Path, meter: _Meter) -> None:
    target = fresh / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(file.path) as source, target.open("wb") as written:
        _check(source, file, written, meter)
        written.flush()
        os.fsync(written.fileno())


def _refuse_while_open(database: Path) -> None:
    """Refuse to take a database away under a program that writes to it.

    Raises:
        sqlite3.Error: another program has it open.
    """
    if not database.exists():
        return
    try:
        with closing(sqlite3.connect(database, timeout=0.2, isolation_level=None)) as db:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute("BEGIN EXCLUSIVE")  # under WAL an exclusive lock is refused while anybody else is connected
            db.execute("COMMIT")
    except sqlite3.DatabaseError as fault:
        if "locked" in str(fault) or "busy" in str(fault):
            raise
        # A damaged database may well be why somebody restores a backup.


def _swap(fresh: Path, manifest: Manifest, kept: Path) -> None:
    """Keep what is there, then put each new file in its place; undo all of it if anything fails.

    A file's place is never empty: a kill in between leaves some files old and some new, each whole, and all old ones in
    ``kept``.
    """
    targets = {file.path: _target(file) for file in manifest.files}
    kept.mkdir(parents=True)
    for name, target in targets.items():
        for suffix in COMPANIONS if target.name == _DATABASE else ("",):
            old = target.with_name(target.name + suffix)
            if old.is_file():
                _copy(old, kept / PurePosixPath(name).with_name(old.name))
    done: list[str] = []
    try:
        for name, target in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            done.append(name)
            _put(fresh / name, target)
    except OSError:
        for name in reversed(done):
            old, target = kept / name, targets[name]
            if old.exists():
                _put(old, target, is_moved=False)
            elif target.is_file():
                target.unlink()
        raise


def _put(source: Path, target: Path, *, is_moved: bool = True) -> None:
    """Put a file in a place in one step."""
    if target.name == _DATABASE:
        for suffix in COMPANIONS[1:]:  # a log of the old one would be read into the new one
            target.with_name(target.name + suffix).unlink(missing_ok=True)
    part = target.with_name(f".{target.name}.part")
    if is_moved and source.stat().st_dev == target.parent.stat().st_dev:
        part = source
    else:
        _copy(source, part)
    part.replace(target)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _free_folder(folder: Path) -> Path:
    number, free = 1, folder
    while free.exists():
        number += 1
        free = folder.with_name(f"{folder.name}-{number}")
    return free


def _damaged(path: Path, fault: Exception) -> ExportError:
    return ExportError(f"{path} is not a backup of Slipstream's, or is damaged: {fault}.", "Choose another file.")
