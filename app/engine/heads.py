"""Which files hold multi-token-prediction heads, told from their headers."""

from __future__ import annotations

from app.engine.gguf import GgufHeader

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
