"""Speculation against plain decoding on a real pair: every prompt each way, by turns, in one process.

For each prompt set and temperature: answer time and decode speed of each way as a ratio to plain decoding of the same
prompt in the same round, whether the text is the same, and how close ``auto`` comes to the best fixed length. "Best of
several" is biased upwards by noise, so that comparison replays the recorded steps on the costs measured in this run
(the median of a pass by its rows, of a draft by its length); the wall-clock ratio stands beside it.

    python -m tests.benchmarks.speculation TARGET [--draft D] [--types T,…] [--lengths 1,3,5,auto] [--sets code,prose]
        [--temperatures 0,0.8] [--tokens N] [--prompts N] [--turns N] [--json]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import tests.fixtures.bare  # noqa: F401 - sets how long OpenMP's threads poll, before llama.cpp is loaded
from app.engine.cancel import CancelFlag
from app.engine.session import Session
from app.engine.template import Renderer
from app.metrics.prompts import load_prompts
from app.metrics.stats import decode_tps
from app.protocol import Chunk, DraftTokens, Generate, Load, Sampling, Speculation, Step
from tests.benchmarks.figures import Figure, arguments, report

PLAIN = "plain"


@dataclass(slots=True)
class Timed:
    """One answer: what it said, how long it took, and its steps."""

    token_ids: list[int]
    answer_s: float
    tps: float
    steps: list[Step]
    prefill_s: float


@dataclass(slots=True)
class Costs:
    """Medians of this run: seconds of a pass by its rows, of a draft by its length."""

    verify_s: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    draft_s: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, steps: Sequence[Step]) -> None:
        """Count the steps after the first."""
        for step in steps[1:]:
            self.verify_s[step.proposed + 1].append(step.verify_s)
            self.draft_s[step.proposed].append(step.draft_s)

    def replay_s(self, timed: Timed) -> float:
        """Return how long the answer takes on the median costs; what a draft took beyond them, it took."""
        total_s = timed.prefill_s
        for step in timed.steps[1:]:
            usual_s = statistics.median(self.draft_s[step.proposed])
            caught_up = step.draft_s > 3 * usual_s + 0.02
            total_s += step.draft_s if caught_up else usual_s
            total_s += statistics.median(self.verify_s[step.proposed + 1])
        return total_s


def answer(session: Session, prompt, sampling: Sampling, way: Speculation, n_tokens: int) -> Timed:
    """Answer once, from a memory that holds no more than the prompt."""
    command = Generate(
        id=1,
        sampling=sampling,
        messages=prompt.messages,
        speculation=way,
        max_tokens=n_tokens,
        reuse_memory=False,
    )
    chunks = [
        event
        for event in session.generate(command, received_s=time.perf_counter(), cancel=CancelFlag())
        if isinstance(event, Chunk)
    ]
    steps = [chunk.step for chunk in chunks]
    ids = [token for chunk in chunks for token in chunk.token_ids]
    return Timed(ids, steps[-1].t_s, decode_tps(steps) or 0.0, steps, steps[0].t_s)


def ways(types: Sequence[str], lengths: Sequence[DraftTokens]) -> dict[str, Speculation]:
    """Name the ways: plain, then each length."""
    return {PLAIN: Speculation()} | {
        f"{','.join(types)}:{length}": Speculation(types=tuple(types), draft_tokens=length) for length in lengths
    }


def run_set(session, prompts, sampling, kinds, n_tokens, n_turns) -> dict[str, list[Timed]]:
    """Answer every prompt every way in every round; the order turns with each."""
    timed: dict[str, list[Timed]] = defaultdict(list)
    names = list(kinds)
    for turn in range(n_turns):
        for at, prompt in enumerate(prompts):
            shift = (turn + at) % len(names)
            for name in names[shift:] + names[:shift]:
                timed[name].append(answer(session, prompt, sampling, kinds[name], n_tokens))
    if len({len(answers) for answers in timed.values()}) != 1:
        raise SystemExit("the ways have unequal numbers of answers")
    return timed


def figures(label: str, timed: dict[str, list[Timed]], auto: str | None) -> Iterator[Figure]:
    """Compare each way with plain decoding, and auto with the best fixed length."""
    costs = Costs()
    for answers in timed.values():
        for one in answers:
            costs.add(one.steps)
    plain = timed[PLAIN]
    yield Figure(f"{label} plain", tuple(one.tps for one in plain), "tok/s")
    for name, answers in timed.items():
        if name == PLAIN:
            continue
        pairs = list(zip(plain, answers, strict=True))
        yield Figure(f"{label} {name} answer", tuple(p.answer_s / a.answer_s for p, a in pairs), "x")
        yield Figure(f"{label} {name} decode", tuple(a.tps / p.tps for p, a in pairs), "x")
        yield Figure(f"{label} {name} replayed", (_total(costs, plain) / _total(costs, answers),), "x")
        same = sum(a.token_ids == p.token_ids for p, a in pairs)
        yield Figure(f"{label} {name} same text", (same / len(pairs),), "share")
        judged = sum(s.judged for a in answers for s in a.steps)
        if judged:
            kept = sum(s.accepted for a in answers for s in a.steps)
            yield Figure(f"{label} {name} alpha", (kept / judged,), "")
        yield Figure(f"{label} {name} tokens/step", (_per_step(answers),), "")
    if auto in timed:
        best = min((_total(costs, answers), name) for name, answers in timed.items() if name != auto)
        yield Figure(f"{label} auto to best ({best[1]})", (best[0] / _total(costs, timed[auto]),), "x", ">= 0.98")


def _total(costs: Costs, answers: Sequence[Timed]) -> float:
    return sum(costs.replay_s(one) for one in answers)


def _per_step(answers: Sequence[Timed]) -> float:
    return sum(len(a.token_ids) for a in answers) / sum(len(a.steps) for a in answers)


def main() -> None:
    """Measure and print."""
    parser = arguments("Speculation against plain decoding on a real pair.", n_turns=1)
    parser.add_argument("target")
    parser.add_argument("--draft")
    parser.add_argument("--types", default="draft-simple")
    parser.add_argument("--lengths", default="1,2,3,5,8,auto")
    parser.add_argument("--sets", default="code,prose,chat,edit")
    parser.add_argument("--temperatures", default="0,0.8")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--prompts", type=int, default=4, help="prompts of each set (default: %(default)s)")
    chosen = parser.parse_args()
    lengths = [int(word) if word.isdigit() else word for word in chosen.lengths.split(",")]
    types = chosen.types.split(",")
    kinds = ways(types, lengths)
    session = Session(Renderer())
    found: list[Figure] = []
    try:
        for _event in session.load(Load(id=0, target=chosen.target, draft=chosen.draft, n_ctx=2048), CancelFlag()):
            pass
        for temperature in map(float, chosen.temperatures.split(",")):
            for name in chosen.sets.split(","):
                prompts = load_prompts(name)[: chosen.prompts]
                sampling = Sampling(seed=7, temperature=temperature)
                timed = run_set(session, prompts, sampling, kinds, chosen.tokens, chosen.turns)
                auto = f"{','.join(types)}:auto"
                new = list(figures(f"{name} T={temperature:g}", timed, auto if auto in timed else None))
                found += new
                if not chosen.json:
                    report(new, as_json=False)
                    sys.stdout.flush()
    finally:
        session.close()
    if chosen.json:
        report(found, as_json=True)


if __name__ == "__main__":
    main()
