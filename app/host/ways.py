"""Every way to draft for a target, judged and in order; reads files and the hub, so it belongs on a thread."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import ModelError
from app.host.candidates import Candidates
from app.host.offers import UNFIT, Offer, Offers, Where
from app.host.rooms import spread_of
from app.host.values import PairChoice
from app.models.catalog import STARTER, Catalog, CatalogModel, CatalogPair
from app.models.device_memory import Spread, spread_over
from app.models.library import Library, LibraryEntry
from app.models.memory import reckon, room_now, weigh_pair
from app.models.pairs import Candidate, Judgement, judge, judge_ngram, judge_own_heads, with_memory
from app.models.remote import Item, RemoteFile
from app.models.suggestions import rank_of, suggest
from app.protocol import Load

if TYPE_CHECKING:
    from app.models.hub import Hub

logger = logging.getLogger(__name__)


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


def here(library: Library, candidates: Candidates, target: Candidate, but: str = "") -> Iterator[Drafter]:
    """Yield the files on this computer that might draft; what cannot be read is listed elsewhere as broken."""
    for entry in all_of(library):
        if entry.name == but:
            continue
        try:
            yield Drafter(candidates.of_entry(entry, target.header), "on this computer", entry.name)
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
    """Judge every way to draft for a target: what fits, best first, then what does not, with its reasons.

    Of the drafters only what is said of them is kept: a library may hold thousands, and each vocabulary is large.
    """
    load, spread = load_of(how), spread_of(how)
    own = suggest(target, (), load, room_now(), spread)
    offers = [Offer(one, "in the target", rank=rank_of(target, one, None)) for one in own]
    seen = {target.name}
    for drafter in drafters:
        draft = drafter.candidate
        if draft.name in seen:
            continue
        seen.add(draft.name)
        judgement = _judged(target, draft, load, spread)
        rank = rank_of(target, judgement, draft) if judgement.fits else UNFIT
        offers.append(Offer(judgement, drafter.where, drafter.draft, drafter.item, rank))
    return tuple(sorted(offers, key=lambda offer: offer.rank))


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
    item, gated = curated_item(hub, pair.target)
    target = candidates.of_item(hub, item)
    draft, draft_item, name = None, None, None
    where: Where = "in the target"
    if pair.draft is not None and pair.draft.repo == STARTER:
        entry = library.resolve(STARTER)
        draft, name, where = candidates.of_entry(entry), entry.name, "on this computer"
    elif pair.draft is not None:
        draft_item, theirs = curated_item(hub, pair.draft)
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


def curated_item(hub: Hub, model: CatalogModel) -> tuple[Item, list[str]]:
    """Return what has to be pulled of a curated model, and its repository if that has terms to accept.

    Raises:
        SlipstreamError: the hub does not have it, or does not say.
    """
    from app.models.hub_choice import Wanted, choose

    found = hub.repository(model.repo)
    files = [file for path in model.files for file in choose(found.files, Wanted(model.repo, path=path.path))]
    item = Item(f"{model.repo}:{model.quantisation}", tuple(dict.fromkeys(files)))
    return item, [model.repo] if found.is_gated else []


def _facts(pair: CatalogPair) -> tuple[str, ...]:
    publisher = pair.target.repo.partition("/")[0]
    begins = f"begins with up to {pair.draft_tokens} tokens a draft"
    return (pair.target.quantisation, f"from {publisher}", f"drafted by {pair.drafter_words}", begins)


def note_of_catalog(target: Candidate, entry: LibraryEntry, entries: Sequence[LibraryEntry]) -> str:
    """Say which drafter the catalog has for a model, if that is not on this computer; it needs no network."""
    for pair in Catalog.load().for_target(target.header, entry.path.name):
        if pair.draft is not None and entry_of(pair.draft, entries) is None:
            return f"The catalog has a drafter for it that is not here: {pair.drafter_words} (pair “{pair.title}”)."
    return ""
