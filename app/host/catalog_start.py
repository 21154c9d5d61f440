"""What the catalog says to begin with, for a pair that is one of its own; files are told by their names and sizes."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from app.errors import ModelFileError
from app.models.catalog import STARTER, Catalog, CatalogModel, CatalogPair
from app.models.library import is_starter
from app.protocol import Load

logger = logging.getLogger(__name__)


def with_start(command: Load) -> Load:
    """Return the command with the draft length that its pair begins with, if the catalog has the pair."""
    pair = curated_pair(Path(command.target), Path(command.draft) if command.draft is not None else None)
    return command if pair is None else msgspec.structs.replace(command, draft_start=pair.draft_tokens)


def curated_pair(target: Path, draft: Path | None) -> CatalogPair | None:
    """Return the curated pair that two files are; None if they are none, or the catalog cannot be read."""
    try:
        pairs = Catalog.load().pairs
    except ModelFileError as fault:
        logger.info("nothing to begin with: %s", fault.message)
        return None
    return next((pair for pair in pairs if _is(pair.target, target) and _drafts(pair.draft, draft)), None)


def _drafts(model: CatalogModel | None, draft: Path | None) -> bool:
    return draft is None if model is None else draft is not None and _is(model, draft)


def _is(model: CatalogModel, path: Path) -> bool:
    if model.repo == STARTER:
        return is_starter(path)
    first = model.files[0]
    if first.path.rpartition("/")[2] != path.name:
        return False
    try:
        return first.n_bytes is None or path.stat().st_size == first.n_bytes
    except OSError:
        return False
