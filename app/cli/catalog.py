"""``catalog``: the curated pairs, and whether the hub still has them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.errors import UsageError
from app.models.catalog import STARTER, Catalog, CatalogModel, CatalogPair, Finding, LaptopSize, check

_SIZES: tuple[LaptopSize, ...] = (16, 32, 64)


@dataclass(frozen=True, slots=True)
class CatalogOptions:
    """What ``catalog`` can be told."""

    laptop_gb: Annotated[
        int | None, typer.Option("--memory", metavar="GB", help="Only pairs that suit 16, 32 or 64 GB of memory.")
    ] = None
    checks: Annotated[bool, typer.Option("--check", help="Compare every file with what the hub has.")] = False
    as_json: options.FactsAsJson = False


def catalog(chosen: CatalogOptions) -> None:
    """List the curated pairs; with --check ask the hub whether all of it still holds."""
    known = Catalog.load()
    pairs = known.pairs if chosen.laptop_gb is None else tuple(known.for_laptop(_size(chosen.laptop_gb)))
    if chosen.checks:
        _check(pairs, chosen)
    elif chosen.as_json:
        sys.stdout.write(msgspec.json.encode({"updated": known.updated, "pairs": pairs}).decode() + "\n")
    else:
        _show(pairs)


def _size(told: int) -> LaptopSize:
    for size in _SIZES:
        if told == size:
            return size
    raise UsageError(f"There are no pairs for {told} GB of memory.", "Choose 16, 32 or 64.")


def _check(pairs: tuple[CatalogPair, ...], chosen: CatalogOptions) -> None:
    from app.models.hub import Hub  # brings the hub's client along, which takes a second

    findings = check(pairs, Hub())
    wrong = [finding for finding in findings if finding.problem]
    if chosen.as_json:
        sys.stdout.write(msgspec.json.encode({"ok": not wrong, "files": findings}).decode() + "\n")
    else:
        for finding in findings:
            sys.stdout.write(_line(finding) + "\n")
        sys.stdout.write(f"{len(findings) - len(wrong)} of {len(findings)} files are as the catalog says.\n")
    if wrong:
        raise typer.Exit(1)


def _line(finding: Finding) -> str:
    return f"{finding.repo}/{finding.path}: {finding.problem or 'as it should be'}"


def _show(pairs: tuple[CatalogPair, ...]) -> None:
    for pair in pairs:
        laptops = ", ".join(map(str, pair.laptops_gb))
        drafter = "" if pair.draft is None else f" + {_name(pair.draft)}"
        sys.stdout.write(f"{pair.title} ({pair.kind}), for laptops with {laptops} GB\n")
        sys.stdout.write(f"  {_name(pair.target)}{drafter}\n")
        facts = (f"about {pair.memory_bytes / 1e9:.0f} GB of memory", f"licence {pair.target.licence}")
        sys.stdout.write(f"  {', '.join(facts)}; start with {pair.spec_type}, {pair.draft_tokens} tokens\n")
        if pair.note:
            sys.stdout.write(f"  {pair.note}\n")
        sys.stdout.write(f"  get it with: pull {pair.id}\n")


def _name(model: CatalogModel) -> str:
    return "starter" if model.repo == STARTER else f"{model.repo}:{model.quantisation}"
