"""What was begun to be pulled and is not there yet, also by earlier runs of the program."""

from __future__ import annotations

from dataclasses import dataclass

from app.models.part_file import PartFile
from app.models.remote import Item
from app.models.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An item that was begun; ``is_running`` is true while this or another process gets it."""

    item: Item
    n_bytes: int
    is_running: bool


def unfinished(shelf: Shelf) -> list[Unfinished]:
    """List what is not finished in a folder."""
    found = []
    for item in shelf.unfinished():
        parts = [PartFile(shelf.folder, file) for file in item.files]
        n_bytes = sum(
            file.n_bytes if shelf.is_there(file) else part.n_bytes for file, part in zip(item.files, parts, strict=True)
        )
        found.append(Unfinished(item, n_bytes, any(part.is_taken() for part in parts)))
    return found
