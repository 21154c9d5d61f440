"""The steps of an answer as columns: some 40 bytes a step instead of some 300, so that a day fits into one session.

Times are doubles, as the engine gave them: a figure computed from the columns is exactly that of the steps.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from typing import overload

from app.protocol import Step

MOST_DRAFTERS = 256
"""More names than this are not of any drafters."""


class StepColumns(Sequence[Step]):
    """A growing sequence of steps, equal to any other sequence of the same steps.

    Attributes:
        t_s, draft_s, verify_s: seconds, one double a step.
        emitted, limit, proposed, judged, accepted, n_ctx, row_counts, depths: counts.
        slides: how many tokens left the context right before a step, by its number: before hardly any.
    """

    __slots__ = (
        "_drafter",
        "_names",
        "accepted",
        "depths",
        "draft_s",
        "emitted",
        "judged",
        "limit",
        "n_ctx",
        "proposed",
        "row_counts",
        "slides",
        "t_s",
        "verify_s",
    )

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self.t_s, self.draft_s, self.verify_s = array("d"), array("d"), array("d")
        self.emitted, self.limit, self.n_ctx = array("H"), array("H"), array("I")
        self.proposed, self.judged, self.accepted = array("H"), array("H"), array("H")
        self.row_counts, self.depths = array("B"), array("B")
        self._drafter = array("B")
        self.slides: dict[int, int] = {}
        self._names: list[str] = []
        for step in steps:
            self.append(step)

    def append(self, step: Step) -> None:
        """Take one more step.

        Raises:
            ValueError: a count is negative or beyond what any engine does.
        """
        try:
            self.emitted.append(step.emitted)
            self.limit.append(step.limit)
            self.proposed.append(step.proposed)
            self.judged.append(step.judged)
            self.accepted.append(step.accepted)
            self.n_ctx.append(step.n_ctx)
            self._drafter.append(self._number_of(step.drafter))
            self.row_counts.append(step.rows)
            self.depths.append(step.depth)
            array("I", (step.slid,))  # no count of another kind is taken either
        except OverflowError as fault:
            self._cut(len(self.t_s))
            raise ValueError(f"no step of an answer: {step}") from fault
        if step.slid:
            self.slides[len(self.t_s)] = step.slid
        self.draft_s.append(step.draft_s)
        self.verify_s.append(step.verify_s)
        self.t_s.append(step.t_s)

    def rows(self) -> Iterator[tuple[float, int, int, int, int, int, float, float, int, str, int, int, int]]:
        """Yield the steps as tuples in the order of :class:`Step`'s fields, ten times as fast as steps are made."""
        return zip(
            self.t_s,
            self.emitted,
            self.limit,
            self.proposed,
            self.judged,
            self.accepted,
            self.draft_s,
            self.verify_s,
            self.n_ctx,
            map(self._names.__getitem__, self._drafter),
            self.row_counts,
            self.depths,
            map(self.slides.get, range(len(self)), repeat(0)) if self.slides else repeat(0, len(self)),
            strict=True,
        )

    @property
    def drafters(self) -> tuple[str, ...]:
        """Who drafted, "" for nobody, in the order in which they first did."""
        return tuple(self._names)

    @property
    def n_bytes(self) -> int:
        """What the columns take up."""
        return sum(len(column) * column.itemsize for column in self._columns())

    def _number_of(self, drafter: str) -> int:
        if drafter not in self._names:
            if len(self._names) == MOST_DRAFTERS:
                raise OverflowError
            self._names.append(drafter)
        return self._names.index(drafter)

    def _columns(self) -> tuple[array[float] | array[int], ...]:
        counts = (self.emitted, self.limit, self.proposed, self.judged, self.accepted, self.n_ctx, self._drafter)
        return (self.t_s, self.draft_s, self.verify_s, *counts, self.row_counts, self.depths)

    def _cut(self, n: int) -> None:
        for column in self._columns():
            del column[n:]

    # --- a sequence -----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.t_s)

    def __iter__(self) -> Iterator[Step]:
        return (Step(*row) for row in self.rows())

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        if isinstance(index, slice):
            start, stop, stride = index.indices(len(self))
            if stride > 0:
                return tuple(Step(*row) for row in islice(self.rows(), start, max(start, stop), stride))
            return tuple(self[i] for i in range(start, stop, stride))
        return Step(
            self.t_s[index],
            self.emitted[index],
            self.limit[index],
            self.proposed[index],
            self.judged[index],
            self.accepted[index],
            self.draft_s[index],
            self.verify_s[index],
            self.n_ctx[index],
            self._names[self._drafter[index]],
            self.row_counts[index],
            self.depths[index],
            self.slides.get(range(len(self))[index], 0),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StepColumns | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"StepColumns({len(self)} steps)"
