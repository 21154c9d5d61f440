"""Numbers of a header that no model has and that llama.cpp only meets while it computes, with ``abort()`` or for ever.

What it meets while it reads a file, a dry load in a process of its own finds (:mod:`app.engine.trial`).
"""

from __future__ import annotations

import math
from typing import NoReturn

from app.engine.gguf import Array, GgufHeader, Value
from app.errors import ModelFileError

_SMALL = ("norm.weight", ".bias")
"""Ends of the names of tensors that llama.cpp multiplies or adds number by number: nothing quantises them, and the
CPU has no such operation for F32 and anything else (``binary-ops.cpp``)."""


def check_numbers(header: GgufHeader) -> None:
    """Refuse a file whose architecture is described by impossible numbers.

    Raises:
        ModelFileError: says which.
    """
    for tensor in header.tensors:
        if tensor.name.endswith(_SMALL) and tensor.kind.name != "F32":
            _refuse(header, f"{tensor.name[:64]} is stored as {tensor.kind.name}, but must be F32")
    prefix = f"{header.architecture}."
    for key, value in header.metadata.items():
        if key.startswith(prefix):
            name, numbers = key.removeprefix(prefix), _numbers(value)
            why = next(filter(None, (_why_impossible(name, number) for number in numbers)), "")
            if name == "rope.dimension_sections":
                why = why or _why_no_sections(header, numbers)
            if name.startswith("rope.dimension_count"):
                why = why or _why_too_many(header, name, numbers)
            if why:
                _refuse(header, f"{key} {why}")


def _refuse(header: GgufHeader, why: str) -> NoReturn:
    raise ModelFileError(
        f"{header.file_name} is damaged or made wrongly: {why}.",
        "Download it again, or choose another file of this model.",
    )


def _numbers(value: Value) -> tuple[int | float, ...]:
    numbers = (value.values or ()) if isinstance(value, Array) else (value,)
    return tuple(n for n in numbers if isinstance(n, int | float) and not isinstance(n, bool))


def _why_impossible(name: str, number: float) -> str:
    if not math.isfinite(number):
        return "is not a number" if math.isnan(number) else "is infinite"
    if name.endswith("epsilon") and number < 0:
        return f"is {number:g}, but cannot be negative"
    if name.startswith("rope.freq_base") and number <= 0:
        return f"is {number:g}, but must be more than 0"
    if name.startswith("rope.dimension_count") and (number < 2 or number % 2):  # of 0 the kernels never come to an end
        return f"is {number:g}, but must be even and more than 0"
    return ""


def _why_no_sections(header: GgufHeader, sections: tuple[int | float, ...]) -> str:
    """Tell why a head cannot be rotated in these sections (``ggml_mrope_cache_init`` divides and asserts)."""
    n_head, n_embd = header.of_architecture("attention.head_count"), header.of_architecture("embedding_length")
    n_dims = header.of_architecture("attention.key_length") or (n_embd // n_head if n_embd and n_head else None)
    if min(sections, default=0) < 0 or sum(sections) < 1 or (n_dims is not None and sum(sections) > n_dims):
        return f"is {list(sections)}, which does not divide a head of {n_dims or 'any'} dimensions"
    return ""


def _why_too_many(header: GgufHeader, name: str, numbers: tuple[int | float, ...]) -> str:
    """Tell why a head cannot be rotated over that many dimensions (``GGML_ASSERT(n_dims <= ne0)`` in ``ops.cpp``)."""
    n_dims = header.of_architecture(name.replace("rope.dimension_count", "attention.key_length"))
    if n_dims is not None and max(numbers, default=0) > n_dims:
        return f"is {max(numbers):g}, more than a head has: {n_dims}"
    return ""
