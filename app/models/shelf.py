"""Where pulled files come to lie in the models folder, and what is kept about them.

    models/org/name/file.gguf                 as in the repository, so that parts of a split model lie together
    models/org/name/.file.gguf.pulled.json    what it is: repository, commit, hash
    models/.downloads/….json, .part           what is not finished yet: survives the program

A file comes to its place in one step, whole and checked, or not at all.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from app.errors import DownloadError
from app.models.found import read_note
from app.models.part_file import PARTS_FOLDER, PartFile
from app.models.remote import Item, RemoteFile, check_repo, is_safe_path, is_sound

T = TypeVar("T", bound=msgspec.Struct)


class Receipt(msgspec.Struct, frozen=True):
    """What a pulled file is, and the state in which it was left."""

    file: RemoteFile
    item: str
    mtime_ns: int


class Shelf:
    """The models folder as downloads see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, file: RemoteFile) -> Path:
        """Return where a file belongs.

        Raises:
            DownloadError: its path would lead out of the folder, or could not be written on some system.
        """
        if not is_safe_path(file.path):
            raise DownloadError(f"{file.path!r} is no path that can be kept.", "Take another file.")
        return self.folder.joinpath(*check_repo(file.repo).split("/"), *file.path.split("/"))

    def is_there(self, file: RemoteFile) -> bool:
        """Tell whether exactly this file is in its place, unchanged since it was checked."""
        place = self.place(file)
        receipt = read_receipt(place)
        try:
            state = place.stat()
        except OSError:
            return False
        is_same = receipt is not None and receipt.file.digest == file.digest
        return is_same and (state.st_size, state.st_mtime_ns) == (file.n_bytes, receipt.mtime_ns if receipt else 0)

    def is_in_the_way(self, file: RemoteFile) -> bool:
        """Tell whether another file has that place, one that was not pulled and so may be somebody's only copy."""
        place = self.place(file)
        return place.exists() and read_receipt(place) is None

    def adopt(self, file: RemoteFile) -> None:
        """Take a file in its place, which was compared with the hub's hash, for a pulled one.

        Raises:
            OSError: its folder cannot be written.
        """
        place = self.place(file)
        _write(_receipt_path(place), Receipt(file, "", place.stat().st_mtime_ns))

    def finish(self, item: Item, parts: list[tuple[RemoteFile, PartFile]]) -> None:
        """Put checked parts into their places, the first part of a split model last; the locks are held.

        Raises:
            DownloadError: a place cannot be written.
        """
        for file, part in reversed(parts):
            self._put(item, file, part)
        self.forget(item)

    def _put(self, item: Item, file: RemoteFile, part: PartFile) -> None:
        place = self.place(file)
        if self.is_in_the_way(file):
            raise in_the_way(file, place)
        receipt = Receipt(file, item.title, part.path.stat().st_mtime_ns)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            _write(_receipt_path(place), receipt)
            part.move(place)
            _sync_folder(place.parent)
        except OSError as fault:
            in_use = isinstance(fault, PermissionError) and place.exists()
            raise DownloadError(
                f"{place} cannot be written: {fault.strerror or fault}.",
                "Is the model loaded? Unload it, then pull again: nothing is fetched twice."
                if in_use
                else "Check the permissions of its folder, then pull again: nothing is fetched twice.",
            ) from fault

    # --- what is not finished -------------------------------------------------------------------------

    def remember(self, item: Item) -> None:
        """Keep an item so that it can be gone on with after a restart.

        Raises:
            DownloadError: the folder cannot be written.
        """
        path = self._record_path(item.title)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, item)
        except OSError as fault:
            raise DownloadError(
                f"{path.parent} cannot be written: {fault.strerror or fault}.", "Is the disk full or read-only?"
            ) from fault

    def forget(self, item: Item) -> None:
        """Drop an item from what is not finished."""
        self._record_path(item.title).unlink(missing_ok=True)

    def remembered(self, title: str) -> Item | None:
        """Return the item of that title that is not finished."""
        item = _read(self._record_path(title), Item)
        return item if item is not None and is_sound(item) else None

    def unfinished(self) -> Iterator[Item]:
        """Return every item that was begun and neither finished nor discarded."""
        for path in sorted((self.folder / PARTS_FOLDER).glob("*.json")):
            if (item := _read(path, Item)) is not None and is_sound(item):
                yield item

    def _record_path(self, title: str) -> Path:
        stem = hashlib.sha256(title.encode()).hexdigest()[:32]
        return self.folder / PARTS_FOLDER / f"{stem}.json"


def in_the_way(file: RemoteFile, place: Path) -> DownloadError:
    """Say that a place is taken by a file that was not pulled."""
    return DownloadError(
        f"Another file is in the place of {file.path}: {place}.",
        "It was not pulled, so it is kept: move it away, then pull again.",
    )


def read_receipt(place: Path) -> Receipt | None:
    """Return what is known of a pulled file; None if it was not pulled."""
    return _read(_receipt_path(place), Receipt)


def drop_receipt(place: Path) -> None:
    """Forget what is known of a file, as after it was deleted."""
    with suppress(OSError):
        _receipt_path(place).unlink()


def _receipt_path(place: Path) -> Path:
    return place.with_name(f".{place.name}.pulled.json")


def _read(path: Path, kind: type[T]) -> T | None:
    return read_note(path, kind)  # a folder that was taken as it is may hold anything: pipes, notes without an end


def _write(path: Path, value: msgspec.Struct) -> None:
    """Write a small file so that a crash leaves the old one or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(value))
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Make a rename last; Windows does that by itself."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
