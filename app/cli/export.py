"""``export``: all forms of an exported session, from its folder or its ``metrics.json``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from app.cli.pictures import renderer
from app.metrics.session_export import export_session, open_session

Session = Annotated[Path, typer.Argument(metavar="SESSION", help="Folder of an exported session, or its metrics.json.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the files; made if missing.")]
WithPrompts = Annotated[
    bool, typer.Option("--with-prompts", help="Keep prompts and paths, as far as the session holds them.")
]
Picture = Annotated[bool, typer.Option("--png", help="Draw the charts as chart.png, too.")]


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What ``export`` can be told."""

    session: Session
    out: Out
    with_prompts: WithPrompts = False
    png: Picture = False


def export(chosen: ExportOptions) -> None:
    """Write a session as JSON, CSV, Markdown, SVG and one HTML file, without prompts and paths."""
    metrics = open_session(chosen.session)
    paths = export_session(metrics, chosen.out, redact=not chosen.with_prompts, on_progress=_progress)
    if chosen.png:
        renderer().render_chart(metrics, chosen.out / "chart.png")
        paths = (*paths, chosen.out / "chart.png")
    for path in paths:
        typer.echo(str(path))


def _progress(share: float) -> None:
    """Show how far it has come, if somebody is looking."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\rexporting: {share:.0%}" + ("\n" if share == 1.0 else ""))
        sys.stderr.flush()
