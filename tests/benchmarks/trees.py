"""Token trees against chains at equal row budgets, on a real pair: every prompt each way, by turns, in one process.

A budget of n rows is a chain of n - 1 tokens or a tree of n - 1 nodes. For each prompt set and temperature: tokens per
step of both over all its prompts, with their ratio; decode speed of trees ÷ chains; and whether the text is that of
plain decoding. Where rows round otherwise from some count on (``n_rows_alike``), it may not be: near ties tip.

    python -m tests.benchmarks.trees TARGET [--draft D] [--rows 4,8,16] [--sets code,prose] [--temperatures 0,0.8]
        [--tokens N] [--prompts N] [--turns N] [--played] [--auto] [--ngram-first] [--json]

With ``--played`` every prompt is answered once, and the steps of chains and trees are counted on that text: only the
draft model runs, so many prompts cost little, both ways have the same text, and what else the machine does is no
matter. With ``--auto`` the rule that chooses the length is held against itself with trees allowed, and both against
plain decoding, by the time of whole answers; ``--rows none --auto`` does only that. Each way has a pair's knowledge of
its own, and is warm by it: chains beside them would teach trees what nobody teaches them who has trees on.

It ends with 1 if a figure misses its target.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Iterable, Iterator, Sequence

import tests.fixtures.bare  # noqa: F401 - sets how long OpenMP's threads poll, before llama.cpp is loaded
from app.engine.cancel import CancelFlag
from app.engine.engage import sharpness_of
from app.engine.evidence import Evidence
from app.engine.session import Session
from app.engine.template import Renderer
from app.metrics.prompts import load_prompts
from app.protocol import Load, Loaded, Sampling, SpecType, Speculation
from tests.benchmarks.figures import Figure, arguments, end_by_targets, report
from tests.benchmarks.played import Player, Text
from tests.benchmarks.speculation import N_CTX, PLAIN, Run, Timed, answer, run_set, warm_up


def ways(
    source: str, budgets: Sequence[int], *, with_auto: bool, first: tuple[SpecType, ...]
) -> dict[str, Speculation]:
    """Name the ways: plain, then a chain and a tree for each budget, and the rule without and with trees."""
    found = {PLAIN: Speculation()}
    for kind in (source, "tree"):
        for n_rows in budgets:
            found[f"{kind}:{n_rows}"] = Speculation(types=(kind,), draft_tokens=n_rows - 1, exact=False)
        if with_auto:
            found[f"{kind}:auto"] = Speculation(types=(*first, kind), draft_tokens="auto")
    return found


def per_step(answers: Sequence[Timed]) -> float:
    """Return tokens after the first ÷ steps, over all: the mean of some quotients would weigh short answers as much."""
    return sum(len(one.token_ids) - 1 for one in answers) / max(1, sum(len(one.steps) - 1 for one in answers))


def figures(label: str, source: str, timed: dict[str, list[Timed]]) -> Iterator[Figure]:
    """Compare trees with chains, and both with the plain text."""
    plain = timed[PLAIN]
    for name, answers in timed.items():
        if name == PLAIN:
            continue
        kind, _, budget = name.partition(":")
        yield Figure(f"{label} {name} tokens/step", (per_step(answers),), "")
        same = sum(a.token_ids == p.token_ids for a, p in zip(answers, plain, strict=True))
        yield Figure(f"{label} {name} same text", (same / len(answers),), "share")
        yield Figure(f"{label} {name} decode", tuple(a.tps / p.tps for a, p in zip(answers, plain, strict=True)), "x")
        if budget == "auto":
            ratios = tuple(p.answer_s / a.answer_s for a, p in zip(answers, plain, strict=True))
            yield Figure(f"{label} {name} answer", ratios, "x", ">= 0.98")
        if kind != "tree":
            continue
        steps = [step for one in answers for step in one.steps[1:]]
        pairs = list(zip(answers, timed[f"{source}:{budget}"], strict=True))
        if budget == "auto":
            ratios = tuple(b.answer_s / a.answer_s for a, b in pairs)
            yield Figure(f"{label} tree÷chain at auto, answer", ratios, "x", ">= 0.98")
        ratio = per_step(answers) / per_step(timed[f"{source}:{budget}"])
        yield Figure(f"{label} tree÷chain at {budget}, tokens/step", (ratio,), "x")
        yield Figure(f"{label} tree÷chain at {budget}, decode", tuple(a.tps / b.tps for a, b in pairs), "x")
        branched = [step for step in steps if step.depth]
        yield Figure(f"{label} {name} branched", (len(branched) / max(1, len(steps)),), "share")
        wasted = sum(step.n_rows - step.emitted for step in steps)
        yield Figure(f"{label} {name} rows wasted", (wasted / max(1, sum(step.n_rows for step in steps)),), "share")


def played(label: str, player: Player, texts: Sequence[Text], known: dict[int, Evidence]) -> Iterator[Figure]:
    """Count the steps of chains and trees on the same texts; the trees of each budget learn in ``known``."""
    n_tokens = sum(len(text.ids) for text in texts)
    yield Figure(f"{label} tokens of {len(texts)} texts", (n_tokens,), "")
    for n_rows, evidence in known.items():
        chain, tree = player.count(texts, n_rows - 1, None), player.count(texts, n_rows - 1, evidence)
        yield Figure(f"{label} chain:{n_rows} tokens/step", (chain.tokens_per_step,), "")
        yield Figure(f"{label} tree:{n_rows} tokens/step", (tree.tokens_per_step,), "")
        ratio = tree.tokens_per_step / chain.tokens_per_step
        yield Figure(f"{label} tree÷chain at {n_rows}, tokens/step", (ratio,), "x", ">= 0.98")
        yield Figure(f"{label} tree:{n_rows} branched", (tree.n_branched / max(1, tree.n_steps),), "share")
        fed = tree.n_fed / tree.n_tokens * chain.n_tokens / chain.n_fed
        yield Figure(f"{label} tree÷chain at {n_rows}, tokens drafted with a text", (fed,), "x")


def _player(session: Session) -> Player:
    """Return who plays texts with the draft model of a session.

    Raises:
        SystemExit: it has none.
    """
    pair = session._pair
    if pair is None or pair.draft is None:
        raise SystemExit("--played needs a draft model")
    return Player(pair.draft.model, N_CTX, pair.n_threads, pair.target.model.n_vocab, sharpness_of(pair))


def _options() -> argparse.ArgumentParser:
    parser = arguments("Token trees against chains at equal row budgets.", n_turns=1)
    parser.add_argument("target")
    parser.add_argument("--draft")
    parser.add_argument("--rows", default="4,8,16")
    parser.add_argument("--sets", default="code,json,prose,chat,edit,languages")
    parser.add_argument("--temperatures", default="0,0.8")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--prompts", type=int, default=2, help="prompts of each set (default: %(default)s)")
    parser.add_argument("--played", action="store_true", help="count steps on texts that are answered once")
    parser.add_argument(
        "--auto", action="store_true", help="the rule that chooses the length, too, without and with trees"
    )
    parser.add_argument("--ngram-first", action="store_true", help="n-gram before both where the rule chooses")
    return parser


def _load(session: Session, target: str, draft: str | None) -> str:
    """Load a pair with room for trees; return who drafts the chains.

    Raises:
        SystemExit: it cannot draft trees.
    """
    *_progress, loaded = session.load(Load(id=0, target=target, draft=draft, n_ctx=N_CTX, trees=True), CancelFlag())
    if not isinstance(loaded, Loaded) or "tree" not in loaded.drafters:
        raise SystemExit(f"no token trees: {loaded}")
    for notice in loaded.notices:
        print(notice.message, file=sys.stderr)
    return "draft-simple" if "draft-simple" in loaded.drafters else "draft-mtp"


def warmed_apart(session: Session, run: Run, sets: Sequence[str], temperature: float) -> None:
    """Give every way its own answers to learn from before any is timed."""
    for name, evidence in run.apart.items():
        session._pair.evidence = evidence
        warm_up(session, sets, run.kinds[name], temperature, run.n_tokens)


def new_run(session: Session, source: str, chosen: argparse.Namespace) -> Run:
    """Return how sets are answered by a pair that was just loaded: each way begins with what loading measured."""
    first = ("ngram",) if chosen.ngram_first else ()
    kinds = ways(source, _budgets(chosen), with_auto=chosen.auto, first=first)
    apart = {name: copy.deepcopy(session._pair.evidence) for name in kinds if name != PLAIN}
    return Run(kinds, chosen.tokens, chosen.turns, apart=apart)


def _by_clock(
    session: Session, source: str, run: Run, chosen: argparse.Namespace, temperature: float
) -> Iterator[Iterable[Figure]]:
    """Answer every set each way, by turns; yield its figures."""
    sampling, sets = Sampling(seed=7, temperature=temperature), chosen.sets.split(",")
    warmed_apart(session, run, sets, temperature)
    for name in sets:
        timed, _curves = run_set(session, load_prompts(name)[: chosen.prompts], sampling, run)
        yield figures(f"{name} T={temperature:g}", source, timed)


def _by_count(
    session: Session, player: Player, chosen: argparse.Namespace, temperature: float
) -> Iterator[Iterable[Figure]]:
    """Answer every prompt once and count the steps of each way; what trees learn goes from set to set."""
    known = {n_rows: Evidence() for n_rows in _budgets(chosen)}
    sampling = Sampling(seed=7, temperature=temperature)
    for name in chosen.sets.split(","):
        prompts = load_prompts(name)[: chosen.prompts]
        answers = [answer(session, one, sampling, Speculation(), chosen.tokens) for one in prompts]
        texts = [Text(one.prompt, one.token_ids, sampling) for one in answers]
        yield played(f"{name} T={temperature:g}", player, texts, known)


def _budgets(chosen: argparse.Namespace) -> list[int]:
    return [int(word) for word in chosen.rows.split(",") if word.isdecimal()]


def main() -> None:
    """Measure and print."""
    chosen = _options().parse_args()
    session = Session(Renderer())
    found: list[Figure] = []
    player = None
    try:
        source = _load(session, chosen.target, chosen.draft)
        run = new_run(session, source, chosen)
        player = _player(session) if chosen.played else None
        for temperature in map(float, chosen.temperatures.split(",")):
            if player is None:
                of_sets = _by_clock(session, source, run, chosen, temperature)
            else:
                of_sets = _by_count(session, player, chosen, temperature)
            for of_set in of_sets:
                new = list(of_set)
                found += new
                if not chosen.json:
                    report(new, as_json=False)
                    sys.stdout.flush()
    finally:
        if player is not None:
            player.close()
        session.close()
    if chosen.json:
        report(found, as_json=True)
    end_by_targets(found)


if __name__ == "__main__":
    main()
