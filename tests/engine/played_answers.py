"""Answers of a real pair, played to a controller on a machine of given costs.

``words.json`` holds, for 18 answers of Qwen2.5-Coder 1.5B (F16) at temperature 0 to six prompt sets, what its 0.5B
draft model would have said at each position: whether that is the answer's token, and how probable it held it. The
first words alone tell every step of every length policy.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.engine.costs import Costs, DrafterCost
from app.engine.draft_length import PARTLY, LengthPolicy
from app.engine.evidence import Evidence
from app.engine.review import Place
from app.protocol import Step

NAME = "draft-simple"


@dataclass(frozen=True, slots=True)
class Machine:
    """Seconds of a pass by row count, of a drafted token, of a token caught up with; ``noise`` of each, relative."""

    rows_s: dict[int, float]
    token_s: float
    caught_up_token_s: float
    noise: float = 0.04

    def evidence(self) -> Evidence:
        """Return what loading on this machine teaches."""
        return Evidence(Costs(dict(self.rows_s), {NAME: DrafterCost(self.token_s, self.caught_up_token_s)}))


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: of which set, how long its prompt was, and the draft model's words."""

    set: str
    n_prompt: int
    agrees: Sequence[bool]
    probabilities: Sequence[float]

    @property
    def prefill_s(self) -> float:
        """What its prompt took the target, about."""
        return 0.01 * self.n_prompt


def recorded() -> list[Answer]:
    """Return the answers of the real pair."""
    found = json.loads(Path(__file__).with_name("words.json").read_text())
    return [
        Answer(one["set"], one["n_prompt"], [a == "1" for a in one["agrees"]], one["probabilities"]) for one in found
    ]


def invented(alpha: float, rng: random.Random, n_tokens: int = 128) -> Answer:
    """Return an answer whose words are kept with probability ``alpha``, by a drafter that half knows which."""
    agrees = [rng.random() < alpha for _ in range(n_tokens)]
    probabilities = [rng.betavariate(7.2, 0.8) if a else rng.betavariate(1.6, 2.0) for a in agrees]
    return Answer(f"alpha {alpha}", 50, agrees, probabilities)


def play(machine: Machine, answer: Answer, policy: LengthPolicy, rng: random.Random) -> float:
    """Return the seconds of an answer after its first token."""
    n_tokens, at, spent_s = len(answer.agrees), 1, 0.0
    held, first = 0, 0
    policy.begin(answer.prefill_s)
    while at < n_tokens:
        n_text = answer.n_prompt + at - 1
        n_behind = n_text - held
        ask = policy.ask(NAME, n_behind, n_text - n_behind if first else 0)
        limit = max(0, min(ask.limit, n_tokens - at - 1))
        n_drafted, draft_s = 0, 0.0
        if limit:
            seen = zip(answer.probabilities[at - ask.n_review : at], answer.agrees[at - ask.n_review : at], strict=True)
            is_wanted = ask.hears is None or ask.hears([Place(*place) for place in seen])
            n_drafted = _drafted(answer, at, limit, ask.goes_on) if is_wanted else 0
            draft_s = machine.token_s * n_drafted + machine.caught_up_token_s * ask.n_catch_up
            first = n_text - ask.n_catch_up if ask.n_catch_up != n_behind else first
        kind = PARTLY if first else NAME
        k = policy.trim(NAME, kind, n_drafted) if n_drafted else 0
        n_kept = 0
        while n_kept < k and answer.agrees[at + n_kept]:
            n_kept += 1
        verify_s = machine.rows_s[k + 1] * rng.gauss(1, machine.noise)
        draft_s *= rng.gauss(1, machine.noise)
        judged, name = min(k, n_kept + 1), NAME if k else ""
        policy.observe(
            Step(0.0, n_kept + 1, limit, k, judged, n_kept, draft_s, verify_s, 0, name), kind, ask.n_catch_up
        )
        if limit:
            held = n_text + 1 + min(n_kept, n_drafted - 1)
        spent_s += draft_s + verify_s
        at += n_kept + 1
    return spent_s


def _drafted(answer: Answer, at: int, limit: int, goes_on) -> int:
    for n in range(1, limit + 1):
        if goes_on is not None and not goes_on(answer.probabilities[at + n - 1]):
            return n
    return limit


def fixed_s(machine: Machine, answer: Answer, length: int) -> float:
    """Return the seconds at a fixed length, without noise."""
    at, spent_s = 1, answer.n_prompt * machine.caught_up_token_s if length else 0.0
    while at < len(answer.agrees):
        k, n_kept = min(length, len(answer.agrees) - at - 1), 0
        while n_kept < k and answer.agrees[at + n_kept]:
            n_kept += 1
        spent_s += machine.rows_s[k + 1] + k * machine.token_s
        at += n_kept + 1
    return spent_s
