"""Speculation against plain decoding on a real pair: every prompt each way, by turns, in one process.

For each prompt set and temperature: answer time and decode speed of each way as a ratio to plain decoding of the same
prompt in the same round, whether the text is the same, and how close ``auto`` comes to the best fixed length: of the
draft model, of n-gram and of both as a chain, as far as they are among the types, and none. "Best of several" is biased
upwards by noise, so that comparison replays the steps on the cost curve measured in this run
(``tests/benchmarks/replay.py``): after each prompt, and the medians of it, since the machine changes meanwhile. The
wall-clock ratio stands beside it.

The pair is warm: it has answered up to three other prompts, and keeps what each of these teaches it. With ``--cold``
every answer has what loading measured and no more, as a pair's first answer does.

    python -m tests.benchmarks.speculation TARGET [--draft D] [--types T,…] [--lengths 1,3,5,auto] [--sets code,prose]
        [--temperatures 0,0.8] [--tokens N] [--prompts N] [--turns N] [--cold] [--json]
"""

from __future__ import annotations

import copy
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import tests.fixtures.bare  # noqa: F401 - sets how long OpenMP's threads poll, before llama.cpp is loaded
from app.engine.cancel import CancelFlag
from app.engine.evidence import Evidence
from app.engine.loading import LoadedPair
from app.engine.session import Session
from app.engine.template import Renderer
from app.metrics.prompts import Prompt, load_prompts
from app.metrics.stats import decode_tps
from app.protocol import Chunk, DraftTokens, Generate, Load, Sampling, Speculation, Step
from tests.benchmarks.figures import Figure, arguments, report
from tests.benchmarks.replay import (
    LENGTHS,
    NGRAM_LENGTHS,
    Curve,
    Played,
    Words,
    fixed_steps,
    measured_curve,
    play,
    played_s,
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
    session.rest(CancelFlag())  # as the worker does between answers
    steps = [chunk.step for chunk in chunks]
    ids = [token for chunk in chunks for token in chunk.token_ids]
    return Timed(ids, steps[-1].t_s, decode_tps(steps) or 0.0, steps, prompt_tokens(session, prompt))


def ways(types: Sequence[str], lengths: Sequence[DraftTokens], *, exact: bool) -> dict[str, Speculation]:
    """Name the ways: plain, then each length."""
    return {PLAIN: Speculation()} | {
        f"{','.join(types)}:{length}": Speculation(types=tuple(types), draft_tokens=length, exact=exact)
        for length in lengths
    }


@dataclass(frozen=True, slots=True)
class Run:
    """How a set is answered: the ways, the fixed lengths to replay, and what a cold pair knows; None for a warm one.

    ``apart`` is what each way has learned, where they are not to teach each other; it goes on to learn.
    """

    kinds: dict[str, Speculation]
    n_tokens: int
    n_turns: int = 1
    fixed: dict[str, tuple[int, ...]] = field(default_factory=dict)
    known: Evidence | None = None
    apart: dict[str, Evidence] = field(default_factory=dict)

    @property
    def longest(self) -> int:
        """Longest fixed length that is replayed, 0 if none is."""
        return max((max(lengths, default=0) for lengths in self.fixed.values()), default=0)


def fixed_lengths(pair: LoadedPair, types: Sequence[str], *, exact: bool) -> dict[str, tuple[int, ...]]:
    """Return which fixed lengths a person could have chosen of what can be replayed, by type or chain of types."""
    n_max = pair.target.context.n_draft_max
    if exact and pair.n_rows_alike > 1:
        n_max = min(n_max, pair.n_rows_alike - 1)  # as drafts are cut that could tip a near tie
    found = {"ngram": NGRAM_LENGTHS} if "ngram" in types else {}
    if pair.draft is not None and set(types) & {"draft-simple", "tree"}:
        found |= {"draft-simple": LENGTHS} | ({"ngram,draft-simple": LENGTHS} if found else {})
    return {name: tuple(n for n in lengths if n <= n_max) for name, lengths in found.items()}


def run_set(session: Session, prompts: Sequence[Prompt], sampling: Sampling, run: Run):
    """Answer every prompt every way in every round, and measure the costs after it; the order turns with each."""
    timed: dict[str, list[Timed]] = defaultdict(list)
    names, curves = list(run.kinds), []
    for turn in range(run.n_turns):
        for at, prompt in enumerate(prompts):
            shift = (turn + at) % len(names)
            for name in names[shift:] + names[:shift]:
                if run.known is not None:
                    session._pair.evidence = copy.deepcopy(run.known)
                if name in run.apart:
                    session._pair.evidence = run.apart[name]
                timed[name].append(answer(session, prompt, sampling, run.kinds[name], run.n_tokens))
            if run.longest:
                last = timed[PLAIN][-1]
                position = len(last.prompt) + len(last.token_ids) // 2
                curves.append(measured_curve(session._pair, position, sampling, repeat=3, longest=run.longest))
    if len({len(answers) for answers in timed.values()}) != 1:
        raise SystemExit("the ways have unequal numbers of answers")
    return timed, curves


def warm_up(session: Session, sets: Sequence[str], way: Speculation, temperature: float, n_tokens: int) -> None:
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


def replayed(
    label: str,
    words: Words | None,
    timed: dict[str, list[Timed]],
    curves: Sequence[Curve],
    sampling: Sampling,
    run: Run,
) -> Iterator[Figure]:
    """Compare auto with every fixed length on the cost curve, and the shared noise with the most likely word."""
    plain, curve = timed[PLAIN], usual_curve(curves)
    n_plain = sum(len(one.token_ids) - 1 for one in plain)
    agreed = [words and words.agreement(one.prompt, one.token_ids, sampling, likeliest=False) for one in plain]

    def steps_of(name: str, length: int) -> list[list[Played]]:
        types = name.split(",")
        return [
            play(one.prompt, one.token_ids, a if "draft-simple" in types else None, length, has_ngram="ngram" in types)
            for one, a in zip(plain, agreed, strict=True)
        ]

    caught_up_s = sum(len(one.prompt) for one in plain) * curve.caught_up_token_s
    fixed_s_of = {PLAIN: n_plain * curve.rows_s[1]}
    for name, lengths in run.fixed.items():
        for length in lengths:
            took_s = sum(played_s(curve, steps) for steps in steps_of(name, length))
            fixed_s_of[f"{name}:{length}"] = took_s + (caught_up_s if "draft-simple" in name else 0.0)
    for name, took_s in list(fixed_s_of.items())[1:]:
        yield Figure(f"{label} fixed {name} replayed", (fixed_s_of[PLAIN] / took_s,), "x")
    if words is not None:
        yield from agreements(label, words, plain, agreed, sampling)
    for name, answers in timed.items():
        types, _, length = name.rpartition(":")
        if length.isdigit() and int(length) in run.fixed.get(types, ()):  # the replay's own check: what the loop did
            told = [[(step.n_draft, step.n_emitted) for step in steps] for steps in steps_of(types, int(length))]
            did = [[(s.proposed, s.emitted) for s in one.steps[1:]] for one in answers]
            same = sum(map(list.__eq__, told, did))
            yield Figure(f"{label} {name} steps as replayed", (same / len(did),), "share")
    best = min(fixed_s_of, key=fixed_s_of.__getitem__)
    for name, answers in timed.items():
        if name.endswith(":auto"):
            auto_s = sum(recorded_s(curve, one.steps) for one in answers)
            yield Figure(f"{label} auto to plain, replayed", (fixed_s_of[PLAIN] / auto_s,), "x", ">= 0.98")
            yield Figure(f"{label} auto to best fixed ({best}), replayed", (fixed_s_of[best] / auto_s,), "x", ">= 0.98")


def agreements(label, words: Words, plain: Sequence[Timed], agreed, sampling: Sampling) -> Iterator[Figure]:
    """Tell how often the draft model says the target's word, with the shared noise and with its most likely one."""
    yield Figure(f"{label} word agrees", (sum(map(sum, agreed)) / sum(map(len, agreed)),), "share")
    if sampling.temperature > 0:
        n_plain = sum(len(one.token_ids) - 1 for one in plain)
        likeliest = [words.agreement(one.prompt, one.token_ids, sampling, likeliest=True) for one in plain]
        for length in (3, 5):
            for name, agrees in (("noise", agreed), ("likeliest", likeliest)):
                n_steps = [len(fixed_steps(a, length)) for a in agrees]
                yield Figure(f"{label} {name} tokens/step at {length}", (n_plain / sum(n_steps),), "")


def _per_step(answers: Sequence[Timed]) -> float:
    return sum(len(a.token_ids) for a in answers) / sum(len(a.steps) for a in answers)


def options():
    """Return what the command line says."""
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
    parser.add_argument("--cold", action="store_true", help="every answer knows what loading measured, and no more")
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    chosen = options()
    lengths = [int(word) if word.isdigit() else word for word in chosen.lengths.split(",")]
    types, exact = chosen.types.split(","), not chosen.any_rounding
    kinds, sets = ways(types, lengths, exact=exact), chosen.sets.split(",")
    session = Session(Renderer())
    found: list[Figure] = []
    words: Words | None = None
    try:
        for _event in session.load(Load(id=0, target=chosen.target, draft=chosen.draft, n_ctx=N_CTX), CancelFlag()):
            pass
        pair = session._pair
        words = Words(pair, N_CTX) if pair.draft is not None else None
        known = copy.deepcopy(pair.evidence) if chosen.cold else None
        run = Run(kinds, chosen.tokens, chosen.turns, fixed_lengths(pair, types, exact=exact), known)
        for temperature in map(float, chosen.temperatures.split(",")):
            if not chosen.cold:
                warm_up(session, sets, list(kinds.values())[-1], temperature, chosen.tokens)
            for name in sets:
                sampling = Sampling(seed=7, temperature=temperature)
                timed, curves = run_set(session, load_prompts(name)[: chosen.prompts], sampling, run)
                label = f"{name} T={temperature:g}{' cold' if chosen.cold else ''}"
                new = [*figures(label, timed), *near_ties(label, session, timed)]
                if run.longest:
                    new += replayed(label, words, timed, curves, sampling, run)
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
