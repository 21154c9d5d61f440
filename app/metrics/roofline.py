"""How fast decoding can be at most: the memory bandwidth ÷ the bytes that a token has to read.

A plain token reads every active weight once, and the K and V of all positions before it. Compute is nearly free beside
that on one row, so bandwidth ÷ bytes is a ceiling ("roofline") that no program passes without speculation. With it a
target pass still reads the weights once but emits several tokens, and each drafted token reads the draft model's.

Sources: S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4), 2009; tensor and key names as llama.cpp writes
them (``src/llama-arch.cpp``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import msgspec

from app.engine.gguf import Array, GgufHeader, TensorInfo
from app.engine.gguf_types import TENSOR_TYPES
from app.paths import resource
from app.protocol import MemoryTypes

_LAYER = re.compile(r"blk\.(\d+)\.")
_EXPERTS = re.compile(r"\.ffn_(?:gate|up|down|gate_up)_exps\.")
_LOOKED_UP = ("token_embd.", "per_layer_token_embd.", "position_embd.", "token_types.")
"""Tables of which a token reads one row."""

_TYPES = {kind.name.lower(): kind for kind in TENSOR_TYPES.values()}


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that a plain token reads: active weights, and K and V of ``n_ctx`` positions."""

    weight_bytes: int
    memory_bytes: int
    n_ctx: int

    @property
    def n_bytes(self) -> int:
        """All of it."""
        return self.weight_bytes + self.memory_bytes


@dataclass(frozen=True, slots=True)
class Roofline:
    """A target on this machine."""

    traffic: Traffic
    bandwidth: float
    """Bytes a second."""

    @property
    def limit_tps(self) -> float:
        """Tokens a second that plain decoding cannot pass."""
        return self.bandwidth / self.traffic.n_bytes

    def share(self, tps: float) -> float:
        """How near a speed is to the limit of plain decoding; speculation may pass 1."""
        return tps / self.limit_tps

    def speculative_limit_tps(self, tokens_per_step: float, drafted_per_step: float, draft_bytes: int) -> float:
        """Tokens a second that speculation cannot pass if a step emits and drafts so many, at ``draft_bytes`` each."""
        step_bytes = self.traffic.n_bytes + drafted_per_step * draft_bytes
        return tokens_per_step * self.bandwidth / step_bytes


def traffic(header: GgufHeader, n_ctx: int, memory: MemoryTypes) -> Traffic:
    """Return what a plain token reads at a context position."""
    return Traffic(active_weight_bytes(header), memory_bytes(header, n_ctx, memory), n_ctx)


def active_weight_bytes(header: GgufHeader) -> int:
    """Bytes of weights that a plain token reads: of experts the share in use, of tables a row, of MTP heads nothing."""
    n_layers = _n_layers(header)
    is_tied = not any(tensor.name == "output.weight" for tensor in header.tensors)
    n_experts, n_used = header.of_architecture("expert_count"), header.of_architecture("expert_used_count")
    total = 0.0
    for tensor in header.tensors:
        layer = _LAYER.match(tensor.name)
        if layer and int(layer[1]) >= n_layers:
            continue  # prediction heads, which only a drafter reads
        if tensor.name.startswith(_LOOKED_UP) and not (is_tied and tensor.name == "token_embd.weight"):
            total += _row_bytes(tensor)
        elif _EXPERTS.search(tensor.name) and n_experts and n_used:
            total += tensor.n_bytes * min(1.0, n_used / n_experts)
        else:
            total += tensor.n_bytes
    return round(total)


def memory_bytes(header: GgufHeader, n_ctx: int, memory: MemoryTypes) -> int:
    """Bytes of K and V of so many positions; a sliding window is not counted as one, so this is the most there is."""
    n_layers = _n_layers(header)
    heads = _per_layer(header, "attention.head_count", n_layers)
    key = _per_layer(header, "attention.head_count_kv", n_layers, heads)
    every = header.of_architecture("full_attention_interval") or 1
    n_embd = header.of_architecture("embedding_length") or 0
    by_head = n_embd // max(1, max(heads, default=1))
    k_numbers = header.of_architecture("attention.key_length") or by_head
    v_numbers = header.of_architecture("attention.value_length") or by_head
    n_heads = sum(n for i, n in enumerate(key) if (i + 1) % every == 0)
    position = _numbers_bytes(n_heads * k_numbers, memory.type_k) + _numbers_bytes(n_heads * v_numbers, memory.type_v)
    return round(position * n_ctx)


def _n_layers(header: GgufHeader) -> int:
    """How many layers a plain pass goes through."""
    return (header.of_architecture("block_count") or 0) - (header.of_architecture("nextn_predict_layers") or 0)


def _row_bytes(tensor: TensorInfo) -> float:
    return tensor.n_bytes / max(1, tensor.n_elements // max(1, tensor.shape[0]))


def _numbers_bytes(n: int, type_name: str) -> float:
    kind = _TYPES.get(type_name.lower(), TENSOR_TYPES[1])
    return n * kind.n_bytes / kind.n_block


def _per_layer(header: GgufHeader, key: str, n_layers: int, default: tuple[int, ...] = ()) -> tuple[int, ...]:
    value = header.metadata.get(f"{header.architecture}.{key}")
    if isinstance(value, Array) and value.values is not None:
        return tuple(int(n) for n in value.values[:n_layers])
    if isinstance(value, int):
        return (value,) * n_layers
    return default


# --- known parts --------------------------------------------------------------------------------------


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A processor whose maker's figures are known; ``pattern`` is found in the name that the system gives it."""

    pattern: str
    name: str
    memory: str
    peak_gb_s: float
    source: str


@cache
def _parts() -> tuple[Part, ...]:
    return msgspec.json.decode(resource("bandwidth.json").read_bytes(), type=tuple[Part, ...])


def known_part(cpu_name: str) -> Part | None:
    """Find the processor's figures; None if it is not in ``resources/bandwidth.json``."""
    return next((part for part in _parts() if re.search(part.pattern, cpu_name, re.IGNORECASE)), None)
