"""The draw is right: continuations over seeds against the exact distribution of the target's logits.

The real loop with the real sampler and the real drafters, on tiny models whose text keeps to a few words, so that whole
continuations can be counted. What is expected comes another way: rows of a context that decodes one token at a time,
through filters written here, multiplied along every branch. Two rules that are wrong on purpose show that the
comparison would notice.
"""

from __future__ import annotations

import collections
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import pytest

from app.engine.draft_length import FixedLength
from app.engine.drafters.draft_model import DraftModelDrafter
from app.engine.drafters.mtp import HeadsMemory, MtpDrafter
from app.engine.drafters.ngram import NgramDrafter
from app.engine.drafters.tree import TreeDrafter
from app.engine.engage import MUCH_SMALLER
from app.engine.evidence import Evidence
from app.engine.llama import Context, Model, MtpContext, Shape
from app.engine.prompt_cache import Held
from app.engine.sampler import DRAFT_SHARPNESS, Sampler
from app.engine.speculate import Generation, speculate
from app.protocol import MemoryTypes, Sampling
from tests.fixtures import tiny, tiny_mtp

N_WORDS, N_TOKENS, N_DRAFT = 6, 5, 3
N_SHORT, N_WHOLE = 1500, 50_000
N_BROKEN = 600
P_MIN, P_BROKEN = 0.01, 1e-9
CHAIN = tiny.words(N_WORDS)
PROMPT = (tiny.BOS, *CHAIN, CHAIN[2], *CHAIN[:3])

# The models are sure of themselves: only at such temperatures are there hundreds of continuations worth counting.
# In the first, min-p cuts off the rest of the vocabulary and nothing else; in the second, every filter takes something.
SAMPLINGS = {
    "temperature": Sampling(0, temperature=3.0, top_k=0, top_p=1.0, min_p=1e-6),
    "every filter": Sampling(0, temperature=4.0, top_k=5, top_p=0.9995, min_p=2e-4),
}

# --- chi-square -------------------------------------------------------------------------------------


def upper_gamma(a: float, x: float) -> float:
    """Regularised upper incomplete gamma function Q(a, x): a series below a + 1, a continued fraction above.

    Press et al., Numerical Recipes, 6.2; the fraction is evaluated by Lentz's method.
    """
    if x <= 0:
        return 1.0
    factor = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * 1e-15:
            n += 1
            term *= x / n
            total += term
        return 1 - factor * total
    tiny_number = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny_number, 1 / b
    fraction = d
    for i in range(1, 10_000):
        b += 2
        step = -i * (i - a)
        d = 1 / (step * d + b or tiny_number)
        c = b + step / c or tiny_number
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return factor * fraction


def p_value(chi2: float, df: int) -> float:
    """Return the probability that chi-square with ``df`` degrees of freedom is larger."""
    return upper_gamma(df / 2, chi2 / 2)


def compare(counts: collections.Counter, expected: dict[tuple[int, ...], float]) -> tuple[float, int]:
    """Return the p-value of counts against expected counts, and the number of cells.

    Continuations that are neighbours in dictionary order, so mostly with the same first tokens, are pooled until 5 are
    expected. The last cell takes what is left, and what is not expected at all.
    """
    cells: list[list[float]] = []
    seen = sum(n for what, n in counts.items() if what not in expected)
    awaited = max(0.0, sum(counts.values()) - sum(expected.values()))
    for what in sorted(expected):
        seen, awaited = seen + counts[what], awaited + expected[what]
        if awaited >= 5:
            cells.append([seen, awaited])
            seen, awaited = 0, 0.0
    cells[-1][0] += seen
    cells[-1][1] += awaited
    chi2 = sum((n - e) ** 2 / e for n, e in cells)
    return p_value(chi2, len(cells) - 1), len(cells)


@pytest.mark.parametrize(
    ("df", "p", "critical"),
    [
        (1, 0.05, 3.841459), (1, 0.01, 6.634897), (2, 0.05, 5.991465), (5, 0.95, 1.145476), (10, 0.01, 23.209251),
        (10, 0.99, 2.558212), (30, 0.05, 43.772972), (50, 0.01, 76.153891), (100, 0.01, 135.806723),
        (100, 0.95, 77.929465),
    ],
)  # fmt: skip
def test_p_values_are_those_of_the_tables(df, p, critical):
    assert p_value(critical, df) == pytest.approx(p, rel=1e-5)


@pytest.mark.parametrize("df", [2, 8, 500, 2000])
def test_p_values_of_even_degrees_are_a_poisson_sum(df):
    """Where the degrees are even there is a closed form; tables end before the degrees that are used here."""
    for x in (0.1, 0.5 * df, 0.95 * df, float(df), 1.05 * df, 1.3 * df):
        exact = sum(math.exp(-x / 2 + k * math.log(x / 2) - math.lgamma(k + 1)) for k in range(df // 2))
        assert p_value(x, df) == pytest.approx(exact, rel=1e-8, abs=1e-12)


# --- what is expected -------------------------------------------------------------------------------


def filtered(row: np.ndarray, s: Sampling) -> dict[int, float]:
    """Return the probabilities that top-k, top-p, min-p and temperature, in this order, leave of a row."""
    logits = row.astype(np.float64)
    order = np.argsort(-logits, kind="stable")
    order = order[: s.top_k or len(order)]
    p = np.exp(logits[order] - logits[order[0]])
    p /= p.sum()
    if s.top_p < 1:
        order = order[: int(np.searchsorted(np.cumsum(p), s.top_p) + 1)]
        p = p[: len(order)]
    order = order[p >= s.min_p * p[0]]
    q = np.exp((logits[order] - logits[order[0]]) / s.temperature)
    q /= q.sum()
    return {int(token): float(probability) for token, probability in zip(order, q, strict=True)}


def exact(context: Context, s: Sampling) -> dict[tuple[int, ...], float]:
    """Return the probability of every continuation, from rows that are decoded one token at a time.

    What is less likely than once in ten million is left out.
    """
    open_ends: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(N_TOKENS):
        longer: dict[tuple[int, ...], float] = {}
        for history, probability in open_ends.items():
            context.rewind(0)
            for token in (*PROMPT, *history):
                context.decode([token], 1)
            for token, share in filtered(context.row(0), s).items():
                if probability * share > 1e-7:
                    longer[*history, token] = probability * share
        open_ends = longer
    context.rewind(0)
    return open_ends


# --- the loop, quick --------------------------------------------------------------------------------


class Remembered:
    """A context that evaluates no text twice: what llama.cpp said after it is remembered.

    New text is evaluated in the batches, or trees, in which the loop asks for it. Implements ``speculate.Target`` and
    what MTP heads watch.
    """

    def __init__(self, context: Context, *, watched: bool = False) -> None:
        self._context = context
        self._watched = watched
        self.n_ctx, self.n_batch, self.n_rows_max = context.n_ctx, context.n_batch, context.n_rows_max
        self.n_draft_max = context.n_draft_max
        self._held: tuple[int, ...] = ()
        self._known: dict[tuple[int, ...], list[np.ndarray | None]] = {}
        self._last: list[list[np.ndarray | None]] = []
        self._n_rows = 0
        self._tree: tuple[Sequence[int], Sequence[int]] = ((), ())
        self._watcher: Callable[[Sequence[int], int], None] | None = None
        if watched:
            context.watch(lambda _tokens, _position: None)

    @property
    def n_past(self) -> int:
        return len(self._held)

    def decode(self, tokens: Sequence[int], n_rows: int) -> None:
        start, n = len(self._held), len(tokens)
        self._held = (*self._held, *tokens)
        texts = [self._held[: start + i + 1] for i in range(n)]
        known = [self._known.get(text) for text in texts]
        if any(k is None or (k[0] is None and i >= n - n_rows) for i, k in enumerate(known)):
            self._evaluate(texts, start, n_rows)
        self._last, self._n_rows = [self._known[text] for text in texts], n_rows
        if self._watcher is not None:
            self._watcher(tokens, start)

    def _evaluate(self, texts: list[tuple[int, ...]], start: int, n_rows: int) -> None:
        self._context.rewind(0)
        if start:
            self._context.decode(self._held[:start], 1)
        self._context.decode(self._held[start:], n_rows)
        hidden = self._context.hidden() if self._watched else None
        for i, text in enumerate(texts):
            known = self._known.setdefault(text, [None, None])
            if (row := i - (len(texts) - n_rows)) >= 0:
                known[0] = self._context.row(row).copy()
            if hidden is not None:
                known[1] = hidden[i : i + 1]

    def decode_tree(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        texts: list[tuple[int, ...]] = []
        for token, parent in zip(tokens, parents, strict=True):
            texts.append((*(texts[parent] if parent >= 0 else self._held), token))
        self._tree = tokens, parents
        if any(self._known.get(text, [None])[0] is None for text in texts):
            self._evaluate_tree()
            for i, text in enumerate(texts):
                self._known.setdefault(text, [None, None])[0] = self._context.row(i).copy()
        self._last, self._n_rows = [self._known[text] for text in texts], len(texts)

    def _evaluate_tree(self) -> None:
        self._context.rewind(0)
        self._context.decode(self._held, 1)
        self._context.decode_tree(*self._tree)

    def keep_path(self, path: Sequence[int]) -> None:
        start = len(self._held)
        known = [self._last[node] for node in path]
        if self._watched and any(k[1] is None for k in known):
            self._evaluate_tree()
            self._context.keep_path(path)
            hidden = self._context.hidden()
            for i, k in enumerate(known):
                k[1] = hidden[i : i + 1]
        kept = [self._tree[0][node] for node in path]
        self._held = (*self._held, *kept)
        self._last, self._n_rows = known, len(known)
        if self._watcher is not None:
            self._watcher(kept, start)

    def row(self, index: int) -> np.ndarray:
        assert 0 <= index < self._n_rows
        row = self._last[len(self._last) - self._n_rows + index][0]
        assert row is not None
        return row

    def watch(self, watcher: Callable[[Sequence[int], int], None] | None) -> None:
        self._watcher = watcher

    def hidden(self) -> np.ndarray:
        return np.concatenate([known[1] for known in self._last if known[1] is not None])

    def rewind(self, n_keep: int) -> None:
        self._held = self._held[:n_keep]


@dataclass
class Bench:
    """A target, what drafts for it, and how: ``drafters`` makes them for a sampler.

    ``branches`` names the samplings with which its trees are more than chains: min-p may leave a sure drafter one word.
    """

    context: Context
    target: Remembered | Context
    drafters: Callable[[Sampler], tuple]
    heads: bool
    branches: tuple[str, ...]
    open: list = field(default_factory=list)
    n_accepted: int = 0
    n_proposed: int = 0
    n_branched: int = 0

    def close(self) -> None:
        for part in reversed(self.open):
            part.close()


def _open(
    bench_parts: list, path, n_rows_max: int = N_DRAFT + 1, *, with_mtp: bool = False, n_leaves_max: int = 0
) -> tuple[Model, Context]:
    model = Model(str(path), with_mtp=with_mtp)
    bench_parts.append(model)
    n_snapshots = N_DRAFT if model.has_memory_of_states else 0
    how = {"n_rows_max": n_rows_max, "n_snapshots": n_snapshots, "n_leaves_max": n_leaves_max}
    context = Context(model, Shape(n_ctx=64, n_threads=1, **how))
    bench_parts.append(context)
    return model, context


def _tree_over(source, learned: Evidence) -> TreeDrafter:
    return TreeDrafter(source, learned.calibrations_of_tree(False), n_leaves_max=N_DRAFT + 1)


def _with_llama(kind: str, folder) -> Bench:
    how = {"draft_sizes": tiny.Sizes(32, 48)} if kind == "smaller draft" else {}
    pair = tiny.llama_pair(folder, chain=CHAIN, **how)
    parts: list = []
    model, context = _open(parts, pair.target, n_leaves_max=N_DRAFT + 1 if kind == "tree" else 0)
    draft_model, draft_context = _open(parts, pair.draft, 1)
    draft, held, learned = Remembered(draft_context), Held(), Evidence()
    is_smaller = draft_model.n_params < MUCH_SMALLER * model.n_params
    assert is_smaller == (kind == "smaller draft")
    sharpness = DRAFT_SHARPNESS if is_smaller else 1.0

    def drafting(sampler: Sampler) -> DraftModelDrafter:
        return DraftModelDrafter(draft, held, sampler, sharpness=sharpness)

    make = {
        "plain": lambda _sampler: (),
        "ngram": lambda _sampler: (NgramDrafter(),),
        "draft-simple": lambda sampler: (drafting(sampler),),
        "smaller draft": lambda sampler: (drafting(sampler),),
        "ngram,draft-simple": lambda sampler: (NgramDrafter(), drafting(sampler)),
        "tree": lambda sampler: (_tree_over(drafting(sampler), learned),),
    }[kind]
    return Bench(context, Remembered(context), make, False, tuple(SAMPLINGS) if kind == "tree" else (), parts)


def _with_heads(kind: str, folder) -> Bench:
    parts: list = []
    target = None  # an assistant reads the target's own memory, so there everything is evaluated
    if kind in ("assistant", "sidecar"):
        pair = (tiny_mtp.gemma4_pair if kind == "assistant" else tiny_mtp.qwen35_pair)(folder, chain=CHAIN)
        context = _open(parts, pair.target)[1]
        model = Model(str(pair.draft), with_mtp=True)
        parts.append(model)
    elif kind == "embedded":
        model, context = _open(parts, tiny_mtp.qwen35_embedded(folder / "tiny.gguf", chain=CHAIN), with_mtp=True)
    else:
        agrees, n_leaves = ((0.75, 0.9, 0.75), 0) if kind == "chain" else ((0.75,), N_DRAFT + 1)
        path = tiny_mtp.hy_v3_chain(folder / "tiny.gguf", agrees=agrees, chain=CHAIN)
        model, context = _open(parts, path, with_mtp=True, n_leaves_max=n_leaves)
    if kind != "assistant":
        target = Remembered(context, watched=True)
    heads = MtpContext(model, context, n_threads=1, memory=MemoryTypes())
    parts.append(heads)
    memory, learned = HeadsMemory(heads, target or context), Evidence()

    def make(sampler: Sampler) -> tuple:
        heads_drafter = MtpDrafter(memory, sampler)
        return (_tree_over(heads_drafter, learned) if kind == "tree over heads" else heads_drafter,)

    return Bench(context, target or context, make, True, ("temperature",) if kind == "tree over heads" else (), parts)


WITH_HEADS = ("embedded", "sidecar", "chain", "assistant", "tree over heads")
KINDS = ("plain", "ngram", "draft-simple", "smaller draft", "ngram,draft-simple", "tree", *WITH_HEADS)


@pytest.fixture
def bench(request, tmp_path):
    made = (_with_heads if request.param in WITH_HEADS else _with_llama)(request.param, tmp_path)
    yield made
    made.close()


def continuation(bench: Bench, s: Sampling, make_sampler=Sampler, spoil=None) -> tuple[int, ...]:
    """Return the tokens that the loop emits after the prompt for the seed of ``s``."""
    sampler = make_sampler(s, bench.context.n_vocab, PROMPT)
    drafters = bench.drafters(sampler)
    chooser = sampler
    if spoil is not None:
        drafters, chooser = spoil(drafters, sampler)
    target = bench.target
    target.rewind(len(PROMPT) - 1)
    target.decode(PROMPT[target.n_past :], 1)
    for drafter in drafters:
        drafter.begin(PROMPT)
    g = Generation(
        target=target,
        tokens=list(PROMPT),
        chooser=chooser,
        is_last=lambda _token: False,
        max_tokens=N_TOKENS,
        drafters=drafters,
        length=FixedLength(N_DRAFT),
        origin_s=time.perf_counter(),
    )
    emitted: list[int] = []
    for outcome in speculate(g):
        emitted.extend(outcome.token_ids)
        bench.n_proposed += outcome.step.proposed
        bench.n_accepted += outcome.step.accepted
        bench.n_branched += outcome.step.depth > 0
    for drafter in drafters:
        drafter.close()
    sampler.close()
    return tuple(emitted)


def measure(bench: Bench, s: Sampling, n: int, **rule) -> tuple[float, int]:
    """Return the p-value of ``n`` continuations, one a seed from 0, and the number of cells."""
    expected = {what: n * p for what, p in exact(bench.context, s).items()}
    assert sum(expected.values()) == pytest.approx(n, rel=1e-3)
    counts = collections.Counter(
        continuation(bench, msgspec.structs.replace(s, seed=seed), **rule) for seed in range(n)
    )
    return compare(counts, expected)


# --- the rule ---------------------------------------------------------------------------------------


def check(bench: Bench, name: str, n: int) -> None:
    p, n_cells = measure(bench, SAMPLINGS[name], n)
    print(
        f"\n{name}: p = {p:.3f} over {n_cells} cells, {bench.n_accepted} of {bench.n_proposed} drafted tokens kept, "
        f"{bench.n_branched} trees branched"
    )
    assert n_cells > 20
    assert p > P_MIN
    assert bench.n_accepted > 0 or not bench.n_proposed
    assert bench.n_branched > 0 or name not in bench.branches


@pytest.mark.parametrize("bench", [kind for kind in KINDS if kind != "ngram,draft-simple"], indirect=True)
def test_continuations_follow_the_targets_distribution(bench):
    name = "every filter" if not bench.branches else bench.branches[-1]
    check(bench, name, N_SHORT // 3 if bench.heads else N_SHORT)


@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", SAMPLINGS)
@pytest.mark.parametrize("bench", KINDS, indirect=True)
def test_many_continuations_follow_the_targets_distribution(bench, name):
    check(bench, name, N_WHOLE)


# --- rules that are wrong ---------------------------------------------------------------------------


class Unkeyed(Sampler):
    """Draws every position with the noise of the first."""

    def choose(self, row, position):
        return super().choose(row, 0)


class FirstUnchecked:
    """A rule that keeps a draft's first token whatever the target says: stands between loop, drafter and sampler."""

    def __init__(self, drafter, sampler):
        self._drafter, self._sampler = drafter, sampler
        self._kept: dict[int, int] = {}
        self.name, self.kind = drafter.name, drafter.kind
        self.n_behind, self.begin, self.close = drafter.n_behind, drafter.begin, drafter.close
        self.n_unseen = drafter.n_unseen

    def draft(self, tokens, ask):
        draft = self._drafter.draft(tokens, ask)
        if draft:
            self._kept[len(tokens)] = draft[0]
        return draft

    def choose(self, row, position):
        return self._kept.pop(position) if position in self._kept else self._sampler.choose(row, position)

    def accept(self, what):
        """Both protocols have this verb: a token for the sampler, all of them for the drafter."""
        (self._sampler if isinstance(what, int) else self._drafter).accept(what)


def unchecked(drafters, sampler):
    rule = FirstUnchecked(drafters[0], sampler)
    return (rule,), rule


@pytest.mark.parametrize("bench", ["plain", "ngram", "draft-simple"], indirect=True)
def test_noise_that_is_not_keyed_by_position_is_noticed(bench):
    p, _ = measure(bench, SAMPLINGS["every filter"], N_BROKEN, make_sampler=Unkeyed)
    assert p < P_BROKEN


@pytest.mark.parametrize("bench", ["ngram", "draft-simple", "embedded"], indirect=True)
def test_a_draft_token_that_is_kept_unchecked_is_noticed(bench):
    p, _ = measure(bench, SAMPLINGS["every filter"], N_BROKEN, spoil=unchecked)
    assert p < P_BROKEN
