"""What the window asks before anything is loaded or pulled: what is there, what fits what, and what it takes.

Headers, vocabularies, dry loads and the hub are read on threads (:func:`app.host.background.beside`), and what was
read of a file is kept, so that looking at the same model again costs nothing. For one event loop.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import ModelNotFoundError
from app.host import ways
from app.host.background import beside
from app.host.candidates import Candidates
from app.host.hub_door import HubDoor
from app.host.hub_drafters import find_drafters
from app.host.look import Look
from app.host.offers import Listing, Model, Offer, Offers
from app.host.values import PairChoice
from app.host.ways import Drafter
from app.models.catalog import Catalog, CatalogPair
from app.models.library import BrokenFile, Contents, Library, LibraryEntry
from app.models.memory import Room, room_now
from app.models.models_folder import models_folder
from app.models.pairs import Candidate
from app.models.recommendation import Ranked, rank

if TYPE_CHECKING:
    from app.models.hub import Hub
    from app.models.remote import FoundModel, RemoteFile


MOST_MODELS = 300
"""Models of a repository that are listed; nobody looks through more."""


@dataclass(frozen=True, slots=True)
class Card:
    """A curated pair on this machine; ``is_here``: all its files are."""

    ranked: Ranked
    is_here: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """What is on this computer, where our folder is, and how full its disk is."""

    contents: Contents
    folder: Path
    n_free_bytes: int

    @property
    def n_bytes(self) -> int:
        """What all files take, without the starter, which comes with the program."""
        sound = (*self.contents.models, *self.contents.drafters)
        rest = (*self.contents.broken, *self.contents.others)
        return sum(entry.n_bytes for entry in sound if entry.source != "starter") + sum(map(_size, rest))


class Judging:
    """Answers the window's questions about models."""

    def __init__(self, door: HubDoor, library: Library) -> None:
        self._door = door
        self._library = library
        self._candidates = Candidates()

    # --- what is there --------------------------------------------------------------------------------

    async def catalog(self) -> tuple[list[Card], Room]:
        """Return the curated pairs, the one to begin with first, and the memory of this machine.

        Raises:
            ModelFileError: the catalog is damaged.
        """
        return await beside(self._catalog, "catalog")

    def _catalog(self) -> tuple[list[Card], Room]:
        room, entries = room_now(), ways.all_of(self._library)
        return [Card(one, _is_here(one.pair, entries)) for one in rank(Catalog.load().pairs, room)], room

    async def library(self) -> Shown:
        """Return what is on this computer."""
        return await beside(self._shown, "library")

    def _shown(self) -> Shown:
        folder = models_folder()
        try:
            n_free = shutil.disk_usage(folder).free
        except OSError:  # the disk that a person chose is away
            n_free = 0
        return Shown(self._library.contents(), folder, n_free)

    async def search(self, words: str) -> list[FoundModel]:
        """Find repositories on the hub.

        Raises:
            SlipstreamError: the hub gave no list.
        """
        return await self._door.ask(lambda hub: hub.search(words))

    async def listing(self, name: str) -> Listing:
        """Return the models of a repository, by its name or its address.

        Raises:
            SlipstreamError: there is none, or this person may not see it.
        """
        return await self._door.ask(lambda hub: _listing(hub, name))

    # --- what fits ------------------------------------------------------------------------------------

    async def curated(self, pair: CatalogPair, how: PairChoice) -> Offers:
        """Judge a curated pair by its files on this computer, or by their headers on the hub.

        Raises:
            SlipstreamError: the hub does not give them.
        """
        found = await beside(lambda: ways.curated_here(pair, self._library, self._candidates, how), "judging")
        if found is not None:
            return found
        return await self._door.ask(lambda hub: ways.curated_at(hub, pair, self._library, self._candidates, how))

    async def remote(self, model: Model, listing: Listing, how: PairChoice) -> Offers:
        """Judge a model of the hub with everything that might draft for it.

        Raises:
            SlipstreamError: the hub does not give its header.
        """

        def judge(hub: Hub) -> Offers:
            entries = ways.all_of(self._library)
            copy = ways.copy_of(model.item.files, entries)
            target = self._candidates.of_entry(copy) if copy else self._candidates.of_item(hub, model.item)
            local = ways.here(self._library, self._candidates, target, copy.name if copy else "")
            drafters = chain(ways.beside(hub, self._candidates, model.item, entries), local)
            offers = ways.offers_for(target, drafters, how)
            licence = listing.licence or target.header.licence
            if copy is not None:
                return Offers(model.item.title, (model.tag, "on this computer"), licence, offers, target=copy.name)
            gated = (listing.repo,) if listing.is_gated else ()
            return Offers(model.item.title, (model.tag,), licence, offers, item=model.item, gated=gated)

        return await self._door.ask(judge)

    async def local(self, name: str, how: PairChoice) -> Offers:
        """Judge a model of the library with everything on this computer that might draft for it.

        Raises:
            ModelError: it is not there, or cannot be loaded.
        """

        def judge() -> Offers:
            entry = self._library.resolve(name)
            target = self._candidates.of_entry(entry)
            offers = ways.offers_for(target, ways.here(self._library, self._candidates, target, name), how)
            facts = (entry.quantisation, entry.architecture)
            note = ways.note_of_catalog(target, entry, ways.all_of(self._library))
            return Offers(entry.name, facts, target.header.licence, offers, target=entry.name, note=note)

        return await beside(judge, "judging")

    async def names_of(self, paths: Sequence[Path]) -> list[tuple[str, bool]]:
        """Return what the library calls the models among some files, and whether they only draft; in their order."""

        def look() -> list[tuple[str, bool]]:
            contents = self._library.contents()
            by_path = {entry.path.resolve(): (entry.name, False) for entry in contents.models}
            by_path |= {entry.path.resolve(): (entry.name, True) for entry in contents.drafters}
            return [by_path[path.resolve()] for path in paths if path.resolve() in by_path]

        return await beside(look, "library")

    async def look(self, offers: Offers, look: Look[Drafter]) -> None:
        """Look in the catalog and on the hub for what could draft for a model, here or there, until the look is over.

        Raises:
            SlipstreamError: the model is not there, or the hub does not answer.
        """

        def find(hub: Hub) -> None:
            entries = ways.all_of(self._library)
            target, source = self._target(hub, offers)
            find_drafters(hub, self._candidates, target, source, entries, look)

        await self._door.ask(lambda hub: look.run(lambda: find(hub)))

    async def found(self, offers: Offers, look: Look[Drafter], how: PairChoice) -> tuple[Offer, ...]:
        """Judge what a look has found so far; best first, what does not fit last.

        Raises:
            SlipstreamError: the model is not there any more.
        """

        def judge(hub: Hub) -> tuple[Offer, ...]:
            drafters = tuple(look.found)
            if not drafters:
                return ()
            found = ways.offers_for(self._target(hub, offers)[0], drafters, how)
            return tuple(offer for offer in found if offer.item is not None)

        return await self._door.ask(judge)

    def _target(self, hub: Hub, offers: Offers) -> tuple[Candidate, LibraryEntry | tuple[RemoteFile, ...]]:
        if offers.target is not None:
            entry = self._library.resolve(offers.target)
            return self._candidates.of_entry(entry), entry
        if offers.item is None:
            raise ModelNotFoundError("There is no model to look for drafters of.")
        return self._candidates.of_item(hub, offers.item), offers.item.files

    async def weigh(self, offers: Offers, offer: Offer, how: PairChoice) -> Offer:
        """Return an offer whose files are all here with what it takes exactly, by a dry load; others as they are.

        Raises:
            SlipstreamError: llama.cpp cannot lay the target out.
        """
        target = offers.target
        if target is None or offer.item is not None or not offer.judgement.fits:
            return offer
        return await beside(lambda: ways.weighed(self._library, self._candidates, target, offer, how), "weighing")


def _listing(hub: Hub, name: str) -> Listing:
    from app.models.hub_choice import choose, models_of, read_name, tags_of
    from app.models.remote import Item

    wanted = read_name(name, hub.endpoint)
    found = hub.repository(wanted.repo, wanted.revision)
    preferred = choose(found.files, wanted)
    sets = models_of(found.files)
    models = []
    for files in sorted(sets, key=lambda files: files != preferred)[:MOST_MODELS] if len(sets) > MOST_MODELS else sets:
        tag = next(iter(tags_of(files)), files[0].name.removesuffix(".gguf"))
        models.append(Model(tag, Item(f"{found.repo}:{files[0].path}", files)))
    at = next((index for index, model in enumerate(models) if model.item.files == preferred), 0)
    return Listing(found.repo, found.licence, found.is_gated, tuple(models), at, len(sets) - len(models))


def _is_here(pair: CatalogPair, entries: list[LibraryEntry]) -> bool:
    models = (pair.target, pair.draft)
    return all(ways.entry_of(model, entries) is not None for model in models if model is not None)


def _size(file: BrokenFile) -> int:
    try:
        return file.path.stat().st_size
    except OSError:
        return 0
