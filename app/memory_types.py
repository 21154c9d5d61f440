"""What a model's memory (its KV cache) may be made of: the names that settings, commands and the engine share."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

ElementType = Literal["f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"]
"""In ggml's names, as llama.cpp's ``--cache-type-k`` knows them; the most exact first."""

ELEMENT_TYPES: tuple[ElementType, ...] = get_args(ElementType)

FlashAttention = Literal["auto", "on", "off"]

FLASH_ATTENTION: dict[FlashAttention, bool | None] = {"auto": None, "on": True, "off": False}
"""What ``MemoryTypes.flash_attention`` says for each word."""


def is_quantised(element_type: str) -> bool:
    """Whether elements are stored in blocks with a common scale; a V memory of such needs flash attention."""
    return element_type.startswith(("q", "iq"))


def layout(type_k: str, type_v: str, flash_attention: bool | None) -> str:
    """Name a memory and its attention in one word, as ``f16/bf16`` or ``q8_0/q8_0/on``."""
    return f"{type_k}/{type_v}" + {None: "", True: "/on", False: "/off"}[flash_attention]


class MemoryTypes(msgspec.Struct, frozen=True):
    """Element types of a memory's K and V, in ggml's names, and whether attention is fused (None: llama.cpp decides).

    K and V of two types keep ggml's CPU kernels to the one path that rounds the same for one row as for several, so
    that verified text is the text of plain decoding (``tests/benchmarks/attention.py``).
    """

    type_k: str = "f16"
    type_v: str = "bf16"
    flash_attention: bool | None = None

    @property
    def has_one_path(self) -> bool:
        """Whether ggml's CPU attention takes the same way for one row as for several, at any context length."""
        return self.flash_attention is not False and not (self.type_k == self.type_v in ("f16", "f32"))
