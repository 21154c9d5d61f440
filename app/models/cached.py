"""Using what a cache on this disk has already, in place of fetching it: no bytes come twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from app.engine.parts import PART
from app.errors import DownloadError
from app.models.hub_cache import find_file
from app.models.part_file import PartFile
from app.models.remote import Item, RemoteFile, make_hash

BLOCK_BYTES = 1 << 20


def in_caches(item: Item, folders: Sequence[Path]) -> dict[RemoteFile, Path]:
    """Return which files of an item are in a cache, by name and size; their hashes are still to be compared."""
    found = ((file, find_file(folders, file)) for file in item.files)
    return {file: path for file, path in found if path is not None}


def torn(files: Sequence[RemoteFile], in_place: Collection[RemoteFile]) -> list[RemoteFile]:
    """Return the files in a cache that cannot stay there: parts of a split model must lie in one folder."""
    groups: dict[str, list[RemoteFile]] = {}
    for file in files:
        groups.setdefault(PART.sub("", file.path.removesuffix(".gguf")), []).append(file)
    mixed = (group for group in groups.values() if not all(file in in_place for file in group))
    return [file for group in mixed for file in group if file in in_place]


def is_the_file(path: Path, file: RemoteFile, check_stop: Callable[[], None]) -> bool:
    """Compare the bytes of a file with what the hub says of them.

    Raises:
        OSError: it cannot be read.
        DownloadError: the hub names no hash.
    """
    if path.stat().st_size != file.n_bytes:
        return False
    running = make_hash(file)
    with path.open("rb", buffering=0) as source:
        while block := source.read(BLOCK_BYTES):
            check_stop()
            running.update(block)
    return running.hexdigest() == file.digest.partition(":")[2]


def seed(part: PartFile, path: Path, file: RemoteFile, check_stop: Callable[[], None]) -> None:
    """Make a part of a cached file, and compare what is on the disk with the hub's hash; what was there goes.

    Raises:
        DownloadError: the disk does not take it, or the cached file is another one now.
    """
    try:
        part.discard()  # nobody has compared what had arrived
        with path.open("rb", buffering=0) as source, part.open() as out:
            while block := memoryview(source.read(BLOCK_BYTES)):
                check_stop()
                while block:
                    block = block[out.write(block) :]
            os.fsync(out.fileno())
        if not is_the_file(part.path, file, check_stop):
            part.discard()
            raise DownloadError(f"{path} changed while it was copied.", "Pull again: what else came is kept.")
    except OSError as fault:
        raise DownloadError(
            f"{path} cannot be copied: {fault.strerror or fault}.", "Make room, then pull again: nothing is lost."
        ) from fault
