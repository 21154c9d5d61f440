"""Taking a GGUF that lies elsewhere into our folder: copied, moved or linked, whole or not at all.

models/.downloads/import-<hash>.part      while it is copied; the hash is of what is copied: path, size and time
models/name.gguf                          when it is whole
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from app.engine.parts import PART, part_paths
from app.errors import DownloadError, UsageError
from app.models.copying import cannot_copy, copy_whole, is_same, link, put
from app.models.disk_room import SPARE_BYTES, check_room
from app.models.file_lock import FileLock
from app.models.found import real_path
from app.models.library import Library
from app.models.models_folder import models_folder
from app.models.part_file import PARTS_FOLDER
from app.models.places import other_places
from app.models.relocation import check_not_moving
from app.models.transfer import StoppedError

How = Literal["copy", "move", "link"]

_UNFIT = re.compile(r'[<>:"/\\|?*\x00-\x1f]+')


class Import:
    """One model on its way in, all parts of a split one. The plain attributes may be read from any thread.

    Attributes:
        n_bytes, n_total_bytes: how far it is; of a copy each byte counts twice, since it is compared, too.
        was_there: whether the same file was in our folder already.
    """

    def __init__(self, path: Path, how: How = "copy", *, name: str = "", spare_bytes: int = SPARE_BYTES) -> None:
        self.path, self.how = path.absolute(), how
        self.n_bytes = self.n_total_bytes = 0
        self.was_there = False
        self._name = _UNFIT.sub("-", name).strip(". ")
        self._spare_bytes = spare_bytes
        self._stop = threading.Event()
        self._folder = models_folder()

    @property
    def fraction(self) -> float:
        """How far it is, from 0 to 1."""
        return self.n_bytes / self.n_total_bytes if self.n_total_bytes else 0.0

    def stop(self) -> None:
        """End it soon, from any thread; nothing of it stays."""
        self._stop.set()

    def run(self) -> tuple[Path, ...]:
        """Do it; blocks. Return where the files are now, the first part first.

        Raises:
            StoppedError: :meth:`stop` was called.
            SlipstreamError: it is no sound model, is here already, or cannot be read or written.
        """
        try:
            files = self._files()
            parts = self._folder / PARTS_FOLDER
            parts.mkdir(parents=True, exist_ok=True)
            name = hashlib.sha256(str(self.path).encode("utf-8", "surrogateescape")).hexdigest()
            lock = FileLock(parts / f"importing-{name}.lock")
            if not lock.acquire():
                raise DownloadError(f"{self.path.name} is being imported by another window.", "Wait for it to finish.")
            try:
                check_not_moving()  # after our lock: of the two, one sees the other
                return self._run(files)
            finally:
                lock.release()
        except OSError as fault:
            raise cannot_copy(self.path, fault) from fault

    def _run(self, files: list[Path]) -> tuple[Path, ...]:
        places = self._places(files)
        if self.was_there:
            return places
        places[0].parent.mkdir(exist_ok=True)
        return self._take(files, places)

    def _files(self) -> list[Path]:
        library = Library([])
        library.resolve(str(self.path))  # says what is wrong with it
        if real_path(self.path).is_relative_to(real_path(self._folder)):
            raise UsageError(f"{self.path.name} is in the models folder already.", "It is in the list.")
        if self.how == "move":
            self._check_nobodys()
        return part_paths(self.path, library.header(self.path))

    def _check_nobodys(self) -> None:
        for place in other_places():
            if any(path.is_relative_to(place.folder) for path in (self.path, real_path(self.path))):
                raise UsageError(
                    f"{self.path.name} belongs to {place.source}, which would miss it.", "Copy it, or link to it."
                )

    def _places(self, files: Sequence[Path]) -> tuple[Path, ...]:
        """Return names that are free, or those where the same files are already."""
        number = 1
        while True:
            folder = self._folder if number == 1 else self._folder / f"{self._stem(files[0])} {number}"
            places = tuple(folder / self._file_name(path) for path in files)
            taken = [place for place in places if place.exists() or place.is_symlink()]
            if not taken:
                return places
            if len(taken) == len(places) and all(map(self._is_same, files, places)):
                self.was_there = True
                return places
            number += 1

    def _stem(self, path: Path) -> str:
        return PART.sub("", self._file_name(path).removesuffix(".gguf"))

    def _file_name(self, path: Path) -> str:
        """Return the name that it gets: its own, unless that is a hash."""
        name = path.name if path.suffix.lower() == ".gguf" or not self._name else f"{self._name}.gguf"
        return name.lstrip(".")  # hidden files are not listed

    def _is_same(self, path: Path, place: Path) -> bool:
        try:
            return is_same(path, place, lambda _n: self._check_stop())
        except OSError:
            return False

    def _take(self, files: Sequence[Path], places: tuple[Path, ...]) -> tuple[Path, ...]:
        done: list[Path] = []
        self.n_total_bytes = 2 * sum(path.stat().st_size for path in files)
        try:
            for path, place in reversed(list(zip(files, places, strict=True))):
                self._check_stop()
                self._take_one(path, place)
                done.append(place)
            self._check_stop()
        except BaseException:
            for place in done:
                place.unlink(missing_ok=True)
            if places[0].parent != self._folder:
                with suppress(OSError):
                    places[0].parent.rmdir()
            raise
        if self.how == "move":
            _let_go(files)
        return places

    def _take_one(self, path: Path, place: Path) -> None:
        if self.how == "link":
            self._link(path, place)
        elif self.how == "copy" or path.is_symlink() or not link(path, place):
            self._copy(path, place)

    def _link(self, path: Path, place: Path) -> None:
        try:
            place.symlink_to(path)
        except OSError as fault:
            raise DownloadError(
                f"A link cannot be made there: {fault.strerror or fault}.", "Copy the file instead."
            ) from fault

    def _copy(self, path: Path, place: Path) -> None:
        state = path.stat()
        check_room(self._folder, state.st_size, 0, self._spare_bytes)
        parts = self._folder / PARTS_FOLDER
        parts.mkdir(exist_ok=True)
        drop_left_over(parts)
        what = f"{real_path(path)}|{state.st_size}|{state.st_mtime_ns}"
        part = parts / f"import-{hashlib.sha256(what.encode('utf-8', 'surrogateescape')).hexdigest()}.part"
        lock = FileLock(part.with_suffix(".lock"))
        if not lock.acquire():
            raise DownloadError(f"{path.name} is being imported by another window.", "Wait for it to finish.")
        try:
            copy_whole(path, part, self._count)
            put(part, place)
        finally:
            part.unlink(missing_ok=True)
            lock.release()

    def _count(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes
        self._check_stop()

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise StoppedError


def _let_go(files: Sequence[Path]) -> None:
    for path in files:
        try:
            path.unlink()
        except OSError as fault:
            raise DownloadError(
                f"{path.name} is in the list now, but cannot be deleted where it was: {fault.strerror or fault}.",
                f"Delete it by hand if you want the room: {path}",
            ) from fault


def drop_left_over(parts: Path) -> None:
    """Delete what an import left that ended with its program."""
    for part in parts.glob("import-*.part"):
        with suppress(OSError):
            if not FileLock(part.with_suffix(".lock")).is_taken():
                part.unlink()
