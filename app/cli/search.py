"""``search``: models on the hub."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.errors import UsageError
from app.models.hub import Hub
from app.models.remote import FoundModel


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What ``search`` can be told."""

    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What the name of the repository holds.")]
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="How many to show.")] = 20
    as_json: options.FactsAsJson = False


def search(chosen: SearchOptions) -> None:
    """Find repositories with GGUF models on the hub, the most downloaded first."""
    words = " ".join(chosen.words).strip()
    if not words:
        raise UsageError("There is nothing to search for.", "Name a model, such as: search qwen3 8b")
    found = Hub().search(words, chosen.limit)
    if chosen.as_json:
        sys.stdout.write(msgspec.json.encode({"models": found}).decode() + "\n")
    elif found:
        _show(found)
    else:
        sys.stdout.write(f"Nothing with GGUF models is called {words!r} there. Try fewer words.\n")


def _show(found: list[FoundModel]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("repository", "downloads", "likes", "licence", "access", "updated"):
        table.add_column(heading, justify="right" if heading in ("downloads", "likes") else "left")
    for model in found:
        access = "terms to accept" if model.is_gated else "open"
        numbers = f"{model.n_downloads:,}", f"{model.n_likes:,}"
        table.add_row(model.repo, *numbers, model.licence or "not named", access, model.updated)
    console = Console(highlight=False, markup=False)
    console.print(table)
    console.print("Get one with: pull REPOSITORY[:QUANT]")
