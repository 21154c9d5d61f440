"""Choose the draft length that yields the most tokens a second, 0 included, and never let drafting cost.

For a drafter and a length k the expected rate is E(k) ÷ (v(k + 1) + d(k) + catching up): tokens of a
step from what was accepted so far, costs as measured. The best k is taken if it beats plain decoding;
otherwise the drafter pauses, and is tried again now and then.

Estimates can be wrong, so there is a purse: what speculation has cost so far against plain decoding of the same
tokens, and how much of that an answer can bear (:data:`ALLOWANCE` of its expected time). When
the purse is empty only what pays by its cautious estimate goes on. This bounds the loss whatever the text does
("conservative bandits": Wu, Shariff, Lattimore, Szepesvári 2016, arXiv 1602.04282).

A drafter that costs nothing to ask (n-gram) is asked first and its draft is cut to the length that pays: a
step is worth E(k) - rate x time, where the rate is what the alternative would earn meanwhile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from app.engine.acceptance import Acceptance
from app.engine.costs import Costs
from app.engine.draft_length import PARTLY, Ask
from app.protocol import Plan, Step

CEILING = 1.02
"""A drafter that could not reach this speed-up even if everything were accepted is not prefilled at all."""

ALLOWANCE = 0.01
"""Share of an answer's expected time that unfounded hopes may cost."""

INVESTMENT = 0.01
"""Share that catching up may cost where the evidence says that it comes back threefold."""

GOOD_HOPE = 0.1
"""Expected gain from which an answer bears twice the allowance."""

WINDOW = 16
"""Tokens that a drafter starts again on where catching up with all would cost too much."""

PAYS = 1.01
"""Expected speed-up from which a length is taken."""

FIRST_PROBE, LAST_PROBE = 16, 256
"""Plain steps between two tries of a paused drafter: doubled after each try in vain."""

PRIORS = {"draft-simple": 0.7, PARTLY: 0.7, "draft-mtp": 0.75, "ngram": 0.5}

NGRAM_PRIORS = (0.4, 0.5, 0.8, 0.92, 0.95, 0.98)
"""The same by agreement: 1, 2, 4, 8, 16, 32 tokens and more. A little less than what copies have in texts that repeat
(T4's answers to the sets edit and quotes, edits of this repository: 0.65, 0.92, 0.98, 0.98, 0.996)."""

USUAL_ANSWER_TOKENS = 160
"""Tokens that an answer is expected to have still, when nothing better is known."""


@dataclass(slots=True)
class Evidence:
    """What a loaded pair has taught so far; outlives the answers."""

    costs: Costs = field(default_factory=Costs)
    acceptance: dict[str, Acceptance] = field(default_factory=dict)

    def of(self, kind: str) -> Acceptance:
        """Return what is known of a kind of draft: a drafter's name, or ``name:agreement``."""
        if kind not in self.acceptance:
            self.acceptance[kind] = Acceptance(_prior(kind))
        return self.acceptance[kind]

    def begin_answer(self) -> None:
        """Let earlier answers weigh less than what comes now."""
        self.acceptance = {kind: acceptance.carried() for kind, acceptance in self.acceptance.items()}


def _prior(kind: str) -> float:
    """Return alpha before any evidence; an n-gram's grows with how long its place agrees with the text."""
    name, _, agreement = kind.partition(":")
    if not agreement:
        return PRIORS.get(name, 0.5)
    return NGRAM_PRIORS[min(len(NGRAM_PRIORS), int(agreement).bit_length()) - 1]


@dataclass(slots=True)
class _Pause:
    """When a drafter that does not pay is tried again."""

    n_waited: int = 0
    interval: int = FIRST_PROBE


@dataclass(slots=True)
class AutoLength:
    """The controller of one answer.

    Attributes:
        evidence: costs and acceptance; learned from, and left for the next answer.
        n_max: longest draft allowed.
        n_left: tokens that may still come.
        prefill_s: what the answer took before its first token.
    """

    evidence: Evidence
    n_max: int
    n_left: int
    prefill_s: float = 0.0
    debt_s: float = 0.0
    plain_s: float = 0.0
    reason: str = ""
    _pauses: dict[str, _Pause] = field(default_factory=dict)

    def begin(self, prefill_s: float) -> None:
        """Take note of how long the answer has taken before its first token."""
        self.prefill_s = prefill_s

    # --- what the loop asks -------------------------------------------------------------------------

    def prepares(self, name: str) -> bool:
        """Say yes to the one whose catching up is free; the others catch up when they are asked."""
        return name == "ngram"

    def ask(self, name: str, n_behind: int, n_unseen: int = 0) -> Ask:
        """Return what to ask of a drafter that lags ``n_behind`` tokens; a limit of 0 is not to ask."""
        if name == "ngram":
            return Ask(self._longest(name), n_behind)
        if not self.worth_preparing(name):
            self.reason = "paused: even if every draft were right, it could not pay on this machine"
            return Ask(0)
        part, k, speedup = self._window(name, n_behind, n_unseen), 1, 0.0
        for kind, n_catch_up in ((name, n_behind + n_unseen), (PARTLY, part)):
            k, speedup = self._best(name, self.evidence.of(kind).expected_tokens(self.n_max))
            is_hopeful = self.debt_s <= self._allowance(speedup) or self._cautious(kind, k) >= 1
            if speedup >= PAYS and is_hopeful and self._may_invest(speedup, self._catch_up_s(name, n_catch_up)):
                self.reason = f"expected {speedup:.2f}x"
                self._pauses.pop(name, None)
                return Ask(self._curious(name, k, speedup), n_catch_up)
            if part == n_behind + n_unseen:
                break  # that is all of it
        return self._probe(name, max(1, k), speedup, part)

    def _window(self, name: str, n_behind: int, n_unseen: int) -> int:
        """Return the catch-up that the answer can bear: what a part in view lags, or as much of the text as it may."""
        if n_unseen and n_behind <= WINDOW:
            return n_behind
        token_s = self._catch_up_s(name, 1)
        bearable_s = INVESTMENT * self._expected_s() - max(0.0, self.debt_s)
        n_bearable = int(max(0.0, bearable_s) / token_s) if token_s else n_behind
        return min(n_behind, max(WINDOW, n_bearable))

    def _catch_up_s(self, name: str, n_tokens: int) -> float:
        return self.evidence.costs.draft_s(name, 0, n_tokens)

    def trim(self, name: str, kind: str, n_draft: int) -> int:
        """Return how many tokens of a draft to verify; 0 is not to use it."""
        if name != "ngram":
            return n_draft
        expected, rate = self.evidence.of(kind).expected_tokens(n_draft), self._rate()
        best, value = 0, 0.02
        for k in range(1, n_draft + 1):
            verify_s = self.evidence.costs.verify_s(k + 1)
            if verify_s is None or (worth := expected[k] - rate * verify_s) <= value:
                continue
            if self._bears(verify_s) or self._cautious(kind, k) >= 1:
                best, value = k, worth
        if not best:
            return self._probe_ngram(kind, n_draft)
        self.reason = f"a place that agrees on {kind.partition(':')[2]} tokens"
        return best

    def observe(self, step: Step, kind: str, n_behind: int) -> None:
        """Learn from a step: what it cost and what was kept."""
        costs = self.evidence.costs
        costs.observe_verify(step.proposed + 1, step.verify_s)
        if step.drafter and step.drafter != "ngram":
            costs.observe_draft(step.drafter, step.proposed, step.draft_s, n_behind)
        plain_s = self._plain_s() * step.emitted
        self.plain_s += plain_s
        self.debt_s += step.draft_s + step.verify_s - plain_s
        self.n_left = max(0, self.n_left - step.emitted)
        if step.proposed:
            self.evidence.of(kind).observe(step.judged, step.accepted)
        for pause in self._pauses.values():
            pause.n_waited += 1

    def worth_preparing(self, name: str) -> bool:
        """Tell whether the drafter could pay at perfect acceptance."""
        perfect = [float(k + 1) for k in range(self.n_max + 1)]
        return self._best(name, perfect)[1] >= CEILING

    def plan(self, name: str, limit: int) -> Plan:
        """Return the choice in words and figures, for people."""
        alpha = self.evidence.of(name).alpha() if name else 0.0
        return Plan(drafter=name, limit=limit, alpha=alpha, reason=self.reason, debt_s=self.debt_s)

    # --- how it answers -----------------------------------------------------------------------------

    def _plain_s(self) -> float:
        return self.evidence.costs.verify_s(1) or 0.0

    def _best(self, name: str, expected: list[float]) -> tuple[int, float]:
        """Return the length with the highest expected rate, and its speed-up over plain decoding."""
        costs, best, speedup = self.evidence.costs, 0, 0.0
        for k in range(1, len(expected)):
            verify_s = costs.verify_s(k + 1)
            if verify_s is None:
                continue
            rate = expected[k] / (verify_s + costs.draft_s(name, k))
            if rate * self._plain_s() > speedup:
                best, speedup = k, rate * self._plain_s()
        return best, speedup

    def _curious(self, name: str, k: int, speedup: float) -> int:
        """Return a length that was hardly measured and may be better than ``k``, while there is credit to try it."""
        if self.debt_s >= 0:
            return k
        costs, expected = self.evidence.costs, self.evidence.of(name).expected_tokens(self.n_max)
        best, hope = k, speedup * PAYS
        for length in range(1, len(expected)):
            if (hoped_s := costs.hoped_s(length + 1)) is not None:
                hoped = expected[length] / (hoped_s + costs.draft_s(name, length)) * self._plain_s()
                if hoped > hope:
                    best, hope = length, hoped
        return best

    def _rate(self) -> float:
        """Return what a second earns otherwise: plain decoding, or a model drafter that pays."""
        plain_s = self._plain_s()
        if not plain_s:
            return 0.0
        names = [n for n in self.evidence.costs.drafters if n not in self._pauses]
        speedups = [self._best(n, self.evidence.of(n).expected_tokens(self.n_max))[1] for n in names]
        return max([1.0, *speedups]) / plain_s

    def _longest(self, name: str) -> int:
        known = [k for k in range(1, self.n_max + 1) if self.evidence.costs.verify_s(k + 1) is not None]
        return max(known, default=0) if self.worth_preparing(name) else 0

    def _n_expected(self) -> int:
        return min(self.n_left, USUAL_ANSWER_TOKENS)

    def _expected_s(self) -> float:
        """Return how long the answer would take at plain speed, as far as one can tell."""
        return self.prefill_s + self.plain_s + self._n_expected() * self._plain_s()

    def _allowance(self, speedup: float = 1.0) -> float:
        """Return what the answer can bear: more, up to twice, the better the hope."""
        return ALLOWANCE * self._expected_s() * (1 + min(1.0, max(0.0, (speedup - 1) / GOOD_HOPE)))

    def _bears(self, verify_s: float) -> bool:
        """Tell whether the answer could bear that nothing of a draft is kept."""
        return self.debt_s + verify_s - self._plain_s() <= 2 * ALLOWANCE * self._expected_s()

    def _may_invest(self, speedup: float, catch_up_s: float) -> bool:
        """Tell whether catching up comes back threefold in what is left, and does not cost too much if it does not."""
        saved_s = self._n_expected() * self._plain_s() * (1 - 1 / speedup)
        return catch_up_s <= min(saved_s / 3, max(0.0, INVESTMENT * self._expected_s() - self.debt_s))

    def _cautious(self, kind: str, k: int) -> float:
        """Return the expected speed-up with alpha one standard error lower."""
        acceptance = self.evidence.of(kind)
        alpha = acceptance.alpha()
        alpha = max(0.0, alpha - math.sqrt(alpha * (1 - alpha) / (acceptance.n_evidence() + 1)))
        name = kind.partition(":")[0].removesuffix("~")
        verify_s = self.evidence.costs.verify_s(k + 1)
        if verify_s is None:
            return 0.0
        n_tokens = sum(alpha**i for i in range(k + 1))
        return n_tokens / (verify_s + self.evidence.costs.draft_s(name, k)) * self._plain_s()

    def _probe(self, name: str, k: int, speedup: float, n_catch_up: int) -> Ask:
        """Ask now and then, if the purse bears it."""
        pause = self._pauses.setdefault(name, _Pause())
        self.reason = f"paused: expected {speedup:.2f}x of plain speed"
        costs = self.evidence.costs
        risk_s = costs.draft_s(name, k, n_catch_up) + (costs.verify_s(k + 1) or math.inf) - self._plain_s()
        if pause.n_waited < pause.interval or self.debt_s + risk_s > self._allowance():
            return Ask(0)
        pause.n_waited, pause.interval = 0, min(LAST_PROBE, 2 * pause.interval)
        self.reason = "trying again after a pause"
        return Ask(k, n_catch_up)

    def _probe_ngram(self, kind: str, n_draft: int) -> int:
        """Return a short length now and then, to learn whether this kind of place has become better."""
        pause = self._pauses.setdefault(kind, _Pause())
        risk_s = (self.evidence.costs.verify_s(2) or math.inf) - self._plain_s()
        if not n_draft or pause.n_waited < pause.interval or self.debt_s + risk_s > self._allowance():
            return 0
        pause.n_waited, pause.interval = 0, min(LAST_PROBE, 2 * pause.interval)
        return 1
