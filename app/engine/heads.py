"""Which files hold multi-token-prediction heads, told from their headers."""

from __future__ import annotations

from app.engine.gguf import Array, GgufHeader
from app.engine.model_kinds import check_writes_text
from app.errors import ModelFileError

MTP_ARCHITECTURES = frozenset(
    (
        "bailingmoe3",
        "cohere2moe",
        "deepseek2",
        "deepseek32",
        "deepseek4",
        "glm-dsa",
        "glm4moe",
        "hy_v3",
        "mimo2",
        "nemotron_h_moe",
        "qwen35",
        "qwen35moe",
        "qwen3next",
        "step35",
    )
)
"""Architectures whose NextN layers llama.cpp can run (``DECODER_MTP`` in ``src/models``); others only carry them."""

CHAINED_ARCHITECTURES = frozenset(("hy_v3", "mimo2", "step35"))
"""Architectures of which llama.cpp runs several NextN layers; the graphs of the others assert that there is one."""

_MAX_HEADS = 1 << 20

ASSISTANT_SUFFIX = "-assistant"
"""Ends the architecture of files that draft from the target's own memory."""


def n_nextn_layers(header: GgufHeader) -> int:
    """Return how many NextN layers the header promises."""
    return header.of_architecture("nextn_predict_layers") or 0


def can_chain(architecture: str) -> bool:
    """Tell whether several heads of an architecture can be run, one after the other or all at once."""
    return architecture in CHAINED_ARCHITECTURES or architecture.endswith(ASSISTANT_SUFFIX)


def is_assistant(header: GgufHeader) -> bool:
    """Tell whether the file is an assistant, which shares its target's memory."""
    return header.architecture.endswith(ASSISTANT_SUFFIX)


def are_heads(header: GgufHeader) -> bool:
    """Tell whether the file holds nothing but heads: an assistant, or NextN layers without the layers below.

    llama.cpp itself looks for the first layer's norm (``src/models/qwen35.cpp``, ``mtp_only``).
    """
    if is_assistant(header):
        return True
    has_trunk = any(tensor.name == "blk.0.attn_norm.weight" for tensor in header.tensors)
    return header.architecture in MTP_ARCHITECTURES and n_nextn_layers(header) > 0 and not has_trunk


def has_embedded_heads(header: GgufHeader) -> bool:
    """Tell whether the target itself carries heads that llama.cpp can run."""
    return header.architecture in MTP_ARCHITECTURES and n_nextn_layers(header) > 0 and not are_heads(header)


def check_can_answer(header: GgufHeader) -> None:
    """Refuse a target that does not answer in text, or holds nothing but heads.

    llama.cpp ends the process that evaluates the layers that heads lack.

    Raises:
        ModelFileError: it is such a file.
    """
    check_writes_text(header)
    if are_heads(header):
        raise ModelFileError(
            f"{header.file_name} only drafts for the model that it was trained with.",
            "Choose that model as the target.",
        )


def why_not_for(target: GgufHeader, heads: GgufHeader) -> str | None:
    """Return why heads in a file of their own cannot draft for a target; None if they can.

    llama.cpp ends the process where an assistant reads a memory that is laid out otherwise, so it is not asked.
    """
    if not is_assistant(heads):
        if heads.architecture == target.architecture:
            return None
        return f"The heads are of architecture {heads.architecture}; the target is {target.architecture}."
    meant_for = heads.architecture.removesuffix(ASSISTANT_SUFFIX)
    if meant_for != target.architecture:
        return f"The assistant is for targets of architecture {meant_for}; this one is {target.architecture}."
    for is_sliding in (True, False):
        theirs, ours = _memory_row(heads, is_sliding=is_sliding), _memory_row(target, is_sliding=is_sliding)
        if theirs != ours:
            kind = "sliding-window" if is_sliding else "full-attention"
            return (
                f"The assistant reads {kind} layers with {theirs[0]} heads of {theirs[1]} numbers in memory;"
                f" the target's have {ours[0]} of {ours[1]}."
            )
    return None


def _memory_row(header: GgufHeader, *, is_sliding: bool) -> tuple[int, int]:
    """Return how many K heads, of what length, the last layer of a kind has: an assistant reads the target's last."""
    length = header.of_architecture("attention.key_length_swa") if is_sliding else None
    length = length or header.of_architecture("attention.key_length") or 0
    n_heads = header.metadata.get(f"{header.architecture}.attention.head_count_kv")
    if isinstance(n_heads, int):
        return n_heads, length
    pattern = header.metadata.get(f"{header.architecture}.attention.sliding_window_pattern")
    kinds, counts = (array.values or () if isinstance(array, Array) else () for array in (pattern, n_heads))
    same_kind = [
        int(count) if 0 <= count < _MAX_HEADS else 0  # no number is not
        for count, sliding in zip(counts, kinds, strict=False)
        if bool(sliding) == is_sliding
    ]
    return (same_kind or [0])[-1], length
