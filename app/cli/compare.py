"""``compare``: two exported sessions side by side."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.cli.terminal import CONTROLS
from app.metrics.compare import ComparedWay, compare, figure_rows, ratio_words, totals
from app.metrics.session_export import open_session

First = Annotated[Path, typer.Argument(metavar="A", help="Folder of an exported session, or its metrics.json.")]
Second = Annotated[Path, typer.Argument(metavar="B", help="Another one, from whatever machine.")]


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
        _say(f"{letter}: {name}: {totals(metrics)}")
    if found.differences:
        _say("\ndifferent conditions:")
        for one in found.differences:
            _say(f"  {one.what}: {one.a}  |  {one.b}")
    for way in found.ways:
        _show(way)


def _show(way: ComparedWay) -> None:
    """Show the figures of one way in columns; what is longer than a column, as a verdict is, gets lines of its own."""
    _say(f"\n{way.way}")
    rows = [("", "A", "B"), *figure_rows(way)]
    name, *verdicts = rows.pop()
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    for row in rows:
        _say(f"  {row[0].ljust(first)}  {row[1].ljust(second)}  {row[2]}".rstrip())
    for letter, verdict in zip("AB", verdicts, strict=True):
        if verdict != "–":
            _say(f"  {name} of {letter}: {verdict}")
    _say(f"  decode speed of B ÷ A: {ratio_words(way)}")


def _say(line: str) -> None:
    """Show a line; what a session from elsewhere calls its models shall not move the cursor."""
    typer.echo(line.translate(CONTROLS))
