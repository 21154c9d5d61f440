"""``profile``: which draft is worth it for a target, on the person's own prompts."""

from __future__ import annotations

import asyncio
import os
import sys
import textwrap
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options
from app.cli.bench_report import band, bracket_words
from app.cli.hosting import host
from app.cli.load_options import LoadOptions
from app.cli.measure import tell_notices
from app.cli.terminal import note
from app.engine.client import UNWATCHED_S
from app.errors import UsageError
from app.host.profiling import LENGTHS, NGRAM_LENGTHS, ProfilePlan, Profiler, drafts_to_try
from app.metrics.profile import Profile, Row, profile_json, write_profile, write_training
from app.metrics.prompts import MIXED, SETS, load_prompts
from app.metrics.redaction import redacted_profile
from app.models.library import Library
from app.named_files import read_or_hear
from app.protocol import DraftTokens, Sampling

if TYPE_CHECKING:
    from rich.table import Table

Prompts = Annotated[
    str,
    typer.Option(
        "--prompts",
        metavar="FILE,…",
        help=f"JSON lines with name and prompt or messages, or built-in sets: {MIXED}, {', '.join(SETS)}.",
    ),
]
Drafts = Annotated[
    list[str] | None,
    typer.Option(
        "--draft-model",
        metavar="M",
        help="A draft model to try; give it again for several, or 'none'. Without it: every small enough model here.",
    ),
]
Lengths = Annotated[
    str | None,
    typer.Option("--draft-tokens", metavar="N,…,auto,rolling", help="Lengths for every drafter; n-gram has fewer."),
]
Rounds = Annotated[
    int, typer.Option("--rounds", metavar="R", min=1, help="How often each way answers each prompt at most.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Also write profile.json, profile.csv and training.jsonl there; only the last has your prompts.",
    ),
]
WithPrompts = Annotated[
    bool, typer.Option("--with-prompts", help="Keep prompts, your names for them, and paths in the result, too.")
]


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """What ``profile`` can be told."""

    target: options.BenchTarget
    prompts: Prompts
    draft_model: Drafts = None
    draft_tokens: Lengths = None
    rounds: Rounds = 3
    temperature: options.Temperature = 0.0
    seed: options.Seed = 1
    max_tokens: options.MaxTokens = 128
    how: LoadOptions = field(default_factory=LoadOptions)
    out: Out = None
    with_prompts: WithPrompts = False
    as_json: options.FactsAsJson = False

    def lengths(self) -> tuple[tuple[DraftTokens, ...], tuple[DraftTokens, ...]]:
        """Lengths of model drafters and of n-gram.

        Raises:
            UsageError: a word is no length, or none is left.
        """
        if self.draft_tokens is None:
            return LENGTHS, NGRAM_LENGTHS
        lengths = tuple(length for length in options.draft_lengths(self.draft_tokens) if length != 0)
        if not lengths:
            raise UsageError("--draft-tokens 0 drafts nothing.", "Plain decoding is measured anyway: name lengths.")
        return lengths, lengths


def profile(chosen: ProfileOptions) -> None:
    """Rank ways to draft for a target by the time of whole answers to your prompts, and recommend one."""
    prompts = load_prompts(chosen.prompts, read_or_hear)
    if not prompts:
        raise UsageError("There is no prompt to measure on.", "Name a file or a built-in set with --prompts.")
    lengths, ngram_lengths = chosen.lengths()
    library = Library()
    plan = ProfilePlan(
        pair=chosen.how.pair(chosen.target, None),
        prompts=prompts,
        sampling=Sampling(seed=options.fresh_seed(chosen.seed), temperature=chosen.temperature),
        drafts=_drafts(chosen, library),
        lengths=lengths,
        ngram_lengths=ngram_lengths,
        max_tokens=chosen.max_tokens,
        rounds=chosen.rounds,
    )
    asyncio.run(_profile(chosen, plan))


def _drafts(chosen: ProfileOptions, library: Library) -> tuple[str, ...]:
    """Resolve names now: a wrong one is told before an hour of measuring."""
    target = library.resolve(chosen.target)
    if chosen.draft_model is None:
        return drafts_to_try(library.entries(), target)
    names = tuple(dict.fromkeys(name for name in chosen.draft_model if name != "none"))
    for name in names:
        library.resolve(name)
    return names


async def _profile(chosen: ProfileOptions, plan: ProfilePlan) -> None:
    async with host(UNWATCHED_S) as owner:
        profiler = Profiler(owner, plan, tell_notices)
        async with aclosing(profiler.run()) as steps:
            async for step in steps:
                note(f"[{step.fraction:4.0%}] {step.words}")
        result = profiler.result()
    result = result if chosen.with_prompts else redacted_profile(result)
    if chosen.out is not None:
        write_profile(result, chosen.out / "profile.json")
        write_profile(result, chosen.out / "profile.csv")
        write_training(profiler.training.values(), chosen.out / "training.jsonl")
    if chosen.as_json:
        sys.stdout.write(profile_json(result).decode() + "\n")
        sys.stdout.flush()
    else:
        _show(result)


def _show(result: Profile) -> None:
    from rich.console import Console

    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(highlight=False, markup=False, width=None if told else 100)
    console.print(_table(result.rows))
    console.print()
    for line in (*bracket_words(row.n_pairs for row in result.rows), *result.advice):
        console.print(textwrap.fill(line, console.width, subsequent_indent="    ", break_on_hyphens=False))


def _table(rows: tuple[Row, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("drafted by")
    for heading in ("× answer", "95 %", "answer s", "accept", "per\nstep", "MB", "pairs"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for row in rows:
        table.add_row(row.candidate.words, *figures_of(row))
    return table


def figures_of(row: Row) -> tuple[str, ...]:
    """The figures of a row as words, in the order of the table."""
    speedup, answer = row.speedup, row.answer_s
    verdict = row.verdict if row.speedup else row.not_engaged or "nothing measured"
    return (
        f"{speedup.median:.2f}" if speedup else "–",
        band(speedup, row.n_pairs) or "–",
        f"{answer.median:.2f}" if answer else "–",
        f"{row.acceptance:.2f}" if row.acceptance is not None else "–",
        f"{row.tokens_per_step:.2f}" if row.tokens_per_step is not None else "–",
        f"{row.candidate.memory_bytes / 1e6:,.0f}",
        str(row.n_pairs),
        verdict + (f" (given up after round {row.dropped_after})" if row.dropped_after else ""),
    )
