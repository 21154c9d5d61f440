"""The tables of an export: ``metrics.csv``, one row a run, and ``steps.csv``, one row a step."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from app.metrics.atomic import replacing
from app.metrics.export import OnSteps, columns_of, in_blocks, silent
from app.metrics.values import Run
from app.protocol import Step

_CONDITIONS = (
    *("target_file", "quantisation", "device", "n_threads", "context_bucket", "draft_file"),
    *("on_battery", "power_mode"),
)
_FAULTS = ("n_major_faults", "n_faults", "resident_bytes")
_NOT_PLAIN = {"steps", "speedup", "alpha_by_position", "conditions", "notes", "surroundings"}
_PLAIN = [name for name in Run.__struct_fields__ if name not in _NOT_PLAIN]
_SIMPLE = re.compile(r"(?![+-])[\w ,+:.-]*", re.ASCII)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n")
_encoder = msgspec.json.Encoder()


def as_text(value: object) -> object:
    """Return a cell's value such that a spreadsheet takes words for words, not for a formula: a name may begin so.

    The apostrophe is what spreadsheets mark such text with; numbers stay as they are. A lone carriage return, which the
    writer would leave bare, would end the row.
    """
    if not isinstance(value, str):
        return value
    words = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{words}" if words.startswith(_FORMULA_STARTS) else words


def write_runs_csv(runs: Iterable[Run], path: Path) -> None:
    """Write ``metrics.csv``: intervals as three columns.

    Raises:
        ExportError: the file cannot be written.
    """
    header = [
        *_PLAIN,
        *("speedup_median", "speedup_low", "speedup_high"),
        "alpha_by_position",
        *_CONDITIONS,
        *_FAULTS,
        "notes",
    ]
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(map(as_text, _run_row(run)) for run in runs)
        text.flush()
        text.detach()


def write_steps_csv(runs: Iterable[Run], path: Path, on_steps: OnSteps = silent) -> None:
    """Write ``steps.csv``: the steps with the id of their run.

    Raises:
        ExportError: the file cannot be written.
    """
    with replacing(path) as file:
        file.write(",".join(["run", "step", *Step.__struct_fields__]).encode() + b"\n")
        for run in runs:
            columns = columns_of(run.steps)
            is_simple = all(_SIMPLE.fullmatch(word) for word in (run.id, *columns.drafters))
            for block in in_blocks((run.id, number, *row) for number, row in enumerate(columns.rows())):
                file.write(_csv(block, is_simple=is_simple))
                on_steps(len(block))


def _csv(rows: Sequence[tuple[Any, ...]], *, is_simple: bool) -> bytes:
    """Write rows of numbers and simple words, which JSON writes as CSV does, through the faster JSON encoder."""
    if is_simple:
        return _encoder.encode(rows)[2:-2].replace(b"],[", b"\n") + b"\n"
    with closing(io.StringIO(newline="")) as text:
        csv.writer(text, lineterminator="\n").writerows(map(as_text, row) for row in rows)
        return text.getvalue().encode()


def _run_row(run: Run) -> list[object]:
    speedup = run.speedup
    return [
        *(getattr(run, name) for name in _PLAIN),
        *((speedup.median, speedup.low, speedup.high) if speedup else ("", "", "")),
        " ".join(map(repr, run.alpha_by_position)),
        *(getattr(run.conditions, name) if run.conditions else "" for name in _CONDITIONS),
        *(getattr(run.surroundings, name) if run.surroundings else "" for name in _FAULTS),
        "; ".join(run.notes),
    ]
