"""Every way to draft for a target, judged and in order; reads files and the hub, so it belongs on a thread."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.gguf import GgufHeader
from app.errors import HubNotFoundError, ModelError, SlipstreamError
from app.host.candidates import Candidates
from app.host.offers import Offer, Offers, Where
from app.host.rooms import spread_of
from app.host.values import PairChoice
from app.models.catalog import STARTER, Catalog, CatalogModel, CatalogPair
from app.models.device_memory import Spread, spread_over
from app.models.library import Library, LibraryEntry
from app.models.memory import reckon, room_now, weigh_pair
from app.models.pairs import Candidate, Judgement, judge, judge_ngram, judge_own_heads, with_memory
from app.models.remote import Item, RemoteFile
from app.models.suggestions import suggest
from app.protocol import Load

if TYPE_CHECKING:
    from app.models.hub import Hub

logger = logging.getLogger(__name__)

N_FROM_HUB = 3
"""How many repositories of smaller siblings are looked at: each costs some megabytes of header."""

LARGEST_SIBLING_SHARE = 1 / 3
_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s?([BM])(?![A-Za-z0-9])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Drafter:
    """A file that might draft, and where it is; see :class:`app.host.offers.Offer`."""

    candidate: Candidate
    where: Where
    draft: str | None = None
    item: Item | None = None


def load_of(how: PairChoice, target: Path | str = "", draft: Path | None = None) -> Load:
    """Return the command that would load files this way; for weighing, nothing is loaded."""
    return how.command(0, Path(target), draft)


def here(library: Library, candidates: Candidates, but: str = "") -> Iterator[Drafter]:
    """Yield the files on this computer that might draft; what cannot be read is listed elsewhere as broken."""
    for entry in all_of(library):
        if entry.name == but:
            continue
        try:
            yield Drafter(candidates.of_entry(entry), "on this computer", entry.name)
        except ModelError as fault:
            logger.info("not judged: %s", fault.message)


def beside(hub: Hub, candidates: Candidates, model: Item, entries: Sequence[LibraryEntry]) -> Iterator[Drafter]:
    """Yield the MTP heads that lie in a model's own repository, unless they are on this computer already.

    Raises:
        SlipstreamError: the hub does not give them.
    """
    from app.models.hub_choice import sidecar

    repo = model.files[0].repo
    companion = sidecar(hub.repository(repo).files, model.files[0], "mtp-")
    if companion is not None and copy_of((companion,), entries) is None:
        item = Item(f"{repo}:{companion.path}", (companion,))
        yield Drafter(candidates.of_item(hub, item), "in the same repository", None, item)


def offers_for(target: Candidate, drafters: Iterable[Drafter], how: PairChoice) -> tuple[Offer, ...]:
    """Judge every way to draft for a target: what fits, best first, then what does not, with its reasons."""
    known = {drafter.candidate.name: drafter for drafter in drafters if drafter.candidate.name != target.name}
    drafts = [drafter.candidate for drafter in known.values()]
    load, room, spread = load_of(how), room_now(), spread_of(how)
    fitting = suggest(target, drafts, load, room, spread)
    taken = {judgement.draft for judgement in fitting}
    unfit = [_judged(target, draft, load, spread) for draft in drafts if draft.name not in taken]
    offers = []
    for judgement in (*fitting, *unfit):
        drafter = known.get(judgement.draft or "")
        if drafter is None:
            offers.append(Offer(judgement, "in the target"))
        else:
            offers.append(Offer(judgement, drafter.where, drafter.draft, drafter.item))
    return tuple(offers)


def weighed(library: Library, candidates: Candidates, target: str, offer: Offer, how: PairChoice) -> Offer:
    """Return an offer whose files are all on this computer with exactly what it takes; blocks for half a second.

    Raises:
        SlipstreamError: llama.cpp cannot lay the target out.
    """
    ours = library.resolve(target)
    theirs = None if offer.draft is None else library.resolve(offer.draft)
    one, other = candidates.of_entry(ours), None if theirs is None else candidates.of_entry(theirs)
    spread = spread_of(how)
    judgement = _rule(one, other, offer.judgement, spread.kind)
    if not judgement.fits:
        return offer
    load = load_of(how, ours.path, theirs.path if theirs is not None else None)
    headers = one.header, other.header if other is not None else None
    memory = spread_over(weigh_pair(*headers, load, room_now()), *headers, load, spread)
    return replace(offer, judgement=with_memory(judgement, memory))


def _rule(target: Candidate, draft: Candidate | None, before: Judgement, device: str) -> Judgement:
    """Judge again without memory, the same way to draft as before."""
    if draft is not None:
        return judge(target, draft, device)
    return judge_own_heads(target, device) if before.kind == "embedded heads" else judge_ngram(target, device)


def _judged(target: Candidate, draft: Candidate | None, load: Load, spread: Spread) -> Judgement:
    judgement = judge(target, draft, spread.kind)
    if not judgement.fits:
        return judgement
    headers = target.header, draft.header if draft is not None else None
    return with_memory(judgement, spread_over(reckon(*headers, load, room_now()), *headers, load, spread))


# --- curated pairs ------------------------------------------------------------------------------------


def curated_here(pair: CatalogPair, library: Library, candidates: Candidates, how: PairChoice) -> Offers | None:
    """Judge a curated pair whose files are all on this computer; None if they are not.

    Raises:
        ModelError: a file is there and cannot be loaded.
    """
    entries = all_of(library)
    target = entry_of(pair.target, entries)
    draft = None if pair.draft is None else entry_of(pair.draft, entries)
    if target is None or (pair.draft is not None and draft is None):
        return None
    ours = candidates.of_entry(target)
    theirs = None if draft is None else candidates.of_entry(draft)
    judgement = _with_reckoned(ours, theirs, how)
    offer = Offer(judgement, "in the target" if draft is None else "on this computer", draft.name if draft else None)
    return Offers(pair.title, _facts(pair), pair.target.licence, (offer,), target=target.name, pair=pair)


def curated_at(hub: Hub, pair: CatalogPair, library: Library, candidates: Candidates, how: PairChoice) -> Offers:
    """Judge a curated pair by the headers of its files on the hub, the starter's by its own.

    Raises:
        SlipstreamError: the hub does not give them.
    """
    item, gated = _item_of(hub, pair.target)
    target = candidates.of_item(hub, item)
    draft, draft_item, name = None, None, None
    where: Where = "in the target"
    if pair.draft is not None and pair.draft.repo == STARTER:
        entry = library.resolve(STARTER)
        draft, name, where = candidates.of_entry(entry), entry.name, "on this computer"
    elif pair.draft is not None:
        draft_item, theirs = _item_of(hub, pair.draft)
        gated += theirs
        draft, where = candidates.of_item(hub, draft_item), "in the catalog"
    offer = Offer(_with_reckoned(target, draft, how), where, name, draft_item)
    licence = pair.target.licence
    return Offers(pair.title, _facts(pair), licence, (offer,), item=item, pair=pair, gated=tuple(dict.fromkeys(gated)))


def entry_of(model: CatalogModel, entries: Sequence[LibraryEntry]) -> LibraryEntry | None:
    """Return the file on this computer that a curated model is, by its name and size; None if it is not here."""
    if model.repo == STARTER:
        return next((entry for entry in entries if entry.source == "starter"), None)
    name = model.files[0].path.rsplit("/", 1)[-1]
    sizes = [file.n_bytes for file in model.files]
    for entry in entries:
        if entry.path.name == name and (None in sizes or entry.n_bytes == sum(n or 0 for n in sizes)):
            return entry
    return None


def copy_of(files: Sequence[RemoteFile], entries: Sequence[LibraryEntry]) -> LibraryEntry | None:
    """Return what is on this computer of a model of the hub, by its name and size; None if it is not here."""
    n_bytes = sum(file.n_bytes for file in files)
    same = (entry for entry in entries if entry.n_bytes == n_bytes and entry.path.name == files[0].name)
    return next(same, None)


def all_of(library: Library) -> list[LibraryEntry]:
    """Return every file on this computer that can be loaded."""
    contents = library.contents()
    return [*contents.models, *contents.drafters]


def _with_reckoned(target: Candidate, draft: Candidate | None, how: PairChoice) -> Judgement:
    return _judged(target, draft, load_of(how), spread_of(how))


def _item_of(hub: Hub, model: CatalogModel) -> tuple[Item, list[str]]:
    from app.models.hub_choice import Wanted, choose

    found = hub.repository(model.repo)
    files = [file for path in model.files for file in choose(found.files, Wanted(model.repo, path=path.path))]
    item = Item(f"{model.repo}:{model.quantisation}", tuple(dict.fromkeys(files)))
    return item, [model.repo] if found.is_gated else []


def _facts(pair: CatalogPair) -> tuple[str, ...]:
    publisher = pair.target.repo.partition("/")[0]
    return (pair.target.quantisation, f"from {publisher}", f"drafted by {pair.drafter_words}")


# --- what could be pulled to draft for a model that is here -----------------------------------------


def from_elsewhere(
    hub: Hub, candidates: Candidates, entry: LibraryEntry, library: Library, how: PairChoice
) -> tuple[Offer, ...]:
    """Return drafters that could be pulled for a model: the catalog's, then smaller siblings on the hub; best first.

    Raises:
        SlipstreamError: the hub does not answer at all.
    """
    target = candidates.of_entry(entry)
    drafters = [*_from_catalog(hub, candidates, target, entry, library), *_siblings(hub, candidates, target)]
    known = {drafter.candidate.name: drafter for drafter in drafters}
    return tuple(offer for offer in offers_for(target, known.values(), how) if offer.item is not None)


def note_of_catalog(target: Candidate, entry: LibraryEntry, entries: Sequence[LibraryEntry]) -> str:
    """Say which drafter the catalog has for a model, if that is not on this computer; it needs no network."""
    for pair in Catalog.load().for_target(target.header, entry.path.name):
        if pair.draft is not None and entry_of(pair.draft, entries) is None:
            return f"The catalog has a drafter for it that is not here: {pair.drafter_words} (pair “{pair.title}”)."
    return ""


def _from_catalog(
    hub: Hub, candidates: Candidates, target: Candidate, entry: LibraryEntry, library: Library
) -> Iterator[Drafter]:
    entries = all_of(library)
    for pair in Catalog.load().for_target(target.header, entry.path.name):
        if pair.draft is None or entry_of(pair.draft, entries) is not None:
            continue
        with suppress(HubNotFoundError):
            item, _ = _item_of(hub, pair.draft)
            yield Drafter(candidates.of_item(hub, item), "in the catalog", None, item)


def _siblings(hub: Hub, candidates: Candidates, target: Candidate) -> Iterator[Drafter]:
    """Yield smaller models of the same family: those whose repository's name has its base name and a small size."""
    family = family_of(target.header)
    limit = target.header.n_params * LARGEST_SIBLING_SHARE
    if not family:
        return
    sized = [(size, one) for one in hub.search(family, 60) if 0 < (size := size_in_name(one.repo)) <= limit]
    largest_first = sorted(sized, key=lambda found: (-found[0], -found[1].n_downloads))
    n = 0
    for _size, one in largest_first:
        if n == N_FROM_HUB:
            return
        try:
            item = _small_copy(hub, one.repo)
            candidate = candidates.of_item(hub, item)
        except SlipstreamError as fault:
            logger.info("not offered: %s: %s", one.repo, fault.message)
            continue
        n += 1
        yield Drafter(candidate, "on the hub", None, item)


def _small_copy(hub: Hub, repo: str) -> Item:
    """Return the copy of a model that drafts best for its size: Q8_0 or Q4_0, or whatever the hub would take."""
    for tag in ("Q8_0", "Q4_0"):
        with suppress(HubNotFoundError):
            return hub.resolve(f"{repo}:{tag}")
    return hub.resolve(repo)


def family_of(header: GgufHeader) -> str:
    """Return what a model and its siblings are called, as in Qwen2.5; "" if the file does not say."""
    if (name := header.text("general.basename")) is not None:
        return name
    name = header.text("general.name") or ""
    match = _SIZE.search(name)
    return name[: match.start()].strip(" -_") if match is not None else ""


def size_in_name(repo: str) -> float:
    """Return how many numbers a model has by its name, as in Qwen2.5-0.5B; 0 if the name does not say."""
    match = _SIZE.search(repo.rsplit("/", 1)[-1])
    return 0.0 if match is None else float(match[1]) * (1e9 if match[2].upper() == "B" else 1e6)
