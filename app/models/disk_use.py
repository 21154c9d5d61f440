"""How much disk models take, by who keeps them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from app.models.found import Source
from app.models.library import Contents
from app.models.models_folder import models_folder
from app.models.part_file import PARTS_FOLDER


class DiskUse(msgspec.Struct, frozen=True):
    """What one source takes: ``unfinished_bytes`` is what has arrived of downloads, ours only."""

    source: Source
    n_files: int
    n_bytes: int
    unfinished_bytes: int = 0


class Disk(msgspec.Struct, frozen=True):
    """All of them, and what the disk of our folder has free; None if that disk is away."""

    uses: tuple[DiskUse, ...]
    n_bytes: int
    free_bytes: int | None


def disk_use(contents: Contents, folder: Callable[[], Path] = models_folder) -> Disk:
    """Add up what was found. A file that two places share was found once, and counts once."""
    sizes: dict[Source, list[int]] = {}
    for entry in (*contents.models, *contents.drafters):
        own = _own_bytes(entry.path) if entry.source == "folder" and entry.path.is_symlink() else entry.n_bytes
        sizes.setdefault(entry.source, []).append(own)
    for file in (*contents.broken, *contents.others):
        sizes.setdefault(file.source, []).append(_own_bytes(file.path))
    ours = folder()
    unfinished = sum(map(_own_bytes, (ours / PARTS_FOLDER).glob("*.part")))
    if unfinished:
        sizes.setdefault("folder", [])
    uses = tuple(
        DiskUse(source, len(each), sum(each), unfinished if source == "folder" else 0) for source, each in sizes.items()
    )
    try:
        free_bytes = shutil.disk_usage(ours).free
    except OSError:
        free_bytes = None
    return Disk(uses, sum(use.n_bytes + use.unfinished_bytes for use in uses), free_bytes)


def _own_bytes(path: Path) -> int:
    """Return what the file itself takes: of a link nothing to speak of."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0
