"""MTP heads on the real llama.cpp that catch up with much at once, start again on a window, pause and return."""

import time
from dataclasses import dataclass, field

import numpy as np
import pytest
from msgspec import structs

from app.engine.auto_length import AutoLength
from app.engine.costs import Costs, DrafterCost
from app.engine.draft_length import Ask, FixedLength
from app.engine.drafters.mtp import HeadsMemory, MtpDrafter
from app.engine.evidence import Evidence
from app.engine.llama import MtpContext
from app.engine.sampler import Sampler
from app.engine.speculate import Generation, speculate
from app.lessons import Lessons
from app.protocol import MemoryTypes
from tests.engine.sessions import GREEDY, WARM, load
from tests.engine.test_mtp import KINDS, write
from tests.fixtures import tiny

NAME = "draft-mtp"
WITH_MEMORY = ("embedded", "sidecar", "chain")
PROMPT = tuple(tiny.anything()[i * 5 % 300] for i in range(1400))
CLOSE = 0.02
"""Largest difference of a logit that is rounding, of an evaluation cut into other batches."""


@dataclass
class Bench:
    """A pair with heads over a memory of their own, and how much of the text they keep."""

    pair: object
    memory: HeadsMemory

    def say(self, n_tokens, sampling=GREEDY, length=None, prompt=PROMPT, begins=True):
        """Answer as the loop does; return its tokens and its steps."""
        context = self.pair.target.context
        context.rewind(0)
        sampler = Sampler(sampling, self.pair.target.model.n_vocab, list(prompt))
        drafters = () if length is None else (MtpDrafter(self.memory, sampler),)
        if drafters:
            self.memory.agree(prompt)
        while context.n_past < len(prompt):
            context.decode(prompt[context.n_past : context.n_past + context.n_batch], 1)
        if begins:
            for drafter in drafters:
                drafter.begin(prompt)
        tokens, steps = list(prompt), []
        g = Generation(
            context, tokens, sampler, lambda _: False, n_tokens, drafters, length or FixedLength(0), time.perf_counter()
        )
        steps.extend(outcome.step for outcome in speculate(g))
        for drafter in drafters:
            drafter.close()
        sampler.close()
        return tokens[len(prompt) :], steps


@pytest.fixture
def bench(session, request, tmp_path):
    kind, n_batch, window, how = request.param
    load(session, *write(kind, tmp_path, **how), n_ctx=2048)
    pair = session._pair
    model = pair.heads.model or pair.target.model
    heads = MtpContext(model, pair.target.context, n_threads=1, memory=MemoryTypes(), n_batch=n_batch)
    yield Bench(pair, HeadsMemory(heads, pair.target.context, window=window))
    heads.close()


def benches(kinds=WITH_MEMORY, n_batch=512, window=4096, **how):
    return pytest.mark.parametrize("bench", [(k, n_batch, window, how) for k in kinds], indirect=True, ids=kinds)


def _row_after(memory, context, tokens):
    """Take in the tokens as a drafter would that is asked for the first time; return the heads' first row."""
    memory.agree(tokens)
    memory.watch(True)
    context.rewind(0)
    while context.n_past < len(tokens) - 1:
        context.decode(tokens[context.n_past : min(len(tokens) - 1, context.n_past + context.n_batch)], 1)
    memory.watch(False)
    assert memory.feed(tokens, last=True)
    return memory.heads.row().copy()


@benches()
def test_a_prompt_of_several_batches_leaves_what_single_tokens_leave(bench):
    """512 tokens go in at once: three batches here, and the rows of the borders come from the batch before."""
    context, memory = bench.pair.target.context, bench.memory
    assert len(PROMPT) > 2 * memory.heads.n_batch
    at_once = _row_after(memory, context, PROMPT)
    assert memory._n_fed == len(PROMPT)
    memory.keep(0)
    memory.agree(PROMPT)
    memory.watch(True)
    context.rewind(0)
    for i in range(len(PROMPT) - 1):
        context.decode(PROMPT[i : i + 1], 1)
        if i % 8 == 0:
            assert memory.feed(PROMPT[: i + 2], last=False)
    memory.watch(False)
    assert memory.feed(PROMPT, last=True)
    assert np.abs(memory.heads.row() - at_once).max() < CLOSE


@benches(agree=0.75)
def test_drafts_after_a_prompt_of_several_batches_are_right(bench):
    plain, _ = bench.say(60)
    got, steps = bench.say(60, length=FixedLength(2))
    assert got == plain
    assert sum(step.accepted for step in steps) > 15


@benches(window=64)
def test_rows_beyond_two_windows_are_dropped_and_the_text_stays_the_same(bench):
    plain, _ = bench.say(300, prompt=PROMPT[:500])
    got, steps = bench.say(300, length=FixedLength(2), prompt=PROMPT[:500])
    memory = bench.memory
    assert memory._first > 500
    assert len(memory._rows) <= 2 * 64
    assert got == plain
    late = [step for step in steps if step.n_ctx > 700]
    assert sum(step.accepted for step in late) > 0.3 * len(late)


@benches(window=64)
def test_heads_that_lost_the_rows_begin_again_on_the_window(bench):
    """After a pause of more than two windows nothing can be caught up from where they stopped."""
    plain, _ = bench.say(400, prompt=PROMPT[:100])
    got, steps = bench.say(400, length=Planned(((20, 2), (220, 0), (400, 2))), prompt=PROMPT[:100])
    assert got == plain
    back = [step for step in steps if step.n_ctx > 100 + 245]
    assert back
    assert all(step.proposed for step in back[:-2])
    assert sum(step.accepted for step in back) > 0.3 * len(back)


@dataclass
class Planned(FixedLength):
    """Drafts by the number of tokens so far; ``part`` is the most to catch up with."""

    plan_: tuple[tuple[int, int], ...]
    part: int = 10**6
    n_done: int = 0
    asked: list[tuple[int, int]] = field(default_factory=list)

    def prepares(self, name):
        return False

    def ask(self, name, n_behind, n_unseen=0):
        limit = next((k for end, k in self.plan_ if self.n_done < end), 0)
        if limit:
            self.asked.append((n_behind, min(n_behind, self.part)))
        return Ask(limit, min(n_behind, self.part))

    def observe(self, step, kind, n_behind):
        self.n_done += step.emitted


@pytest.mark.parametrize("part", [10**6, 16])
@pytest.mark.parametrize("sampling", [GREEDY, WARM], ids=["greedy", "warm"])
@benches(kinds=KINDS)
def test_heads_draft_after_a_pause_what_those_draft_that_never_paused(bench, sampling, part):
    """Caught up with all: the same drafts; with a part: nearly as many are kept."""
    prompt = PROMPT[:200]
    plain, _ = bench.say(160, sampling, prompt=prompt)
    length = Planned(((30, 2), (90, 0), (160, 2)), part)
    got, steps = bench.say(160, sampling, length, prompt=prompt)
    assert got == plain
    returned = [step for step in steps if step.n_ctx > 200 + 92]
    assert max(behind for behind, _ in length.asked[5:]) >= (0 if bench.memory.heads.shares_memory else 50)
    assert sum(step.proposed for step in returned) > 30
    assert sum(step.accepted for step in returned) > 0.4 * len(returned)
    if part > 160:
        bench.memory.keep(0)
        at = [step.n_ctx for step in returned]
        _, steady = bench.say(160, sampling, Planned(((160, 2),)), prompt=prompt)
        known = {step.n_ctx: (step.proposed, step.accepted) for step in steady}
        same = [known[n] == (step.proposed, step.accepted) for n, step in zip(at, returned, strict=True) if n in known]
        assert sum(same) > 0.8 * len(same)


@dataclass
class OnPaper:
    """The real controller, on costs that no clock has measured."""

    inner: AutoLength
    rows_s: dict[int, float]
    token_s: float
    asked: list[int] = field(default_factory=list)

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def observe(self, step, kind, n_behind):
        verify_s = self.rows_s[min(n for n in self.rows_s if n >= step.n_rows)]
        draft_s = self.token_s * step.proposed
        self.inner.observe(structs.replace(step, verify_s=verify_s, draft_s=draft_s), kind, n_behind)


@benches(kinds=KINDS, mode="markov")
def test_the_controller_pauses_and_returns(bench):
    """Where earlier answers had gained nothing it begins with a pause, tries, catches up, and goes on drafting."""
    rows_s = {1: 0.1, 2: 0.105, 4: 0.11, 8: 0.12}
    known = Evidence(Costs(dict(rows_s), {NAME: DrafterCost(0.001, 0.0001)}))
    known.recall(Lessons({NAME: (0.5,) * 8}, {}, {}))
    prompt, n_tokens = PROMPT[:200], 400
    plain, _ = bench.say(n_tokens, prompt=prompt)
    known.begin_answer()
    policy = OnPaper(AutoLength(known, 4, n_tokens, models=frozenset([NAME])), rows_s, 0.001)
    policy.begin(2.0)
    got, steps = bench.say(n_tokens, length=policy, prompt=prompt, begins=False)
    assert got == plain
    drafted = "".join("d" if step.proposed else "." for step in steps)
    assert drafted.startswith("." * 16), "it never paused"
    assert "d" in drafted, "it never returned"
    late = steps[len(steps) // 2 :]
    assert sum(step.proposed > 0 for step in late) > 0.5 * len(late), "it did not go on after its return"
    assert sum(step.accepted for step in late) > 0.5 * len(late)
