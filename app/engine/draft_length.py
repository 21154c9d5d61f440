"""How long the next draft may be: fixed, or by the rolling rule. The controller is in ``auto_length``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.engine.foresight import Foresight
from app.engine.review import Place
from app.protocol import Plan, Step


class GoesOn(Protocol):
    """Takes in a drafted token and tells whether another is likely to be worth its time."""

    def __call__(self, probability: float, following: float = 0.0, /) -> bool:
        """Answer; of a tree, the worth of the node that was taken and of the one that would be next."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked of a drafter: at most ``limit`` tokens (0: do not ask), after catching up with ``n_catch_up``.

    Where that is less than it lags, it starts again on the most recent tokens: a smaller view, but cheap. Where it is
    more, it starts again further back. A drafter that has probabilities tells ``goes_on`` that of each drafted
    token, and drafts no more when it says no. One that can tell ``hears`` what it would have said at the last
    ``n_review`` tokens of the text while it catches up with them, and drafts only when it says yes.
    """

    limit: int
    n_catch_up: int = 0
    goes_on: GoesOn | None = None
    n_review: int = 0
    hears: Callable[[Sequence[Place]], bool] | None = None


PARTLY = "draft-simple~"
"""Kind of a draft by a draft model that has only the end of the text in view."""


class LengthPolicy(Protocol):
    """Decides for each step who drafts and how long."""

    @property
    def foresight(self) -> Foresight | None:
        """Where to tell how sure the target is of its words; None if nobody wants to know."""

    def begin(self, prefill_s: float) -> None:
        """Take note of how long the answer has taken before its first token."""

    def prepares(self, name: str) -> bool:
        """Tell whether a drafter should catch up with the prompt before the first token."""

    def ask(self, name: str, n_behind: int, n_unseen: int = 0) -> Ask:
        """Return what to ask of a drafter that lags ``n_behind`` tokens, ``n_unseen`` more to see all."""

    def trim(self, name: str, kind: str, n_draft: int) -> int:
        """Return how many tokens of its draft to verify; 0 is not to use it."""

    def observe(self, step: Step, kind: str, n_behind: int) -> None:
        """Learn from a step."""

    def overhears(self, name: str, kind: str, n_judged: int, n_kept: int) -> None:
        """Learn from a draft that was not used: so many of its tokens can be held against what came, and agree."""

    def plan(self, name: str, limit: int) -> Plan | None:
        """Return the choice in words and figures, if there is more to say than the length."""


class FixedLength:
    """Always the same k."""

    foresight: None = None

    def __init__(self, draft_tokens: int) -> None:
        self._draft_tokens = draft_tokens

    def begin(self, prefill_s: float) -> None:
        """Take no note: k is fixed."""

    def prepares(self, name: str) -> bool:
        """Say yes: it will be asked."""
        return bool(name)

    def ask(self, name: str, n_behind: int, n_unseen: int = 0) -> Ask:
        """Ask for k."""
        del name, n_unseen
        return Ask(self._draft_tokens, n_behind)

    def trim(self, name: str, kind: str, n_draft: int) -> int:
        """Use all of it."""
        del name, kind
        return n_draft

    def observe(self, step: Step, kind: str, n_behind: int) -> None:
        """Learn nothing: k is fixed."""

    def overhears(self, name: str, kind: str, n_judged: int, n_kept: int) -> None:
        """Learn nothing."""

    def plan(self, name: str, limit: int) -> None:
        """Say nothing."""


@dataclass(slots=True)
class RollingLength(FixedLength):
    """The simple rule of the literature: rolling acceptance below 0.5 drafts 3 tokens, above 0.75 drafts 8.

    For comparison: it looks at acceptance alone and so cannot know whether drafting pays.
    """

    n_max: int
    rate: float = 0.6
    draft_tokens: int = 5

    def ask(self, name: str, n_behind: int, n_unseen: int = 0) -> Ask:
        """Ask for the length that goes with the rate."""
        del name, n_unseen
        return Ask(min(self.draft_tokens, self.n_max), n_behind)

    def observe(self, step: Step, kind: str, n_behind: int) -> None:
        """Move the rolling rate, and with it the length."""
        del kind, n_behind
        if not step.proposed:
            return
        self.rate += 0.1 * (step.accepted / step.proposed - self.rate)
        if self.rate < 0.5:
            self.draft_tokens = 3
        elif self.rate > 0.75:
            self.draft_tokens = 8
