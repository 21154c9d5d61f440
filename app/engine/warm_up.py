"""The first passes of a model that was just loaded: warm its memory, and learn what passes cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.engine.cancel import CancelFlag
from app.engine.costs import FEW, MANY, Costs, DrafterCost, measure_rows
from app.engine.llama import Context, DecodeCancelledError, Model, MtpContext, Row
from app.errors import LoadError
from app.protocol import LoadProgress

LEAST_BUDGET_S, MOST_BUDGET_S, BUDGET_PASSES = 1.0, 3.0, 14
"""Time that a load spends on learning what verifying costs by row count: so many one-row passes, within limits."""


_STRIDE = 7919
"""A prime: the tokens that follow one another are far apart in the vocabulary, and none comes again before all have."""


def words(model: Model, n_tokens: int, n_before: int = 0) -> list[int]:
    """Return ``n_tokens`` different tokens of the vocabulary, from the one at ``n_before`` on, for measuring costs.

    One repeated would take the same way through a model with experts again and again, and so cost less than a text
    does. They are not made of a text: a vocabulary that lacks what its tokeniser counts on ends the process there.
    """
    return [(1 + _STRIDE * i) % model.n_vocab for i in range(n_before, n_before + n_tokens)]


@dataclass(frozen=True, slots=True)
class Rows:
    """What a pass costs by its row count, and up to how many rows its logits are bit for bit those of one row."""

    cost_s: dict[int, float]
    n_alike: int


_ENOUGH_ROWS = 8
"""So many rows are compared even if the time for measuring is over; of larger passes, so many of their rows."""


def learn_rows(context: Context, tokens: Sequence[int]) -> Rows:
    """Time passes by row count on an empty memory, and hold their logits, row by row, against those of single rows.

    Row i is that of ``tokens[i]``: each has a word of its own, and with experts its own way.

    Kernels may change with the number of rows, and with a row's place among them: of five rows ggml's repacked K-quants
    take four at once and the last alone; its tiled kernel on x86 begins at 8; float weights round otherwise from 2 on.
    Whether they do is seen here, whatever the device.
    """
    singles: list[Row] = []
    is_alike: dict[int, bool] = {}

    def run(n_rows: int) -> float:
        started_s = time.perf_counter()
        context.decode(tokens[:n_rows], n_rows)
        first = context.row(0)
        took_s = time.perf_counter() - started_s
        if not singles:
            singles.append(first.copy())
        rows = range(min(n_rows, len(singles)))
        same = all(np.array_equal(context.row(row), singles[row]) for row in rows)
        is_alike[n_rows] = is_alike.get(n_rows, True) and same
        context.rewind(0)
        return took_s

    n_max = context.n_draft_max + 1
    one_s = run(1)
    singles[:] = _one_by_one(context, tokens[: min(_ENOUGH_ROWS, n_max)])
    cost_s = measure_rows(run, n_max, budget_s(one_s))
    while (n_rows := _next_to_compare(is_alike, n_max)) is not None:
        cost_s[n_rows] = run(n_rows)
    return Rows(cost_s, _n_alike(is_alike) if context.memory_types.has_one_path else 1)


def budget_s(one_s: float) -> float:
    """Return how long to measure where a pass of one row takes so long."""
    return min(MOST_BUDGET_S, max(LEAST_BUDGET_S, BUDGET_PASSES * one_s))


def _one_by_one(context: Context, tokens: Sequence[int]) -> list[Row]:
    """Return the logits after each token, each from a pass of its own; leaves the memory empty."""
    rows = []
    for token in tokens:
        context.decode([token], 1)
        rows.append(context.row(0).copy())
    context.rewind(0)
    return rows


def _next_to_compare(is_alike: dict[int, bool], n_max: int) -> int | None:
    """Return the row count that narrows down most where kernels change; on a busy machine little was measured."""
    if max(is_alike) < (enough := min(_ENOUGH_ROWS, n_max)):
        return enough
    alike = _n_alike(is_alike)
    other = min((n for n, same in is_alike.items() if not same), default=0)
    return (alike + other) // 2 if other > alike + 1 else None


def _n_alike(is_alike: dict[int, bool]) -> int:
    """Return the largest measured row count up to which all measured ones are alike."""
    bound = min((n for n, alike in is_alike.items() if not alike), default=max(is_alike) + 1)
    return max((n for n in is_alike if n < bound), default=1)


def time_drafting(context: Context, tokens: Sequence[int]) -> DrafterCost:
    """Return what a drafted token and caught-up tokens cost a draft model behind what it holds, the lowest of three."""
    position = context.n_past

    def run(n_tokens: int) -> float:
        started_s = time.perf_counter()
        context.decode(tokens[:n_tokens], 1)
        return time.perf_counter() - started_s

    one_s = min(run(1) for _ in range(3))
    next_s, few_s, many_s = one_s, FEW * one_s, MANY * one_s
    if context.n_ctx - position >= 4 * MANY:
        next_s = max(0.0, min(run(2) for _ in range(3)) - one_s)
        few_s = max(0.0, min(run(FEW + 1) for _ in range(3)) - one_s)
        many_s = min(run(MANY) for _ in range(3))
    context.rewind(position)
    return DrafterCost(token_s=one_s, caught_up_token_s=many_s / MANY, few_s=few_s, next_s=min(next_s, few_s))


def time_heads(heads: MtpContext, target: Context, tokens: Sequence[int]) -> DrafterCost:
    """Return what a drafted token and caught-up tokens cost MTP heads, each the lowest of three.

    Before that every head has run once. Those without a memory of their own read the target's: it gets something to
    read, and is empty afterwards; they have nothing to catch up with.
    """
    position = 0
    if heads.shares_memory:
        target.decode(tokens[:FEW], 1)
        position = FEW

    def run(n_tokens: int) -> float:
        started_s = time.perf_counter()
        for head in reversed(range(heads.n_heads)):  # of a chain each takes in what is confirmed
            if heads.n_heads > 1:
                heads.rewind(position)
                heads.use_head(head)
            heads.decode(tokens[:n_tokens], np.zeros((n_tokens, heads.n_embd), dtype=np.float32), position)
        heads.row(), heads.hidden()
        took_s = time.perf_counter() - started_s
        heads.rewind(position)
        return took_s

    run(1)
    one_s = min(run(1) for _ in range(3))
    target.rewind(0)
    # Of a draft of a chain, as long as it is: all its heads take in the pending token, then one after the other drafts.
    token_s = one_s * (2 * heads.n_heads - 1) / heads.n_heads**2
    if heads.shares_memory:
        return DrafterCost(token_s, 0.0, 0.0)
    n_many = min(MANY, heads.n_batch)
    few_s, many_s = FEW * one_s, n_many * one_s
    if target.n_ctx >= 4 * MANY and n_many > FEW:
        few_s = max(0.0, min(run(FEW + 1) for _ in range(3)) - one_s)
        many_s = min(run(n_many) for _ in range(3))
    n_max = heads.n_heads if heads.n_heads > 1 else 0  # each head of a chain drafts one
    return DrafterCost(token_s, many_s / n_many, few_s, n_max)


def warm_up(
    command_id: int, context: Context, token: int, cancel: CancelFlag, learn: Callable[[], None]
) -> Iterator[LoadProgress]:
    """Evaluate one ``token``, so that the first answer does not pay for cold memory, then ``learn`` what passes cost.

    Raises:
        LoadError: the load was cancelled.
    """
    yield LoadProgress(command_id, "warmup", 0.0)
    try:
        with context.cancelled_by(cancel):
            context.decode([max(0, token)], 1)
            context.rewind(0)
            learn()
    except DecodeCancelledError as fault:
        raise LoadError("Loading was cancelled.") from fault
    yield LoadProgress(command_id, "warmup", 1.0)


def warm_up_heads(
    command_id: int, heads: MtpContext, target: Context, model: Model, cancel: CancelFlag, costs: Costs
) -> Iterator[LoadProgress]:
    """Run MTP heads for the first time beside the target, whose ``model`` this is, and note what they cost.

    If that fails they are freed.

    Raises:
        LoadError: the load was cancelled.
        DecodeError: they do not run.
    """

    def learn() -> None:
        with heads.cancelled_by(cancel):
            cost = time_heads(heads, target, words(model, MANY))
        costs.drafters["draft-mtp"] = cost
        if not heads.shares_memory:
            costs.drafters.setdefault("tree", replace(cost))  # a draft model's, if there is one

    try:
        yield from warm_up(command_id, target, model.bos, cancel, learn)
    except BaseException:
        heads.close()
        raise
