"""``list``: the models that can be loaded by name."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import msgspec

from app.cli import options
from app.engine.byte_cursor import size_in_words
from app.models.disk_use import Disk, disk_use
from app.models.library import Library, LibraryEntry
from app.models.models_folder import models_folder
from app.models.shelf import Shelf
from app.models.unfinished import unfinished
from app.paths import bundle_dir, way_to_install

_WIDTH = 400
_WHOSE = {"folder": "our folder"}


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
    origin: str


class Broken(msgspec.Struct, frozen=True):
    """One file that cannot be loaded, or is of another kind."""

    path: str
    reason: str
    hint: str
    source: str


class Begun(msgspec.Struct, frozen=True):
    """One download that is not finished; ``remove`` knows it by its title."""

    title: str
    bytes: int
    total_bytes: int
    is_running: bool


def list_models(chosen: ListOptions) -> None:
    """List the models on this machine, what only drafts for one, is not finished, or cannot be loaded."""
    contents = Library().contents()
    models, drafters = ([_listed(entry) for entry in entries] for entries in (contents.models, contents.drafters))
    broken, others = (
        [Broken(str(file.path), file.reason, file.hint, file.source) for file in files]
        for files in (contents.broken, contents.others)
    )
    disk = disk_use(contents)
    begun = [
        Begun(one.item.title, one.n_bytes, one.item.n_bytes, one.is_running)
        for one in unfinished(Shelf(models_folder()))
    ]
    if chosen.as_json:
        facts: dict[str, object] = {"models": models, "drafters": drafters, "broken": broken, "others": others}
        facts |= {"disk": disk, "folder": str(models_folder()), "unfinished": begun}
        sys.stdout.write(msgspec.json.encode(facts).decode() + "\n")
        return
    _show(models)
    if drafters:
        sys.stdout.write("\nOnly for drafting:\n")
        _show(drafters)
    for one in begun:
        _show_begun(one)
    for file in broken:
        sys.stdout.write(f"\nbroken: {printable(file.path)}\n  {printable(file.reason)} {printable(file.hint)}\n")
    for file in others:
        sys.stdout.write(f"\nnot for chat: {printable(file.path)}\n  {printable(file.reason)}\n")
    _show_disk(disk)


def _listed(entry: LibraryEntry) -> Listed:
    facts = (entry.architecture, entry.quantisation, entry.source, entry.origin)
    return Listed(entry.name, str(entry.path), entry.n_bytes, *facts)


def _show(models: list[Listed]) -> None:
    if not models:
        hint = way_to_install('"slipstream-chat[starter]"', bundle_dir())
        sys.stdout.write(f"No models yet. The starter is missing. {hint}\n")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "architecture", "quantisation", "size", "from"):
        table.add_column(heading, justify="right" if heading == "size" else "left")
    for model in models:
        facts = (model.name, model.architecture, model.quantisation, f"{model.bytes / 1e6:,.0f} MB", model.source)
        table.add_row(*(printable(_WHOSE.get(fact, fact)) for fact in facts))
    width = None if sys.stdout.isatty() else _WIDTH  # what another program reads is not cut short
    Console(markup=False, highlight=False, width=width).print(table)


def _show_begun(one: Begun) -> None:
    share = one.bytes / one.total_bytes if one.total_bytes else 1.0
    state = "on its way" if one.is_running else "pull goes on there, remove drops it"
    sys.stdout.write(f"\nnot finished: {printable(one.title)}\n  {int(100 * share)} % is here; {state}.\n")


def printable(words: str) -> str:
    """Return words that do nothing to a terminal: file names are other people's."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words)


def _show_disk(disk: Disk) -> None:
    uses = []
    for use in disk.uses:
        unfinished = f" and {size_in_words(use.unfinished_bytes)} unfinished" if use.unfinished_bytes else ""
        uses.append(f"{_WHOSE.get(use.source, use.source)} {size_in_words(use.n_bytes)}{unfinished}")
    free = f"; {size_in_words(disk.free_bytes)} free" if disk.free_bytes is not None else ""
    sys.stdout.write(f"\nOn disk: {size_in_words(disk.n_bytes)} ({', '.join(uses)}){free}\n")
    sys.stdout.write(f"Our folder: {models_folder()}\n")
