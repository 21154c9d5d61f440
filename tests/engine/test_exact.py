"""Up to how many rows a pass has the logits of one row is seen at load, and drafts can be kept within."""

from __future__ import annotations

import platform

import pytest

from app.engine.warm_up import _next_to_compare, learn_rows, words
from app.protocol import MemoryTypes
from tests.engine.sessions import answer, load

REPEATS = "Repeat this line: the quick brown fox jumps over the lazy dog. the quick brown fox jumps over"


def test_quantised_weights_round_alike_for_several_rows(session, tiny_pair):
    loaded = load(session, tiny_pair.target)
    assert loaded.n_rows_alike >= 4
    text = answer(session, REPEATS, types=("ngram",), k=8, speculation={"exact": True})
    assert text.started.engagement.engaged
    assert 1 <= text.started.engagement.draft_tokens <= loaded.n_rows_alike - 1


def test_kernels_that_change_with_the_rows_are_seen(session, tiny_k_quants):
    """ggml has other kernels for K-quants from 4 or 8 rows on x86; where they do not exist, all are alike."""
    load(session, tiny_k_quants)
    context = session._pair.target.context
    tokens = words(session._pair.target.model, context.n_rows_max)
    seen = learn_rows(context, tokens)
    context.decode(tokens[:1], 1)
    one = context.row(0).copy()
    context.rewind(0)
    context.decode(tokens[:8], 8)
    is_alike = bool((context.row(0) == one).all())
    context.rewind(0)
    assert (seen.n_alike >= 8) == is_alike
    if platform.machine() == "x86_64":
        assert seen.n_alike < 8, "the kernel is gone, or this no longer sees it"


def test_a_memory_with_two_paths_promises_nothing_and_takes_nothing(session, tiny_pair):
    loaded = load(session, tiny_pair.target, memory=MemoryTypes("f16", "f16"))
    assert loaded.n_rows_alike == 1
    got = answer(session, REPEATS, types=("ngram",), k=8)
    assert got.started.engagement.draft_tokens == 8


@pytest.mark.skipif(platform.machine() != "x86_64", reason="no other kernel changes with the rows")
def test_drafts_stay_below_the_kernel_that_rounds_otherwise(session, tiny_k_quants):
    loaded = load(session, tiny_k_quants)
    assert 1 < loaded.n_rows_alike < 8  # 7 where AMX multiplies, 3 where AVX-512 does
    ask = {"types": ("ngram",), "k": 15, "max_tokens": 96}
    plain = answer(session, REPEATS, max_tokens=96)
    exact = answer(session, REPEATS, **ask)
    longer = answer(session, REPEATS, **ask, speculation={"exact": False})
    assert exact.token_ids == plain.token_ids
    assert max(step.proposed for step in exact.steps) < loaded.n_rows_alike
    assert exact.started.engagement.n_exact == loaded.n_rows_alike - 1
    assert any(notice.code == "draft_cut" for notice in exact.started.notices)
    assert not longer.started.notices
    assert longer.started.engagement.draft_tokens == 15


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ({1: True}, 8),
        ({1: True, 2: True, 4: True, 8: False}, 6),
        ({1: True, 2: True, 4: True, 6: True, 8: False}, 7),
        ({1: True, 2: True, 4: True, 6: True, 7: True, 8: False}, None),
        ({1: True, 2: True, 4: True, 8: True, 16: True}, None),
        ({1: True, 2: False, 8: False}, None),
    ],
)
def test_where_kernels_change_is_narrowed_down(seen, expected):
    assert _next_to_compare(seen, 32) == expected
