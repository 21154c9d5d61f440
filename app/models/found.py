"""GGUF files in a folder, found without trust in what the folder holds: bounded, without circles, without a fault."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from app.engine.parts import PART

logger = logging.getLogger(__name__)

T = TypeVar("T")

Source = Literal[
    "starter", "folder", "file", "hub cache", "llama.cpp", "LM Studio", "Ollama", "GenieX", "Jan", "GPT4All"
]
"""Who keeps a file: the starter's package, our folder, nobody we know, or another program."""

MAX_DEPTH = 4
"""How many folders deep a models folder is searched (organisation, repository, …)."""

MAX_FILES = 50_000
"""More entries than any collection has: what is beyond them is not looked at."""

MAX_NOTE_BYTES = 1 << 20
"""Manifests and the like are small; what is larger is something else."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be a model.

    ``origin`` is where it came from, as far as its place tells: a repository, or the folders that it lies in.
    """

    path: Path
    name: str
    source: Source
    origin: str = ""


def gguf_files(folder: Path, depth: int = MAX_DEPTH) -> Iterator[Path]:
    """Yield the GGUF files below a folder by name, and links that lead nowhere; of a split model one part, the first.

    Where part 1 is lacking, the first of those that are there: the model is broken, and takes its room.
    """
    found = [path for path in _files(folder, depth) if path.suffix.lower() == ".gguf"]
    first: dict[tuple[Path, str], Path] = {}
    for path in found:
        if (part := PART.search(path.stem)) is not None:
            whole = path.parent, f"{path.stem[: part.start()]}-of-{part[2]}"
            first[whole] = min(path, first.get(whole, path))
    kept = set(first.values())
    found = [path for path in found if path in kept or PART.search(path.stem) is None]
    yield from sorted(found, key=lambda path: (path.name.lower(), len(path.parts), path))


def is_lone(path: Path) -> bool:
    """Tell whether a file is a part of a model whose first part is not there."""
    part = PART.search(path.stem)
    return part is not None and int(part[1]) != 1


def _files(folder: Path, depth: int) -> Iterator[Path]:
    n_seen = 0
    for inside, _ in folders_below(folder, depth):
        for entry in entries_of(inside):
            n_seen += 1
            if n_seen > MAX_FILES:
                logger.info("not searched to the end: %s holds more than %d entries", folder, MAX_FILES)
                return
            if not entry.name.startswith(".") and _is_file_or_lost(entry):
                yield Path(entry.path)


def folders_below(folder: Path, depth: int) -> Iterator[tuple[Path, int]]:
    """Yield a folder and those below it, each once however links lead to it, with when it last changed (ns)."""
    waiting, known = [(folder, depth)], set[tuple[int, int]]()
    while waiting:
        here, left = waiting.pop()
        try:
            state = here.stat()
        except (OSError, ValueError) as fault:  # ValueError: a null character in the path
            if not isinstance(fault, FileNotFoundError | NotADirectoryError):
                logger.info("not searched: %s: %s", here, fault)
            continue
        if (state.st_dev, state.st_ino) in known or len(known) >= MAX_FILES:
            continue
        known.add((state.st_dev, state.st_ino))
        yield here, state.st_mtime_ns
        if left > 0:
            waiting += [(Path(entry.path), left - 1) for entry in entries_of(here) if _is_open_folder(entry)]


def entries_of(folder: Path) -> list[os.DirEntry[str]]:
    """Return what is in a folder; nothing if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (OSError, ValueError) as fault:
        if not isinstance(fault, FileNotFoundError | NotADirectoryError):
            logger.info("not searched: %s: %s", folder, fault)
        return []


def _is_open_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return not entry.name.startswith(".") and entry.is_dir()
    except OSError:  # a link in a circle
        return False


def _is_file_or_lost(entry: os.DirEntry[str]) -> bool:
    """Tell whether it is a file, or a link whose file is gone."""
    try:
        return entry.is_file() or (entry.is_symlink() and not entry.is_dir())
    except OSError:  # a link in a circle
        return True


def read_note(path: Path, kind: type[T]) -> T | None:
    """Read a small JSON file of another program; None if it is not there, too large, or not of that shape."""
    raw = read_small(path)
    try:
        return None if raw is None else msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        logger.info("not understood: %s: %s", path, fault)
        return None


def read_small(path: Path) -> bytes | None:
    """Return the bytes of a small file; None if it is not one, or cannot be read."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            raw = file.read(MAX_NOTE_BYTES + 1)
    except (OSError, ValueError) as fault:
        logger.info("not read: %s: %s", path, fault)
        return None
    return raw if len(raw) <= MAX_NOTE_BYTES else None


def real_path(path: Path) -> Path:
    """Return where a path leads in the end; itself if that is nowhere."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle, a null character
        return path.absolute()
