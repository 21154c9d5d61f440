"""The controller with trees allowed against itself without, on scripted pairs and machines of given costs.

The loop, the drafters and the controller are the real ones; only the seconds of a step are the machine's: a pass by its
rows, a drafted token by the passes of the draft model that it took. Draft models draw as those do that are much smaller
than their targets.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace

import msgspec
import pytest

from app.engine.auto_length import AutoLength
from app.engine.drafters.draft_model import DraftModelDrafter
from app.engine.drafters.tree import TreeDrafter
from app.engine.foresight import Foresight
from app.engine.prompt_cache import Held
from app.engine.sampler import DRAFT_SHARPNESS, Sampler
from app.engine.speculate import Generation, speculate
from app.engine.watching import WatchingChooser
from app.protocol import Sampling
from tests.engine.played_answers import Machine
from tests.engine.scripted import ScriptedMemory
from tests.engine.test_auto_length import MACHINES

N_VOCAB, N_MAX, N_TOKENS, N_PROMPT, N_ANSWERS = 40, 8, 96, 48, 8
PREFILL_S = 0.01 * N_PROMPT
SEEDS = (1, 2, 3)
PAIRS = {"sure": (8.0, 0.05), "agrees": (6.0, 0.15), "wavers": (2.0, 0.4), "differs": (3.0, 2.0)}
"""How sure the models are, and how far apart."""


class OnAMachine(AutoLength):
    """The controller with a machine's seconds in place of measured ones; it sums them up."""

    def on(self, machine: Machine, draft: ScriptedMemory, rng: random.Random) -> OnAMachine:
        self.machine, self.draft, self.rng = machine, draft, rng
        self.n_seen, self.spent_s, self.n_branched = len(draft.batches), 0.0, 0
        return self

    def observe(self, step, kind, n_behind):
        m = self.machine
        drafted_s = sum(m.token_s + (n - 1) * m.caught_up_token_s for n, _rows in self.draft.batches[self.n_seen :])
        self.n_seen = len(self.draft.batches)
        took = {
            "draft_s": drafted_s * self.rng.gauss(1, m.noise),
            "verify_s": m.rows_s[step.n_rows] * self.rng.gauss(1, m.noise),
        }
        self.spent_s += took["draft_s"] + took["verify_s"]
        self.n_branched += step.depth > 0
        super().observe(msgspec.structs.replace(step, **took), kind, n_behind)


def answered_s(machine, pair, sampling, *, with_trees, seed):
    """Return the seconds of each of some answers of a pair that learns, and how many trees branched."""
    peakedness, blur = PAIRS[pair]
    how = {"n_vocab": N_VOCAB, "n_ctx": 1024, "peakedness": peakedness}
    target, draft = ScriptedMemory(**how), ScriptedMemory(**how, blur=blur)
    held, rng, known = Held(), random.Random(seed), machine.evidence()
    known.costs.drafters["tree"] = replace(known.costs.drafters["draft-simple"])
    found, n_branched = [], 0
    for n in range(N_ANSWERS):
        prompt = [random.Random(100 * n + i).randrange(N_VOCAB) for i in range(N_PROMPT)]
        target.rewind(0)
        target.decode(prompt, 1)
        sampler = Sampler(sampling, N_VOCAB, prompt)
        drafter = DraftModelDrafter(draft, held, sampler, sharpness=DRAFT_SHARPNESS)
        if with_trees:
            drafter = TreeDrafter(drafter, known.calibrations_of_tree(sampler.is_greedy), n_leaves_max=16)
        known.begin_answer()
        length = OnAMachine(known, N_MAX, N_TOKENS, sampler.is_greedy).on(machine, draft, rng)
        length.foresight = Foresight()
        chooser = WatchingChooser(sampler, length.foresight.sees)
        g = Generation(
            target, list(prompt), chooser, lambda _token: False, N_TOKENS, (drafter,), length, time.perf_counter()
        )
        length.begin(PREFILL_S)
        emitted = sum(outcome.step.emitted for outcome in speculate(g))
        assert emitted == N_TOKENS
        drafter.close()
        sampler.close()
        found.append(length.spent_s)
        n_branched += length.n_branched
    return found, n_branched


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("name", MACHINES)
def test_trees_cost_auto_nothing_and_no_answer(name, temperature):
    """A single pair may have luck or not in its first answers, which decide how long its drafter pauses."""
    machine, sampling, told = MACHINES[name], Sampling(4, temperature=temperature), {}
    plain_s = len(SEEDS) * N_ANSWERS * ((N_TOKENS - 1) * machine.rows_s[1] + PREFILL_S)
    for pair in PAIRS:
        runs = [answered_s(machine, pair, sampling, with_trees=trees, seed=n) for n in SEEDS for trees in (False, True)]
        took_s = (sum(sum(times_s) + N_ANSWERS * PREFILL_S for times_s, _ in runs[n::2]) for n in (0, 1))
        told[pair] = tuple(took_s)
        assert not any(n_branched for _, n_branched in runs[0::2])
        if (name, pair) == ("memory-bound", "agrees"):
            assert sum(n_branched for _, n_branched in runs[1::2]) > 10
    chains_s, trees_s = map(sum, zip(*told.values(), strict=True))
    assert chains_s / trees_s >= 0.98, told
    assert all(chain_s / tree_s >= 0.9 for chain_s, tree_s in told.values()), told
    assert all(plain_s / tree_s >= 0.98 for _, tree_s in told.values()), (plain_s, told)


@pytest.mark.parametrize("name", ["memory-bound", "between"])
def test_where_drafts_pay_and_words_are_drawn_trees_make_auto_faster(name):
    sampling = Sampling(4, temperature=0.8)
    chains_s, trees_s = (
        sum(sum(answered_s(MACHINES[name], "agrees", sampling, with_trees=t, seed=n)[0]) for n in SEEDS)
        for t in (False, True)
    )
    assert chains_s / trees_s > 1.02
