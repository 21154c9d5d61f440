"""What the window shows before anything is loaded or pulled: a target, and every way to draft for it, judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from app.models.pairs import Judgement
from app.models.remote import Item, RemoteFile, pair

if TYPE_CHECKING:
    from app.models.catalog import CatalogPair

Where = Literal[
    "in the target",
    "on this computer",
    "in the same repository",
    "in its repository on the hub",
    "in the catalog",
    "on the hub",
]
UNFIT = (9, 0)
"""Rank of what does not fit."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to draft.

    Attributes:
        judgement: whether it fits, why or why not, and what both take.
        where: where the drafter is now.
        draft: the drafter's name in the library or its path; None if there is no second file, or it is not here yet.
        item: what has to be pulled for the drafter, None if nothing.
        rank: its place among others for the same target, the lowest first (:func:`app.models.suggestions.rank_of`).
    """

    judgement: Judgement
    where: Where
    draft: str | None = None
    item: Item | None = None
    rank: tuple[int, int] = UNFIT


@dataclass(frozen=True, slots=True)
class Offers:
    """A target and the ways to draft for it, best first, those that do not fit last.

    Attributes:
        title: what to call it.
        facts: what it is, in some words each: quantisation, size, publisher.
        licence: the publisher's word, "" if there is none.
        target: its name in the library or its path, None if it is not here yet.
        item: what has to be pulled for the target, None if nothing.
        pair: the curated pair that this is about, if it is one; then there is one offer.
        gated: repositories whose terms have to be accepted.
        note: what else a person should know; may be empty.
    """

    title: str
    facts: tuple[str, ...]
    licence: str
    offers: tuple[Offer, ...]
    target: str | None = None
    item: Item | None = None
    pair: CatalogPair | None = None
    gated: tuple[str, ...] = ()
    note: str = ""

    def what_to_pull(self, offer: Offer | None) -> Item | CatalogPair | None:
        """Return what *Get pair* has to pull for this target drafted that way; None if all is here."""
        if self.pair is not None:
            return self.pair if self.files_to_pull(offer) else None
        draft = offer.item if offer is not None else None
        if self.item is not None and draft is not None:
            return pair(self.item, draft)
        return self.item or draft

    def files_to_pull(self, offer: Offer | None) -> tuple[RemoteFile, ...]:
        """Return the files that have to come, each once."""
        items = (self.item, offer.item if offer is not None else None)
        return tuple(dict.fromkeys(file for item in items if item is not None for file in item.files))


@dataclass(frozen=True, slots=True)
class Model:
    """One model of a repository: a file, or all parts of a split one."""

    tag: str
    item: Item


@dataclass(frozen=True, slots=True)
class Listing:
    """What a repository holds for people who want to chat, the preferred one marked; ``n_more`` are left out."""

    repo: str
    licence: str
    is_gated: bool
    models: tuple[Model, ...]
    preferred: int
    n_more: int = 0
