"""Loads a file as the engine would, but without its weights; runs in a process that may die (``python -m app trial``).

A header that lies ends the process that believes it (``GGML_ASSERT`` in ``llama-model.cpp``, ``llama-vocab.cpp``, …).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from app.engine import leash
from app.engine.devices import check_runtime
from app.engine.heads import are_heads, has_embedded_heads
from app.engine.llama import Context, Model, Shape
from app.engine.parts import read_whole
from app.engine.sound_numbers import check_numbers
from app.engine.trial import Question, Verdict
from app.engine.worker import claim_pipes, prepare_process
from app.errors import LoadError, ModelError, SlipstreamError
from app.protocol import ErrorInfo

MEMORY_BYTES = 16 << 30
"""Address space of the process: more than any dry load takes, less than a lying header may ask for."""

N_CTX = 512
"""Length of the context that is laid out: the layers are the same at any length."""


EVERY_BYTE = "".join(map(chr, (*range(0x800), *range(0x800, 0xD800, 0x7FF), *range(0xE000, 0x110000, 0xFFF))))
"""A text with every byte that UTF-8 has, mostly of characters that vocabularies do not know: one without tokens for
bytes ends the process when a text needs them (``byte_to_token`` in ``llama-vocab.cpp`` throws)."""


def try_load(path: Path) -> None:
    """Read the file, lay out its layers and a context; return if llama.cpp takes it.

    Raises:
        ModelError: it does not.
        LoadError: no context could be made of it.
    """
    header = read_whole(path)
    check_numbers(header)
    model = Model(str(path), with_mtp=are_heads(header) or has_embedded_heads(header), is_dry=True)
    try:
        model.tokenise(EVERY_BYTE)
        if not are_heads(header) and model.can_chat:  # heads need their target's context; the others are refused later
            n_snapshots = 2 if model.has_memory_of_states else 0
            Context(model, Shape(n_ctx=N_CTX, n_threads=1, n_rows_max=2, n_snapshots=n_snapshots)).close()
    finally:
        model.close()


def verdict(question: Question) -> Verdict:
    """Return what is wrong with the file, if anything is; what is wrong with the program is not about the file."""
    with suppress(SlipstreamError):
        check_runtime()
        try:
            try_load(Path(question.path))
        except (ModelError, LoadError) as fault:
            return Verdict(ErrorInfo(fault.code, fault.message, fault.hint))
    return Verdict()


def main() -> int:
    """Answer one question and end; the exit code says whether there was one."""
    pipe, answers = claim_pipes()
    prepare_process()
    leash.limit_memory(MEMORY_BYTES)
    question = msgspec.json.decode(pipe.readline(), type=Question)
    with os.fdopen(answers, "wb") as answer:
        answer.write(msgspec.json.encode(verdict(question)))
    return 0
