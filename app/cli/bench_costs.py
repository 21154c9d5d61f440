"""Which costs ``bench`` measures: what its predictions need, and the curve that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.cli.measure import is_off
from app.cli.terminal import note
from app.costs import CostsAt
from app.engine.costs import ROWS
from app.host import Host
from app.metrics.prompts import Prompt
from app.protocol import MAX_DRAFT_TOKENS, Sampling, Speculation

RULE_ROWS = 16
"""Most rows that are timed for a rule; it seldom drafts longer."""


def rows_needed(ways: Iterable[Speculation], n_curve: int = 0) -> tuple[int, ...]:
    """Return the row counts to time: one, those of each length, those that a rule chooses among, those of the curve."""
    counts: set[int] = set(range(1, n_curve + 1))
    for way in ways:
        if is_off(way):
            continue
        if isinstance(way.draft_tokens, int):
            counts |= {1, way.draft_tokens + 1}
        else:
            counts |= {n for n in ROWS if n <= RULE_ROWS}
    return tuple(sorted(counts))


def positions_needed(n_tokens: Iterable[int], n_room: int) -> tuple[int, ...]:
    """Return few positions of which one is near each of ``n_tokens``: none is more than twice the next before it."""
    chosen: list[int] = []
    for n in sorted(min(n, n_room) for n in n_tokens):
        if not chosen or n > 2 * chosen[-1]:
            chosen.append(n)
    return tuple(chosen)


async def measure_costs(
    owner: Host, n_rows: Sequence[int], positions: Sequence[int], repeat: int, sampling: Sampling
) -> tuple[CostsAt, ...]:
    """Have them measured, and say so; a model that cannot verify so many rows is told of.

    Raises:
        SlipstreamError: the engine could not.
    """
    places = ", ".join(f"{at:,}" for at in positions)
    note(f"timing passes of up to {n_rows[-1]} rows with {places} tokens in the memory")
    costs = await owner.measure_costs(n_rows, positions, repeat, sampling)
    most = max((row.n_rows for at in costs for row in at.rows), default=0)
    if most < n_rows[-1]:
        note(f"notice: this model verifies at most {most} rows at once.")
    return costs


async def answer_positions(owner: Host, prompts: Sequence[Prompt], max_tokens: int, n_ctx: int) -> tuple[int, ...]:
    """Return positions near the middle of the answers to these prompts."""
    middles = []
    for prompt in prompts:
        text = "\n".join(message.content for message in prompt.messages)
        middles.append(len(await owner.tokenise(text)) + max_tokens // 2)
    return positions_needed(middles, max(0, n_ctx - MAX_DRAFT_TOKENS - 2))
