from __future__ import annotations

import pytest

from app.engine.gguf import Array, GgufHeader, TensorInfo, read_header
from app.engine.gguf_types import TENSOR_TYPES
from app.metrics import roofline
from app.metrics.roofline import Roofline, Traffic, active_weight_bytes, known_part, memory_bytes, traffic
from app.models.library import Library
from app.protocol import MemoryTypes

F16, Q8_0 = TENSOR_TYPES[1], TENSOR_TYPES[8]
HALVES = MemoryTypes("f16", "f16")


def tensor(name, *shape, kind=F16):
    return TensorInfo(name, kind, shape, 0)


def header(tensors=(), **metadata):
    values = {"general.architecture": "llama", **{f"llama.{key}": value for key, value in metadata.items()}}
    return GgufHeader("m.gguf", 0, 3, "little", values, tuple(tensors), 0)


def test_a_dense_model_reads_every_weight_and_one_row_of_the_embedding():
    tensors = [
        tensor("token_embd.weight", 64, 1000),
        tensor("blk.0.attn_q.weight", 64, 64),
        tensor("output.weight", 64, 1000),
    ]
    assert active_weight_bytes(header(tensors, block_count=1)) == 2 * (64 + 64 * 64 + 64 * 1000)


def test_a_tied_embedding_is_the_output_and_read_in_full():
    tensors = [tensor("token_embd.weight", 64, 1000), tensor("blk.0.attn_q.weight", 64, 64)]
    assert active_weight_bytes(header(tensors, block_count=1)) == 2 * (64 * 1000 + 64 * 64)


def test_of_experts_only_the_share_in_use_is_read_but_shared_ones_in_full():
    tensors = [
        tensor("output.weight", 64, 10),
        tensor("blk.0.ffn_gate_exps.weight", 64, 32, 8),
        tensor("blk.0.ffn_gate_shexp.weight", 64, 32),
        tensor("blk.0.ffn_gate_inp.weight", 64, 8),
    ]
    head = header(tensors, block_count=1, expert_count=8, expert_used_count=2)
    assert active_weight_bytes(head) == 2 * (640 + 64 * 32 * 8 // 4 + 64 * 32 + 64 * 8)


def test_prediction_heads_are_no_part_of_plain_decoding():
    tensors = [
        tensor("output.weight", 64, 10),
        tensor("blk.0.attn_q.weight", 64, 64),
        tensor("blk.1.nextn.eh_proj.weight", 64, 64),
    ]
    assert active_weight_bytes(header(tensors, block_count=2, nextn_predict_layers=1)) == 2 * (640 + 64 * 64)


def test_memory_is_keys_and_values_of_all_layers_and_positions():
    head = header(embedding_length=64, block_count=3, **{"attention.head_count": 8, "attention.head_count_kv": 2})
    assert memory_bytes(head, 100, HALVES) == 100 * 3 * 2 * (8 + 8) * 2
    assert memory_bytes(head, 100, MemoryTypes("q8_0", "f16")) == round(100 * 3 * 2 * 8 * (34 / 32 + 2))


def test_layers_without_attention_hold_no_keys():
    shape = {"attention.head_count": 8, "attention.key_length": 16, "attention.value_length": 4}
    by_layer = header(
        embedding_length=64,
        block_count=4,
        **shape,
        **{"attention.head_count_kv": Array("i32", 4, 0, 16, values=(0, 2, 0, 2))},
    )
    by_interval = header(
        embedding_length=64, block_count=4, full_attention_interval=2, **shape, **{"attention.head_count_kv": 2}
    )
    assert memory_bytes(by_layer, 10, HALVES) == 10 * 2 * 2 * (16 + 4) * 2
    assert memory_bytes(by_interval, 10, HALVES) == memory_bytes(by_layer, 10, HALVES)


def test_the_starter_reads_nearly_its_whole_file_and_more_with_context():
    path = Library().resolve("starter").path
    near, far = (traffic(read_header(path), n, MemoryTypes()) for n in (1, 2048))
    assert 0.9 * path.stat().st_size < near.weight_bytes < path.stat().st_size
    assert far.memory_bytes == 2048 * near.memory_bytes > 0


def test_shares_and_limits():
    roof = Roofline(Traffic(900, 100, 10), 50_000.0)
    assert roof.limit_tps == 50.0
    assert roof.share(40.0) == 0.8
    # 3 tokens a step for one pass and four drafted tokens of 50 bytes
    assert roof.speculative_limit_tps(3.0, 4.0, 50) == pytest.approx(3 * 50_000 / 1200)


@pytest.mark.parametrize(
    ("cpu", "peak"),
    [
        ("Snapdragon(R) X Elite - X1E80100 - Qualcomm(R) Oryon(TM) CPU", 135),
        ("Snapdragon(R) X 12-core X1E80100 @ 3.40 GHz", 135),
        ("Snapdragon(R) X Plus - X1P42100 - Qualcomm(R) Oryon(TM) CPU", 135),
        ("Snapdragon(R) X - X126100 - Qualcomm(R) Oryon(TM) CPU", 135),
        ("Snapdragon(R) X2 Elite - X2E80100", 152),
        ("Snapdragon(R) X2 Elite Extreme - X2E96100", 228),
        ("Snapdragon(R) X2 Plus - X2P64100", 152),
    ],
)
def test_parts_are_known_by_the_name_that_the_system_gives(cpu, peak):
    assert known_part(cpu).peak_gb_s == peak


@pytest.mark.parametrize("cpu", ["Intel(R) Xeon(R) Processor", "AMD Ryzen 9 7950X3D", "Apple M2", ""])
def test_other_processors_are_not_mistaken_for_one(cpu):
    assert known_part(cpu) is None


def test_the_table_agrees_with_its_own_arithmetic():
    for part in roofline._parts():
        clock, width = part.source.removesuffix(" bytes").split(" x ")
        assert float(clock) * float(width) / 1e9 == pytest.approx(part.peak_gb_s, rel=0.01)
