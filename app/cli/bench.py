"""``bench``: plain decoding against ways to draft, measured by turns."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.cli.hosting import host, load
from app.cli.measure import Measured, identical_to_plain, interleave, is_off, measure, warm_up
from app.cli.terminal import note
from app.engine.client import UNWATCHED_S
from app.host import PairChoice
from app.metrics import stats
from app.metrics.export import Comparison, Metrics
from app.metrics.prompts import MIXED, SETS, Prompt, load_prompts
from app.metrics.recorder import spec_name
from app.metrics.values import AppInfo, Interval, MachineInfo, ModelFacts, Run, is_complete
from app.protocol import DraftTokens, Sampling, Speculation

SCHEMA = "slipstream.bench/1"

SpecTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--spec-type",
        metavar="TYPE[,TYPE]",
        help="draft-simple (needs --draft-model) or ngram; give the option again to compare several. "
        "Without it: draft-simple if there is a draft model, else ngram.",
    ),
]
Lengths = Annotated[
    str,
    typer.Option("--draft-tokens", metavar="N,N,…", help="Draft lengths, 0 to 31. Plain decoding is always measured."),
]
Prompts = Annotated[
    str,
    typer.Option(
        "--prompts", metavar="FILE", help=f"JSON lines with name and prompt or messages; or {MIXED}, {', '.join(SETS)}."
    ),
]
Repeat = Annotated[int, typer.Option("--repeat", metavar="R", min=1, help="How often each is measured.")]


class BenchRow(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt answered one way, over all repetitions that came to their end."""

    prompt: str
    spec_type: str
    draft_tokens: DraftTokens
    decode_tps: Interval | None
    answer_s: Interval | None
    n_runs: int
    acceptance: float | None
    alpha: float | None
    tokens_per_step: float | None
    identical_to_plain: bool
    tokens: int
    proposed: int
    accepted: int
    engaged: bool
    not_engaged: str


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """``bench --json``."""

    schema: str = SCHEMA
    app: AppInfo
    machine: MachineInfo
    target: ModelFacts | None
    draft: ModelFacts | None
    temperature: float
    seed: int
    max_tokens: int
    repeat: int
    comparisons: tuple[Comparison, ...]
    rows: tuple[BenchRow, ...]


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What ``bench`` can be told."""

    target: options.BenchTarget
    draft_model: options.DraftModel = None
    spec_type: SpecTypes = None
    draft_tokens: Lengths = "0,2,4"
    draft_min: options.DraftMin = 0
    draft_p_min: options.DraftPMin = 0.0
    prompts: Prompts = MIXED
    temperature: options.Temperature = 0.0
    seed: options.Seed = 1
    max_tokens: options.MaxTokens = 128
    repeat: Repeat = 3
    nctx: options.Context = 4096
    threads: options.Threads = 0
    compute: options.Compute = "cpu"
    as_json: options.AsJson = False

    def ways(self) -> list[Speculation]:
        """Plain decoding, then each type with each length.

        Raises:
            UsageError: the words do not go together.
        """
        words = self.spec_type or ["draft-simple" if self.draft_model else "ngram"]
        kinds = [options.spec_types(word, self.draft_model) for word in words]
        options.check_draft_used(self.draft_model, [kind for types in kinds for kind in types])
        lengths = options.draft_lengths(self.draft_tokens)
        ways = [
            options.speculation(types, length, self._draft_min(length), self.draft_p_min)
            for types in kinds
            for length in lengths
        ]
        return list(dict.fromkeys((Speculation(), *ways)))

    def _draft_min(self, length: DraftTokens) -> int:
        return min(self.draft_min, length) if isinstance(length, int) else self.draft_min


def bench(chosen: BenchOptions) -> None:
    """Measure decode speed with and without speculation, by turns, and say what it gains."""
    options.check_compute(chosen.compute)
    asyncio.run(_bench(chosen, chosen.ways(), load_prompts(chosen.prompts)))


async def _bench(chosen: BenchOptions, ways: Sequence[Speculation], prompts: Sequence[Prompt]) -> None:
    sampling = Sampling(seed=options.fresh_seed(chosen.seed), temperature=chosen.temperature)
    trials = interleave(prompts, ways, chosen.repeat)
    measured: list[Measured] = []
    async with host(UNWATCHED_S) as owner:
        await load(owner, PairChoice(chosen.target, chosen.draft_model, n_ctx=chosen.nctx, n_threads=chosen.threads))
        await warm_up(owner, prompts[0], ways, sampling)
        async with aclosing(measure(owner, trials, sampling, chosen.max_tokens)) as results:
            async for one in results:
                measured.append(one)
                _show_progress(measured, len(trials))
        metrics = owner.session.to_metrics()
    result = _result(chosen, sampling.seed, metrics, rows(measured, ways))
    if chosen.as_json:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
        sys.stdout.flush()
    else:
        _show(result)


def rows(measured: Sequence[Measured], ways: Sequence[Speculation]) -> tuple[BenchRow, ...]:
    """Summarise the answers: for each prompt a row each way."""
    groups: dict[tuple[str, Speculation], list[Run]] = {}
    for one in measured:
        groups.setdefault((one.trial.prompt.name, one.trial.speculation), []).append(one.run)
    same = identical_to_plain(measured)
    names = dict.fromkeys(one.trial.prompt.name for one in measured)
    return tuple(_row(name, way, groups[name, way], same[name, way]) for name in names for way in ways)


def _row(name: str, way: Speculation, runs: Sequence[Run], identical: bool) -> BenchRow:
    complete = [run for run in runs if is_complete(run)]
    steps = [step for run in complete for step in run.steps]
    return BenchRow(
        prompt=name,
        spec_type=spec_name(way),
        draft_tokens=0 if is_off(way) else way.draft_tokens,
        decode_tps=stats.median_interval([run.decode_tps for run in complete if run.decode_tps is not None]),
        answer_s=stats.median_interval([run.answer_s for run in complete if run.answer_s is not None]),
        n_runs=len(complete),
        acceptance=stats.acceptance(steps),
        alpha=stats.alpha(steps),
        tokens_per_step=stats.tokens_per_step(steps),
        identical_to_plain=identical,
        tokens=stats.tokens(steps),
        proposed=sum(step.proposed for step in steps),
        accepted=sum(step.accepted for step in steps),
        engaged=all(run.engaged for run in runs),
        not_engaged=next((run.not_engaged for run in runs if run.not_engaged), ""),
    )


def _result(chosen: BenchOptions, seed: int, metrics: Metrics, found: tuple[BenchRow, ...]) -> Bench:
    return Bench(
        app=metrics.app,
        machine=metrics.machine,
        target=metrics.target,
        draft=metrics.draft,
        temperature=chosen.temperature,
        seed=seed,
        max_tokens=chosen.max_tokens,
        repeat=chosen.repeat,
        comparisons=metrics.comparisons,
        rows=found,
    )


def _show_progress(measured: Sequence[Measured], total: int) -> None:
    one = measured[-1]
    speed = "no speed" if one.run.decode_tps is None else f"{one.run.decode_tps:.1f} tok/s"
    note(f"[{len(measured)}/{total}] {one.trial.prompt.name}, {way_text(one.trial.speculation)}: {speed}")


def way_text(way: Speculation) -> str:
    """A way to draft in words."""
    return "plain" if is_off(way) else kind_text(spec_name(way), way.draft_tokens)


def kind_text(spec_type: str, length: DraftTokens) -> str:
    """A kind of drafting and its length in words."""
    return f"{spec_type}, length {length}" if isinstance(length, str) else f"{spec_type} up to {length}"


def _show(result: Bench) -> None:
    from rich.console import Console
    from rich.table import Table

    name = result.target.name if result.target else ""
    table = Table(title=f"{name}, temperature {result.temperature:g}, {result.repeat} runs each", box=None)
    for heading in ("prompt", "drafted by", "tok/s", "95 %", "× plain", "accept", "per step", "answer s", "same"):
        words = heading in ("prompt", "drafted by", "same")
        table.add_column(heading, justify="left" if words else "right", no_wrap=True, overflow="ellipsis")
    plain = {row.prompt: row.decode_tps for row in result.rows if row.spec_type == "none"}
    for row in result.rows:
        table.add_row(*_cells(row, plain.get(row.prompt)))
    console = Console(highlight=False, markup=False)
    console.print(table)
    for comparison in result.comparisons:
        console.print(f"{kind_text(comparison.spec_type, comparison.draft_tokens)}: {comparison.sentence}")
    for reason in dict.fromkeys(row.not_engaged for row in result.rows if row.not_engaged):
        console.print(f"not engaged: {reason}")


def _cells(row: BenchRow, plain: Interval | None) -> list[str]:
    off = row.spec_type == "none"
    speed, answer = row.decode_tps, row.answer_s
    return [
        row.prompt,
        "" if off else f"{row.spec_type} {row.draft_tokens}" if row.engaged else "not engaged",
        f"{speed.median:.1f}" if speed else "-",
        f"{speed.low:.0f}–{speed.high:.0f}" if speed else "-",
        f"{speed.median / plain.median:.2f}" if speed and plain and not off else "",
        f"{row.acceptance:.0%}" if row.acceptance is not None else "",
        f"{row.tokens_per_step:.2f}" if row.tokens_per_step is not None else "-",
        f"{answer.median:.2f}" if answer else "-",
        "" if off else ("yes" if row.identical_to_plain else "NO"),
    ]
