"""Choose how far to draft so that an answer comes fastest, not at all included, and never let drafting cost.

Two questions. *Ask at all?* What asking was worth so far in this answer, and in earlier ones, decides
(:mod:`app.engine.worth`): a speed-up by the clock, whatever its reason. *How far?* While a model drafts, the
probability it gives each word tells how likely that word is to be kept (:mod:`app.engine.calibration`); it goes on as
long as another word is likely to be worth its time, and what it drafted is cut to the length with the highest
E(k) - rate x time, where the rate is what the time would earn otherwise (fractional programming: Dinkelbach 1967).

How sure the target is of its own words tells beforehand whether it is worth it (:mod:`app.engine.foresight`).
Estimates can be wrong, so there is a purse (:mod:`app.engine.purse`): what speculation has cost so far against plain
decoding of the same tokens, and how much of that an answer can bear. When it is empty the drafter pauses and is tried
again now and then. A draft model that catches up tells what it would have drafted (:mod:`app.engine.review`).

A drafter that costs nothing to ask (n-gram) is asked first; how long its place agrees with the text stands for the
probability that it does not have.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate

from app.engine.acceptance import cumulated
from app.engine.asking import CEILING, MOSTLY, PAYS, WINDOW, Asked, Pause
from app.engine.copies import best_copy, tried_copy
from app.engine.costs import FEW, MANY, as_if_awake
from app.engine.draft_length import PARTLY, Ask
from app.engine.evidence import EASE, N_NEW, SAMPLED, Evidence, prior_alpha
from app.engine.foresight import CHEAP, KNOWN, Foresight
from app.engine.purse import COMES_BACK, STAKED, Purse
from app.engine.review import MOST_REVIEWED, Place, plain_steps_at_best
from app.engine.worth import Worth
from app.protocol import Plan, Step


@dataclass(slots=True)
class AutoLength:
    """The controller of one answer.

    Attributes:
        evidence: what the pair has taught; learned from, and left for the next answer.
        n_max: longest draft allowed.
        n_left: tokens that may still come.
        is_greedy: the most likely word is taken (temperature 0).
        prefill_s: what the answer took before its first token.
        can_hear: a draft model can say what it would have drafted: a choice depends on its row alone.
        can_compare: what would have been kept is what the text says.
        models: who is engaged and runs a model; None is whoever is loaded.
        foresight: what the target's own rows tell; None if nobody looks at them.
    """

    evidence: Evidence
    n_max: int
    n_left: int
    is_greedy: bool = True
    prefill_s: float = 0.0
    can_hear: bool = True
    can_compare: bool = True
    models: frozenset[str] | None = None
    foresight: Foresight | None = None
    plain_s: float = 0.0
    reason: str = ""
    _asked: Asked | None = None
    _n_unheard: int = 1
    _pauses: dict[str, Pause] = field(default_factory=dict)

    @property
    def purse(self) -> Purse:
        """What it may cost."""
        return self.evidence.purse

    def begin(self, prefill_s: float) -> None:
        """Take note of how long the answer has taken before its first token."""
        self.prefill_s = prefill_s
        self.purse.begin(self._expected_s(), is_blind=self.foresight is None)

    def _is_new(self) -> bool:
        of_models = any(map(self.worth_preparing, self.evidence.costs.drafters if self.models is None else self.models))
        return self.evidence.n_answers(of_models=of_models, is_greedy=self.is_greedy) < N_NEW

    # --- what the loop asks -------------------------------------------------------------------------

    def prepares(self, name: str) -> bool:
        """Say yes to the one whose catching up is free; the others catch up when they are asked."""
        return name == "ngram"

    def ask(self, name: str, n_behind: int, n_unseen: int = 0) -> Ask:
        """Return what to ask of a drafter that lags ``n_behind`` tokens; a limit of 0 is not to ask."""
        if not self.worth_preparing(name):
            self.evidence.costs.relax(name)
            self.reason = "paused: even if every draft were right, it could not pay on this machine"
            return Ask(0)
        if name == "ngram":
            self.reason = ""
            return Ask(self._longest(), n_behind)
        all_of_it, part = n_behind + n_unseen, self._window(name, n_behind, n_unseen)
        of_part = PARTLY if name == "draft-simple" and part < all_of_it else name
        views = [(name, all_of_it), (of_part, part)]
        for kind, n_catch_up in views if n_unseen or part < MOSTLY * all_of_it else views[:1]:
            worth = self._foresee(name, kind)
            if worth.speedup() >= PAYS and self._may_invest(worth, name, n_catch_up):
                limit = self._bearable(name, worth)
                if limit:
                    self.reason = f"expected {worth.speedup():.2f}x"
                    self._pauses.pop(name, None)
                    return self._engage(Asked(name, kind, limit, n_catch_up))
        return self._probe(name, of_part, part)

    def _foresee(self, name: str, kind: str) -> Worth:
        """Return what asking is worth, with what the target's own rows tell of it."""
        worth, sight = self._worth(name, kind), self.foresight
        if sight is not None and not sight.is_blind and self.foresees(name):
            kind = self._of_chain(name) if name == "tree" else kind  # it does at least as well as its likeliest path
            alpha, strength = self.evidence.foreseen(kind, self.is_greedy, sight)
            worth.expect(self._best_speedup(name, alpha), strength)
        return worth

    def foresees(self, name: str) -> bool:
        """Tell whether the target's own rows say how somebody does: heads draft no further than they are many."""
        return self._of_chain(name) == "draft-simple"

    def _of_chain(self, name: str) -> str:
        """Return who drafts: of a tree, what it branches."""
        of_tree = "draft-simple" if "draft-simple" in self.evidence.costs.drafters else "draft-mtp"
        return of_tree if name == "tree" else name

    def _engage(self, asked: Asked) -> Ask:
        self._asked = asked
        is_heard = self._can_tell(asked.name) and asked.n_catch_up >= FEW
        n_review = min(self._n_unheard, asked.n_catch_up, MOST_REVIEWED) if is_heard else 0
        return Ask(asked.limit, asked.n_catch_up, self.goes_on, n_review, self.hears if n_review else None)

    def hears(self, places: Sequence[Place]) -> bool:
        """Take in what the paused drafter would have said; tell whether to draft on it."""
        asked = self._asked
        n_steps = plain_steps_at_best(places, self.evidence.costs, asked.name, self.n_max) if asked else None
        if asked is None or n_steps is None:
            return True
        asked.is_reviewed = True
        calibration = self.evidence.calibration_of(asked.kind, self.is_greedy)
        for place in places:
            if asked.name != "tree":  # its probabilities are other ones
                calibration.observe(place.probability, place.is_kept)
            self.evidence.of(asked.kind).observe(1, int(place.is_kept))
        kind = asked.kind if asked.name != "tree" else self._of_chain(asked.name)
        self._learn_ease(kind, len(places), [place.is_kept for place in places])
        worth = self._worth(asked.name, asked.kind)
        worth.review(len(places), n_steps)
        asked.limit = self._bearable(asked.name, worth)
        return asked.limit > 0 and worth.speedup() >= PAYS

    def goes_on(self, probability: float, following: float = 0.0, /) -> bool:
        """Take in the probability of a drafted word; tell whether another one is likely to be worth its time."""
        asked = self._asked
        if asked is None:
            return True
        if asked.name == "tree":  # these are the worths of its nodes
            asked.shares.append(probability)
            return self._is_more_worth_it(asked, following)
        asked.probabilities.append(probability)
        asked.shares.append(self.evidence.calibration_of(asked.kind, self.is_greedy).share(probability))
        return self._is_more_worth_it(asked, math.prod(asked.shares) * self.evidence.of(asked.kind).alpha())

    def _is_more_worth_it(self, asked: Asked, following: float) -> bool:
        """Tell whether a draft should go on with a word that is kept with chance ``following``."""
        n, costs, usual = len(asked.shares), self.evidence.costs, self.evidence.of(asked.kind).alpha()
        rate, now_s = self._worth(asked.name, asked.kind).seen() / self._plain_s(), costs.verify_s(n + 1) or 0.0
        gained = 0.0
        for more in range(1, asked.limit - n + 1):
            verify_s, gained = costs.verify_s(n + more + 1), gained + following * usual ** (more - 1)
            if verify_s is not None and gained > rate * (verify_s - now_s + costs.draft_s(asked.name, more)):
                return True
        return False

    def trim(self, name: str, kind: str, n_draft: int) -> int:
        """Return how many tokens of a draft to verify; 0 is not to use it."""
        if name == "ngram":
            return self._trim_ngram(kind, n_draft)
        asked = self._asked
        if asked is None or len(asked.shares) != n_draft:
            return n_draft
        rate = max(1.0, self._worth(name, asked.kind).seen()) / self._plain_s()
        of_tree = list(accumulate(asked.shares, initial=1.0)) if name == "tree" else None
        return self.evidence.costs.best_length(of_tree or cumulated(asked.shares), rate)

    def observe(self, step: Step, kind: str, n_behind: int) -> None:
        """Learn from a step: what it cost and what was kept."""
        # A limit of 0: the answer had no room left for what was asked for.
        costs, asked = self.evidence.costs, self._asked if step.limit else None
        step = self._as_if_awake(step)
        costs.observe_verify(step.n_rows, step.verify_s)
        plain_s = self._plain_s() * step.emitted
        self.plain_s += plain_s
        self.purse.debt_s += step.draft_s + step.verify_s - plain_s
        self.purse.answer_s = self.prefill_s + self.plain_s
        self.n_left = max(0, self.n_left - step.emitted)
        self.evidence.count(step.emitted, step.accepted if step.drafter == "ngram" else 0)
        if asked is not None:
            self._learn(asked, step)
        elif step.drafter in ("", "ngram"):
            self.purse.looked_up_s += step.draft_s
        elif step.proposed:
            costs.observe_draft(step.drafter, step.proposed, step.draft_s, n_behind)
        if step.proposed:
            self.evidence.of(kind).observe(step.judged, step.accepted)
        for pause in self._pauses.values():
            pause.n_waited += 1
        self._n_unheard = 0 if asked is not None else self._n_unheard + step.emitted
        self._asked = None

    def overhears(self, name: str, kind: str, n_judged: int, n_kept: int) -> None:
        """Learn from a copy that was not verified whether it would have been kept, so that none need be tried out."""
        if name == "ngram" and self.can_compare:
            self.evidence.of(kind).overhear(n_judged, n_kept)

    def _as_if_awake(self, step: Step) -> Step:
        """Return the step without the hours in which the machine slept: its clock may go on meanwhile."""
        asked, draft_s = self._asked, self._plain_s()
        if asked is not None:
            n_drafted = max(len(asked.shares), step.proposed)
            draft_s += self.evidence.costs.draft_s(asked.name, n_drafted, asked.n_catch_up)
        return as_if_awake(step, draft_s, self.evidence.costs.verify_s(step.proposed + 1))

    def _learn(self, asked: Asked, step: Step) -> None:
        """Learn from a step in which a model was asked, whether or not its draft was used."""
        costs, plain_s = self.evidence.costs, self._plain_s()
        n_drafted = len(asked.shares) or (step.proposed if step.drafter == asked.name else 0)
        # Catching up with a prompt is an investment, not what a step costs: all that drafting does not explain.
        rest_s = max(0.0, step.draft_s - costs.draft_s(asked.name, n_drafted))
        invested_s = rest_s if asked.n_catch_up >= FEW else 0.0
        if asked.is_look:
            self.purse.looked_s += invested_s
        else:
            self.purse.invested_s += invested_s
        costs.observe_draft(asked.name, n_drafted, step.draft_s, asked.n_catch_up)
        if plain_s and (asked.shares or not asked.is_reviewed):
            took_s = max(0.0, step.draft_s - invested_s) + step.verify_s
            self._worth(asked.name, asked.kind).observe(step.emitted, took_s / plain_s)
        if step.drafter == asked.name:
            calibration = self.evidence.calibration_of(asked.kind, self.is_greedy)
            for i, probability in enumerate(asked.probabilities[: step.judged]):
                calibration.observe(probability, i < step.accepted)
            if asked.name != "tree":  # which is right more often than its likeliest path
                self._learn_ease(asked.kind, step.emitted, [i < step.accepted for i in range(step.judged)])

    def _learn_ease(self, kind: str, n_of_last: int, are_kept: Sequence[bool]) -> None:
        """Learn how sure the target was of words of which it is known whether they were, or would have been, kept."""
        ease = self.evidence.calibration_of(kind + EASE, self.is_greedy)
        seen = self.foresight.last(n_of_last) if self.foresight else ()
        for probability, is_kept in zip(seen, are_kept, strict=False):
            ease.observe(probability, is_kept)

    def worth_preparing(self, name: str) -> bool:
        """Tell whether the drafter could pay at perfect acceptance."""
        return self._best_speedup(name, 1.0) >= CEILING

    def plan(self, name: str, limit: int) -> Plan:
        """Return the choice in words and figures, for people."""
        alpha = self.evidence.of(name).alpha() if name else 0.0
        return Plan(drafter=name, limit=limit, alpha=alpha, reason=self.reason, debt_s=self.purse.debt_s)

    # --- how it answers -----------------------------------------------------------------------------

    def _window(self, name: str, n_behind: int, n_unseen: int) -> int:
        """Return the catch-up that the answer can bear: what a part in view lags, or as much of the text as it may."""
        if n_behind <= MANY or (n_unseen and n_behind <= WINDOW):
            return n_behind  # a part of a short text would cost as much
        worth = self._foresee(name, PARTLY if name == "draft-simple" else name)
        is_of_heads = self._of_chain(name) == "draft-mtp"  # they do nearly as well with a part in view
        bears = partial(self._comes_back, name) if is_of_heads else self._may_lose
        n = bisect_left(range(n_behind + 1), True, key=lambda n: not bears(worth, self._catch_up_s(name, n)))
        return max(WINDOW, n - 1)

    def _catch_up_s(self, name: str, n_tokens: int) -> float:
        return self.evidence.costs.draft_s(name, 0, n_tokens)

    def _plain_s(self) -> float:
        return self.evidence.costs.verify_s(1) or 0.0

    def _worth(self, name: str, kind: str) -> Worth:
        key = kind if self.is_greedy else kind + SAMPLED
        return self.evidence.worth_of(key, lambda: self._best_speedup(name, prior_alpha(kind)))

    def _best_speedup(self, name: str, alpha: float) -> float:
        """Return the speed-up at the best length if every drafted token were kept with probability ``alpha``."""
        return self.evidence.costs.best_speedup(name, cumulated([alpha] * self.n_max))

    def _rate(self) -> float:
        """Return what a second earns otherwise: plain decoding, or a model drafter that pays."""
        plain_s, paused = self._plain_s(), self._pauses
        worths = [(kind.removesuffix(SAMPLED).removesuffix("~"), worth) for kind, worth in self.evidence.worth.items()]
        speedups = [worth.speedup() for name, worth in worths if name not in paused]
        return max([1.0, *speedups]) / plain_s if plain_s else 0.0

    def _longest(self) -> int:
        return max((k for k in range(self.n_max + 1) if self.evidence.costs.verify_s(k + 1) is not None), default=0)

    def _n_expected(self) -> float:
        return min(self.n_left, self.evidence.n_to_come())

    def _expected_s(self) -> float:
        """Return how long the answer would take at plain speed, as far as one can tell."""
        return self.prefill_s + self.plain_s + self._n_expected() * self._plain_s()

    def _bearable(self, name: str, worth: Worth) -> int:
        """Return the longest draft that the answer can bear to lose; 0 if there is none."""
        costs, plain_s, answer = self.evidence.costs, self._plain_s(), (self._expected_s(), worth.chance())
        for length in range(costs.longest(name, self._longest_of_a_model()), 0, -1):
            verify_s = costs.verify_s(length + 1)
            if verify_s is not None and self.purse.bears(verify_s + costs.draft_s(name, length) - plain_s, *answer):
                return length
        return 0

    def _longest_of_a_model(self) -> int:
        """Return how far a model may draft: as far as was said to begin with, while the pair is new."""
        start = self.evidence.draft_start
        return min(self.n_max, start) if start and self._is_new() else self.n_max

    def _may_invest(self, worth: Worth, name: str, n_catch_up: int) -> bool:
        """Tell whether catching up comes back often enough, and does not cost too much if it does not."""
        if n_catch_up < FEW:
            return True  # it is a part of the step
        catch_up_s = self._catch_up_s(name, n_catch_up)
        is_blind = self.foresight is not None and self.foresight.is_blind and catch_up_s > CHEAP * self._plain_s()
        return not is_blind and self._comes_back(name, worth, catch_up_s)

    def _comes_back(self, name: str, worth: Worth, catch_up_s: float) -> bool:
        """Tell the same of what is believed where that pays, else of what there is to find out at best."""
        speedup = worth.speedup() if worth.speedup() >= PAYS else self._best_speedup(name, 1.0)
        n_own = self.evidence.copied.n_others(n := self._n_expected())  # copies have to be caught up with, too:
        saved_s = n_own * self._plain_s() * (1 - 1 / speedup) - self._catch_up_s(name, round(n - n_own))
        return catch_up_s <= saved_s / COMES_BACK and self._may_lose(worth, catch_up_s)

    def _may_lose(self, worth: Worth, catch_up_s: float) -> bool:
        left_s = self.evidence.copied.n_others(self._n_expected()) * self._plain_s()
        chance = worth.chance(1.0 + catch_up_s / left_s) if left_s else 0.0  # that it comes back
        may_s = self.purse.to_invest_s(self._expected_s(), chance)
        return catch_up_s <= min(may_s, STAKED * (self.prefill_s + self.plain_s))

    def _probe(self, name: str, kind: str, n_catch_up: int) -> Ask:
        """Ask now and then, if the purse bears it."""
        pause, worth = self._pauses.setdefault(name, Pause()), self._foresee(name, kind)
        self.reason = f"paused: expected {worth.speedup():.2f}x of plain speed"
        if worth.speedup() >= PAYS:
            self.reason += ", but this answer can bear no more drafts in vain"
        if not pause.is_over:
            return Ask(0)
        if self._bears_a_look(name, n_look := min(n_catch_up, MOST_REVIEWED)):
            kind = PARTLY if name == "draft-simple" and n_look < n_catch_up else kind
            asked = Asked(name, kind, 0, n_look, is_look=True)
        else:
            asked = Asked(name, kind, 0, n_catch_up)
        asked.limit = self._longest_try(asked, worth)
        if not asked.limit:
            return Ask(0)
        pause.begin_again()
        self.reason = "trying again after a pause"
        return self._engage(asked)

    def _bears_a_look(self, name: str, n_catch_up: int) -> bool:
        """Tell whether somebody who can tell what it would have drafted, and of whom little is known, may be asked."""
        n_known = self.evidence.n_foreseen(self._of_chain(name), self.is_greedy) if self.foresight is not None else 0
        tells = self._can_tell(name) and n_known < KNOWN and min(self._n_unheard, n_catch_up) > 0
        return tells and self.purse.bears_a_look(self._catch_up_s(name, n_catch_up), self._expected_s())

    def _can_tell(self, name: str) -> bool:
        """Tell whether somebody is a draft model, or branches one: it can say what it would have drafted."""
        return self.can_hear and self._of_chain(name) == "draft-simple"

    def _longest_try(self, asked: Asked, worth: Worth) -> int:
        """Return how far to draft to see whether it pays, as far as the answer can bear it; 0 if it cannot.

        Only a long draft can show it. One that tells first what it would have drafted does so anyway.
        """
        catch_up_s = self._catch_up_s(asked.name, asked.n_catch_up)
        if asked.is_look or asked.n_catch_up < FEW or self._comes_back(asked.name, worth, catch_up_s):
            return max(int(asked.is_look), self._bearable(asked.name, worth))
        return 0

    def _trim_ngram(self, kind: str, n_draft: int) -> int:
        facts = (n_draft, self.evidence.of(kind), self.evidence.costs, self._rate(), self.purse, self._expected_s())
        if best := best_copy(*facts):
            self._pauses.pop("ngram", None)
            self.reason = f"a place that agrees on {kind.partition(':')[2]} tokens"
            return best
        pause = self._pauses.setdefault("ngram", self.evidence.of_copies)
        n_tried = tried_copy(*facts) if pause.is_over else 0
        if n_tried:
            pause.begin_again()
        self.reason = "trying again after a pause" if n_tried else "no place agrees for long enough to pay"
        return n_tried
