"""Moving our models folder: everything is in the new place, compared, before the old one is let go.

    1  a note of the move; each file gets a second name in the new folder, or on another disk a copy that is compared
    2  the setting changes, in one step
    3  the old names go; the note goes

Broken off before the second step, nothing has changed, and what was made is deleted (after a crash the half copies are,
and the next try uses the whole ones). Broken off after it, the new folder has everything, and :func:`finish_pending`
deletes what was left.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from app.errors import DownloadError, UsageError
from app.models.copying import cannot_copy, copy_whole, is_same, link, put
from app.models.disk_room import SPARE_BYTES, check_room
from app.models.file_lock import FileLock
from app.models.found import real_path
from app.models.models_folder import choose_folder, models_folder
from app.models.part_file import PARTS_FOLDER
from app.models.transfer import StoppedError
from app.paths import config_dir

logger = logging.getLogger(__name__)

Stage = Literal["waiting", "looking", "copying", "deleting", "done"]

_RECEIPT = ".pulled.json"
_MOVING = ".moving"


class _Moved(msgspec.Struct, frozen=True):
    """A move whose old files may not all be deleted."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a move did; ``n_left`` old files could not be deleted."""

    folder: Path
    n_files: int
    n_bytes: int
    n_left: int = 0


class Relocation:
    """One move. The plain attributes may be read from any thread."""

    def __init__(self, folder: Path, *, spare_bytes: int = SPARE_BYTES) -> None:
        self.old, self.new = models_folder().absolute(), folder.expanduser().absolute()
        self.stage: Stage = "waiting"
        self.n_bytes = self.n_total_bytes = 0
        self._spare_bytes = spare_bytes
        self._stop = threading.Event()
        self._made: list[Path] = []

    @property
    def fraction(self) -> float:
        """How far it is, from 0 to 1."""
        return self.n_bytes / self.n_total_bytes if self.n_total_bytes else 0.0

    def stop(self) -> None:
        """End it soon, from any thread, unless the new folder is ours already."""
        self._stop.set()

    def run(self) -> Outcome:
        """Do it; blocks.

        Raises:
            StoppedError: :meth:`stop` was called; everything is as before.
            SlipstreamError: it cannot be done; everything is as before.
        """
        lock = FileLock(_lock_path())
        if not lock.acquire():
            raise UsageError("The models folder is being moved already.", "Wait for that to end.")
        try:
            self.stage = "looking"
            self._check()
            return self._move()
        except OSError as fault:
            where = f" ({fault.filename})" if fault.filename else ""
            raise DownloadError(
                f"The models folder cannot be moved: {fault.strerror or fault}{where}.",
                "Check the permissions and the disks: nothing has changed.",
            ) from fault
        finally:
            lock.release()

    def _check(self) -> None:
        if real_path(self.new) == real_path(self.old) or _is_same(self.new, self.old):
            raise UsageError(f"{self.new} is the models folder already.", "Choose another one.")
        for one, other in ((self.new, self.old), (self.old, self.new)):
            if real_path(one).is_relative_to(real_path(other)) or _leads_through(one, other):
                raise UsageError(f"{self.new} and {self.old} lie one in the other.", "Choose a folder beside it.")
        if not self.old.is_dir():
            raise UsageError(f"{self.old} is not there.", "Connect its disk; or take the new folder as it is (--use).")
        if any(FileLock(path).is_taken() for path in (self.old / PARTS_FOLDER).glob("*.lock")):
            raise UsageError("Something is being downloaded or imported.", "Pause it, then move the folder.")
        check_usable(self.new)

    def _move(self) -> Outcome:
        files = list(our_files(self.old))
        size = sum(path.lstat().st_size for path in files)
        self.n_total_bytes = 2 * size
        try:
            self.stage = "copying"
            self._check_conflicts(files)
            _write_note(_Moved(str(self.old), str(self.new)))
            for path in files:
                self._place(path)
            self._check_stop()
            choose_folder(self.new, moved_from=self.old)
        except BaseException:
            self._undo()
            raise
        self.stage = "deleting"
        n_left = _delete_old(self.old, self.new)
        self.stage = "done"
        return Outcome(self.new, len(files), size, n_left)

    def _check_conflicts(self, files: list[Path]) -> None:
        n_new = 0
        for path in files:
            place = self._place_of(path)
            if not (place.exists() or place.is_symlink()):
                n_new += path.lstat().st_size
            elif path.is_symlink() or place.is_symlink() or not place.is_file() or _size(place) != _size(path):
                raise self._in_the_way(place)
        if self.old.stat().st_dev != self.new.stat().st_dev:
            check_room(self.new, n_new, 0, self._spare_bytes)

    def _in_the_way(self, place: Path) -> UsageError:
        return UsageError(f"{place} is there already, and is another file.", "Move it away, or choose another folder.")

    def _place_of(self, path: Path) -> Path:
        return self.new / path.relative_to(self.old)

    def _place(self, path: Path) -> None:
        self._check_stop()
        place = self._place_of(path)
        try:
            self._make_folders(place.parent)
            if place.exists():
                if not is_same(path, place, self._count):
                    raise self._in_the_way(place)
                return
            if path.is_symlink():
                place.symlink_to(_new_target(path, self.old, self.new))
            elif link(path, place):
                self._made.append(place)
                self._count(2 * _size(path))
                return
            else:
                part = place.with_name(f".{place.name}{_MOVING}")
                self._made.append(part)
                copy_whole(path, part, self._count)
                put(part, place)
            self._made.append(place)
        except OSError as fault:
            raise cannot_copy(path, fault) from fault

    def _make_folders(self, folder: Path) -> None:
        if not folder.is_dir():
            self._make_folders(folder.parent)
            folder.mkdir()
            self._made.append(folder)

    def _undo(self) -> None:
        with suppress(OSError):
            _note_path().unlink()
        for path in reversed(self._made):
            with suppress(OSError):
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()

    def _count(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes
        self._check_stop()

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise StoppedError


def our_files(folder: Path) -> Iterator[Path]:
    """Yield what is ours in the models folder: models, what is kept about them, and what has arrived of others."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not (Path(here) / name).is_symlink())
        is_parts = Path(here) == folder / PARTS_FOLDER
        for name in sorted(names):
            path = Path(here) / name
            is_part = is_parts and not name.endswith(".lock") and not name.startswith(("import-", ".new."))
            if is_part or name.lower().endswith(".gguf") or (name.startswith(".") and name.endswith(_RECEIPT)):
                yield path


def check_usable(folder: Path) -> None:
    """Make sure that a folder is there and can be written.

    Raises:
        DownloadError: it cannot be made or written.
    """
    try:
        str(folder).encode()
    except UnicodeEncodeError as fault:  # it could not be kept in the settings
        raise DownloadError(
            f"The name of {folder!a} is not valid UTF-8.", "Rename it, or choose another one."
        ) from fault
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as fault:
        raise DownloadError(
            f"{folder} cannot be used: {fault.strerror or fault}.", "Choose a folder that you may write to."
        ) from fault


def check_not_moving() -> None:
    """Refuse to write to the models folder while it is being moved.

    Raises:
        DownloadError: it is.
    """
    if FileLock(_lock_path()).is_taken():
        raise DownloadError("The models folder is being moved.", "Start it again when that is done.")


def finish_pending() -> int:
    """Delete what a move left in the old folder that was broken off at its end; return how many files stay."""
    try:
        moved = msgspec.json.decode(_note_path().read_bytes(), type=_Moved)
    except FileNotFoundError:
        return 0
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        logger.info("no move to finish: %s", fault)
        return 0
    lock = FileLock(_lock_path())
    if not lock.acquire():
        return 0
    try:
        if models_folder().absolute() != Path(moved.new):  # it was broken off before: the old folder is still ours
            _drop_halves(Path(moved.new))
            _note_path().unlink(missing_ok=True)
            return 0
        return _delete_old(Path(moved.old), Path(moved.new))
    finally:
        lock.release()


def _drop_halves(folder: Path) -> None:
    """Delete the half copies of a move that was broken off; whole ones stay, they are models like any other."""
    for here, _, names in os.walk(folder):
        for name in names:
            if name.startswith(".") and name.endswith(_MOVING):
                with suppress(OSError):
                    (Path(here) / name).unlink()


def _delete_old(old: Path, new: Path) -> int:
    """Delete each old file of which the new folder has the like; return how many could not be."""
    n_left = 0
    for path in list(our_files(old)):
        place = new / path.relative_to(old)
        try:
            if not place.is_symlink() and (not place.exists() or _size(place) != _size(path)):
                n_left += 1
                continue
            if place.parent.samefile(path.parent):  # the old folder by another way: it is the only name there is
                n_left += 1
                continue
            path.unlink()
        except OSError as fault:
            logger.info("not deleted: %s: %s", path, fault.strerror)
            n_left += 1
    for here, _, _ in os.walk(old, topdown=False):
        with suppress(OSError):
            Path(here).rmdir()
    if n_left == 0:
        with suppress(OSError):
            _note_path().unlink()
    return n_left


def _leads_through(path: Path, folder: Path) -> bool:
    """Tell whether a folder lies in another one that has a second name: mounted twice, or written otherwise."""
    return any(_is_same(one, folder) for one in path.parents)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _new_target(path: Path, old: Path, new: Path) -> Path:
    """Return where a link leads from the new folder on: to the same file, or to the one that moves along."""
    target = path.parent / path.readlink()
    real = Path(os.path.normpath(target.absolute()))
    return new / real.relative_to(old) if real.is_relative_to(old) else real


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _note_path() -> Path:
    return config_dir() / "moved.json"


def _lock_path() -> Path:
    return config_dir() / "moving.lock"


def _write_note(note: _Moved) -> None:
    part = _note_path().with_suffix(f".{os.getpid()}")
    try:
        part.write_bytes(msgspec.json.encode(note))
        part.replace(_note_path())
    except OSError:
        part.unlink(missing_ok=True)
        raise
