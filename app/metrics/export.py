"""``metrics.json`` (schema ``slipstream.metrics/1``): what a session measured, written and read.

It holds the raw steps and request times, so every figure in it can be recomputed from it. It is written run by run,
a step a line: readable in an editor, and never held in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec

from app.errors import ExportError
from app.metrics.atomic import replacing
from app.metrics.baseline import Baseline, with_columns
from app.metrics.columns import StepColumns
from app.metrics.values import (
    Answer,
    AppInfo,
    Interval,
    MachineInfo,
    ModelFacts,
    Run,
    RunConditions,
    SessionInfo,
    VerdictWord,
)
from app.protocol import DraftTokens, Step

SCHEMA = "slipstream.metrics/1"

ROWS_AT_ONCE = 4096
"""So many steps are written between two looks at who else wants to work."""

OnSteps = Callable[[int], None]
"""Told how many more steps have been written; what it raises ends the writing, and leaves no file behind."""

T = TypeVar("T")
_encoder = msgspec.json.Encoder(enc_hook=lambda value: list(value))  # a run's columns, as the steps that they are


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Speculation of one kind and length against plain decoding, with the pairs that the verdict rests on.

    ``pairs`` are (speculative run, plain run) ids; a plain id is a run of this export or a sample of its baselines.
    ``n_exact``, ``draft_min``, ``p_min`` and ``fixed_shape`` are as in a run. ``conditions`` are those of its answers,
    ``None`` in what older versions exported; their ``context_bucket`` is 0, since pairs are made in each. The interval
    is wider by ``drift``, a natural logarithm, for plain halves of other sessions. Of ``n_beside_draft`` pairs the
    plain half was given with the draft model in memory, to which nothing was fed; ``against`` says so, "" where there
    are none.
    """

    spec_type: str
    draft_tokens: DraftTokens
    temperature: float
    target_file: str
    draft_file: str | None
    n_pairs: int
    speedup: Interval | None
    verdict: VerdictWord
    pairs_needed: int | None
    sentence: str
    pairs: tuple[tuple[str, str], ...]
    n_exact: int = 0
    draft_min: int = 0
    p_min: float = 0.0
    fixed_shape: bool = False
    drift: float = 0.0
    conditions: RunConditions | None = None
    n_beside_draft: int = 0
    against: str = ""

    @property
    def words(self) -> str:
        """The verdict as a person reads it, and what it is held against where that is no baseline."""
        return f"{self.sentence}, {self.against}" if self.against else self.sentence


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    schema: str = SCHEMA
    session: SessionInfo | None = None
    app: AppInfo
    machine: MachineInfo
    target: ModelFacts | None
    draft: ModelFacts | None
    baseline: Baseline | None
    baselines: tuple[Baseline, ...] = ()
    comparisons: tuple[Comparison, ...] = ()


class Metrics(_Head, frozen=True, kw_only=True):
    """Everything that a session measured.

    ``baseline`` is what the newest answer is held against; ``baselines`` are the others whose answers are in pairs.
    """

    runs: tuple[Run, ...] = ()


class _RawRuns(msgspec.Struct, frozen=True):
    runs: tuple[msgspec.Raw, ...] = ()


def silent(_n_steps: int) -> None:
    """Tell nobody."""


def metrics_json(metrics: Metrics, on_steps: OnSteps = silent) -> Iterator[bytes]:
    """Yield the JSON in pieces: one line a top-level field, a run's figures, a step."""
    yield b"{"
    for name in _Head.__struct_fields__:
        yield b'"' + name.encode() + b'":' + _encoder.encode(getattr(metrics, name)) + b",\n"
    yield b'"runs":['
    for i, run in enumerate(metrics.runs):
        yield b",\n" if i else b"\n"
        yield from _run_json(run, on_steps)
    yield b"\n]}\n"


def answer_json(answer: Answer) -> bytes:
    """Return an answer as one line of JSON."""
    return _encoder.encode(answer)


def write_json(metrics: Metrics, path: Path, on_steps: OnSteps = silent) -> None:
    """Write ``metrics.json``.

    Raises:
        ExportError: the file cannot be written.
    """
    with replacing(path) as file:
        file.writelines(metrics_json(metrics, on_steps))


def read_json(path: Path) -> Metrics:
    """Read an export, of this machine or another, of this version or a later one of schema 1.

    Raises:
        ExportError: the file cannot be read, or is no such export.
    """
    try:
        text = path.read_bytes()
        head, raw = msgspec.json.decode(text, type=_Head), msgspec.json.decode(text, type=_RawRuns)
        runs = tuple(map(_run_of, raw.runs))
        baselines = tuple(map(with_columns, head.baselines))
        baseline = with_columns(head.baseline) if head.baseline else None
    except OSError as fault:
        raise ExportError(f"Cannot read {path}: {fault.strerror}", "Check the path.") from fault
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as fault:
        raise ExportError(f"{path} is not an export of Slipstream: {fault}", "Choose a metrics.json.") from fault
    if head.schema != SCHEMA:
        raise ExportError(
            f"{path} has the schema {head.schema[:40]}; this version reads {SCHEMA}.", "Open it with a newer version."
        )
    fields = {name: getattr(head, name) for name in _Head.__struct_fields__}
    return Metrics(**{**fields, "baseline": baseline, "baselines": baselines}, runs=runs)


def in_blocks(rows: Iterable[T], size: int = ROWS_AT_ONCE) -> Iterator[list[T]]:
    """Yield lists of so many rows, the last with what is left."""
    left = iter(rows)
    while block := list(islice(left, size)):
        yield block


def columns_of(steps: Sequence[Step]) -> StepColumns:
    """Return the steps of a run as columns."""
    return steps if isinstance(steps, StepColumns) else StepColumns(steps)


def _run_of(raw: msgspec.Raw) -> Run:
    run = msgspec.json.decode(raw, type=Run)
    return msgspec.structs.replace(run, steps=StepColumns(run.steps))


def _run_json(run: Run, on_steps: OnSteps) -> Iterator[bytes]:
    figures = _encoder.encode(msgspec.structs.replace(run, steps=()))
    if not run.steps:
        yield figures
        return
    yield figures.removesuffix(b"[]}") + b"[\n"
    for i, block in enumerate(in_blocks(run.steps)):
        yield b",\n" if i else b""
        yield b",\n".join(map(_encoder.encode, block))
        on_steps(len(block))
    yield b"]}"
