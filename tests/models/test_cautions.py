"""What is said of a pair that fits: what makes it slow, and what makes it disagree."""

from __future__ import annotations

import pytest

from app.engine.gguf import GgufHeader, TensorInfo, read_header
from app.engine.gguf_types import TENSOR_TYPES
from app.models.cautions import cautions, scheme_of, training_date
from tests.fixtures import tiny, tiny_mtp

TYPES = {kind.name: kind for kind in TENSOR_TYPES.values()}


def model(
    n_params: int = 8 << 30, kind: str = "Q4_0", template: str | None = "{{ a }}", name: str = "Some 8B"
) -> GgufHeader:
    metadata = {"general.architecture": "llama", "general.name": name}
    if template is not None:
        metadata["tokenizer.chat_template"] = template
    return GgufHeader("m", 0, 3, "little", metadata, (TensorInfo("w", TYPES[kind], (256, n_params // 256), 0),), 0)


TARGET = model()


@pytest.mark.parametrize(
    ("target", "draft", "words"),
    [
        (TARGET, model(1 << 30), ()),
        (TARGET, model(4 << 30), ("50% of the target's weights",)),
        (model(2 << 30), model(1 << 28), ("The target is small (2.1 billion numbers)",)),
        (TARGET, model(1 << 30, "Q4_K"), ("block types (Q4_0, Q8_0, …), the draft in K types",)),
        (TARGET, model(1 << 30, "Q8_0"), ()),
        (TARGET, model(1 << 29, "F16"), ("the draft in plain numbers",)),
        (TARGET, model(1 << 30, template="{{ b }}"), ("chat templates differ",)),
        (TARGET, model(1 << 30, template=None), ()),
        (model(name="Some 8B 2507"), model(1 << 30), ("the target 2507, the draft names none",)),
        (model(name="Some 8B 2507"), model(1 << 30, name="Some 1B 2507"), ()),
    ],
)
def test_what_is_said_of_a_draft_model(target, draft, words):
    said = cautions(target, draft)
    assert len(said) == len(words)
    for sentence, part in zip(said, words, strict=True):
        assert part in sentence


@pytest.mark.parametrize(
    ("kind", "device", "words"),
    [
        ("Q4_0", "npu", ""),
        ("Q8_0", "gpu", ""),
        ("Q4_K", "npu", "on the NPU Q4_0 or Q8_0 is faster"),
        ("Q4_K", "cpu", ""),
        ("IQ3_S", "npu", "which the NPU leaves to the processor"),
        ("Q5_0", "npu", "leaves to the processor"),
        ("Q5_0", "gpu", "on the GPU Q4_0 or Q8_0 is faster"),
        ("BF16", "npu", "leaves to the processor"),
    ],
)
def test_what_a_device_makes_of_a_quantisation(kind, device, words):
    said = " ".join(cautions(model(kind=kind), None, device))
    assert words in said
    assert bool(said) == bool(words)


def test_heads_are_not_compared_as_draft_models_are(tmp_path):
    pair = tiny_mtp.gemma4_pair(tmp_path)
    assert cautions(read_header(pair.target), read_header(pair.draft)) == ()
    assert (
        len(cautions(read_header(tiny.llama(tmp_path / "l.gguf")), read_header(tiny.llama(tmp_path / "m.gguf")))) == 2
    )


@pytest.mark.parametrize(
    ("name", "date"),
    [("Qwen3 4B Instruct 2507", "2507"), ("Llama 3.1 8B", ""), ("M-2401-it", "2401"), ("X 123456", ""), ("Y 2413", "")],
)
def test_a_date_in_a_name(name, date):
    assert training_date(model(name=name)) == date


def test_schemes():
    assert scheme_of(model(kind="IQ4_XS")) == "IQ types"
    assert scheme_of(model(kind="MXFP4")) == "MXFP4"
    assert scheme_of(GgufHeader("m", 0, 3, "little", {}, (), 0)) == ""
