"""The tiny model that a device must answer with: what it says is known, and a wrong word is noticed."""

from __future__ import annotations

import msgspec
import pytest

from app.engine.llama import Context, Model, Shape
from app.engine.probe import look, prove
from app.engine.proof import N_ROWS, _compare, model_path, right
from app.engine.surroundings import Surroundings
from app.errors import LoadError
from app.placement import Backends
from tests.fixtures import proof


@pytest.fixture
def context():
    model = Model(str(model_path()))
    one = Context(model, Shape(n_ctx=256, n_threads=1, n_rows_max=max(N_ROWS)))
    yield one
    one.close()
    model.close()


def test_the_processor_passes():
    outcome = prove(Surroundings(), Backends(), "CPU")
    assert outcome.fault == ""
    assert 0 < outcome.run_s < 10


@pytest.mark.parametrize("index", [0, 10, len(right().answer) - 1])
def test_one_wrong_token_is_noticed_and_named(context, index):
    answer = list(right().answer)
    answer[index] += 1
    said = _compare(context, msgspec.structs.replace(right(), answer=tuple(answer)))
    assert f"instead of {answer[index]}, as number {index + 1} of {len(answer)}" in said


def test_what_came_before_matters(context):
    def says(prompt) -> str:
        context.rewind(0)
        return _compare(context, msgspec.structs.replace(right(), prompt=tuple(prompt)))

    first, *rest = right().prompt
    assert says((first, *rest)) == ""
    assert "instead of" in says((first, *reversed(rest[:-1]), rest[-1]))  # the same last token, another order before it
    changed = [(first, *rest[:n], rest[n] - 1, *rest[n + 1 :]) for n in range(len(rest) - 1)]
    assert sum(bool(says(prompt)) for prompt in changed) >= 3


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(LoadError, match="GPU7 is not there") as caught:
        prove(Surroundings(), Backends(), "GPU7")
    assert "CPU" in caught.value.hint
    with pytest.raises(LoadError, match="no opencl backend"):
        look(Surroundings(), Backends(("opencl",)))


def test_the_model_is_the_one_that_its_script_writes(tmp_path):
    written = proof.write(tmp_path / "proof.gguf")
    assert written.read_bytes() == model_path().read_bytes()


def test_every_token_wins_by_a_margin_that_rounding_does_not_bridge(context):
    tokens, margin = proof.answer(context, list(right().prompt))
    assert tuple(tokens) == right().answer
    assert margin > 0.3
    assert len(set(tokens)) > 20
