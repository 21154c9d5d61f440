"""Random schedules of the loop on the scripted model: whatever is asked of it, in whatever order, nothing is lost.

A schedule is a conversation of several answers. Each is drafted by some of the drafters in some order, with a fixed, a
rolling or a controlled length, and ends by itself, with a stop, at its limit, at the end of the context, by being
closed at some step, or because somebody fails or is cancelled in mid-decode, or because a grammar leads nowhere; then
the text is edited somewhere, its beginning may be dropped, the memory may be emptied, and the next one goes on. After
every step all memories must hold confirmed tokens only, and what was emitted so far must be what the model says token
by token, which is computed here without the loop.
"""

from __future__ import annotations

import collections
import random
import time
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app.engine.auto_length import AutoLength, Evidence
from app.engine.costs import Costs, DrafterCost
from app.engine.draft_length import Ask, FixedLength, RollingLength
from app.engine.drafters.draft_model import DraftModelDrafter
from app.engine.drafters.mtp import HeadsMemory, MtpDrafter
from app.engine.drafters.ngram import NgramDrafter
from app.engine.drafters.tree import TreeDrafter
from app.engine.llama import DecodeCancelledError, NothingAllowedError
from app.engine.prompt_cache import Held, reusable
from app.engine.sampler import DRAFT_SHARPNESS, Sampler
from app.engine.speculate import Generation, speculate
from app.errors import DecodeError
from app.protocol import Sampling
from tests.engine.scripted import ScriptedHeads, ScriptedMemory

N_VOCAB = 12
SAMPLINGS = (
    Sampling(5, temperature=0.0),
    Sampling(5, temperature=0.0, repeat_penalty=1.5, penalty_last_n=8),
    Sampling(6, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0),
    Sampling(7, temperature=0.8, top_k=6, repeat_penalty=1.3, penalty_last_n=16),
)
DRAFTERS = ("ngram", "draft", "mtp", "guess", "tree", "mtp-tree")

# --- schedules --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """What is loaded, and what it costs."""

    n_tail: int
    n_ctx: int
    n_rows_max: int
    n_batch: int
    n_batch_draft: int
    n_ctx_draft: int
    draft_can_rewind: bool
    n_rows_draft: int
    blur: float
    shares_memory: bool
    n_heads: int
    n_leaves_max: int
    row_s: float
    token_s: float
    catch_up_s: float


@dataclass(frozen=True)
class Turn:
    """One answer, and the edit after it."""

    sampling: Sampling
    drafters: tuple[str, ...]
    length: int | str
    draft_min: int
    p_min: float
    n_right: float
    max_tokens: int
    close_after: int | None
    stop_after: int | None
    stop_token: int | None
    fault: tuple[str, int, bool] | None
    n_rows: int | None
    grammar: tuple[int, int] | None
    sharpness: float
    lenient: float
    forgets: bool
    keep: float
    added: tuple[int, ...]
    tail: float
    slide: float


def rarely(what: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | st.none() | what


TOKENS = st.integers(0, N_VOCAB - 1)
MACHINES = st.builds(
    Machine,
    n_tail=st.sampled_from([2, 6]),
    n_ctx=st.integers(12, 120) | st.just(320),
    n_rows_max=st.integers(1, 32),
    n_batch=st.integers(32, 64),
    n_batch_draft=st.integers(1, 24),
    n_ctx_draft=st.integers(8, 160),
    draft_can_rewind=st.booleans(),
    n_rows_draft=st.sampled_from([1, 8, 25]),
    blur=st.sampled_from([0.0, 0.2, 1.0]),
    shares_memory=st.booleans(),
    n_heads=st.sampled_from([1, 3]),
    n_leaves_max=st.sampled_from([1, 2, 16]),
    row_s=st.sampled_from([0.01, 0.2, 1.0]),
    token_s=st.sampled_from([0.001, 0.05, 0.5]),
    catch_up_s=st.sampled_from([0.0, 0.01, 0.03]),
)
TURNS = st.builds(
    Turn,
    sampling=st.sampled_from(SAMPLINGS),
    drafters=st.lists(st.sampled_from(DRAFTERS), unique=True, max_size=3).map(tuple),
    length=st.sampled_from(["auto", "auto", "rolling"]) | st.integers(0, 31),
    draft_min=st.integers(0, 3),
    p_min=st.sampled_from([0.0, 0.0, 0.5]),
    n_right=st.floats(0, 1),
    max_tokens=st.integers(1, 80) | st.just(240),
    close_after=rarely(st.integers(1, 12)),
    stop_after=rarely(st.integers(1, 30)),
    stop_token=rarely(TOKENS),
    fault=rarely(
        st.tuples(st.sampled_from(["target", "draft", "mtp"]), st.integers(0, 1) | st.integers(0, 20), st.booleans())
    ),
    n_rows=rarely(st.integers(1, 32)),
    grammar=rarely(rarely(st.tuples(st.integers(2, 9), st.integers(0, 60)))),
    sharpness=st.sampled_from([1.0, DRAFT_SHARPNESS]),
    lenient=st.just(0.0),
    forgets=st.sampled_from([False, False, False, True]),
    keep=st.floats(0, 1),
    added=st.lists(TOKENS, min_size=1, max_size=20).map(tuple),
    tail=st.just(0.0) | st.floats(0, 1),
    slide=st.just(0.0) | st.just(0.0) | st.floats(0, 0.9),
)
SCHEDULES = st.tuples(MACHINES, st.lists(TOKENS, min_size=1, max_size=24), st.lists(TURNS, min_size=1, max_size=5))

TREES = (
    *(("tree",), ("ngram", "tree"), ("tree", "ngram"), ("guess", "tree"), ("mtp", "tree")),
    *(("mtp-tree",), ("mtp-tree", "ngram"), ("ngram", "mtp-tree"), ("draft", "mtp-tree")),
)
TREE_SCHEDULES = st.tuples(
    MACHINES,
    st.lists(TOKENS, min_size=1, max_size=24),
    st.lists(st.builds(replace, TURNS, drafters=st.sampled_from(TREES)), min_size=1, max_size=5),
)
"""The same with somebody in every answer who drafts token trees."""

LENIENT_SCHEDULES = st.tuples(
    MACHINES,
    st.lists(TOKENS, min_size=1, max_size=24),
    st.lists(st.builds(replace, TURNS, lenient=st.floats(0.1, 1)), min_size=1, max_size=5),
)
"""The same where some draft tokens are kept that are not the target's choice."""


# --- the actors -------------------------------------------------------------------------------------


class ScriptedGrammar:
    """Forbids some tokens after each, and after ``n_free`` tokens all: then it leads nowhere."""

    def __init__(self, every: int, n_free: int, state: int = 1, n: int = 0):
        self.every, self.n_free, self.state, self.n = every, n_free, state, n

    def allowed(self, ids):
        forbidden = (ids * 7 + self.state) % self.every == 0
        return ids[~forbidden] if self.n <= self.n_free else ids[:0]

    def accept(self, token: int) -> None:
        if not len(self.allowed(np.array([token]))):
            raise NothingAllowedError(f"not {token}")
        self.state, self.n = (self.state * 5 + token + 1) % 1009, self.n + 1

    def clone(self):
        return ScriptedGrammar(self.every, self.n_free, self.state, self.n)

    def close(self) -> None:
        pass


def new_sampler(turn: Turn, prompt: list[int]) -> Sampler:
    sampler = Sampler(turn.sampling, N_VOCAB, prompt)
    if turn.grammar is not None:
        sampler.keep_to(ScriptedGrammar(*turn.grammar))
    return sampler


class Guesser:
    """Drafts the right continuation, each token wrong with a given chance."""

    name = "guess"
    kind = "guess"

    def __init__(self, whole: list[int], n_right: float):
        self.whole, self.n_right = whole, n_right
        self.random = random.Random(len(whole))
        self.seen: list[int] = []

    def n_unseen(self, tokens):
        return 0

    def n_behind(self, tokens):
        return 0

    def begin(self, tokens):
        self.seen = list(tokens)

    def draft(self, tokens, ask):
        right = self.whole[len(tokens) : len(tokens) + ask.limit]
        return [t if self.random.random() < self.n_right else self.random.randrange(N_VOCAB) for t in right]

    def accept(self, tokens):
        self.seen = list(tokens)

    def close(self):
        pass


class OnAClock:
    """The controller with scripted times in place of measured ones, so that a schedule runs alike every time."""

    def __init__(self, length: AutoLength, machine: Machine):
        self._length, self._machine, self.n_reviews = length, machine, 0
        self.begin, self.prepares = length.begin, length.prepares
        self.trim, self.plan, self.overhears = length.trim, length.plan, length.overhears

    def ask(self, name, n_behind, n_unseen=0):
        ask = self._length.ask(name, n_behind, n_unseen)
        self.n_reviews += ask.n_review > 0
        return ask

    def observe(self, step, kind, n_behind):
        m = self._machine
        times = {
            "verify_s": 1 + m.row_s * step.proposed,
            "draft_s": m.token_s * step.proposed + m.catch_up_s * n_behind,
        }
        self._length.observe(msgspec.structs.replace(step, **times), kind, n_behind)


class Loaded:
    """What outlives an answer: the memories and what is known of them."""

    def __init__(self, machine: Machine):
        m = self.machine = machine
        how = {"n_vocab": N_VOCAB, "n_tail": m.n_tail}
        self.target = ScriptedMemory(
            **how, n_ctx=m.n_ctx, n_batch=m.n_batch, n_rows_max=m.n_rows_max, n_leaves_max=m.n_leaves_max
        )
        self.draft = ScriptedMemory(
            **how,
            n_ctx=m.n_ctx_draft,
            n_batch=m.n_batch_draft,
            n_rows_max=m.n_rows_draft,
            can_rewind=m.draft_can_rewind,
            blur=m.blur,
        )
        self.held = Held()
        self.heads = ScriptedHeads(
            self.target,
            n_batch=max(m.n_batch_draft, m.n_heads),
            shares_memory=m.shares_memory,
            blur=m.blur,
            n_heads=1 if m.shares_memory else m.n_heads,
        )
        self.heads_memory = HeadsMemory(self.heads, self.target)
        rows = range(1, m.n_rows_max + 1)
        names = ("draft-simple", "draft-mtp", "tree")
        drafters = {name: DrafterCost(m.token_s, m.catch_up_s) for name in names}
        self.evidence = Evidence(Costs({n: 1 + m.row_s * (n - 1) for n in rows}, drafters))

    def length(self, turn: Turn, sampler: Sampler):
        if turn.length == "auto":
            self.evidence.begin_answer()
            can_hear = not sampler.depends_on_history
            n_max = self.target.n_draft_max
            length = AutoLength(self.evidence, n_max, turn.max_tokens, sampler.is_greedy, can_hear=can_hear)
            return OnAClock(length, self.machine)
        if turn.length == "rolling":
            return RollingLength(self.target.n_draft_max)
        return FixedLength(turn.length)

    def drafter(self, name: str, turn: Turn, sampler: Sampler, whole: list[int]):
        how = {"draft_min": turn.draft_min, "p_min": turn.p_min}
        match name:
            case "ngram":
                return NgramDrafter(turn.draft_min)
            case "draft":
                return self.draft_model(turn, sampler, how)
            case "mtp":
                return MtpDrafter(self.heads_memory, sampler, **how)
            case "tree":
                return self.tree(self.draft_model(turn, sampler, how), sampler, how)
            case "mtp-tree":
                return self.tree(MtpDrafter(self.heads_memory, sampler, **how), sampler, how)
        return Guesser(whole, turn.n_right)

    def draft_model(self, turn: Turn, sampler: Sampler, how) -> DraftModelDrafter:
        return DraftModelDrafter(self.draft, self.held, sampler, **how, sharpness=turn.sharpness)

    def tree(self, source, sampler: Sampler, how) -> TreeDrafter:
        known = self.evidence.calibrations_of_tree(sampler.is_greedy)
        return TreeDrafter(source, known, n_leaves_max=self.target.n_leaves_max, **how)

    def able(self, names):
        """Leave out who would share a memory with a tree, and trees over heads that cannot go back."""
        shared = {"tree": "draft", "mtp-tree": "mtp"}
        can_branch = self.heads.n_heads == 1 and not self.heads.shares_memory
        names = [name for name in names if name != "mtp-tree" or can_branch]
        return [name for name in names if name not in {shared.get(other) for other in names}]

    def sees_all(self, name: str, turn: Turn) -> bool:
        """Whether a drafter is its target's equal, draws no surer, and has the whole text before it."""
        if name == "draft-simple" and turn.sharpness != 1.0:
            return False
        first = {"draft-simple": self.held.first, "draft-mtp": self.heads.first}.get(name)
        return self.machine.blur == 0 and first == 0

    def script_fault(self, turn: Turn) -> None:
        if turn.fault is None:
            return
        name, n, cancelled = turn.fault
        part = {"target": self.target, "draft": self.draft, "mtp": self.heads}[name]
        part.fault = DecodeCancelledError("cancelled") if cancelled else DecodeError("scripted failure")
        part.fail_at = n + (self.heads.n_decodes if part is self.heads else len(part.batches))

    @property
    def n_draft_faults(self) -> int:
        return self.draft.n_faults + self.heads.n_faults

    def forget_fault(self) -> None:
        for part in (self.target, self.draft, self.heads):
            part.fail_at = None

    def check(self, g: Generation, n_steps: int) -> None:
        """All memories hold confirmed tokens only.

        The first step asks nobody, so until the second a draft model may still hold another text, and know it.
        """
        assert self.target.held == g.tokens[:-1]
        assert self.draft.held == self.held.tokens
        for drafter in g.drafters if n_steps > 1 else ():
            match drafter._source if isinstance(drafter, TreeDrafter) else drafter:
                case DraftModelDrafter():
                    assert self.held.tokens == g.tokens[self.held.first : self.held.end]
                    assert self.held.end < len(g.tokens)
                case MtpDrafter():
                    for head in range(0 if self.heads.shares_memory else self.heads.n_heads):
                        fed, first = self.heads.fed(head), self.heads.first
                        assert not self.heads.n_drafted(head)
                        assert fed == g.tokens[:-1][first : first + len(fed)]
                case Guesser():
                    assert drafter.seen == g.tokens


def plain(target: ScriptedMemory, prompt: list[int], turn: Turn, instead: dict[int, int] | None = None) -> list[int]:
    """Return what the answer must be, token by token and without a memory.

    ``instead`` holds by position what was leniently kept in place of the target's choice.
    """
    sampler, tokens = new_sampler(turn, prompt), list(prompt)
    try:
        while True:
            token = sampler.choose(target.row_after(tokens), len(tokens))
            token = (instead or {}).get(len(tokens), token)
            sampler.accept(token)
            tokens.append(token)
            n = len(tokens) - len(prompt)
            if n == turn.max_tokens or n == turn.stop_after or token == turn.stop_token or len(tokens) > target.n_ctx:
                break
    except NothingAllowedError:
        pass
    sampler.close()
    return tokens[len(prompt) :]


# --- a schedule -------------------------------------------------------------------------------------


def prefill(loaded: Loaded, prompt: list[int], *, forgets: bool = False) -> None:
    """Bring the target to the prompt as a session does: keep what is shared, evaluate the rest in batches."""
    target = loaded.target
    target.rewind(0 if forgets else reusable(target.held, prompt))
    while target.n_past < len(prompt):
        target.decode(prompt[target.n_past : target.n_past + target.n_batch], 1)


def answer(loaded: Loaded, prompt: list[int], turn: Turn, seen: collections.Counter) -> list[int]:
    """Play one answer, checked after every step; return the text with it."""
    expected = plain(loaded.target, prompt, turn)
    sampler = new_sampler(turn, prompt)
    names = loaded.able(turn.drafters)
    drafters = [loaded.drafter(name, turn, sampler, prompt + expected) for name in names]
    asked: list[int] = []
    instead: dict[int, int] = {}
    mood = random.Random(len(expected))

    def keeps(row, token: int) -> bool:
        if turn.lenient < mood.random() or not sampler.allows(token):
            return False
        instead[len(g.tokens)] = token
        return True

    def is_last(token: int) -> bool:
        asked.append(token)
        return len(asked) == turn.stop_after or token == turn.stop_token

    length = loaded.length(turn, sampler)
    if drafters:
        loaded.heads_memory.agree(prompt)  # as a session does before it evaluates a prompt
    prefill(loaded, prompt, forgets=turn.forgets)
    loaded.script_fault(turn)
    g = Generation(
        target=loaded.target,
        tokens=list(prompt),
        chooser=sampler,
        is_last=is_last,
        max_tokens=turn.max_tokens,
        drafters=(),
        length=length,
        origin_s=time.perf_counter(),
        n_rows=min(turn.n_rows or 0, loaded.target.n_rows_max),
        keeps=keeps if turn.lenient else None,
    )
    is_whole = False
    try:
        g.drafters = begin(drafters, g, seen)
        length.begin(0.0)
        is_whole = steps(loaded, g, turn, len(prompt), seen)
    except DecodeCancelledError:
        seen["cancelled in mid-decode"] += 1
    except NothingAllowedError:
        seen["grammar led nowhere"] += 1
        assert turn.grammar is not None
        is_whole = True
    except DecodeError:
        seen["target failed"] += 1
        may_fail = turn.fault is not None and turn.fault[0] == "target"
        assert may_fail
    loaded.forget_fault()
    seen["reviewed"] += getattr(length, "n_reviews", 0)
    assert "cancelled" not in g.drafter_fault, "a cancel is nobody's fault"
    if asked:
        loaded.check(g, n_steps=min(2, len(asked)))
    seen["leniently kept"] += len(instead)
    expected = plain(loaded.target, prompt, turn, instead)
    assert g.tokens == prompt + (expected if is_whole else expected[: len(g.tokens) - len(prompt)])
    assert asked == g.tokens[len(prompt) :]
    assert loaded.target.held == (g.tokens[:-1] if asked else prompt)
    for drafter in drafters:
        drafter.close()
    sampler.close()
    assert loaded.draft.held == loaded.held.tokens
    return g.tokens


def begin(drafters: list, g: Generation, seen: collections.Counter) -> tuple:
    """Let those catch up with the prompt that should; leave out one that fails, as a session does."""
    able = []
    for drafter in drafters:
        try:
            if g.length.prepares(drafter.name):
                drafter.begin(g.tokens)
        except DecodeCancelledError:
            raise
        except DecodeError:
            seen["failed to begin"] += 1
        else:
            able.append(drafter)
    return tuple(able)


def steps(loaded: Loaded, g: Generation, turn: Turn, n_prompt: int, seen: collections.Counter) -> bool:
    """Take the steps; return whether the answer came to its own end."""
    loop = speculate(g)
    n_emitted, t_s, n_faults = 0, 0.0, loaded.n_draft_faults
    for n, outcome in enumerate(loop, 1):
        step = outcome.step
        n_emitted += step.emitted
        assert list(outcome.token_ids) == g.tokens[n_prompt:][n_emitted - step.emitted :]
        assert len(g.tokens) == n_prompt + n_emitted
        assert step.emitted == len(outcome.drafted) >= 1
        assert 0 <= step.accepted <= step.judged <= step.proposed <= step.limit
        assert step.limit <= loaded.target.n_draft_max
        assert step.judged - step.accepted in (0, 1)
        assert outcome.drafted == tuple(i < step.accepted for i in range(step.emitted))
        assert step.n_ctx == loaded.target.n_past
        assert step.t_s >= t_s
        assert n == 1 or loaded.target.batches[-1] == (step.n_rows, step.n_rows)
        n_wanted = min(g.n_rows, loaded.target.n_ctx - (step.n_ctx - step.emitted))
        assert n == 1 or step.n_rows == max(step.proposed + 1, n_wanted)
        assert step.depth <= step.proposed
        seen["branched"] += step.depth > 0
        seen["padded"] += step.rows > 0
        if loaded.sees_all(step.drafter, turn):
            assert step.accepted == step.judged, "the same model with the same noise says the same"
            seen["sees all"] += step.proposed > 0
        loaded.check(g, n)
        t_s = step.t_s
        seen["steps"] += 1
        seen["tokens"] += step.emitted
        seen[f"kept of {step.drafter or 'nobody'}"] += step.accepted
        seen["began in the middle"] += step.drafter == "draft-simple" and loaded.held.first > 0
        seen["rejected"] += step.judged - step.accepted
        if n == turn.close_after:
            loop.close()
            loaded.check(g, n)
            seen["closed"] += 1
            return False
    assert loaded.n_draft_faults - n_faults == bool(g.drafter_fault), "a drafter that failed is asked once and told of"
    seen["drafter failed"] += bool(g.drafter_fault)
    seen["context full"] += loaded.target.n_past == loaded.target.n_ctx
    seen["came to an end"] += 1
    return True


def play(schedule, seen: collections.Counter) -> None:
    machine, prompt, turns = schedule
    loaded = Loaded(machine)
    prompt = prompt[: machine.n_ctx - 1]
    for turn in turns:
        text = answer(loaded, prompt, turn, seen)
        n_keep, n_tail = int(turn.keep * len(text)), int(turn.tail * len(text))
        prompt = [*text[:n_keep], *turn.added, *text[len(text) - n_tail :]]
        prompt = prompt[int(turn.slide * len(prompt)) :][: machine.n_ctx - 1]
        seen["turns"] += 1
        seen["slid"] += turn.slide > 0
        seen["edited in the middle"] += n_tail > 0


def run(n_schedules: int, *, always_the_same: bool = False, schedules=SCHEDULES) -> collections.Counter:
    """Play so many schedules; return how often what happened in them."""
    seen: collections.Counter = collections.Counter()

    @settings(
        max_examples=n_schedules,
        deadline=None,
        derandomize=always_the_same,
        phases=[phase for phase in Phase if phase is not Phase.explain],  # takes minutes
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(schedules)
    def any_schedule(schedule):
        seen["schedules"] += 1
        play(schedule, seen)

    any_schedule()
    return seen


HAPPENS = (
    "kept of ngram", "kept of draft-simple", "kept of draft-mtp", "kept of guess", "rejected", "closed",
    "came to an end", "context full", "sees all", "cancelled in mid-decode", "target failed", "drafter failed",
    "failed to begin", "began in the middle", "kept of tree", "branched", "padded", "grammar led nowhere", "reviewed",
    "slid", "edited in the middle",
)  # fmt: skip

HAPPENS_TO_TREES = (
    "kept of tree", "branched", "padded", "rejected", "closed", "came to an end", "context full", "sees all",
    "cancelled in mid-decode", "target failed", "drafter failed", "grammar led nowhere", "reviewed", "slid",
    "edited in the middle",
)  # fmt: skip


def test_random_schedules():
    seen = run(200, always_the_same=True)
    assert all(seen[what] for what in HAPPENS[:9]), seen


def test_random_schedules_with_trees():
    seen = run(50, always_the_same=True, schedules=TREE_SCHEDULES)
    assert all(seen[what] for what in ("kept of tree", "branched", "padded", "rejected")), seen


@pytest.mark.parametrize("n_schedules", [50, pytest.param(2000, marks=[pytest.mark.full, pytest.mark.timeout(3600)])])
def test_random_schedules_with_lenient_acceptance(n_schedules):
    seen = run(n_schedules, always_the_same=True, schedules=LENIENT_SCHEDULES)
    assert all(seen[what] for what in ("leniently kept", "rejected", "closed")), seen


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_two_thousand_random_schedules_with_trees():
    seen = run(2000, schedules=TREE_SCHEDULES)
    print("\n" + ", ".join(f"{what}: {n}" for what, n in sorted(seen.items())))
    assert seen["schedules"] >= 2000
    assert all(seen[what] > 50 for what in HAPPENS_TO_TREES), seen


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_ten_thousand_random_schedules():
    seen = run(10_000)
    print("\n" + ", ".join(f"{what}: {n}" for what, n in sorted(seen.items())))
    assert seen["schedules"] >= 10_000
    assert all(seen[what] > 50 for what in HAPPENS), seen


def test_rows_of_another_text_are_not_taken_for_those_of_this_one():
    """Two chats with the same token at a position where nobody watched: the row before it belongs to the first one."""
    target = ScriptedMemory(n_ctx=64)
    heads = ScriptedHeads(target)
    memory = HeadsMemory(heads, target)
    target.decode([5, 6, 7], 1)
    memory.watch(True)
    memory.agree([5, 6, 7, 8])
    target.decode([8], 1)
    memory.watch(False)
    target.rewind(0)
    target.decode([1, 2, 3, 8], 1)
    memory.watch(True)
    memory.agree([1, 2, 3, 8, 9])
    target.decode([9], 1)
    assert not memory.feed([1, 2, 3, 8, 9, 4], last=False)


def test_a_branch_is_fed_again_in_batches_that_the_heads_can_take():
    """Whoever comes back to a branch after another feeds all of it: more than a batch may hold."""
    target = ScriptedMemory(n_ctx=64)
    heads = ScriptedHeads(target, n_batch=1)
    memory = HeadsMemory(heads, target)
    sampler = Sampler(Sampling(seed=1, temperature=0.0), target.n_vocab)
    source = MtpDrafter(memory, sampler)
    text = [5, 6, 7, 8]
    source.begin(text)
    target.decode(text[:3], 1)
    assert source.open(text, Ask(4, 3)) == 4
    rows = [source.row_after(text, path) for path in ([1], [1, 2], [1, 2, 3])]
    source.row_after(text, [4])
    assert np.array_equal(source.row_after(text, [1, 2, 3]), rows[-1])
    assert heads.fed(0)[-3:] == [1, 2, 3]
    source.close()
    sampler.close()
