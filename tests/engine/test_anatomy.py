"""The sizes inside a model, from its header: as the tiny models were made, and harmless where a header lies."""

from __future__ import annotations

import io

import pytest

from app.engine.anatomy import MAX_LAYERS, Anatomy, anatomy_of, quantisation_by_role, role_of
from app.engine.byte_cursor import FileSource
from app.engine.gguf import parse_header, read_header
from app.models.library import Library
from tests.fixtures import tiny, tiny_mtp
from tests.fixtures.raw_gguf import ARRAY, BOOL, RawGguf


def of(raw: RawGguf) -> Anatomy:
    data = raw.bytes()
    return anatomy_of(parse_header(FileSource("m.gguf", len(data), io.BytesIO(data))))


def described(architecture: str, **numbers: int) -> RawGguf:
    raw = RawGguf().add_text("general.architecture", architecture)
    for key, value in numbers.items():
        raw.add_u32(f"{architecture}.{key.replace('__', '.')}", value)
    return raw


def flags(raw: RawGguf, *values: bool) -> bytes:
    return raw.number(BOOL, "I") + raw.number(len(values)) + bytes(values)


def test_a_plain_model():
    anatomy = anatomy_of(read_header(Library().resolve("starter").path))
    assert (anatomy.n_ctx_train, anatomy.n_embd, anatomy.n_ff, anatomy.n_head, anatomy.n_vocab) == (
        *(8192, 576, 1536, 9),
        49152,
    )
    assert len(anatomy.layers) == 30
    assert {(layer.n_k, layer.n_v, layer.n_state) for layer in anatomy.layers} == {(192, 192, 0)}
    assert (anatomy.n_nextn, anatomy.is_sliding) == (0, False)


def test_a_hybrid_with_heads(tmp_path):
    anatomy = anatomy_of(read_header(tiny_mtp.qwen35_embedded(tmp_path / "m.gguf")))
    recurrent, attention, heads = anatomy.layers
    n_state = (4 - 1) * (64 + 2 * 2 * 32) + 32 * 64
    assert (recurrent.n_k, recurrent.n_v, recurrent.n_state) == (0, 0, n_state)
    assert (attention.n_k, attention.n_v, attention.n_state, attention.is_nextn) == (32, 32, 0, False)
    assert (heads.n_k, heads.n_v, heads.is_nextn) == (32, 32, True)


def test_a_target_with_sliding_layers_and_its_assistant(tmp_path):
    pair = tiny_mtp.gemma4_pair(tmp_path)
    target, assistant = anatomy_of(read_header(pair.target)), anatomy_of(read_header(pair.draft))
    assert [layer.is_sliding for layer in target.layers] == [True, False]
    assert {layer.n_k for layer in target.layers} == {32}
    assert (assistant.n_embd, assistant.n_embd_in) == (96, 64)
    assert {(layer.n_k, layer.n_v) for layer in assistant.layers} == {(0, 0)}, "it reads the target's memory"


def test_layers_that_share_the_memory_of_others():
    raw = described("gemma4", block_count=4, embedding_length=64, attention__head_count=2)
    anatomy = of(raw.add_u32("gemma4.attention.shared_kv_layers", 3))
    assert [layer.n_k for layer in anatomy.layers] == [64, 0, 0, 0]


def test_every_third_layer_sees_all():
    raw = described("gemma3", block_count=4, embedding_length=64, attention__head_count=2, attention__sliding_window=32)
    raw.add_u32("gemma3.attention.sliding_window_pattern", 3)
    assert [layer.is_sliding for layer in of(raw).layers] == [True, True, False, True]
    assert of(raw).window == 32


def test_heads_per_layer_and_compressed_attention():
    raw = described("lfm2", block_count=2, embedding_length=64, attention__head_count=4, shortconv__l_cache=3)
    raw.add("lfm2.attention.head_count_kv", ARRAY, raw.number(4, "I") + raw.number(2) + b"\0\0\0\0\2\0\0\0")
    assert [(layer.n_k, layer.n_state) for layer in of(raw).layers] == [(0, 128), (32, 0)]
    raw = described("deepseek2", block_count=1, embedding_length=64, attention__head_count=4)
    raw.add_u32("deepseek2.attention.head_count_kv", 1).add_u32("deepseek2.attention.key_length", 576)
    raw.add_u32("deepseek2.attention.value_length", 512).add_u32("deepseek2.attention.key_length_mla", 192)
    assert [(layer.n_k, layer.n_v) for layer in of(raw).layers] == [(576, 0)]


@pytest.mark.parametrize(
    "raw",
    [
        RawGguf(),
        described("llama"),
        described("llama", block_count=(1 << 32) - 1, attention__head_count=0, embedding_length=1 << 31),
        described("qwen35", block_count=3, nextn_predict_layers=9, full_attention_interval=0),
        RawGguf()
        .add_text("general.architecture", "llama")
        .add("llama.block_count", 10, (1 << 63).to_bytes(8, "little")),
        described("gemma4", block_count=3, attention__shared_kv_layers=99, attention__sliding_window=1),
    ],
)
def test_a_lie_costs_nothing(raw):
    assert len(of(raw).layers) <= MAX_LAYERS


def test_what_is_stored_how(tmp_path):
    roles = quantisation_by_role(read_header(tiny_mtp.qwen35_embedded(tmp_path / "m.gguf", quantisation="Q4_0")))
    assert (roles["embedding"], roles["attention"], roles["feed-forward"], roles["heads"]) == ("Q4_0",) * 4
    assert roles["norm"] == "F32"
    assert {role_of(name) for name in ("blk.3.ffn_gate_exps.weight", "blk.0.ffn_up_exps.weight")} == {"experts"}
    assert role_of("blk.0.ssm_out.weight") == "state"
    assert role_of("rope_freqs.weight") == "other"
    assert quantisation_by_role(read_header(tiny.llama(tmp_path / "l.gguf")))["output"] == "Q8_0"
