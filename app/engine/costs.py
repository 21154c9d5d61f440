"""What a step costs on this machine: verifying n rows, drafting, catching up.

Measured at load and kept up while running. Kernels change with the number of rows (on a small CPU four rows
can cost three times one, and 16 less than 15), so nothing is interpolated: a row count that was never measured is
taken to cost what the next larger measured one does, and its own cost is learned when it is used. A drift that all
costs share, such as a growing context or a busy machine, is followed by one factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from app.protocol import Step

ROWS = (1, 2, 4, 8, 16, 3, 6, 5, 32, 7, 12, 9, 24)
"""Row counts worth knowing, in the order in which they are measured while the time lasts."""

FEW, MANY = 8, 64
"""Numbers of tokens whose catching up is measured at load."""

_STEP_WEIGHT = 0.15
"""Weight of a new observation in a cost."""

_DRIFT_WEIGHT = 0.1
HELD_UP = 8.0
"""A step counts as at most so many times what it was expected to take."""

_OUTLIER = 2.0
"""An observation counts as at most so many times its expectation (a page fault is not a trend), nor less."""

_RELAX = 1 / 64
"""How far a step brings back to its first value what keeps a drafter from being asked: nothing else would."""

_UNUSED = 64
"""So many times a drafter is not asked since the last pass of several rows, and nobody seems to use them."""

_A_WHILE, _SEEN_AGAIN = 12, 0.5
"""After so many passes of one row, the first one of several tells so much of what all of those cost now."""


@dataclass(slots=True)
class DrafterCost:
    """What drafting costs: seconds a drafted token, and seconds a token to catch up with.

    Few tokens at once cost more each than many; ``few_s`` is what catching up with :data:`FEW` of them takes,
    ``next_s`` with one: the last word of a draft that was kept whole. Where a pass of two tokens takes as long as two
    passes that is as much as a word more. A draft has at most ``n_max`` tokens, 0: as many as are asked for.
    """

    token_s: float = 0.0
    caught_up_token_s: float = 0.0
    few_s: float | None = None
    n_max: int = 0
    next_s: float | None = None
    _first: tuple[float, float, float, float] | None = None
    _unsure_s: float = 0.0

    def catch_up_s(self, n_tokens: int) -> float:
        """Return the seconds of catching up with so many tokens."""
        few_s = FEW * self.caught_up_token_s if self.few_s is None else self.few_s
        if n_tokens <= FEW:
            next_s = few_s / FEW if self.next_s is None else min(few_s, self.next_s)
            return next_s + (n_tokens - 1) / (FEW - 1) * (few_s - next_s) if n_tokens else 0.0
        if n_tokens >= MANY:
            return n_tokens * self.caught_up_token_s
        return few_s + (n_tokens - FEW) / (MANY - FEW) * (MANY * self.caught_up_token_s - few_s)

    def observe(self, n_tokens: int, took_s: float, n_behind: int) -> None:
        """Learn from a draft: of catching up where it caught up with more than a step leaves behind, else of drafting.

        One clock times both; what the one took is told by the other's cost.
        """
        if self._first is None:
            self._first = self.token_s, self.caught_up_token_s, self.catch_up_s(FEW), self.catch_up_s(1)
        if n_behind >= FEW:
            self._observe_catch_up(max(0.0, took_s - self.token_s * n_tokens), n_behind)
            return
        catch_up_s = self.catch_up_s(n_behind)
        if took_s < catch_up_s:  # so much it cannot have been
            catch_up_s = max(0.0, took_s - self.token_s * n_tokens)
            self.few_s = catch_up_s * FEW / n_behind or self.catch_up_s(FEW) / _OUTLIER  # nothing could not grow again
            self.next_s = self.few_s / FEW
        token_s = max(0.0, took_s - catch_up_s) / n_tokens
        if self.token_s:
            self.token_s += _STEP_WEIGHT * (_near(token_s, self.token_s) - self.token_s)
        elif self._unsure_s:
            self.token_s = min(token_s, self._unsure_s)
        else:
            self._unsure_s = token_s  # the lower of the first two: the first one also pays for cold memory

    def _observe_catch_up(self, took_s: float, n_tokens: int) -> None:
        expected_s = self.catch_up_s(n_tokens)
        if not expected_s:
            self.caught_up_token_s = took_s / n_tokens
            return
        ratio = 1 + _STEP_WEIGHT * (_near(took_s, expected_s) / expected_s - 1)
        self.caught_up_token_s *= ratio
        if self.few_s is not None and n_tokens < MANY:
            self.few_s *= ratio
            self.next_s = None if self.next_s is None else self.next_s * ratio

    def times(self, factor: float) -> DrafterCost:
        """Return what drafting costs where everything takes so many times as long."""
        few_s, next_s = (None if one is None else one * factor for one in (self.few_s, self.next_s))
        return DrafterCost(self.token_s * factor, self.caught_up_token_s * factor, few_s, self.n_max, next_s)

    def relax(self) -> None:
        """Come back a little to what was known at first."""
        if self._first is not None:
            token_s, caught_up_token_s, few_s, next_s = self._first
            self.token_s += _RELAX * (token_s - self.token_s)
            self.caught_up_token_s += _RELAX * (caught_up_token_s - self.caught_up_token_s)
            if self.few_s is not None:
                self.few_s += _RELAX * (few_s - self.few_s)
            if self.next_s is not None:
                self.next_s += _RELAX * (next_s - self.next_s)


def _near(seen_s: float, expected_s: float) -> float:
    """Return what was seen, as far as it is believed at once."""
    return min(_OUTLIER * expected_s, max(expected_s / _OUTLIER, seen_s))


@dataclass(slots=True)
class Costs:
    """Seconds of a target pass by row count, and of each drafter by name; ``fresh`` counts were seen once, in use."""

    base_s: dict[int, float] = field(default_factory=dict)
    drafters: dict[str, DrafterCost] = field(default_factory=dict)
    drift: float = 1.0
    fresh: set[int] = field(default_factory=set)
    _first_s: dict[int, float] = field(default_factory=dict)
    _larger: dict[int, int] = field(default_factory=dict)
    _n_known: int = 0
    _n_relaxed: int = 0
    _n_plain: int = 0

    def verify_s(self, n_rows: int) -> float | None:
        """Return the cost of a pass over so many rows; None if nothing is known that bounds it.

        A count that was never measured is taken to cost what the next larger measured one does: it could be padded.
        """
        base = self.base_s.get(n_rows)
        if base is None:
            base = self.base_s.get(self._next_larger(n_rows))
        return None if base is None else base * self.drift

    def _next_larger(self, n_rows: int) -> int:
        """Return the next larger row count that was measured, 0 if there is none."""
        if self._n_known != len(self.base_s):
            self._n_known, self._larger = len(self.base_s), {}
        if n_rows not in self._larger:
            self._larger[n_rows] = min((n for n in self.base_s if n > n_rows), default=0)
        return self._larger[n_rows]

    def of_one_shape(self, n_rows: int) -> Costs:
        """Return the costs where every pass has so many rows."""
        pass_s = self.verify_s(n_rows)
        return Costs({} if pass_s is None else {n_rows: pass_s}, dict(self.drafters))

    def as_at_first(self) -> Costs:
        """Return what passes cost if, against one of one row, they still cost what was known first."""
        base_s = self.base_s | self._first_s
        plain_s = self.verify_s(1)
        return Costs(base_s, drift=plain_s / base_s[1] if plain_s and base_s.get(1) else self.drift)

    def renew(self, rows_s: dict[int, float], drafters: dict[str, DrafterCost]) -> None:
        """Take in what was measured in a pause, against a pass of one row, of which answers tell better what it takes.

        What was not measured again costs what it did, or what the next larger count does if that is less.
        """
        in_answers = (self.verify_s(1) or rows_s[1]) / rows_s[1]
        seen_s = {n: took_s * in_answers for n, took_s in rows_s.items()}
        self.base_s = {n: base_s * self.drift for n, base_s in self.base_s.items()} | seen_s
        for n in self.base_s.keys() - seen_s:
            self.base_s[n] = min([self.base_s[n], *(took_s for m, took_s in seen_s.items() if m > n)])
        for name, cost in self.drafters.items():
            seen = drafters.get(name)
            self.drafters[name] = seen.times(in_answers) if seen else cost.times(self.drift)
        self.drift, self.fresh, self._first_s = 1.0, set(), {}

    def observe_verify(self, n_rows: int, took_s: float) -> None:
        """Learn from a pass; one in no time is an error of the clock."""
        if took_s <= 0:
            return
        if n_rows > 1:
            self._see_again(n_rows, took_s)
        self._n_plain = 0 if n_rows > 1 else self._n_plain + 1
        base = self.base_s.get(n_rows)
        if base is None or n_rows in self.fresh:
            # The lower of the first two, as at load: one that was held up would not be tried again.
            self.base_s[n_rows] = took_s / self.drift if base is None else min(base, took_s / self.drift)
            self.fresh ^= {n_rows}
            return
        self._first_s.setdefault(n_rows, base)
        ratio = min(_OUTLIER, max(1 / _OUTLIER, took_s / (base * self.drift)))
        # What this row count shares with the others goes to the drift, the rest to its own cost.
        self.drift *= ratio**_DRIFT_WEIGHT
        self.base_s[n_rows] = base * ratio ** (_STEP_WEIGHT - _DRIFT_WEIGHT)

    def _see_again(self, n_rows: int, took_s: float) -> None:
        """Bring back to first values, as far as this pass allows, what rows cost that nobody has used for a while.

        What made one of them dear made all of them dear, and one that is cheap again tells of all.
        """
        self._n_relaxed = 0
        first = self.as_at_first()
        first_s = first.verify_s(n_rows)
        if self._n_plain < _A_WHILE or not first_s:
            return
        dearer = max(1.0, took_s / first_s) * first.drift / self.drift
        for n, base_s in self._first_s.items():
            if n > 1:
                self.base_s[n] += _SEEN_AGAIN * min(0.0, dearer * base_s - self.base_s[n])

    def best_length(self, expected: Sequence[float], rate: float) -> int:
        """Return the length of a draft with the highest worth.

        Args:
            expected: tokens that a step brings by length, 0 first.
            rate: tokens that a second brings otherwise.
        """
        best, value = 0, expected[0] - rate * (self.verify_s(1) or 0.0)
        for k in range(1, len(expected)):
            verify_s = self.verify_s(k + 1)
            if verify_s is not None and (worth := expected[k] - rate * verify_s) > value:
                best, value = k, worth
        return best

    def best_speedup(self, drafter: str, expected: Sequence[float]) -> float:
        """Return the speed-up at the best length, where a step of each length, 0 first, brings ``expected`` tokens.

        Behind a draft that is kept whole there is its last word to catch up with.
        """
        plain_s, best = self.verify_s(1) or 0.0, 0.0
        for k in range(1, self.longest(drafter, len(expected) - 1) + 1):
            verify_s = self.verify_s(k + 1)
            if verify_s is not None:
                behind_s = (expected[k] - expected[k - 1]) * self.draft_s(drafter, 0, 1)
                best = max(best, expected[k] * plain_s / (verify_s + self.draft_s(drafter, k) + behind_s))
        return best

    def longest(self, drafter: str, n_tokens: int) -> int:
        """Return how long a draft is where so many tokens are asked for."""
        cost = self.drafters.get(drafter)
        return n_tokens if cost is None or not cost.n_max else min(n_tokens, cost.n_max)

    def draft_s(self, drafter: str, n_tokens: int, n_behind: int = 0) -> float:
        """Return the cost of drafting so many tokens after catching up with so many."""
        cost = self.drafters.get(drafter)
        if cost is None:
            return 0.0
        return (cost.token_s * n_tokens + cost.catch_up_s(n_behind)) * self.drift

    def observe_draft(self, drafter: str, n_tokens: int, took_s: float, n_behind: int = 0) -> None:
        """Learn from a draft after catching up with ``n_behind`` tokens."""
        if n_tokens or n_behind >= FEW:  # who was heard and drafted nothing has caught up all the same
            self.drafters.setdefault(drafter, DrafterCost()).observe(n_tokens, took_s / self.drift, n_behind)

    def relax(self, drafter: str) -> None:
        """Come back a little to what was known at first of a drafter that is not asked because of what is known now.

        Only what is used is learned anew: without this, a time in which drafting was dear would end it for good. What
        rows cost is left alone for as long as another drafter uses them.
        """
        if drafter in self.drafters:
            self.drafters[drafter].relax()
        self._n_relaxed += 1
        for n_rows, first_s in self._first_s.items():
            if n_rows > 1 and self._n_relaxed > _UNUSED:  # one row is seen in every plain step
                self.base_s[n_rows] += _RELAX * (first_s - self.base_s[n_rows])


def measure_rows(run: Callable[[int], float], n_rows_max: int, budget_s: float) -> dict[int, float]:
    """Time passes over row counts up to ``n_rows_max`` for about ``budget_s`` seconds.

    Args:
        run: decodes so many rows and returns the seconds it took; leaves the memory as it was.
        n_rows_max: most rows that will ever be verified.
        budget_s: no new measurement is begun after so long; one row is always measured.

    Returns:
        The lowest of up to three timings by row count.
    """
    found: dict[int, float] = {}
    spent_s = 0.0
    for _round in range(3):
        for n in ROWS:
            if n > n_rows_max or (spent_s > budget_s and found):
                continue
            took_s = run(n)
            spent_s += took_s
            found[n] = min(took_s, found.get(n, took_s))
    return found


def as_if_awake(step: Step, draft_s: float, verify_s: float | None) -> Step:
    """Return a step that was expected to take so long without the hours in which the machine slept."""
    if verify_s is None:
        return step
    return structs.replace(
        step, draft_s=min(step.draft_s, HELD_UP * draft_s), verify_s=min(step.verify_s, HELD_UP * verify_s)
    )
