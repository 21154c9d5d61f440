"""See again what passes and drafts cost, while nobody waits for an answer.

Loading measures it once, and may meet a busy machine; power modes, heat and other programs change it afterwards. What
is used is learned as it is used, but a drafter that seems too dear is not used. So after an answer under ``auto``, and
whenever plain steps have become faster or slower since, the same measurement is made again in the pause that follows:
behind the text that the memories hold, which they hold afterwards. Whatever is asked next ends it at once.
"""

from __future__ import annotations

import logging
import math
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace

from app.engine.auto_length import AutoLength
from app.engine.cancel import CancelFlag
from app.engine.costs import MANY, Costs, DrafterCost, measure_rows
from app.engine.engage import Engaged
from app.engine.llama import Context
from app.engine.loading import LoadedPair
from app.engine.warm_up import budget_s, time_drafting, words
from app.errors import EngineError

logger = logging.getLogger(__name__)

OTHERWISE = 1.12
"""So many times faster or slower than when costs were measured is another machine."""

SELDOM = 24
"""Time that answers take between two measurements, in times of the last one: they cost the battery something."""

SETTLED_S = 1.0
"""How long nobody asks for anything before it is measured: behind an answer a window draws and saves."""

MOST_ROWS = 16
"""Largest pass that is measured again: larger ones are seldom worth it, and take long."""


@dataclass(slots=True)
class Pauses:
    """When to measure again.

    Attributes:
        settled_s: how long nobody has to ask for anything first.
        answered_s: how long answers took since the last measurement.
        took_s: how long that took; None before the first one since the pair was loaded.
    """

    settled_s: float = SETTLED_S
    answered_s: float = 0.0
    took_s: float | None = None
    _costs: Costs | None = None
    _is_of_use: bool = False
    _began_s: float = 0.0

    def note(self, engaged: Engaged, began_s: float) -> None:
        """Take note of an answer that begins."""
        self._is_of_use = isinstance(engaged.length, AutoLength) and any(d.name != "ngram" for d in engaged.drafters)
        self._began_s = began_s

    def use(self, pair: LoadedPair, cancel: CancelFlag) -> None:
        """Measure, if the answer before the pause was one that needs it, and something may have changed."""
        costs = pair.evidence.costs
        if costs is not self._costs:
            self._costs, self.answered_s, self.took_s = costs, 0.0, None
        if not self._is_of_use:
            return
        self._is_of_use = False
        self.answered_s += time.perf_counter() - self._began_s
        if self.took_s is not None:
            is_otherwise = abs(math.log(costs.drift)) > math.log(OTHERWISE)
            if not is_otherwise or self.answered_s < SELDOM * self.took_s:
                return
        if not _is_long(self.settled_s, cancel):
            return
        started_s = time.perf_counter()
        if _measure_again(pair, cancel):
            self.answered_s, self.took_s = 0.0, time.perf_counter() - started_s


def _is_long(pause_s: float, cancel: CancelFlag) -> bool:
    """Wait so long; tell whether the pause lasted."""
    ends_s = time.perf_counter() + pause_s
    while not cancel() and (left_s := ends_s - time.perf_counter()) > 0:
        time.sleep(min(left_s, 0.05))
    return not cancel()


def _measure_again(pair: LoadedPair, cancel: CancelFlag) -> bool:
    """Measure and take in what it says; tell whether there was time for it.

    If passes take longer now than they did in answers, something else is busy, and that is no news about answers.
    """
    costs, draft, parts = (
        pair.evidence.costs,
        pair.draft,
        [part for part in (pair.target, pair.draft) if part is not None],
    )
    if any(not part.context.comes_back for part in parts):
        return False
    drafters: dict[str, DrafterCost] = {}
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(part.context.cancelled_by(cancel))
            stack.callback(part.context.rewind, part.context.n_past)
        stack.enter_context(pair.target.context.unwatched())
        try:
            rows_s = _rows_s(pair.target.context, words(pair.target.model, MOST_ROWS))
            if draft is not None and draft.context.n_ctx - draft.context.n_past > 4 * MANY:
                cost = time_drafting(draft.context, words(draft.model, MANY))
                drafters = {"draft-simple": cost, "tree": replace(cost)}
        except EngineError as fault:  # cancelled, mostly; if it is worse the next answer says so
            logger.info("costs were not measured again: %s", fault.message)
            return False
    if cancel() or 1 not in rows_s:
        return False
    if rows_s[1] <= OTHERWISE * (costs.verify_s(1) or rows_s[1]):
        costs.renew(rows_s, drafters)
    return True


def _rows_s(context: Context, tokens: list[int]) -> dict[int, float]:
    """Time passes behind what the memory holds, as far as there is room."""
    position = context.n_past

    def run(n_rows: int) -> float:
        started_s = time.perf_counter()
        context.decode(tokens[:n_rows], n_rows)
        context.row(0)
        took_s = time.perf_counter() - started_s
        context.rewind(position)
        return took_s

    n_max = min(context.n_draft_max + 1, MOST_ROWS, context.n_ctx - position)
    return {} if n_max < 1 else measure_rows(run, n_max, budget_s(run(1)))
