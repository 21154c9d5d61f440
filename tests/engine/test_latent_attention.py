"""Models whose K and V are one memory: llama.cpp takes them with one type for both only."""

from __future__ import annotations

import pytest

from app.engine.cancel import CancelFlag
from app.engine.llama import Context, Model, Shape
from app.engine.loading import load_target
from app.protocol import Load, MemoryTypes
from tests.benchmarks.attention import difference
from tests.fixtures import tiny, tiny_mla

N_PAST = 560  # ggml splits a cache of F16 alone from 512 positions on


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tiny_mla.mla(tmp_path_factory.mktemp("mla") / "mla.gguf")


def loaded(path, memory: MemoryTypes):
    steps = load_target(Load(1, str(path), n_ctx=256, n_threads=1, memory=memory), CancelFlag())
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return end.value


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        (MemoryTypes(), "bf16"),
        (MemoryTypes("f16", "f16"), "f16"),
        (MemoryTypes("q8_0", "bf16"), "q8_0"),
        (MemoryTypes("f16", "q4_0"), "q4_0"),
        (MemoryTypes("q8_0", "q4_0"), "q8_0"),
    ],
)
def test_both_are_of_the_type_that_was_chosen(path, asked, used):
    pair = loaded(path, asked)
    assert pair.target.context.memory_types == MemoryTypes(used, used)
    said = [notice.code for notice in pair.notices]
    assert ("memory_of_one_type" in said) == (asked.type_k != asked.type_v and asked != MemoryTypes())
    pair.close()


def test_others_have_what_was_asked_for(tmp_path):
    pair = loaded(tiny.llama(tmp_path / "plain.gguf"), MemoryTypes("q8_0", "bf16"))
    assert pair.target.context.memory_types == MemoryTypes("q8_0", "bf16")
    assert not pair.notices
    pair.close()


@pytest.mark.parametrize(("memory", "is_alike"), [(MemoryTypes(), True), (MemoryTypes("f16", "f16"), False)])
def test_one_row_rounds_like_one_of_several(path, memory, is_alike):
    """Not with F16 alone, which is why that is not what nobody's choice means."""
    model = Model(str(path))
    text = [3 + i * 7 % 250 for i in range(N_PAST + 6)]
    context = Context(model, Shape(n_ctx=1024, n_threads=2, n_rows_max=8, memory=memory))
    for at in range(0, N_PAST, 128):
        context.decode(text[at : min(at + 128, N_PAST)], 1)
    assert (difference(context, text[N_PAST:]) == 0) == is_alike
    context.close()
    model.close()
