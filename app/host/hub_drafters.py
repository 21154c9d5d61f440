"""Drafters that could be pulled for a model: the catalog's, those beside it, and what a search on the hub finds.

A search gives names. Which repositories are worth some megabytes of header is told from these: heads and assistants of
a model of the same size, and smaller models of the family, of each size one. Whether they fit, their headers say.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from app.engine.gguf import GgufHeader
from app.errors import HubAccessError, HubNotFoundError, SlipstreamError
from app.host.candidates import Candidates
from app.host.look import Look
from app.host.offers import Where
from app.host.ways import Drafter, copy_of, curated_item, entry_of
from app.models.catalog import STARTER, Catalog
from app.models.cautions import LARGEST_SHARE
from app.models.library import LibraryEntry
from app.models.pairs import Candidate
from app.models.remote import FoundModel, Item, RemoteFile, is_repo

if TYPE_CHECKING:
    from app.models.hub import Hub

logger = logging.getLogger(__name__)

N_HEADERS = 5
"""How many headers of search results are read: each costs some megabytes."""

N_RESULTS = 100
_MAX_FAMILY = 60
_TAGS = ("Q8_0", "Q4_0")
"""What drafts best for its size."""

_WITHOUT = suppress(HubNotFoundError, HubAccessError)
"""One repository that is gone, or not for this person, does not end a look."""

_SIZE = re.compile(r"(?<![A-Za-z0-9.])[EA]?(\d+(?:\.\d+)?)\s?([BM])(?![A-Za-z0-9])", re.IGNORECASE)
_HEADS = re.compile(r"(?<![a-z])(?:assistant|mtp|nextn)(?![a-z])", re.IGNORECASE)
_TUNED = re.compile(r"(?<![a-z])(?:it|instruct|chat)(?![a-z])", re.IGNORECASE)


def find_drafters(
    hub: Hub,
    candidates: Candidates,
    target: Candidate,
    source: Sequence[RemoteFile] | LibraryEntry,
    entries: Sequence[LibraryEntry],
    look: Look[Drafter],
) -> None:
    """Look for what could be pulled to draft for a model; what is on this computer already is left out.

    Args:
        hub: the hub.
        candidates: keeps the headers.
        target: the model.
        source: where it is: its files on the hub, or here.
        entries: what is on this computer.
        look: takes what is found, one by one, and tells when it is over.

    Raises:
        SlipstreamError: the hub does not answer at all.
    """
    known: set[str] = set()
    for where, item in _items(hub, target, source, entries):
        if look.is_over:
            return
        digest = item.files[0].digest
        if digest in known or copy_of(item.files, entries) is not None:
            continue
        known.add(digest)
        try:
            look.found.append(Drafter(candidates.of_item(hub, item), where, None, item))
        except SlipstreamError as fault:
            logger.info("not offered: %s: %s", item.title, fault.message)


def _items(
    hub: Hub, target: Candidate, source: Sequence[RemoteFile] | LibraryEntry, entries: Sequence[LibraryEntry]
) -> Iterator[tuple[Where, Item]]:
    is_here = isinstance(source, LibraryEntry)
    name = source.path.name if isinstance(source, LibraryEntry) else source[0].name
    repo = source.origin if isinstance(source, LibraryEntry) else source[0].repo
    for pair in Catalog.load().for_target(target.header, name):
        if pair.draft is not None and pair.draft.repo != STARTER and entry_of(pair.draft, entries) is None:
            with _WITHOUT:
                yield "in the catalog", curated_item(hub, pair.draft)[0]
    if is_repo(repo):
        with _WITHOUT:
            for item in _heads_in(repo, hub.repository(repo).files):
                yield "in its repository on the hub" if is_here else "in the same repository", item
    family = family_of(target.header)
    if family:
        for one in likely(hub.search(family, N_RESULTS), target.header, name, repo):
            with _WITHOUT:
                yield "on the hub", _best_file(hub, one.repo)


def _heads_in(repo: str, files: Sequence[RemoteFile]) -> list[Item]:
    heads = [file for file in files if file.name.startswith("mtp-") and file.name.endswith(".gguf")]
    return [Item(f"{repo}:{file.path}", (file,)) for file in _by_tag(heads)[:1]]


def _best_file(hub: Hub, repo: str) -> Item:
    """Return the copy of a model that drafts best for its size, or its heads where there is nothing else."""
    from app.models.hub_choice import Wanted, choose

    files = hub.repository(repo).files
    for tag in (*_TAGS, ""):
        with suppress(HubNotFoundError):
            chosen = choose(files, Wanted(repo, tag=tag))
            return Item(f"{repo}:{chosen[0].path}", chosen)
    if heads := _heads_in(repo, files):
        return heads[0]
    raise HubNotFoundError(f"{repo} has no GGUF model.")


def _by_tag(files: Iterable[RemoteFile]) -> list[RemoteFile]:
    def rank(file: RemoteFile) -> int:
        return next((n for n, tag in enumerate(_TAGS) if tag in file.name.upper()), len(_TAGS))

    return sorted(files, key=rank)


# --- by their names -----------------------------------------------------------------------------------


def likely(found: Sequence[FoundModel], target: GgufHeader, name: str, repo: str) -> list[FoundModel]:
    """Return the repositories whose headers are worth reading, the most promising first.

    Args:
        found: the results of a search, the most downloaded first.
        target: the header of the model to draft for.
        name: what its file is called.
        repo: its repository, "" if that is not known.
    """
    own_size = size_in_name(name) or size_in_name(repo) or target.n_params
    limit = target.n_params * LARGEST_SHARE
    is_tuned = _TUNED.search(f"{name} {repo}") is not None
    heads: list[FoundModel] = []
    smaller: dict[float, FoundModel] = {}
    for one in sorted(found, key=lambda one: (_TUNED.search(one.repo) is not None) != is_tuned):
        size = size_in_name(one.repo)
        if one.repo == repo:
            continue
        if _HEADS.search(one.repo.rpartition("/")[2]):
            if not size or 0.5 < size / own_size < 2:
                heads.append(one)
        elif 0 < size <= limit:
            smaller.setdefault(size, one)
    by_size = [smaller[size] for size in sorted(smaller, reverse=True)]
    return [*heads[:2], *by_size][:N_HEADERS]


def family_of(header: GgufHeader) -> str:
    """Return what a model and its siblings are called, as in Qwen2.5; "" if the file does not say."""
    name = header.text("general.basename")
    if name is None:
        whole = header.text("general.name") or ""
        match = _SIZE.search(whole)
        name = whole[: match.start()] if match is not None else ""
    return "".join(filter(str.isprintable, name))[:_MAX_FAMILY].strip(" -_")


def size_in_name(name: str) -> float:
    """Return how many numbers a model has by its name, as in Qwen2.5-0.5B; 0 if the name does not say."""
    match = _SIZE.search(name.rsplit("/", 1)[-1])
    return 0.0 if match is None else float(match[1]) * (1e9 if match[2].upper() == "B" else 1e6)
