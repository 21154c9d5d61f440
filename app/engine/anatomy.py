"""The sizes inside a model, read from its header: layers, what each keeps in memory, what is stored how.

Sources: ``src/llama-model.cpp`` (``load_hparams``), ``src/llama-hparams.cpp`` (``n_embd_k_gqa``, ``n_embd_r``,
``n_embd_s``) and ``src/models/*.cpp`` of the llama.cpp commit that llama-cpp-python 0.3.36 carries.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from app.engine.architectures import HYBRID, RECURRENT, SWA_PERIOD
from app.engine.gguf import Array, GgufHeader
from app.engine.heads import is_assistant, n_nextn_layers

MAX_LAYERS = 512
"""As many as llama.cpp takes (``LLAMA_MAX_LAYERS``)."""

MAX_NUMBER = 1 << 32
"""A size in a header is a 32-bit number."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What one layer keeps for every position: numbers in K and in V; and once, its running state."""

    n_k: int = 0
    n_v: int = 0
    n_state: int = 0
    is_sliding: bool = False
    is_nextn: bool = False


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The sizes that decide how much memory a model takes.

    ``n_ff`` is the widest feed-forward row that one token makes, over all experts that it uses; ``window`` how
    many positions sliding layers look back; ``n_embd_in`` the row that heads continue from.
    """

    n_ctx_train: int
    n_embd: int
    n_embd_in: int
    n_ff: int
    n_head: int
    n_vocab: int
    window: int
    layers: tuple[Layer, ...]

    @property
    def n_nextn(self) -> int:
        """How many of the layers are heads."""
        return sum(layer.is_nextn for layer in self.layers)

    @property
    def is_sliding(self) -> bool:
        """Whether some layers see a window only."""
        return any(layer.is_sliding for layer in self.layers)


def anatomy_of(header: GgufHeader) -> Anatomy:
    """Return the sizes of a model; what a header does not say counts as llama.cpp takes it, or as nothing."""
    n_layers = min(_number(header, "block_count"), MAX_LAYERS)
    n_embd = _number(header, "embedding_length")
    n_used, n_ff_expert = _most(header, "expert_used_count", n_layers), _most(header, "expert_feed_forward_length", 1)
    n_ff_shared = _number(header, "expert_shared_feed_forward_length")
    return Anatomy(
        n_ctx_train=_number(header, "context_length"),
        n_embd=n_embd,
        n_embd_in=_number(header, "embedding_length_out") or n_embd,
        n_ff=max(_most(header, "feed_forward_length", n_layers), n_used * n_ff_expert + n_ff_shared),
        n_head=_most(header, "attention.head_count", n_layers),
        n_vocab=min(header.n_vocab or 0, MAX_NUMBER),
        window=_number(header, "attention.sliding_window"),
        layers=_layers(header, n_layers),
    )


def _number(header: GgufHeader, key: str) -> int:
    value = header.of_architecture(key)
    return value if value is not None and 0 <= value < MAX_NUMBER else 0


def _each(header: GgufHeader, key: str, n: int) -> Sequence[int] | None:
    """Return a number for each layer, given one by one or once for all; None if there is none."""
    value = header.metadata.get(f"{header.architecture}.{key}")
    if isinstance(value, Array) and value.values is not None:
        given = [int(v) if 0 <= v < MAX_NUMBER else 0 for v in value.values[:n]]
        return given + [0] * (n - len(given))
    if isinstance(value, int) and 0 <= value < MAX_NUMBER:
        return [int(value)] * n
    return None


def _most(header: GgufHeader, key: str, n: int) -> int:
    return max(_each(header, key, max(1, n)) or [0])


def _layers(header: GgufHeader, n: int) -> tuple[Layer, ...]:
    n_trunk = 0 if is_assistant(header) else max(0, n - n_nextn_layers(header))
    heads = _each(header, "attention.head_count", n) or [0] * n
    heads_kv = _each(header, "attention.head_count_kv", n) or heads
    sliding, recurrent = _sliding(header, n, n_trunk), _recurrent(header, n, n_trunk, heads_kv)
    n_own = _n_with_memory(header, n)
    n_state = _state_numbers(header)
    found = []
    for i in range(n):
        has_memory = (
            i < n_own and not (recurrent[i] and header.architecture != "falcon-h1") and not is_assistant(header)
        )
        d_k, d_v = _lengths(header, heads[i], is_sliding=sliding[i])
        found.append(
            Layer(
                n_k=heads_kv[i] * d_k if has_memory else 0,
                n_v=heads_kv[i] * d_v if has_memory else 0,
                n_state=n_state if recurrent[i] else 0,
                is_sliding=sliding[i],
                is_nextn=i >= n_trunk,
            )
        )
    return tuple(found)


def _lengths(header: GgufHeader, n_head: int, *, is_sliding: bool) -> tuple[int, int]:
    """Return how long a head's row is in K and in V; compressed attention keeps both in K."""
    default = _number(header, "embedding_length") // n_head if n_head else 0
    d_k, d_v = (_number(header, f"attention.{which}_length") or default for which in ("key", "value"))
    if is_sliding:
        d_k = _number(header, "attention.key_length_swa") or d_k
        d_v = _number(header, "attention.value_length_swa") or d_v
    return d_k, 0 if _number(header, "attention.key_length_mla") else d_v


def _sliding(header: GgufHeader, n: int, n_trunk: int) -> list[bool]:
    if not _number(header, "attention.sliding_window"):
        return [False] * n
    pattern = header.metadata.get(f"{header.architecture}.attention.sliding_window_pattern")
    if isinstance(pattern, Array) and pattern.values is not None:
        given = [bool(value) for value in pattern.values[:n]]
        return given + [False] * (n - len(given))
    period = _number(header, "attention.sliding_window_pattern") or SWA_PERIOD.get(header.architecture, 0)
    return [bool(period) and i < n_trunk and i % period < period - 1 for i in range(n)]


def _recurrent(header: GgufHeader, n: int, n_trunk: int, heads_kv: Sequence[int]) -> list[bool]:
    if header.architecture in RECURRENT or header.architecture == "falcon-h1":
        return [True] * n
    if header.architecture not in HYBRID:
        return [False] * n
    given = _each(header, "attention.recurrent_layers", n)
    if given is not None:
        return [bool(value) for value in given]
    if isinstance(header.metadata.get(f"{header.architecture}.attention.head_count_kv"), Array):
        return [heads == 0 for heads in heads_kv]
    period = _number(header, "full_attention_interval") or 4
    return [i < n_trunk and (i + 1) % period != 0 for i in range(n)]


def _n_with_memory(header: GgufHeader, n: int) -> int:
    """Return how many layers, from the first on, have a memory of their own; the others read an earlier one's."""
    if header.architecture == "gemma3n":
        return min(n, 20)
    return n - min(n, _number(header, "attention.shared_kv_layers"))


def _state_numbers(header: GgufHeader) -> int:
    """Return how many numbers a recurrent layer's state holds (``n_embd_r`` + ``n_embd_s``)."""
    n_embd = _number(header, "embedding_length")
    if wkv := _number(header, "wkv.head_size"):
        return (_number(header, "token_shift_count") or 2) * n_embd + n_embd * wkv
    if cache := _number(header, "shortconv.l_cache"):
        return n_embd * (cache - 1)
    d_conv, d_inner = _number(header, "ssm.conv_kernel"), _number(header, "ssm.inner_size")
    d_state, n_group = _number(header, "ssm.state_size"), _number(header, "ssm.group_count")
    return max(0, d_conv - 1) * (d_inner + 2 * n_group * d_state) + d_state * d_inner


# --- what is stored how -----------------------------------------------------------------------------

_ROLES = (
    ("heads", r"nextn\."),
    ("embedding", r"^(token_embd|per_layer_token_embd)\."),
    ("output", r"^output\."),
    ("norm", r"_norm\.|^norm"),
    ("experts", r"_exps\."),
    ("attention", r"\.attn_"),
    ("state", r"\.(ssm|shortconv|time_mix)"),
    ("feed-forward", r"\.ffn_"),
)


def role_of(tensor_name: str) -> str:
    """Return what a tensor is for."""
    return next((role for role, pattern in _ROLES if re.search(pattern, tensor_name)), "other")


def quantisation_by_role(header: GgufHeader) -> dict[str, str]:
    """Return, for each role that has tensors, the type that takes the most bytes of it."""
    bytes_of: dict[str, Counter[str]] = defaultdict(Counter)
    for tensor in header.tensors:
        bytes_of[role_of(tensor.name)][tensor.kind.name] += tensor.n_bytes
    return {role: share.most_common(1)[0][0] for role, share in bytes_of.items()}
