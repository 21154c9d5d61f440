"""The cost curve: what a target pass costs by its number of rows, and a drafter by its tokens, at places in a text.

It is measured as the loop spends it: rows are decoded behind a text that the memory holds, and taken back; drafters
draft through their own verbs, sampling included. Row counts go up in one round and down in the next, so that a
drift of the machine falls on all alike.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median

from msgspec import structs

from app.costs import CostsAt, DraftCost, RowCost
from app.engine.cancel import CancelFlag
from app.engine.draft_length import Ask
from app.engine.drafters import Drafter
from app.engine.engage import engage
from app.engine.llama import Context, DecodeCancelledError
from app.engine.loading import LoadedPair
from app.engine.sampler import Sampler
from app.engine.warm_up import words
from app.errors import EngineError, UsageError
from app.protocol import CostsMeasured, Generate, MeasureCosts, Speculation

DRAFT_TOKENS = 4
"""Tokens of a draft that is timed."""


def measure_costs(command: MeasureCosts, pair: LoadedPair, cancel: CancelFlag) -> CostsMeasured:
    """Return the costs at each position. The memories are empty before and after.

    Raises:
        UsageError: a row count, a position or the repetitions are out of range.
        EngineError: it was cancelled.
    """
    _check(command, pair.target.context)
    n_rows_max = max(*_counts(command, pair.target.context), 2)
    text = words(pair.target.model, max(command.positions) + n_rows_max)
    found: list[CostsAt] = []
    with ExitStack() as stack:
        for part in (pair.target, pair.draft, pair.heads):
            if part is not None:
                stack.enter_context(part.context.cancelled_by(cancel))
        stack.callback(_forget, pair)
        try:
            for position in command.positions:
                _forget(pair)
                rows = _time_rows(pair.target.context, text, position, command)
                found.append(CostsAt(position, rows, _time_drafters(pair, text[: max(1, position) + 1], command)))
        except DecodeCancelledError as fault:
            raise EngineError("The measurement was cancelled.") from fault
    return CostsMeasured(command.id, tuple(found))


def _check(command: MeasureCosts, context: Context) -> None:
    if not command.n_rows or min(command.n_rows) < 1:
        raise UsageError("A pass has one row at least.", "Name row counts from 1 on.")
    room = context.n_ctx - max(*_counts(command, context), DRAFT_TOKENS + 1)
    if not command.positions or not 0 <= min(command.positions) <= max(command.positions) <= room:
        raise UsageError(
            f"The context of {context.n_ctx} tokens does not reach so far.", f"Name positions from 0 to {room}."
        )
    if command.repeat < 1:
        raise UsageError(f"{command.repeat} repetitions measure nothing.", "Ask for at least one.")


def _counts(command: MeasureCosts, context: Context) -> list[int]:
    """Return the row counts that this memory can take back; one row always."""
    return sorted({min(n, context.n_draft_max + 1) for n in command.n_rows} | {1})


def _forget(pair: LoadedPair) -> None:
    pair.target.forget()
    if pair.draft is not None:
        pair.draft.forget()


def _fill(context: Context, text: Sequence[int]) -> None:
    """Bring the memory to hold ``text``, which it holds a beginning of."""
    while context.n_past < len(text):
        context.decode(text[context.n_past : context.n_past + context.n_batch], 1)
        if context.n_past == len(text):
            context.mark()  # a memory with recurrent layers comes back here; others need no mark


def _time_rows(context: Context, text: Sequence[int], position: int, command: MeasureCosts) -> tuple[RowCost, ...]:
    """Time passes over what follows a position of the text; the first, which finds cold memory, is not counted."""
    counts = _counts(command, context)
    timed: dict[int, list[float]] = {n: [] for n in counts}
    _time_pass(context, text, position, counts[-1])
    for round_ in range(command.repeat):
        for n in reversed(counts) if round_ % 2 else counts:
            timed[n].append(_time_pass(context, text, position, n))
    return tuple(RowCost(n, min(t), median(t), max(t), len(t)) for n, t in timed.items())


def _time_pass(context: Context, text: Sequence[int], position: int, n_rows: int) -> float:
    context.rewind(position)
    _fill(context, text[:position])
    started_s = time.perf_counter()
    context.decode(text[position : position + n_rows], n_rows)
    context.row(n_rows - 1)
    took_s = time.perf_counter() - started_s
    context.rewind(position)
    return took_s


def _time_drafters(pair: LoadedPair, text: Sequence[int], command: MeasureCosts) -> tuple[DraftCost, ...]:
    """Time every drafter that the pair has, one after the other; the last token of the text is the pending one."""
    costs, sampling = [], structs.replace(command.sampling, grammar="")
    for name in pair.drafters():
        wanted = Generate(0, sampling, prompt="x", speculation=Speculation((name,), min(DRAFT_TOKENS, _longest(pair))))
        sampler = Sampler(sampling, pair.target.model.n_vocab, list(text[:-1]))
        try:
            for drafter in engage(wanted, pair, sampler, text[:-1]).drafters:
                try:
                    if (cost := _time_drafter(drafter, pair, text, command.repeat)) is not None:
                        costs.append(cost)
                finally:
                    drafter.close()
        finally:
            sampler.close()
    return tuple(costs)


def _longest(pair: LoadedPair) -> int:
    return max(1, pair.target.context.n_draft_max)


def _time_drafter(drafter: Drafter, pair: LoadedPair, tokens: Sequence[int], repeat: int) -> DraftCost | None:
    """Time drafts of what follows ``tokens``; None from one that does not draft here.

    The target's memory is filled again while the drafter is there, for those that look on.
    """
    target, text = pair.target.context, tokens[:-1]
    target.rewind(0)
    _fill(target, text)
    started_s = time.perf_counter()
    drafter.begin(text)
    catch_up_s = time.perf_counter() - started_s
    n_caught_up = len(text) - 1
    limit = min(DRAFT_TOKENS, _longest(pair))
    drafter.draft(tokens, Ask(limit, drafter.n_behind(tokens)))
    drafter.accept(tokens)
    per_token = []
    for _ in range(max(3, repeat)):
        started_s = time.perf_counter()
        draft = drafter.draft(tokens, Ask(limit, drafter.n_behind(tokens)))
        drafter.accept(tokens)
        if draft:
            per_token.append((time.perf_counter() - started_s) / len(draft))
    if not per_token:
        return None
    return DraftCost(drafter.name, median(per_token), catch_up_s / n_caught_up if n_caught_up else 0.0)
