"""Answers of a real pair, played to a controller on a machine of given costs.

``words.json`` holds answers of Qwen2.5-Coder 1.5B (F16) to four prompt sets, 16 at temperature 0.8 and 12 at 0: how
probable it held its most likely word at each place (peaks), and what its 0.5B draft model would have said there, for
several views of the text (all of it, or from some place on): whether that is the answer's token, and how probable it
held it. That tells every step of every length policy.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from app.engine.auto_length import AutoLength
from app.engine.costs import FEW, Costs, DrafterCost
from app.engine.draft_length import PARTLY, Ask, LengthPolicy
from app.engine.drafters.ngram import NgramDrafter
from app.engine.evidence import Evidence
from app.engine.foresight import Foresight
from app.engine.review import Place
from app.protocol import Step

NAME = "draft-simple"


def catch_up_s(n_tokens: int, token_s: float, caught_up_token_s: float) -> float:
    """Return what catching up takes: one or two tokens take a pass each, more of them what many take each."""
    return max(min(n_tokens, 2) * token_s, n_tokens * caught_up_token_s)


@dataclass(frozen=True, slots=True)
class Machine:
    """Seconds of a pass by row count, of a drafted token, of a token caught up with; ``noise`` of each, relative."""

    rows_s: dict[int, float]
    token_s: float
    caught_up_token_s: float
    noise: float = 0.04

    def catch_up_s(self, n_tokens: int) -> float:
        """Return the seconds of catching up."""
        return catch_up_s(n_tokens, self.token_s, self.caught_up_token_s)

    def verify_s(self, n_rows: int) -> float:
        """Return the seconds of a pass; one of a size that is not named takes what the next larger does."""
        return self.rows_s[min(n for n in self.rows_s if n >= n_rows)]

    def evidence(self) -> Evidence:
        """Return what loading on this machine teaches."""
        few_s = self.catch_up_s(FEW)
        cost = DrafterCost(self.token_s, self.caught_up_token_s, few_s, next_s=self.catch_up_s(1))
        return Evidence(Costs(dict(self.rows_s), {NAME: cost}))


@dataclass(frozen=True, slots=True)
class View:
    """What the draft model said that saw the text from token ``first`` on: of each token of the answer from ``start``.

    Attributes:
        agrees: whether it is the answer's.
        probabilities: how probable the draft model held it.
    """

    first: int
    start: int
    agrees: Sequence[bool]
    probabilities: Sequence[float]

    def has(self, at: int) -> bool:
        """Tell whether it says something of a token of the answer."""
        return self.start <= at < self.start + len(self.agrees)

    def place(self, at: int) -> Place:
        """Return what it says."""
        return Place(self.probabilities[at - self.start], self.agrees[at - self.start])


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: of which set, how long its prompt and its prefill were, and what is known of its tokens."""

    set: str
    n_prompt: int
    prefill_s: float
    peaks: Sequence[float]
    views: Sequence[View]

    @property
    def agrees(self) -> Sequence[bool]:
        """Whether the draft model says the answer's tokens with all of the text in view."""
        return self.views[0].agrees

    def place(self, at: int, first: int = 0) -> Place:
        """Return the draft model's word in the place of a token, where it sees the text from ``first`` on."""
        views = [view for view in self.views if view.has(at) and (first or not view.first)]
        return min(views, key=lambda view: abs(view.first - first)).place(at)


def recorded(temperature: float | None = None) -> list[Answer]:
    """Return the answers of the real pair, all of them or those of a temperature."""
    return [
        Answer(
            one["set"],
            one["n_prompt"],
            one["prefill_s"],
            one["peaks"],
            [
                View(view["first"], view["start"], [a == "1" for a in view["agrees"]], view["probabilities"])
                for view in one["views"]
            ],
        )
        for one in json.loads(Path(__file__).with_name("words.json").read_text())
        if temperature in (None, one["temperature"])
    ]


def invented(
    alpha: float,
    rng: random.Random,
    n_tokens: int = 128,
    *,
    peak: float | None = None,
    knows: bool = True,
    n_prompt: int = 50,
) -> Answer:
    """Return an answer whose words are kept with probability ``alpha``, by a drafter that half knows which, or not.

    The target is as sure of its words as they are kept, or about as much as ``peak`` says.
    """
    agrees = [rng.random() < alpha for _ in range(n_tokens)]
    right, wrong = ((7.2, 0.8), (1.6, 2.0)) if knows else ((3, 3), (3, 3))
    probabilities = [rng.betavariate(*right) if a else rng.betavariate(*wrong) for a in agrees]
    sure = alpha if peak is None else peak
    peaks = [min(1.0, max(0.05, rng.gauss(sure, 0.15))) for _ in agrees]
    return Answer(f"alpha {alpha}", n_prompt, 0.008 * n_prompt, peaks, [View(0, 0, agrees, probabilities)])


def play(machine: Machine, answer: Answer, policy: LengthPolicy, rng: random.Random) -> float:
    """Return the seconds of an answer after its first token."""
    n_tokens, at, spent_s = len(answer.agrees), 1, 0.0
    held, first = 0, 0
    sees = _sees(policy)
    sees(answer.peaks[:1])
    policy.begin(answer.prefill_s)
    while at < n_tokens:
        n_text = answer.n_prompt + at - 1
        n_behind = n_text - held
        ask = policy.ask(NAME, n_behind, n_text - n_behind if first else 0)
        limit = max(0, min(ask.limit, n_tokens - at - 1))
        n_drafted, draft_s = 0, 0.0
        if limit:
            first = n_text - ask.n_catch_up if ask.n_catch_up != n_behind else first
            of_view = [i for i in range(at - ask.n_review, at) if i > max(0, first - answer.n_prompt)]
            seen = [answer.place(i, first) for i in of_view]
            is_wanted = ask.hears is None or not seen or ask.hears(seen)
            n_drafted = _drafted(answer, at, limit, first, ask.goes_on) if is_wanted else 0
            draft_s = machine.token_s * n_drafted + machine.catch_up_s(ask.n_catch_up)
        kind = PARTLY if first else NAME
        k = policy.trim(NAME, kind, n_drafted) if n_drafted else 0
        n_kept = 0
        while n_kept < k and answer.place(at + n_kept, first).is_kept:
            n_kept += 1
        verify_s = machine.verify_s(k + 1) * rng.gauss(1, machine.noise)
        draft_s *= rng.gauss(1, machine.noise)
        judged, name = min(k, n_kept + 1), NAME if k else ""
        sees(answer.peaks[at : at + n_kept + 1])
        policy.observe(
            Step(0.0, n_kept + 1, limit, k, judged, n_kept, draft_s, verify_s, 0, name), kind, ask.n_catch_up
        )
        if limit:
            held = n_text + 1 + min(n_kept, n_drafted - 1)
        spent_s += draft_s + verify_s
        at += n_kept + 1
    return spent_s


def _sees(policy: LengthPolicy):
    """Return what tells the policy how sure the target was of its words, if it wants to know."""
    if isinstance(policy, AutoLength) and policy.foresight is None and policy.worth_preparing(NAME):
        policy.foresight = Foresight()
    sight = policy.foresight
    return lambda peaks: None if sight is None else [sight.sees(peak) for peak in peaks]


def _drafted(answer: Answer, at: int, limit: int, first: int, goes_on) -> int:
    for n in range(1, limit + 1):
        if goes_on is not None and not goes_on(answer.place(at + n - 1, first).probability):
            return n
    return limit


def fixed_s(machine: Machine, answer: Answer, length: int) -> float:
    """Return the seconds at a fixed length, without noise."""
    at, spent_s, n_behind = 1, answer.n_prompt * machine.caught_up_token_s if length else 0.0, 0
    while at < len(answer.agrees):
        k, n_kept = min(length, len(answer.agrees) - at - 1), 0
        while n_kept < k and answer.agrees[at + n_kept]:
            n_kept += 1
        spent_s += machine.verify_s(k + 1) + k * machine.token_s + (machine.catch_up_s(n_behind) if k else 0.0)
        n_behind = int(n_kept == k > 0) if k else n_behind + 1
        at += n_kept + 1
    return spent_s


@dataclass(frozen=True, slots=True)
class Repeating:
    """An answer of tokens, for who drafts from the text: from ``repeats_at`` on it says again what it has said."""

    prompt: Sequence[int]
    tokens: Sequence[int]
    repeats_at: int

    def agreed(self, at: int, draft: Sequence[int]) -> int:
        """Return how many tokens of a draft are the answer's from ``at`` on."""
        pairs = zip(draft, self.tokens[at:], strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def play_copies(
    machine: Machine, answer: Repeating, policy: LengthPolicy, rng: random.Random, *, lookup_s: float = 0.0
) -> tuple[float, float]:
    """Return the seconds of an answer under n-gram drafts, before and after it begins to repeat itself."""
    drafter, text = NgramDrafter(), [*answer.prompt, answer.tokens[0]]
    drafter.begin(answer.prompt)
    policy.begin(0.008 * len(answer.prompt))
    at, spent_s = 1, [0.0, 0.0]
    while at < len(answer.tokens):
        limit = min(policy.ask("ngram", 0).limit, len(answer.tokens) - at - 1)
        draft = drafter.draft(text, Ask(limit)) if limit else []
        k = policy.trim("ngram", drafter.kind, len(draft)) if draft else 0
        n_kept = answer.agreed(at, draft[:k])
        verify_s = machine.verify_s(k + 1) * rng.gauss(1, machine.noise)
        facts = (k, min(k, n_kept + 1), n_kept, lookup_s, verify_s)
        kind = drafter.kind if k else ""
        policy.observe(Step(0.0, n_kept + 1, limit, *facts, 0, "ngram" if k else ""), kind, 0)
        if draft and not k:
            policy.overhears("ngram", drafter.kind, 1, answer.agreed(at, draft[:1]))
        spent_s[at >= answer.repeats_at] += lookup_s + verify_s
        at += n_kept + 1
        text += answer.tokens[at - n_kept - 1 : at]
        drafter.accept(text)
    return spent_s[0], spent_s[1]


def play_both(
    machine: Machine, answer: Repeating, agrees: Sequence[bool], policy: LengthPolicy, rng: random.Random
) -> float:
    """Return the seconds of an answer for which n-gram is asked first, and then a draft model that has these right.

    The draft model holds every word likely, and the target is sure of its own.
    """
    copies, text, n = NgramDrafter(), [*answer.prompt, answer.tokens[0]], len(answer.tokens)
    policy.foresight = Foresight()
    copies.begin(answer.prompt)
    policy.begin(0.008 * len(answer.prompt))
    at, held, first, spent_s = 1, 0, 0, 0.0
    while at < n:
        n_room = n - at - 1
        limit = min(policy.ask("ngram", 0).limit, n_room)
        draft = copies.draft(text, Ask(limit)) if limit else []
        k, kind, n_drafted, n_caught_up = 0, copies.kind, 0, 0
        if draft:
            k = policy.trim("ngram", kind, len(draft))
        n_kept, name, draft_s, unused = answer.agreed(at, draft[:k]), "ngram", 0.0, () if k else draft[:1]
        if not k:
            n_behind = len(text) - 1 - held
            ask = policy.ask(NAME, n_behind, held if first else 0)
            name, limit, n_caught_up = NAME, max(0, min(ask.limit, n_room)), ask.n_catch_up
            if limit and n_caught_up != n_behind:
                first = len(text) - 1 - n_caught_up
            kind = PARTLY if first else NAME
            said = [Place(0.9, agrees[i]) for i in range(max(1, at - ask.n_review), at)] if limit else []
            if limit and (ask.hears is None or not said or ask.hears(said)):
                n_drafted = next((i for i in range(1, limit) if ask.goes_on and not ask.goes_on(0.9)), limit)
            draft_s = machine.token_s * n_drafted + machine.catch_up_s(n_caught_up) if limit else 0.0
            k = policy.trim(NAME, kind, n_drafted) if n_drafted else 0
            n_kept = sum(1 for _ in takewhile(bool, agrees[at : at + k]))
            held = len(text) + min(n_kept, max(0, n_drafted - 1)) if limit else held
        verify_s = machine.verify_s(k + 1) * rng.gauss(1, machine.noise)
        facts = (k, min(k, n_kept + 1), n_kept, draft_s, verify_s, 0, name if k else "")
        for _ in range(n_kept + 1):
            policy.foresight.sees(0.95)
        policy.observe(Step(0.0, n_kept + 1, limit, *facts), kind if k else "", n_caught_up)
        if unused:
            policy.overhears("ngram", copies.kind, 1, answer.agreed(at, unused))
        spent_s += draft_s + verify_s
        at += n_kept + 1
        text += answer.tokens[at - n_kept - 1 : at]
        copies.accept(text)
    return spent_s


def repeating(rng: random.Random, n_vain: int, *, n_times: int = 6, run: tuple[int, int] = (2, 12)) -> Repeating:
    """Invent an answer of ``n_vain`` lines that begin alike and go on otherwise, then one paragraph again and again.

    Lines begin with ``run`` tokens, fewest and most, that stood there before, so that drafts on them are in vain.
    """
    words = iter(range(1000, 1_000_000))
    known = [next(words) for _ in range(run[1])]
    lines: list[int] = []
    for _ in range(n_vain):
        lines += known[: rng.randint(*run)] + [next(words) for _ in range(rng.randint(2, 6))]
    paragraph = [next(words) for _ in range(80)]
    prompt = [next(words) for _ in range(60)]
    tokens = [*lines, *paragraph * n_times]
    return Repeating(prompt, tokens, len(lines) + len(paragraph))
