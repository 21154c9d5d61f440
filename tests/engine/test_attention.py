"""One row of a decode rounds like one of several, past where ggml splits the cache among its threads."""

from __future__ import annotations

import pytest

from app.engine.cancel import CancelFlag
from app.engine.llama import Context, Model, Shape
from app.engine.loading import load_target
from app.errors import UsageError
from app.models.library import Library
from app.protocol import Load, MemoryTypes
from tests.benchmarks.attention import difference

N_PAST = 560  # ggml splits the cache from 512 positions on


@pytest.fixture(scope="module")
def model():
    model = Model(str(Library().resolve("starter").path))
    yield model
    model.close()


@pytest.fixture(scope="module")
def text(model) -> list[int]:
    return model.tokenise("".join(f"On day {day} he saw {day * 7 % 31} ships. " for day in range(80)))[: N_PAST + 6]


def difference_with(model: Model, text: list[int], memory: MemoryTypes) -> float:
    context = Context(model, Shape(n_ctx=1024, n_threads=2, n_rows_max=8, memory=memory))
    for at in range(0, N_PAST, 128):
        context.decode(text[at : min(at + 128, N_PAST)], 1)
    found = difference(context, text[N_PAST:])
    context.close()
    return found


def test_the_memory_of_a_target_rounds_alike(model, text):
    assert difference_with(model, text, Load(1, "x").memory) == 0


def test_llama_cpps_own_default_does_not(model, text):
    """The control: if this fails, llama.cpp has changed and our choice of types has lost its reason."""
    assert difference_with(model, text, MemoryTypes("f16", "f16")) > 0


@pytest.mark.parametrize(
    ("memory", "telling"),
    [(MemoryTypes("q9"), "q9"), (MemoryTypes("f16", "q8_0", flash_attention=False), "flash attention")],
)
def test_a_memory_that_cannot_be_is_refused_in_words(memory, telling):
    command = Load(1, str(Library().resolve("starter").path), memory=memory)
    with pytest.raises(UsageError, match=telling):
        list(load_target(command, CancelFlag()))
