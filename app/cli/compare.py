"""``compare``: two exported sessions side by side."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.metrics.compare import ComparedWay, compare, figure_rows, ratio_words, totals
from app.metrics.session_export import open_session

First = Annotated[Path, typer.Argument(metavar="A", help="Folder of an exported session, or its metrics.json.")]
Second = Annotated[Path, typer.Argument(metavar="B", help="Another one, from whatever machine.")]

_WIDTHS = (22, 26, 26)


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What ``compare`` can be told."""

    a: First
    b: Second
    as_json: options.AsJson = False


def compare_sessions(chosen: CompareOptions) -> None:
    """Put two exported sessions side by side: what was measured, and under which different conditions."""
    sessions = open_session(chosen.a), open_session(chosen.b)
    found = compare(*sessions, names=(str(chosen.a), str(chosen.b)))
    if chosen.as_json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        return
    for letter, name, metrics in zip("AB", found.names, sessions, strict=True):
        typer.echo(f"{letter}: {name}: {totals(metrics)}")
    if found.differences:
        typer.echo("\ndifferent conditions:")
        for one in found.differences:
            typer.echo(f"  {one.what}: {one.a}  |  {one.b}")
    for way in found.ways:
        _show(way)


def _show(way: ComparedWay) -> None:
    typer.echo("\n" + _line(way.way, "A", "B"))
    for row in figure_rows(way):
        typer.echo(_line("  " + row[0], *row[1:]))
    typer.echo(f"  decode speed of B ÷ A: {ratio_words(way)}")


def _line(*cells: str) -> str:
    return " ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()
