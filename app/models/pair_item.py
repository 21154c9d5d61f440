"""What a curated pair is at the hub: one item with all files of its target and its drafter."""

from __future__ import annotations

from app.errors import UsageError
from app.models.catalog import STARTER, Catalog, CatalogPair
from app.models.hub import Hub
from app.models.hub_choice import Wanted, choose
from app.models.remote import Item, RemoteFile


def curated(name: str) -> CatalogPair:
    """Return the curated pair of that id.

    Raises:
        UsageError: there is none.
        ModelFileError: the catalog is damaged.
    """
    pairs = Catalog.load().pairs
    for pair in pairs:
        if pair.id == name.strip().lower():
            return pair
    raise UsageError(
        f"{name!r} is neither a repository nor a curated pair.",
        f"Write org/name[:quant], or one of: {', '.join(pair.id for pair in pairs)}.",
    )


def item_of(pair: CatalogPair, hub: Hub) -> Item:
    """Ask the hub for the files of a pair, as they are there now; the starter is on this machine already.

    Raises:
        SlipstreamError: the hub has them no more, or does not say.
    """
    files: list[RemoteFile] = []
    for model in (pair.target, pair.draft):
        if model is None or model.repo == STARTER:
            continue
        found = hub.repository(model.repo).files
        for file in model.files:
            files += choose(found, Wanted(model.repo, path=file.path))
    return Item(pair.title, tuple(dict.fromkeys(files)))
