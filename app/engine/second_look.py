"""See again what passes and drafts cost, while nobody waits for an answer.

Loading measures it once, and may meet a busy machine; power modes, heat and other programs change it afterwards. What
is used is learned as it is used, but a drafter that seems too dear is not used. So after an answer under ``auto``, and
whenever plain steps have become faster or slower since, the same measurement is made again in the pause that follows:
behind the text that the memories hold, which they hold afterwards. Whatever is asked next ends it at once. Heads are
not measured again, and nothing is where decoded tokens cannot all be taken back: running states, sliding windows.
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
"""So many times faster or slower plain steps than when costs were measured are another machine's."""

SELDOM = 24
"""Time that answers take between two measurements, in times of what the last one took, finished or not: they cost the
battery something."""

MOST_ROWS = 16
"""Largest pass that is measured again: larger ones are seldom worth it, and take long."""


@dataclass(slots=True)
class Pauses:
    """When to measure again.

    Attributes:
        answered_s: how long answers took since the last measurement, or the last try.
        tried_s: how long that took, 0 before the first one since the pair was loaded.
        plain_s: what a pass of one row took then; None until one was taken in.
    """

    answered_s: float = 0.0
    tried_s: float = 0.0
    plain_s: float | None = None
    _costs: Costs | None = None
    _is_of_use: bool = False
    _began_s: float = 0.0

    def note(self, engaged: Engaged, began_s: float) -> None:
        """Take note of an answer that begins."""
        self._is_of_use = isinstance(engaged.length, AutoLength) and any(d.name != "ngram" for d in engaged.drafters)
        self._began_s = began_s

    def use(self, pair: LoadedPair, cancel: CancelFlag) -> None:
        """Measure, if the answer before the pause was one that needs it, and something may have changed."""
        if pair.evidence.costs is not self._costs:
            is_known = self._costs is None
            self._costs, self.answered_s, self.tried_s, self.plain_s = pair.evidence.costs, 0.0, 0.0, None
            self._is_of_use = self._is_of_use and is_known  # the answer was another pair's
        if not self._is_of_use or not _can_measure(pair):
            return
        self._is_of_use = False
        self.answered_s += time.perf_counter() - self._began_s
        plain_s = self._costs.verify_s(1)
        if self.answered_s < SELDOM * self.tried_s or not plain_s:
            return
        if self.plain_s is not None and abs(math.log(plain_s / self.plain_s)) < math.log(OTHERWISE):
            return
        started_s = time.perf_counter()
        if _measure_again(pair, cancel):
            self.plain_s = self._costs.verify_s(1)
        self.answered_s, self.tried_s = 0.0, time.perf_counter() - started_s


def _can_measure(pair: LoadedPair) -> bool:
    """Tell whether what is decoded can be taken back, and there is room for it."""
    contexts = [part.context for part in (pair.target, pair.draft) if part is not None]
    return all(context.comes_back and context.n_ctx > context.n_past for context in contexts)


def _measure_again(pair: LoadedPair, cancel: CancelFlag) -> bool:
    """Measure and take in what it says; tell whether it was.

    If passes take longer now than they did in answers, something else is busy, and that is no news about answers.
    """
    costs, draft = pair.evidence.costs, pair.draft
    parts = [part for part in (pair.target, draft) if part is not None]
    drafters: dict[str, DrafterCost] = {}
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(part.context.cancelled_by(cancel))
            stack.callback(part.context.rewind, part.context.n_past)
        try:
            rows_s = _rows_s(pair.target.context, words(pair.target.model, MOST_ROWS))
            if draft is not None and draft.context.n_ctx - draft.context.n_past > 4 * MANY:
                cost = time_drafting(draft.context, words(draft.model, MANY))
                drafters = {"draft-simple": cost, "tree": replace(cost)}
        except EngineError as fault:  # cancelled, mostly; if it is worse the next answer says so
            logger.info("costs were not measured again: %s", fault.message)
            return False
    if cancel() or rows_s[1] > OTHERWISE * (costs.verify_s(1) or rows_s[1]):
        return False
    costs.renew(rows_s, drafters)
    pair.apart.renew(pair.evidence)
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
    return measure_rows(run, n_max, budget_s(run(1)))
