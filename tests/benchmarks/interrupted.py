"""A conversation with a real pair that is interrupted, edited and taken up again: no word may differ from plain.

Two sessions go the same way: one drafts, with token trees mostly, the other does not. Both keep what their memory
holds of a prompt, and both are left where the first one was: after a cancel at any moment, a stop string, a limit, the
end of the context or a grammar's. Then the text is edited anywhere, and the next answer goes on from there. Sampling is
at temperature 0, 0.8 or 1, with and without penalties and grammars; old turns slide out of a full context.

    python -m tests.benchmarks.interrupted TARGET --draft D [--answers N] [--seed S] [--n-ctx N] [--any-rounding]
        [--json]

Where weights round by the number of rows (floats, or drafts beyond what rounds alike), a near tie may fall otherwise:
the margin is told. A difference where no near tie is makes the command fail.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
import numpy as np

import tests.fixtures.bare  # noqa: F401 - sets how long OpenMP's threads poll, before llama.cpp is loaded
from app.engine.noise import gumbel
from app.engine.sampler import Sampler
from app.engine.session import Session
from app.engine.template import Renderer
from app.protocol import Generate, Speculation, Step
from tests.benchmarks.figures import Figure, arguments, end_by_targets, report
from tests.benchmarks.lossless import NEAR
from tests.engine.sessions import load
from tests.engine.test_interruptions import WAYS, answered, edited, some_request, some_text

WHO = (("tree",), ("tree",), ("ngram", "tree"), ("tree", "ngram"), ("draft-simple",), ("ngram", "draft-simple"))


@dataclass
class Seen:
    """What happened: how answers ended, their steps, and the margins where texts parted."""

    ends: Counter[str] = field(default_factory=Counter)
    steps: list[Step] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    n_answers: int = 0
    n_reused: int = 0


def margin(session: Session, sampling, ids: list[int], others: list[int]) -> float:
    """Return how far apart two tokens are where texts part, in logits, noise and penalties included.

    The session has just said ``ids``; the text before them is in its memory.
    """
    at = next((i for i, (a, b) in enumerate(zip(ids, others, strict=False)) if a != b), None)
    if at is None:
        return float("inf")
    target = session._pair.target
    prompt = target.held.tokens[: len(target.held.tokens) - len(ids) + 1]
    text = [*prompt, *ids[:at]]
    target.forget()
    for start in range(0, len(text), 64):
        target.context.decode(text[start : start + 64], 1)
    pair = np.array([ids[at], others[at]], dtype=np.int32)
    sampler = Sampler(
        msgspec.structs.replace(sampling, top_k=0, top_p=1.0, min_p=0.0), len(target.context.row(0)), text
    )
    found, scores = sampler._chain.apply(pair, target.context.row(0)[pair])
    scores = scores.astype(np.float64) * (sampling.temperature or 1.0)
    if sampling.temperature:
        scores += sampling.temperature * gumbel(sampling.seed, len(text), found)
    sampler.close()
    target.forget()
    return float(abs(scores[0] - scores[1]))


def some_answer(rng: random.Random, conversation: str, *, exact: bool) -> Generate:
    """Return what is asked next."""
    command = some_request(rng, conversation, ("tree",))
    k = rng.choice([1, 3, 6, 12, 31, "auto", "auto"])
    speculation = msgspec.structs.replace(
        command.speculation, types=rng.choice(WHO), draft_tokens=k, draft_min=0, exact=exact
    )
    return msgspec.structs.replace(command, speculation=speculation)


def go_on(drafting: Session, plain: Session, rng: random.Random, n_answers: int, *, exact: bool) -> Seen:
    """Answer so many times in both sessions, and compare."""
    seen, conversation, is_in_step = Seen(), some_text(rng, 8), True
    for n in range(n_answers):
        command = some_answer(rng, conversation, exact=exact)
        command = msgspec.structs.replace(command, reuse_memory=is_in_step)
        seen.n_reused += is_in_step
        way, n_steps, delay_s = rng.choice(WAYS), rng.randint(0, 12), rng.expovariate(0.3)
        ids, text, end = answered(drafting, command, way, n_steps, delay_s, seen.steps)
        seen.ends[end] += 1
        seen.n_answers += 1
        is_cut, is_in_step = end in ("cancelled", "closed"), True
        if is_cut and not ids:
            is_in_step = False  # somewhere in the prompt, nobody knows where
        else:
            alone = msgspec.structs.replace(
                command, speculation=Speculation(), max_tokens=len(ids) if is_cut else command.max_tokens
            )
            expected = answered(plain, alone)
            is_alike = ids == expected[0] if is_cut else (ids, text, end) == expected
            if not is_alike:
                seen.margins.append(margin(plain, command.sampling, expected[0], ids))
                sys.stderr.write(f"answer {n}, {way}, margin {seen.margins[-1]:.4f}: {command}\n")
                is_in_step = False
        conversation = edited(rng, conversation, text)
        sys.stderr.write(f"{n + 1} answers\r")
    return seen


def figures(seen: Seen) -> Iterator[Figure]:
    """Tell what happened."""
    yield Figure("answers", (seen.n_answers,), "")
    yield Figure("from a memory that holds earlier ones", (seen.n_reused / seen.n_answers,), "share")
    for end, n in sorted(seen.ends.items()):
        yield Figure(f"ended: {end}", (n,), "")
    for name in sorted({step.drafter for step in seen.steps if step.drafter}):
        kept = sum(step.accepted for step in seen.steps if step.drafter == name)
        yield Figure(f"{name}: drafted tokens kept", (kept,), "")
    yield Figure("trees that branched", (sum(step.depth > 0 for step in seen.steps),), "")
    yield Figure("texts that differ", (len(seen.margins),), "")
    if seen.margins:
        yield Figure("margin where they part", tuple(seen.margins), "")
    yield Figure("texts that differ where no near tie is", (sum(m > NEAR for m in seen.margins),), "", "<= 0")


def main() -> None:
    """Compare and print."""
    parser = arguments("Interrupted answers of a real pair say what plain decoding says.", n_turns=1)
    parser.add_argument("target")
    parser.add_argument("--draft", required=True)
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--n-ctx", type=int, default=256)
    parser.add_argument("--any-rounding", action="store_true", help="drafts that round otherwise, too")
    chosen = parser.parse_args()
    drafting, plain = Session(Renderer()), Session(Renderer())
    try:
        how = {"n_ctx": chosen.n_ctx, "n_threads": 0}
        loaded = load(drafting, chosen.target, chosen.draft, trees=True, **how)
        if "tree" not in loaded.drafters:
            raise SystemExit(f"no token trees: {loaded.not_engageable['tree']}")
        load(plain, chosen.target, **how)
        seen = go_on(drafting, plain, random.Random(chosen.seed), chosen.answers, exact=not chosen.any_rounding)
    finally:
        drafting.close()
        plain.close()
    found = list(figures(seen))
    report(found, as_json=chosen.json)
    end_by_targets(found)


if __name__ == "__main__":
    main()
