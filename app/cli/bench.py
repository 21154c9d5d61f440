"""``bench``: plain decoding against ways to draft, measured by turns."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Annotated

import msgspec
import typer

from app.cli import options
from app.cli.bench_costs import answer_positions, measure_costs, rows_needed
from app.cli.bench_report import show, way_text
from app.cli.bench_rows import Bench, Summary
from app.cli.hosting import host, load
from app.cli.load_options import LoadOptions
from app.cli.measure import Measured, interleave, measure, warm_up
from app.cli.terminal import note
from app.costs import CostsAt
from app.engine.client import UNWATCHED_S
from app.errors import UsageError
from app.host import Host, PairChoice
from app.metrics.export import Metrics
from app.metrics.prompts import MIXED, NONE, SETS, Prompt, load_prompts
from app.named_files import read_or_hear
from app.protocol import MAX_DRAFT_TOKENS, DraftTokens, Loaded, Sampling, Speculation

SpecTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--spec-type",
        metavar="TYPE[,TYPE]",
        help="draft-simple (needs --draft-model), draft-mtp (heads in the model, or --draft-model), tree "
        "(either, with branches) or ngram; several "
        "are tried in order; give the option again to compare several. "
        "Without it: draft-simple if there is a draft model, else ngram.",
        rich_help_panel=options.DRAFTING,
    ),
]
Lengths = Annotated[
    str,
    typer.Option(
        "--draft-tokens",
        metavar="N,…,auto,rolling",
        help="Draft lengths, 0 to 31, and rules that choose them: auto (what pays), rolling (by what was kept). Plain "
        "decoding is always measured.",
        rich_help_panel=options.DRAFTING,
    ),
]
Prompts = Annotated[
    str,
    typer.Option(
        "--prompts",
        metavar="FILE,…",
        help=f"JSON lines with name and prompt or messages, or built-in sets: {MIXED} (one of each but long), "
        f"{', '.join(SETS)}; {NONE} measures costs alone.",
    ),
]
Repeat = Annotated[int, typer.Option("--repeat", metavar="R", min=1, help="How often each is measured.")]
CostCurve = Annotated[
    bool,
    typer.Option("--cost-curve", help="Also list what a pass of the target costs by its rows, and a drafted token."),
]
Rows = Annotated[
    int, typer.Option("--rows", metavar="N", min=1, max=MAX_DRAFT_TOKENS + 1, help="Most rows of the cost curve.")
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="N,…",
        help="Tokens in the memory when costs are measured. Without it: as in the answers; for the curve 0, too.",
    ),
]


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What ``bench`` can be told."""

    target: options.BenchTarget
    draft_model: options.DraftModel = None
    spec_type: SpecTypes = None
    draft_tokens: Lengths = "0,2,4,auto"
    draft_min: options.DraftMin = 0
    draft_p_min: options.DraftPMin = 0.0
    exact: options.Exact = True
    fixed_shape: options.FixedShape = False
    lenient: options.Lenient = 0.0
    prompts: Prompts = MIXED
    temperature: options.Temperature = 0.0
    seed: options.Seed = 1
    max_tokens: options.MaxTokens = 128
    repeat: Repeat = 3
    cost_curve: CostCurve = False
    rows: Rows = 16
    at: At = None
    how: LoadOptions = field(default_factory=LoadOptions)
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
            options.speculation(types, length, self._draft_min(length), self.draft_p_min, exact=self.exact)
            for types in kinds
            for length in lengths
        ]
        ways = [options.with_ways(way, fixed_shape=self.fixed_shape, lenient=self.lenient) for way in ways]
        return list(dict.fromkeys((Speculation(), *ways)))

    def _draft_min(self, length: DraftTokens) -> int:
        return min(self.draft_min, length) if isinstance(length, int) else self.draft_min

    def pair(self) -> PairChoice:
        """What to load, and how.

        Raises:
            UsageError: the words do not go together.
        """
        trees = any("tree" in way.types for way in self.ways())
        return replace(self.how.pair(self.target, self.draft_model), trees=trees)

    def positions(self) -> tuple[int, ...] | None:
        """Where to measure costs, as asked for.

        Raises:
            UsageError: a position does not fit into the context.
        """
        return None if self.at is None else options.positions(self.at, self.how.nctx or 1 << 30)


def bench(chosen: BenchOptions) -> None:
    """Measure decode speed with and without speculation, by turns, and say what it gains."""
    ways, prompts = chosen.ways(), load_prompts(chosen.prompts, read_or_hear)
    chosen.positions()
    chosen.pair()
    if not prompts and not chosen.cost_curve:
        raise UsageError(f"--prompts {NONE} leaves nothing to measure.", "Add --cost-curve, or name prompts.")
    asyncio.run(_bench(chosen, ways, prompts))


async def _bench(chosen: BenchOptions, ways: Sequence[Speculation], prompts: Sequence[Prompt]) -> None:
    sampling = Sampling(seed=options.fresh_seed(chosen.seed), temperature=chosen.temperature)
    async with host(UNWATCHED_S) as owner:
        loaded = await load(owner, chosen.pair())
        if chosen.spec_type is None:
            ways = [options.by_file(way, loaded.drafters) for way in ways]
        costs = await _costs(chosen, ways, prompts, sampling, owner, loaded)
        measured = await _answers(chosen, ways, prompts, sampling, owner) if prompts else []
        summary = Summary(measured, ways, costs)
        result = _result(chosen, sampling.seed, owner.session.to_metrics(), loaded, summary)
    if chosen.as_json:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
        sys.stdout.flush()
    else:
        show(result, n_curve=chosen.rows if chosen.cost_curve else 0)


async def _costs(
    chosen: BenchOptions,
    ways: Sequence[Speculation],
    prompts: Sequence[Prompt],
    sampling: Sampling,
    owner: Host,
    loaded: Loaded,
) -> tuple[CostsAt, ...]:
    """Measure what the predictions need, and the curve if it was asked for."""
    n_rows = rows_needed(ways if prompts else (), chosen.rows if chosen.cost_curve else 0)
    if not n_rows:
        return ()
    positions = chosen.positions()
    if positions is None:
        positions = await answer_positions(owner, prompts, chosen.max_tokens, loaded.n_ctx)
        if chosen.cost_curve:
            positions = tuple(dict.fromkeys((0, *positions)))
    return await measure_costs(owner, n_rows, positions, chosen.repeat, sampling)


async def _answers(
    chosen: BenchOptions, ways: Sequence[Speculation], prompts: Sequence[Prompt], sampling: Sampling, owner: Host
) -> list[Measured]:
    trials = interleave(prompts, ways, chosen.repeat)
    measured: list[Measured] = []
    await warm_up(owner, prompts[0], ways, sampling)
    async with aclosing(measure(owner, trials, sampling, chosen.max_tokens)) as results:
        async for one in results:
            measured.append(one)
            _show_progress(measured, len(trials))
    return measured


def _result(chosen: BenchOptions, seed: int, metrics: Metrics, loaded: Loaded, summary: Summary) -> Bench:
    return Bench(
        app=metrics.app,
        machine=metrics.machine,
        target=metrics.target,
        draft=metrics.draft,
        temperature=chosen.temperature,
        seed=seed,
        max_tokens=chosen.max_tokens,
        repeat=chosen.repeat,
        n_ctx=loaded.n_ctx,
        n_threads=loaded.n_threads,
        comparisons=summary.comparisons(),
        rows=summary.rows(),
        sets=summary.sets(),
        costs=tuple(summary.costs),
    )


def _show_progress(measured: Sequence[Measured], total: int) -> None:
    one = measured[-1]
    speed = "no speed" if one.run.decode_tps is None else f"{one.run.decode_tps:.1f} tok/s"
    note(f"[{len(measured)}/{total}] {one.trial.prompt.name}, {way_text(one.trial.speculation)}: {speed}")
