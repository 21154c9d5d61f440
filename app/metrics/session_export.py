"""A whole session on its way into a folder: every form, with progress, off the thread that called for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from app.errors import ExportError
from app.metrics.atomic import replacing
from app.metrics.export import Metrics, read_json, write_json
from app.metrics.pictures import pictures
from app.metrics.redaction import redacted
from app.metrics.report import write_html, write_report
from app.metrics.session_log import now_utc
from app.metrics.tables import write_runs_csv, write_steps_csv
from app.metrics.values import SessionInfo

FILES = ("metrics.json", "metrics.csv", "steps.csv", "report.md", "report.html")

OnProgress = Callable[[float], None]
"""Told the share that is done, from the thread that writes; what it raises ends the export."""

_STEPS_SHARE = 0.95


def prepared(metrics: Metrics, *, redact: bool = True) -> Metrics:
    """Return what is to be exported: stamped with the time, without prompts and paths unless they are wanted."""
    session = metrics.session or SessionInfo(id="", name="", started_at=now_utc())
    stamped = msgspec.structs.replace(
        metrics, session=msgspec.structs.replace(session, exported_at=now_utc(), redacted=False)
    )
    return redacted(stamped) if redact else stamped


def export_session(
    metrics: Metrics, folder: Path, *, redact: bool = True, on_progress: OnProgress = lambda _share: None
) -> tuple[Path, ...]:
    """Write all forms into a folder; return their paths.

    Raises:
        ExportError: a file cannot be written.
    """
    return write_session(prepared(metrics, redact=redact), folder, on_progress)


def write_session(metrics: Metrics, folder: Path, on_progress: OnProgress = lambda _share: None) -> tuple[Path, ...]:
    """Write all forms of what is prepared; return their paths, and tell how far it has come.

    Raises:
        ExportError: a file cannot be written.
    """
    total, done = 2 * sum(len(run.steps) for run in metrics.runs) or 1, 0

    def on_steps(n_steps: int) -> None:
        nonlocal done
        done += n_steps
        on_progress(_STEPS_SHARE * done / total)

    paths = [folder / name for name in FILES]
    write_json(metrics, paths[0], on_steps)
    write_runs_csv(metrics.runs, paths[1])
    write_steps_csv(metrics.runs, paths[2], on_steps)
    charts = {f"{name}.svg": drawing for name, drawing in pictures(metrics).items()}
    for name, drawing in charts.items():
        with replacing(folder / name) as file:
            file.write(drawing.encode())
    write_report(metrics, paths[3], tuple(charts))
    write_html(metrics, paths[4])
    on_progress(1.0)
    return (*paths, *(folder / name for name in charts))


def open_session(place: Path) -> Metrics:
    """Read an exported session from its folder or its ``metrics.json``.

    Raises:
        ExportError: there is none, or it is none.
    """
    path = place / FILES[0] if place.is_dir() else place
    if not path.is_file():
        raise ExportError(f"There is no exported session at {place}.", "Name its folder, or its metrics.json.")
    return read_json(path)
