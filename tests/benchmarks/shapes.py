"""Fixed shapes and lenient acceptance against the ordinary way to verify, on a real pair: by turns, in one process.

A fixed shape must change no token and have one row count in all passes; what it costs is its decode speed ÷ that of the
ordinary way, and, whatever else the machine does, the rows of its passes ÷ those of the ordinary way: a fixed length of
a draft model has as many anyway, n-gram and the rule that chooses the length (``auto``) have fewer. Lenient acceptance
is lossy: tokens per step of it ÷ those of the ordinary way over all prompts of a set, by P, and how much of the plain
text it keeps before the first other word; with ``--any-rounding``, since lossy drafts are as long as was asked for, and
the ordinary ones are else kept to what rounds alike. ``--lenient none`` and ``--no-shape`` leave one of the two out.

    python -m tests.benchmarks.shapes TARGET [--draft D] [--type T] [--lengths 3,5] [--lenient 0.3,0.1,0.03]
        [--no-shape] [--sets prose,code] [--temperatures 0,0.8] [--tokens N] [--prompts N] [--turns N]
        [--any-rounding] [--json]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import tests.fixtures.bare  # noqa: F401 - sets how long OpenMP's threads poll, before llama.cpp is loaded
from app.cli.options import draft_length
from app.engine.cancel import CancelFlag
from app.engine.session import Session
from app.engine.template import Renderer
from app.metrics.prompts import load_prompts
from app.protocol import DraftTokens, Load, Sampling, Speculation
from tests.benchmarks.figures import Figure, arguments, report
from tests.benchmarks.speculation import N_CTX, PLAIN, Run, Timed, run_set, warm_up
from tests.benchmarks.trees import per_step

ORDINARY, SHAPED = "ordinary", "fixed shape"


def ways(
    kind: str, lengths: Sequence[DraftTokens], lenient: Sequence[float], *, exact: bool, with_shape: bool
) -> dict[str, Speculation]:
    """Name the ways: plain, then for each length the ordinary one, the fixed shape, and each leniency."""
    found = {PLAIN: Speculation()}
    for k in lengths:
        how = {"types": tuple(kind.split("+")), "draft_tokens": k, "exact": exact}
        found[f"{k} {ORDINARY}"] = Speculation(**how)
        if with_shape:
            found[f"{k} {SHAPED}"] = Speculation(**how, fixed_shape=True)
        for share in lenient:
            found[f"{k} lossy {share:g}"] = Speculation(**how, lenient=share)
    return found


def _rows(answers: Sequence[Timed]) -> int:
    return sum(step.n_rows for one in answers for step in one.steps[1:])


def _alike(one: Timed, other: Timed) -> int:
    pairs = enumerate(zip(one.token_ids, other.token_ids, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one.token_ids), len(other.token_ids)))


def figures(label: str, timed: dict[str, list[Timed]]) -> Iterator[Figure]:
    """Hold each way against the ordinary one of its length."""
    for name, answers in timed.items():
        if name == PLAIN:
            continue
        length, _, how = name.partition(" ")
        pairs = list(zip(answers, timed[f"{length} {ORDINARY}"], strict=True))
        yield Figure(f"{label} {name} tokens/step", (per_step(answers),), "")
        if how == ORDINARY:
            continue
        yield Figure(f"{label} {name} ÷ ordinary, decode", tuple(a.tps / b.tps for a, b in pairs), "x")
        if how == SHAPED:
            same = sum(a.token_ids == b.token_ids for a, b in pairs)
            yield Figure(f"{label} {name} same text", (same / len(pairs),), "share", ">= 1")
            counts = {step.n_rows for one in answers for step in one.steps[1:]}
            yield Figure(f"{label} {name} row counts", (len(counts),), "", "<= 1")
            rows, ordinary = _rows(answers), timed[f"{length} {ORDINARY}"]
            yield Figure(f"{label} {name} ÷ ordinary, rows", (rows / _rows(ordinary),), "x")
            given = sum(step.emitted for one in answers for step in one.steps[1:])
            yield Figure(f"{label} {name} rows wasted", ((rows - given) / rows,), "share")
        else:
            ratio = per_step(answers) / per_step(timed[f"{length} {ORDINARY}"])
            yield Figure(f"{label} {name} ÷ ordinary, tokens/step", (ratio,), "x", "> 1")
            kept = tuple(_alike(a, p) for a, p in zip(answers, timed[PLAIN], strict=True))
            yield Figure(f"{label} {name} tokens before the first other word", kept, "")


def main() -> None:
    """Measure and print."""
    parser = arguments("Fixed shapes and lenient acceptance on a real pair.", n_turns=1)
    parser.add_argument("target")
    parser.add_argument("--draft")
    parser.add_argument("--type", help="who drafts (default: the draft model, or ngram without one)")
    parser.add_argument("--lengths", default="3,5")
    parser.add_argument("--lenient", default="0.3,0.1,0.03")
    parser.add_argument("--sets", default="prose,code")
    parser.add_argument("--temperatures", default="0,0.8")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--prompts", type=int, default=2, help="prompts of each set (default: %(default)s)")
    parser.add_argument("--any-rounding", action="store_true", help="drafts that round otherwise than plain, too")
    parser.add_argument("--no-shape", action="store_true", help="lenient acceptance only")
    chosen = parser.parse_args()
    session = Session(Renderer())
    found: list[Figure] = []
    try:
        kind = chosen.type or ("draft-simple" if chosen.draft else "ngram")
        command = Load(id=0, target=chosen.target, draft=chosen.draft, n_ctx=N_CTX, trees="tree" in kind)
        for _event in session.load(command, CancelFlag()):
            pass
        lengths = list(map(draft_length, chosen.lengths.split(",")))
        shares = [] if chosen.lenient == "none" else list(map(float, chosen.lenient.split(",")))
        how = {"exact": not chosen.any_rounding, "with_shape": not chosen.no_shape}
        kinds = ways(kind, lengths, shares, **how)
        for temperature in map(float, chosen.temperatures.split(",")):
            sets = chosen.sets.split(",")
            warm_up(session, sets, list(kinds.values())[-1], temperature, chosen.tokens)
            for name in sets:
                prompts, sampling = load_prompts(name)[: chosen.prompts], Sampling(seed=7, temperature=temperature)
                timed, _curves = run_set(session, prompts, sampling, Run(kinds, chosen.tokens, chosen.turns))
                new = list(figures(f"{name} T={temperature:g}", timed))
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
