"""Speculation against plain decoding on a real pair: every prompt each way, by turns, in one process.

For each prompt set and temperature: answer time and decode speed of each way as a ratio to plain decoding of the same
prompt in the same round, whether the text is the same, and how close ``auto`` comes to the best fixed length. "Best of
several" is biased upwards by noise, so that comparison replays the steps on the cost curve measured in this run
(``tests/benchmarks/replay.py``): after each prompt, and the medians of it, since the machine changes meanwhile. The
wall-clock ratio stands beside it.

    python -m tests.benchmarks.speculation TARGET [--draft D] [--types T,…] [--lengths 1,3,5,auto] [--sets code,prose]
        [--temperatures 0,0.8] [--tokens N] [--prompts N] [--turns N] [--json]
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import tests.fixtures.bare  # noqa: F401 - sets how long OpenMP's threads poll, before llama.cpp is loaded
from app.engine.cancel import CancelFlag
from app.engine.session import Session
from app.engine.template import Renderer
from app.metrics.prompts import load_prompts
from app.metrics.stats import decode_tps
from app.protocol import Chunk, DraftTokens, Generate, Load, Sampling, Speculation, Step
from tests.benchmarks.figures import Figure, arguments, report
from tests.benchmarks.replay import (
    LENGTHS,
    Curve,
    Words,
    fixed_s,
    fixed_steps,
    measured_curve,
    recorded_s,
    usual_curve,
)

PLAIN = "plain"
N_CTX = 4096


@dataclass(slots=True)
class Timed:
    """One answer: what it said, how long it took, and its steps."""

    token_ids: list[int]
    answer_s: float
    tps: float
    steps: list[Step]
    prompt: list[int]


def prompt_tokens(session: Session, prompt) -> list[int]:
    """Return what the session makes of a prompt."""
    model = session._pair.target.model
    text, _notices = session.render(prompt.messages)
    bos = model.text_of(model.bos)
    return model.tokenise(text, add_special=not (bos and text.startswith(bos)))


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
    return Timed(ids, steps[-1].t_s, decode_tps(steps) or 0.0, steps, prompt_tokens(session, prompt))


def ways(types: Sequence[str], lengths: Sequence[DraftTokens], *, exact: bool) -> dict[str, Speculation]:
    """Name the ways: plain, then each length."""
    return {PLAIN: Speculation()} | {
        f"{','.join(types)}:{length}": Speculation(types=tuple(types), draft_tokens=length, exact=exact)
        for length in lengths
    }


def run_set(session, prompts, sampling, kinds, n_tokens, n_turns) -> tuple[dict[str, list[Timed]], list[Curve]]:
    """Answer every prompt every way in every round, and measure the costs after it; the order turns with each."""
    timed: dict[str, list[Timed]] = defaultdict(list)
    names, curves = list(kinds), []
    for turn in range(n_turns):
        for at, prompt in enumerate(prompts):
            shift = (turn + at) % len(names)
            for name in names[shift:] + names[:shift]:
                timed[name].append(answer(session, prompt, sampling, kinds[name], n_tokens))
            if session._pair.draft is not None:
                last = timed[PLAIN][-1]
                curves.append(measured_curve(session._pair, len(last.prompt) + len(last.token_ids) // 2, repeat=3))
    if len({len(answers) for answers in timed.values()}) != 1:
        raise SystemExit("the ways have unequal numbers of answers")
    return timed, curves


def warm_up(session, sets, way, temperature, n_tokens) -> None:
    """Answer the last prompt of up to three sets and drop it: a pair's first answers are not what its user gets."""
    for name in sets[-3:]:
        answer(session, load_prompts(name)[-1], Sampling(seed=3, temperature=temperature), way, n_tokens // 2)


def figures(label: str, timed: dict[str, list[Timed]]) -> Iterator[Figure]:
    """Compare each way with plain decoding, by the clock."""
    plain = timed[PLAIN]
    yield Figure(f"{label} plain", tuple(one.tps for one in plain), "tok/s")
    for name, answers in timed.items():
        if name == PLAIN:
            continue
        pairs = list(zip(plain, answers, strict=True))
        yield Figure(f"{label} {name} answer", tuple(p.answer_s / a.answer_s for p, a in pairs), "x", ">= 0.98")
        yield Figure(f"{label} {name} decode", tuple(a.tps / p.tps for p, a in pairs), "x", ">= 0.98")
        same = sum(a.token_ids == p.token_ids for p, a in pairs)
        yield Figure(f"{label} {name} same text", (same / len(pairs),), "share")
        judged = sum(s.judged for a in answers for s in a.steps)
        if judged:
            kept = sum(s.accepted for a in answers for s in a.steps)
            yield Figure(f"{label} {name} alpha", (kept / judged,), "")
        yield Figure(f"{label} {name} tokens/step", (_per_step(answers),), "")


def near_ties(label, session, timed) -> Iterator[Figure]:
    """Where a text differs from plain: how far apart the two tokens' logits are there, in the plain answer's terms.

    Kernels of float models may round by the number of rows, so a near tie can fall otherwise.
    """
    target, plain = session._pair.target, timed[PLAIN]
    for name, answers in timed.items():
        for one, other in zip(plain, answers, strict=True):
            at = next((i for i, (a, b) in enumerate(zip(one.token_ids, other.token_ids, strict=False)) if a != b), None)
            if at is None:
                continue
            text = [*one.prompt, *one.token_ids[:at]]
            target.context.rewind(0)
            target.held.tokens.clear()
            for start in range(0, len(text), 64):
                target.context.decode(text[start : start + 64], 1)
            row = target.context.row(0)
            margin = float(row[one.token_ids[at]] - row[other.token_ids[at]])
            yield Figure(f"{label} {name} differs at {at}: margin of logits", (margin,), "")
            target.context.rewind(0)


def replayed(label, words, timed, curves, sampling) -> Iterator[Figure]:
    """Compare auto with every fixed length on the cost curve, and the shared noise with the most likely word."""
    plain, curve = timed[PLAIN], usual_curve(curves)
    n_plain = sum(len(one.token_ids) - 1 for one in plain)
    agreed = [words.agreement(one.prompt, one.token_ids, sampling, likeliest=False) for one in plain]
    fixed_s_of = {0: n_plain * curve.rows_s[1]}
    caught_up_s = sum(len(one.prompt) for one in plain) * curve.caught_up_token_s
    for length in LENGTHS:
        fixed_s_of[length] = caught_up_s + sum(fixed_s(curve, agrees, length) for agrees in agreed)
    yield Figure(f"{label} word agrees", (sum(map(sum, agreed)) / sum(map(len, agreed)),), "share")
    for length in LENGTHS:
        yield Figure(f"{label} fixed {length} replayed", (fixed_s_of[0] / fixed_s_of[length],), "x")
    if sampling.temperature > 0:
        likeliest = [words.agreement(one.prompt, one.token_ids, sampling, likeliest=True) for one in plain]
        for length in (3, 5):
            for name, agrees in (("noise", agreed), ("likeliest", likeliest)):
                n_steps = [len(fixed_steps(a, length)) for a in agrees]
                yield Figure(f"{label} {name} tokens/step at {length}", (n_plain / sum(n_steps),), "")
    for name, answers in timed.items():
        if (length := name.rpartition(":")[2]).isdigit():  # the replay's own check: it tells what the loop did
            told = [fixed_steps(a, int(length)) for a in agreed]
            did = [[(s.proposed, s.emitted) for s in one.steps[1:]] for one in answers]
            same = sum(map(list.__eq__, told, did))
            yield Figure(f"{label} {name} steps as replayed", (same / len(did),), "share")
    best = min(fixed_s_of, key=fixed_s_of.__getitem__)
    for name, answers in timed.items():
        if name.endswith(":auto"):
            auto_s = sum(recorded_s(curve, one.steps) for one in answers)
            yield Figure(f"{label} auto to plain, replayed", (fixed_s_of[0] / auto_s,), "x", ">= 0.98")
            yield Figure(f"{label} auto to best fixed ({best}), replayed", (fixed_s_of[best] / auto_s,), "x", ">= 0.98")


def _per_step(answers: Sequence[Timed]) -> float:
    return sum(len(a.token_ids) for a in answers) / sum(len(a.steps) for a in answers)


def main() -> None:
    """Measure and print."""
    parser = arguments("Speculation against plain decoding on a real pair.", n_turns=1)
    parser.add_argument("target")
    parser.add_argument("--draft")
    parser.add_argument("--types", default="draft-simple")
    parser.add_argument("--lengths", default="auto")
    parser.add_argument("--sets", default="code,json,prose,chat,edit,languages,long")
    parser.add_argument("--temperatures", default="0,0.8")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--prompts", type=int, default=2, help="prompts of each set (default: %(default)s)")
    parser.add_argument("--any-rounding", action="store_true", help="drafts that round otherwise than plain, too")
    chosen = parser.parse_args()
    lengths = [int(word) if word.isdigit() else word for word in chosen.lengths.split(",")]
    types = chosen.types.split(",")
    kinds = ways(types, lengths, exact=not chosen.any_rounding)
    session = Session(Renderer())
    found: list[Figure] = []
    words: Words | None = None
    try:
        for _event in session.load(Load(id=0, target=chosen.target, draft=chosen.draft, n_ctx=N_CTX), CancelFlag()):
            pass
        pair = session._pair
        words = Words(pair, N_CTX) if pair.draft is not None else None
        for temperature in map(float, chosen.temperatures.split(",")):
            sets = chosen.sets.split(",")
            warm_up(session, sets, list(kinds.values())[-1], temperature, chosen.tokens)
            for name in sets:
                prompts = load_prompts(name)[: chosen.prompts]
                sampling = Sampling(seed=7, temperature=temperature)
                timed, curves = run_set(session, prompts, sampling, kinds, chosen.tokens, chosen.turns)
                label = f"{name} T={temperature:g}"
                new = [*figures(label, timed), *near_ties(label, session, timed)]
                if words is not None:
                    new += replayed(label, words, timed, curves, sampling)
                found += new
                if not chosen.json:
                    report(new, as_json=False)
                    sys.stdout.flush()
    finally:
        if words is not None:
            words.close()
        session.close()
    if chosen.json:
        report(found, as_json=True)


if __name__ == "__main__":
    main()
