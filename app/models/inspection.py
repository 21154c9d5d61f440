"""What somebody holds in their hand: is it a model, would it run here, is it ours already."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.engine.heads import are_heads
from app.engine.parts import PART
from app.errors import ModelError
from app.models.found import gguf_files, real_path
from app.models.library import Library, LibraryEntry
from app.models.memory import Room, reckon
from app.models.models_folder import models_folder
from app.models.pairs import Judgement, candidate_of_file, judge
from app.models.recommendation import Standing, standing_of
from app.protocol import Load

logger = logging.getLogger(__name__)

MAX_FILES = 24
"""More at once are no choice any more."""

_FOLDER_DEPTH = 2


@dataclass(frozen=True, slots=True)
class Inspected:
    """One file, as its header tells.

    Attributes:
        entry: what it is; None if it is no model that can be loaded.
        known: the name under which the library has it already, "" if it has not.
        is_ours: it lies in our models folder.
        only_drafts: it cannot answer.
        needed_bytes: about what it takes in memory.
        standing: whether that is there.
        as_draft: the judgement of it as the drafter of the model in use; None if it cannot be one at all.
        problem, hint: what is wrong with it and what to do; "" if nothing is.
    """

    path: Path
    entry: LibraryEntry | None = None
    known: str = ""
    is_ours: bool = False
    only_drafts: bool = False
    needed_bytes: int = 0
    standing: Standing = "fits now"
    as_draft: Judgement | None = None
    problem: str = ""
    hint: str = ""

    @property
    def name(self) -> str:
        """What to ask the library for."""
        return self.known or str(self.path)


def inspect(path: Path, library: Library, how: Load, room: Room) -> Inspected:
    """Look at one file; ``how`` names the target in use, as the library knows it, and the context length."""
    try:
        entry = library.resolve(str(path.absolute()))
        header = library.whole(entry.path)
        needed = reckon(header, None, how, room).n_bytes
    except ModelError as fault:
        return Inspected(path, problem=fault.message, hint=fault.hint)
    contents, real = library.contents(), real_path(path)
    everything = (*contents.models, *contents.drafters)
    known = next((one.name for one in everything if real_path(one.path) == real), "")
    is_ours = path.absolute().is_relative_to(models_folder().absolute())
    standing = standing_of(needed, room)
    return Inspected(
        path.absolute(), entry, known, is_ours, are_heads(header), needed, standing, _as_draft(entry, how, library)
    )


def _as_draft(entry: LibraryEntry, how: Load, library: Library) -> Judgement | None:
    try:
        target = library.resolve(how.target)
        if real_path(target.path) == real_path(entry.path):
            return None
        ours, theirs = (candidate_of_file(one.path, one.name, one.n_bytes) for one in (target, entry))
        return judge(ours, theirs)
    except ModelError as fault:
        logger.info("not judged as a drafter: %s", fault.message)
        return None


def models_among(paths: Iterable[Path]) -> list[Path]:
    """Return the files that are meant: of folders the models in them, of parts the first, each once."""
    found = dict.fromkeys(_first_part(path) for given in paths for path in _inside(given))
    return list(found)[:MAX_FILES]


def _inside(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from list(gguf_files(path, _FOLDER_DEPTH)) or [path]
    else:
        yield path


def _first_part(path: Path) -> Path:
    part = PART.search(path.stem)
    if part is None:
        return path
    first = path.with_name(f"{PART.sub('', path.stem)}-00001-of-{part[2]}{path.suffix}")
    return first if first.exists() else path
