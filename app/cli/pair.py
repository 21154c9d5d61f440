"""``pair``: does a drafter fit a target, why or why not, and what do both take."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.cli.listing import printable
from app.cli.stoppable import run_stoppable
from app.cli.terminal import note
from app.engine.probe import Sizes
from app.errors import ModelNotFoundError, SlipstreamError
from app.host import PairChoice
from app.host.candidates import Candidates
from app.host.hub_drafters import find_drafters
from app.host.look import Look
from app.host.offers import Offer
from app.host.rooms import spread_of
from app.host.ways import Drafter, all_of, here, offers_for
from app.models.catalog import Catalog
from app.models.device_memory import Spread, spread_over
from app.models.library import Library, LibraryEntry
from app.models.memory import PairMemory, reckon, room_now, weigh_pair
from app.models.pairs import Candidate, Judgement, candidate_of_file, candidate_of_sources, judge, with_memory
from app.models.remote import RemoteFile
from app.protocol import Load

MOST_SUGGESTIONS = 10
"""Drafters that are shown, the best ones; nobody reads hundreds."""


@dataclass(frozen=True, slots=True)
class PairOptions:
    """What ``pair`` can be told."""

    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="A library name, a GGUF file, 'starter', or org/repo[:quant] on the hub."
        ),
    ]
    draft: Annotated[
        str | None,
        typer.Argument(metavar="[DRAFT]", help="The same. Without it: what fits, best first.", show_default=False),
    ] = None
    n_ctx: Annotated[int, typer.Option("--nctx", metavar="N", min=0, help="Context length; 0 is the longest.")] = 4096
    compute: Annotated[
        str,
        typer.Option(
            "--compute",
            metavar="cpu|gpu|npu|hybrid|DEV,…",
            help="Where it would run: the quantisation and the memory are judged for that.",
        ),
    ] = "cpu"
    hub: Annotated[
        bool | None,
        typer.Option(
            "--hub/--no-hub",
            help="Without DRAFT: look on the hub, too, for what could be pulled. Without it only for a target there.",
            show_default=False,
        ),
    ] = None
    as_json: options.FactsAsJson = False


class Verdict(msgspec.Struct, frozen=True):
    """One answer, as JSON has it."""

    fits: bool
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    memory: dict[str, object] | None
    target: str
    draft: str | None
    kind: str


class Suggestion(Verdict, frozen=True):
    """A drafter that fits; ``pull`` names what has to be pulled, "" if it is here."""

    where: str
    pull: str


class CatalogPair(msgspec.Struct, frozen=True):
    """A pair of the catalog for the same target."""

    title: str
    draft: str
    pull: str


def pair(chosen: PairOptions) -> None:
    """Tell whether a drafter fits a target, and in words why or why not; without a drafter, which ones do."""
    target, target_entry, files = _find(chosen.target)
    if chosen.draft is None:
        _list(chosen, target, target_entry, files)
        return
    draft, draft_entry, _ = _find(chosen.draft)
    judgement = judge(target, draft, _spread(chosen, draft).kind)
    memory = _memory(chosen, (target, target_entry), (draft, draft_entry)) if judgement.fits else None
    if memory is not None:
        judgement = with_memory(judgement, memory)
    if chosen.as_json:
        sys.stdout.write(msgspec.json.encode(_verdict(judgement)).decode() + "\n")
    else:
        _show(judgement)


def _find(name: str) -> tuple[Candidate, LibraryEntry | None, Sequence[RemoteFile]]:
    """Read what pairs need of a model here, or of one on the hub with its files there.

    Raises:
        SlipstreamError: it is in neither place, or is not a sound model.
    """
    try:
        entry = Library().resolve(name)
    except ModelNotFoundError as missing:
        if "/" not in name or name.endswith(".gguf"):
            raise
        candidate, files = _find_on_hub(name, missing)
        return candidate, None, files
    return candidate_of_file(entry.path, entry.name, entry.n_bytes), entry, ()


def _find_on_hub(name: str, missing: ModelNotFoundError) -> tuple[Candidate, Sequence[RemoteFile]]:
    from app.models.hub import Hub  # brings the hub's client along, which takes a second

    try:
        hub = Hub()
        item = hub.resolve(name)
        return candidate_of_sources([hub.source(file) for file in item.files], item.title), item.files
    except SlipstreamError as fault:
        raise type(fault)(f"{missing.message} {fault.message}", fault.hint or missing.hint) from fault


def _memory(
    chosen: PairOptions,
    target: tuple[Candidate, LibraryEntry | None],
    draft: tuple[Candidate | None, LibraryEntry | None],
) -> PairMemory:
    """Weigh files that are here; reckon what is on the hub."""
    headers, spread = (target[0].header, draft[0].header if draft[0] is not None else None), _spread(chosen, draft[0])
    if target[1] is not None and (draft[0] is None or draft[1] is not None):
        path = str(draft[1].path) if draft[1] is not None else None
        how = Load(0, str(target[1].path), path, n_ctx=chosen.n_ctx)
        return spread_over(weigh_pair(*headers, how, room_now()), *headers, how, spread)
    how = Load(0, "", n_ctx=chosen.n_ctx)
    return spread_over(reckon(*headers, how, room_now()), *headers, how, spread)


def _spread(chosen: PairOptions, draft: Candidate | None) -> Spread:
    """Return the devices that the pair would be on; a draft model goes where its target does."""
    spread = spread_of(PairChoice("", compute=chosen.compute))
    return spread if draft is not None else replace(spread, draft=())


def _list(chosen: PairOptions, target: Candidate, entry: LibraryEntry | None, files: Sequence[RemoteFile]) -> None:
    library, candidates = Library(), Candidates()
    own = judge(target, None, _spread(chosen, target).kind)
    if own.fits:
        own = with_memory(own, _memory(chosen, (target, entry), (None, None)))
    drafters: Iterator[Drafter] = here(library, candidates, target, entry.name if entry is not None else "")
    problem, is_whole = "", True
    if chosen.hub if chosen.hub is not None else entry is None:
        look = _HubLook(target, entry or files, library, candidates)
        problem = run_stoppable(look, lambda: "looking in the catalog and on the hub", "Stopped.")
        drafters, is_whole = chain(drafters, look.look.found), look.look.is_whole
    how = PairChoice("", n_ctx=chosen.n_ctx, compute=chosen.compute)
    found = [offer for offer in offers_for(target, drafters, how) if offer.judgement.fits]
    file_name = entry.path.name if entry is not None else files[0].name
    known = tuple(
        CatalogPair(one.title, one.drafter_words, f"{one.target.repo}:{one.target.quantisation}")
        for one in Catalog.load().for_target(target.header, file_name)
    )
    if chosen.as_json:
        facts = {
            **msgspec.to_builtins(_verdict(own)),
            "suggestions": [_suggestion(one) for one in found],
            "catalog": known,
            "hub_problem": problem,
            "complete": is_whole,
        }
        sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
        return
    _show(own)
    _show_found(found, known)
    if problem:
        note(problem)
    if not is_whole:
        note("The look on the hub was ended before it was done: there may be more.")
    elif entry is not None and chosen.hub is None:
        note("The hub was not asked: --hub looks there, too.")


def _show_found(found: Sequence[Offer], known: Sequence[CatalogPair]) -> None:
    sys.stdout.write("\nWhat can draft for it, best first:\n" if found else "\nNothing here can draft for it.\n")
    for rank, offer in enumerate(found[:MOST_SUGGESTIONS], 1):
        one = offer.judgement
        where = f", {offer.where}" if offer.item is not None else ""
        _write(f"  {rank}. {one.draft or one.kind} ({one.kind}, {_gigabytes(one.memory)}{where})\n")
        for warning in one.warnings:
            _write(f"     note: {warning}\n")
    if (more := len(found) - MOST_SUGGESTIONS) > 0:
        _write(f"  and {more:,} more; --json has them all\n")
    for curated in known:
        _write(f"  In the catalog: {curated.title}; drafts by {curated.draft}\n")


class _HubLook:
    """A look on the hub as :func:`run_stoppable` has it; stopped, what was found is shown."""

    def __init__(
        self,
        target: Candidate,
        source: LibraryEntry | Sequence[RemoteFile],
        library: Library,
        candidates: Candidates,
    ) -> None:
        self.look: Look[Drafter] = Look()
        self._target, self._source, self._library, self._candidates = target, source, library, candidates

    @property
    def fraction(self) -> float:
        """How much of its time is over."""
        return self.look.fraction

    def run(self) -> str:
        """Look; return what went wrong, in words."""
        try:
            self.look.run(self._find)
        except SlipstreamError as fault:
            return f"The hub was not asked to the end: {fault.message} {fault.hint}"
        return ""

    def stop(self) -> None:
        """End it."""
        self.look.stop()

    def _find(self) -> None:
        from app.models.hub import Hub

        entries = all_of(self._library)
        find_drafters(Hub(), self._candidates, self._target, self._source, entries, self.look)


# --- showing ----------------------------------------------------------------------------------------


def _verdict(judgement: Judgement) -> Verdict:
    return Verdict(
        judgement.fits,
        judgement.reasons,
        judgement.warnings,
        _memory_facts(judgement.memory),
        judgement.target,
        judgement.draft,
        judgement.kind,
    )


def _suggestion(offer: Offer) -> Suggestion:
    pull = offer.item.title if offer.item is not None else ""
    return Suggestion(**msgspec.structs.asdict(_verdict(offer.judgement)), where=offer.where, pull=pull)


def _memory_facts(memory: PairMemory | None) -> dict[str, object] | None:
    if memory is None:
        return None
    return {
        "n_ctx": memory.n_ctx,
        "n_ctx_max": memory.n_ctx_max,
        "exact": memory.is_exact,
        "target": _size_facts(memory.target),
        "draft": _size_facts(memory.draft) if memory.draft is not None else None,
        "total_bytes": memory.n_bytes,
        "devices": [
            {
                "device": share.room.device,
                "total_bytes": share.n_bytes,
                "free_bytes": share.room.free_bytes if share.room.is_known else None,
                "memory_bytes": share.room.total_bytes if share.room.is_known else None,
            }
            for share in memory.by_device
        ],
    }


def _size_facts(sizes: Sizes) -> dict[str, int]:
    return {**msgspec.to_builtins(sizes), "total_bytes": sizes.n_bytes}


def _write(line: str) -> None:
    """Write a line for people; what a file is called, or calls itself, shall not move the cursor or feign a line."""
    sys.stdout.write(printable(line.rstrip("\n")) + "\n")


def _show(judgement: Judgement) -> None:
    pair = f"{judgement.target} + {judgement.draft}" if judgement.draft is not None else judgement.target
    _write(f"{pair} ({judgement.kind}): {judgement.fit}\n")
    for reason in judgement.reasons:
        _write(f"  {reason}\n")
    for warning in judgement.warnings:
        _write(f"  note: {warning}\n")
    if judgement.memory is not None:
        _show_memory(judgement.memory)


def _show_memory(memory: PairMemory) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("MB", "weights", "memory of the text", "running state", "compute", "total"):
        table.add_column(heading, justify="left" if heading == "MB" else "right")
    for name, sizes in (("target", memory.target), ("draft", memory.draft)):
        if sizes is not None:
            numbers = (sizes.weights_bytes, sizes.kv_bytes, sizes.state_bytes, sizes.compute_bytes, sizes.n_bytes)
            table.add_row(name, *(f"{n / 1e6:,.0f}" for n in numbers))
    table.add_row("both", "", "", "", "", f"{memory.n_bytes / 1e6:,.0f}")
    console = Console(highlight=False, markup=False)
    console.print(table)
    how = "by a dry load" if memory.is_exact else "reckoned from the headers"
    free = "" if memory.shares else f" {memory.room.free_bytes / 1e6:,.0f} MB are free,"
    console.print(f"for {memory.n_ctx} tokens of context, {how};{free} up to {memory.n_ctx_max} tokens fit")
    for share in memory.shares:
        has = (
            f"{share.room.free_bytes / 1e6:,.0f} MB are free"
            if share.room.is_known
            else "nobody knows how much is free"
        )
        console.print(f"{share.room.device} takes about {share.n_bytes / 1e6:,.0f} MB; {has}")


def _gigabytes(memory: PairMemory | None) -> str:
    return f"{memory.n_bytes / 1e9:.1f} GB" if memory is not None else ""
