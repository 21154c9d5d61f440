"""``list``: the models that can be loaded by name."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import msgspec

from app.cli import options
from app.models.library import Library


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


def list_models(chosen: ListOptions) -> None:
    """List the models on this machine."""
    models = [
        Listed(e.name, str(e.path), e.n_bytes, e.architecture, e.quantisation, e.source) for e in Library().entries()
    ]
    if chosen.as_json:
        sys.stdout.write(msgspec.json.encode({"models": models}).decode() + "\n")
        return
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
