"""What of a load command can be refused before a file is opened."""

from __future__ import annotations

from app.engine.llama import ELEMENT_TYPES
from app.errors import UsageError
from app.memory_types import is_quantised
from app.protocol import MAX_DRAFT_TOKENS, Load, MemoryTypes

MAX_THREADS = 512
"""ggml's own limit (``GGML_MAX_N_THREADS``)."""


def check_load(command: Load) -> None:
    """Refuse numbers that are out of their range, and a memory that cannot be.

    Raises:
        UsageError: names the number and its range.
    """
    if not 0 <= command.draft_max <= MAX_DRAFT_TOKENS:
        raise UsageError(f"The longest draft is {command.draft_max}.", f"It must be 0 to {MAX_DRAFT_TOKENS}.")
    if min(command.n_ctx, command.n_threads, command.draft_n_ctx, command.draft_n_threads) < 0:
        raise UsageError("Context length and threads cannot be negative.", "0 means: choose for me.")
    n_most = max(command.n_threads, command.draft_n_threads)
    if n_most > MAX_THREADS:
        raise UsageError(f"{n_most} threads are too many.", f"At most {MAX_THREADS}; 0 means: choose for me.")
    for memory in (command.memory, command.draft_memory):
        _check_memory(memory)


def _check_memory(memory: MemoryTypes) -> None:
    """Refuse what llama.cpp has no memory of.

    Raises:
        UsageError: says which types there are, or what goes with what.
    """
    for name in (memory.type_k, memory.type_v):
        if name not in ELEMENT_TYPES:
            raise UsageError(f"A memory of {name} elements does not exist.", f"Choose of {', '.join(ELEMENT_TYPES)}.")
    if is_quantised(memory.type_v) and memory.flash_attention is False:
        raise UsageError(
            f"A V memory of {memory.type_v} needs flash attention.", "Leave flash attention on, or choose f16 or bf16."
        )
