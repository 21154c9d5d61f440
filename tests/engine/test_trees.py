"""Token trees on llama.cpp: the text is that of plain decoding, bit for bit where its kernels are; else a chain."""

from __future__ import annotations

import random
import time
from itertools import accumulate

import numpy as np
import pytest

from app.engine.drafters import TokenTree
from app.engine.engage import SHAPE_ASKED, SHAPE_OF_DEVICE
from app.engine.llama import Context, Model, Shape, count_passes
from app.engine.llama.branches import N_SPARE_CELLS, leaves_below
from app.engine.tree_check import TREE, TreeCheck, check_trees, note_trees
from app.placement import Placement
from app.protocol import MemoryTypes, Sampling
from tests.engine.scripted import ScriptedMemory
from tests.engine.sessions import GREEDY, WARM, answer, load
from tests.fixtures import tiny_mtp

PROMPTS = (
    "Write a Python function that reverses a string, then show how to call it.",
    "Describe a bicycle to somebody who has never seen one.",
)
PENALISED = Sampling(seed=9, temperature=1.0, top_k=60, top_p=0.97, min_p=0.02, repeat_penalty=1.1)


@pytest.fixture
def pair(session, tiny_pair):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512, trees=True)
    return session


def _branched(steps):
    return sum(step.depth > 0 for step in steps)


@pytest.mark.parametrize("sampling", [GREEDY, WARM, PENALISED])
def test_trees_do_not_change_the_text(pair, sampling):
    n_branched = n_kept = 0
    for prompt in PROMPTS:
        plain = answer(pair, prompt, sampling, max_tokens=96)
        for k in (3, 6, "auto"):
            got = answer(pair, prompt, sampling, ("tree",), k, max_tokens=96)
            assert got.started.engagement.drafter == "tree"
            assert got.token_ids == plain.token_ids
            n_branched += _branched(got.steps)
            n_kept += sum(step.accepted for step in got.steps)
            assert all(0 <= step.depth <= step.proposed for step in got.steps)
    assert n_branched > 10 or sampling is GREEDY  # a sure drafter has no reason to
    assert n_kept > 50


@pytest.mark.parametrize("sampling", [GREEDY, WARM])
def test_cancel_stop_strings_and_edits_leave_the_memory_right(pair, sampling):
    prompt = PROMPTS[0]
    plain = answer(pair, prompt, sampling, max_tokens=64)
    cancelled = answer(pair, prompt, sampling, ("tree",), 6, max_tokens=64, cancel_after=5)
    assert cancelled.token_ids == plain.token_ids[: len(cancelled.token_ids)]
    stop = plain.text[20:23]
    until = answer(pair, prompt, sampling, max_tokens=64, stop=(stop,))
    assert answer(pair, prompt, sampling, ("tree",), 6, max_tokens=64, stop=(stop,)).text == until.text
    longer = prompt + plain.text[:15] + " and then"
    expected = answer(pair, longer, sampling, max_tokens=64, reuse_memory=False)
    got = answer(pair, longer, sampling, ("tree",), 6, max_tokens=64)
    assert got.token_ids == expected.token_ids
    assert got.started.cached_tokens > 0, "what both prompts begin with was at hand"
    assert answer(pair, prompt, sampling, ("ngram", "tree"), 6, max_tokens=64).token_ids == plain.token_ids


def test_trees_keep_to_a_grammar(pair):
    grammar = Sampling(seed=5, temperature=0.8, grammar='root ::= ("a" | "b" | "cd")+ "."')
    plain = answer(pair, PROMPTS[0], grammar, max_tokens=40)
    assert answer(pair, PROMPTS[0], grammar, ("tree",), 6, max_tokens=40).token_ids == plain.token_ids


def test_the_order_of_cells_stays_that_of_the_text(tiny_pair):
    """Side branches are kept at random until the spare cells were used up several times; every row stays the same."""
    rng = random.Random(2)
    model = Model(str(tiny_pair.target))
    shape = Shape(n_ctx=400, n_threads=1, n_rows_max=8)
    trees = Context(model, Shape(n_ctx=400, n_threads=1, n_rows_max=8, n_leaves_max=8))
    line = Context(model, shape)
    n_closed = 0
    try:
        for _ in range(4000):
            if n_closed == 2:
                break
            if trees.n_past > 380:
                keep = rng.randrange(10, 300)
                trees.rewind(keep)
                line.rewind(keep)
            before = trees._branches.n_left_behind
            n = rng.randrange(2, 7)
            parents = [-1, *(rng.randrange(max(0, i - 3), i) for i in range(1, n))]
            tokens = [rng.randrange(3, model.n_vocab) for _ in range(n)]
            path, node = [], rng.randrange(n)
            while node >= 0:
                path.insert(0, node)
                node = parents[node]
            trees.decode_tree(tokens, parents)
            rows = [trees.row(node).copy() for node in path]
            trees.keep_path(path)
            n_closed += trees._branches.n_left_behind < before
            for node, row in zip(path, rows, strict=True):
                line.decode([tokens[node]], 1)
                assert np.array_equal(line.row(0), row)
            assert trees.n_past == line.n_past
        assert n_closed == 2
        assert trees._branches.n_left_behind <= N_SPARE_CELLS
    finally:
        trees.close()
        line.close()
        model.close()


def test_leaves_and_trees_as_values():
    assert leaves_below([-1, 0, 0, 1]) == [[0, 1], [1], [0], [1]]
    tree = TokenTree((5, 6, 7), (-1, -1, 0))
    assert (tree.depth, tree.is_chain, len(tree.cut(1))) == (2, False, 1)
    assert TokenTree((5, 6), (-1, 0)).is_chain


# --- the check -------------------------------------------------------------------------------------


def test_this_target_passes_the_check_and_it_is_said(session, tiny_pair):
    loaded = load(session, tiny_pair.target, tiny_pair.draft, trees=True)
    assert "tree" in loaded.drafters
    notice = next(notice for notice in loaded.notices if notice.code == "token_trees")
    assert "one pass, rows bit for bit those of a line" in notice.message


def test_nothing_changes_where_no_trees_were_asked_for(session, tiny_pair):
    loaded = load(session, tiny_pair.target, tiny_pair.draft)
    assert "tree" not in loaded.drafters
    assert not loaded.notices
    assert session._pair.target.context.n_leaves_max == 0
    got = answer(session, PROMPTS[0], types=("tree",), k=4)
    assert got.started.engagement.drafter == "draft-simple"
    assert "not loaded for token trees. A chain is drafted instead." in got.started.engagement.reason


def test_without_anybody_to_branch_nothing_is_engaged(session, tiny_pair):
    loaded = load(session, tiny_pair.target, trees=True)
    got = answer(session, PROMPTS[0], types=("tree",), k=4, max_tokens=2).started.engagement
    assert not got.engaged
    assert got.reason == loaded.not_engageable["tree"]
    assert "No draft model" in got.reason


def test_a_hybrid_target_drafts_a_chain_and_says_why(session, tmp_path):
    loaded = load(session, tiny_mtp.qwen35_embedded(tmp_path / "tiny.gguf"), trees=True)
    assert "running state" in loaded.not_engageable["tree"]
    got = answer(session, PROMPTS[0], types=("tree",), k=3, max_tokens=16)
    assert got.started.engagement.drafter == "draft-mtp"
    assert "running state" in got.started.engagement.reason
    assert not _branched(got.steps)


def test_a_hybrid_target_takes_a_pass_a_branch(tmp_path):
    """What the check would see if it did not know better: llama.cpp splits the tree."""
    model = Model(str(tiny_mtp.qwen35_embedded(tmp_path / "tiny.gguf")))
    try:
        assert count_passes(model, TREE) > 1
    finally:
        model.close()


@pytest.mark.parametrize("sampling", [GREEDY, WARM])
def test_trees_stay_below_the_kernel_that_rounds_otherwise(session, tiny_pair, tiny_k_quants, sampling):
    loaded = load(session, tiny_k_quants, tiny_pair.draft, n_ctx=512, trees=True)
    if loaded.n_rows_alike > 15:
        pytest.skip("no kernel of this machine changes with the rows")
    plain = answer(session, PROMPTS[0], sampling, max_tokens=64)
    for k in (15, "auto"):
        got = answer(session, PROMPTS[0], sampling, ("tree",), k, max_tokens=64)
        assert got.token_ids == plain.token_ids
        assert max(step.n_rows for step in got.steps) <= loaded.n_rows_alike
        assert got.started.engagement.n_exact == loaded.n_rows_alike - 1
        assert [notice.code for notice in got.started.notices] == (["draft_cut"] if k == 15 else [])
    longer = answer(session, PROMPTS[0], sampling, ("tree",), 15, max_tokens=64, speculation={"exact": False})
    assert max(step.n_rows for step in longer.steps) > loaded.n_rows_alike
    assert not longer.started.engagement.n_exact


def test_where_a_tree_rounds_otherwise_than_a_line_a_chain_is_drafted_unless_any_rounding_will_do(pair):
    pair._pair.are_trees_alike = False  # as the check says where attention adds up in another order
    got = answer(pair, PROMPTS[0], WARM, ("tree",), 6, max_tokens=24).started.engagement
    assert got.drafter == "draft-simple"
    assert "other rounding than a line" in got.reason
    assert "--any-rounding" in got.reason
    assert got.reason.endswith("A chain is drafted instead.")
    loose = answer(pair, PROMPTS[0], WARM, ("tree",), 6, max_tokens=24, speculation={"exact": False})
    assert loose.started.engagement.drafter == "tree"
    assert not loose.started.engagement.reason


def test_a_target_that_takes_a_tree_in_several_passes_drafts_a_chain_and_says_why(session, tiny_pair):
    load(session, tiny_pair.target, trees=True)
    note_trees(session._pair, TreeCheck(n_passes=3, difference=0.0, chain_s=1.0, tree_s=1.0))
    loaded = load(session, tiny_pair.target, tiny_pair.draft, trees=True)
    assert "takes 3 passes" in loaded.not_engageable["tree"]
    plain = answer(session, PROMPTS[0], WARM, max_tokens=32)
    got = answer(session, PROMPTS[0], WARM, ("tree",), 4, max_tokens=32)
    assert got.token_ids == plain.token_ids
    assert got.started.engagement.drafter == "draft-simple"
    assert "takes 3 passes" in got.started.engagement.reason
    assert got.started.engagement.reason.endswith("A chain is drafted instead.")
    assert not _branched(got.steps)


class Strange(ScriptedMemory):
    """A target whose rows in a tree are not those of a line."""

    def decode_tree(self, tokens, parents):
        super().decode_tree(tokens, parents)
        self._rows = [row + 1 for row in self._rows]


def test_what_the_check_refuses_it_says():
    assert not check_trees(ScriptedMemory(n_vocab=200), lambda: 1).why_not
    assert "takes 4 passes" in check_trees(ScriptedMemory(n_vocab=200), lambda: 4).why_not
    assert "refuses token trees" in check_trees(ScriptedMemory(n_vocab=200), lambda: 0).why_not
    assert "not those of the same tokens" in check_trees(Strange(n_vocab=200), lambda: 1).why_not
    assert "2.0 times as long" in TreeCheck(1, 0.0, 0.1, 0.2).why_not
    assert not TreeCheck(1, 0.0, 0.0001, 0.0002).why_not
    memory = ScriptedMemory(n_vocab=200)
    check_trees(memory, lambda: 1)
    assert not memory.held


@pytest.mark.parametrize("n_draft_max", [2, 3, 4])
def test_where_drafts_are_short_a_small_tree_is_compared(n_draft_max):
    assert (
        "not those of the same tokens"
        in check_trees(Strange(n_vocab=200, n_rows_max=n_draft_max + 1), lambda: 1).why_not
    )
    assert not check_trees(ScriptedMemory(n_vocab=200, n_rows_max=n_draft_max + 1), lambda: 1).why_not


def test_a_draft_of_one_token_has_no_branches(session, tiny_pair):
    loaded = load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512, trees=True, draft_max=1)
    assert "tree" not in loaded.drafters
    assert "at least two tokens" in loaded.not_engageable["tree"]
    assert not loaded.notices


def test_of_several_heads_none_branches_and_it_says_so(session, tmp_path):
    path = tiny_mtp.hy_v3_chain(tmp_path / "tiny.gguf", agrees=(0.75, 0.75))
    loaded = load(session, path, n_ctx=512, trees=True)
    assert "draft-mtp" in loaded.drafters
    assert loaded.not_engageable["tree"] == "Of MTP heads only a single one can branch: this target has 2 in a chain."


class HeldUp(ScriptedMemory):
    """A target whose first trees are held up by something else that the machine does."""

    n_slow = 0

    def decode_tree(self, tokens, parents):
        if self.n_slow and len(tokens) == 8:
            self.n_slow -= 1
            time.sleep(0.03)
        super().decode_tree(tokens, parents)


@pytest.mark.parametrize(("n_slow", "is_refused"), [(5, False), (100, True)])
def test_a_machine_that_is_busy_for_a_moment_does_not_refuse_trees(n_slow, is_refused):
    memory = HeldUp(n_vocab=200)
    memory.n_slow = n_slow
    assert ("times as long" in check_trees(memory, lambda: 1).why_not) == is_refused


# --- fixed shape and lenient acceptance -------------------------------------------------------------


class Counted:
    """A context that notes how many rows each batch has."""

    def __init__(self, context):
        self._context, self.n_rows = context, []

    def __getattr__(self, name):
        return getattr(self._context, name)

    def decode(self, tokens, n_rows):
        self.n_rows.append((len(tokens), n_rows))
        self._context.decode(tokens, n_rows)

    def decode_tree(self, tokens, parents):
        self.n_rows.append((len(tokens), len(parents)))
        self._context.decode_tree(tokens, parents)


@pytest.mark.parametrize("sampling", [GREEDY, WARM])
@pytest.mark.parametrize("types", [("draft-simple",), ("ngram",), ("tree",)])
@pytest.mark.parametrize(("k", "n_rows"), [(3, 4), ("auto", 5), ("rolling", 5)])
def test_fixed_shape_has_one_row_count_and_the_same_text(pair, sampling, types, k, n_rows):
    plain = answer(pair, PROMPTS[0], sampling, max_tokens=48)
    target = pair._pair.target
    target.context = counted = Counted(target.context)
    got = answer(pair, PROMPTS[0], sampling, types, k, max_tokens=48, speculation={"fixed_shape": True})
    target.context = counted._context
    assert got.token_ids == plain.token_ids
    assert {step.n_rows for step in got.steps[1:]} == {n_rows}
    (notice,) = got.started.notices
    assert f"every pass has {n_rows} rows" in notice.message
    assert "times as long as one of a single token" in notice.message
    assert set(counted.n_rows[-len(got.steps) + 1 :]) == {(n_rows, n_rows)}, "the batches themselves"
    assert len(counted.n_rows) == len(got.steps), "one pass took in what was new of the prompt"


@pytest.mark.parametrize("types", [("draft-simple",), ("tree",)])
@pytest.mark.parametrize("sampling", [GREEDY, WARM])
def test_a_fixed_length_of_a_model_has_these_rows_anyway_but_at_the_end_and_below_p_min(pair, sampling, types):
    """Where a fixed shape pads nothing it costs nothing: as is said of it."""
    got, unsure = (
        answer(pair, PROMPTS[0], sampling, types, 4, max_tokens=60, speculation={"p_min": p}) for p in (0.0, 0.9)
    )
    n_come = list(accumulate(step.emitted for step in got.steps))
    rows = [step.n_rows for step, n in zip(got.steps[1:], n_come, strict=False) if 60 - n > 4]
    assert len(rows) > 8
    assert set(rows) == {5}
    assert min(step.n_rows for step in unsure.steps[1:-2]) < 5


@pytest.mark.parametrize("types", [("ngram",), ("draft-simple",), ("tree",)])
def test_a_shape_that_the_device_needs_says_what_it_costs_too(session, tiny_pair, types):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512, trees=True)
    plain = answer(session, PROMPTS[0], WARM, max_tokens=48)
    assert not plain.started.n_rows
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512, trees=True, placement=Placement(fixed_shape=True))
    got = answer(session, PROMPTS[0], WARM, types, 3, max_tokens=48)
    assert got.token_ids == plain.token_ids
    assert ({step.n_rows for step in got.steps[1:]}, got.started.n_rows) == ({4}, 4)
    (notice,) = got.started.notices
    assert (notice.code, notice.hint) == ("fixed_shape", SHAPE_OF_DEVICE)
    assert "times as long as one of a single token" in notice.message
    asked = answer(session, PROMPTS[0], WARM, types, 3, max_tokens=8, speculation={"fixed_shape": True})
    assert [one.hint for one in asked.started.notices] == [SHAPE_ASKED]
    assert not answer(session, PROMPTS[0], WARM, max_tokens=8).started.notices, "plain passes have one row"


def test_lenient_keeps_more_and_is_called_lossy(session, tiny_pair):
    load(session, tiny_pair.target, tiny_pair.draft, n_ctx=512, memory=MemoryTypes())
    kept = {}
    for lenient in (0.0, 0.01):
        got = [
            answer(session, p, WARM, ("draft-simple",), 4, max_tokens=96, speculation={"lenient": lenient})
            for p in PROMPTS
        ]
        kept[lenient] = sum(len(one.token_ids) for one in got) / sum(len(one.steps) for one in got)
        assert all(("lossy" in one.started.engagement.drafter) == (lenient > 0) for one in got)
    assert kept[0.0] < kept[0.01]


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(seed=3, temperature=4.0, top_k=0, top_p=1.0, min_p=0.0)])
def test_one_head_with_a_memory_of_its_own_branches_too(session, tmp_path, sampling):
    loaded = load(session, tiny_mtp.hy_v3_chain(tmp_path / "tiny.gguf", agrees=(0.75,)), n_ctx=512, trees=True)
    assert "tree" in loaded.drafters
    plain = answer(session, PROMPTS[0], sampling, max_tokens=64)
    got = answer(session, PROMPTS[0], sampling, ("tree",), 6, max_tokens=64)
    assert got.token_ids == plain.token_ids
    assert (_branched(got.steps) > 0) == (sampling is not GREEDY)
    assert any(step.accepted for step in got.steps)
