"""Models in several files, as ``llama-gguf-split`` writes them: the first tells all, each holds some tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.engine.gguf import GgufHeader, read_header
from app.errors import ModelFileError

PART = re.compile(r"-(\d{5})-of-(\d{5})$")
"""Ending of the name of one part, without ``.gguf``."""

MAX_PARTS = 1000
"""More than any model has; a header may claim any number."""


def whole_name(stem: str) -> str:
    """Return the name of a model without the ending that counts its parts."""
    return PART.sub("", stem)


def part_paths(path: Path, header: GgufHeader) -> list[Path]:
    """Return the files of a model: itself, or all the parts that it was split into.

    Raises:
        ModelFileError: this is not the first part, or not all are there.
    """
    index, n = header.split
    if n <= 1:
        return [path]
    match = PART.search(path.stem)
    first = f"{whole_name(path.stem)}-00001-of-{n:05d}.gguf"
    if match is None or index != 0 or int(match[2]) != n:
        raise ModelFileError(f"{path.name} is part {index + 1} of {n} of a model.", f"Choose the first part, {first}.")
    if n > MAX_PARTS:
        raise ModelFileError(f"{path.name} claims to be one of {n} parts.", "Download it again, from its publisher.")
    parts = [path.with_name(f"{whole_name(path.stem)}-{part:05d}-of-{n:05d}.gguf") for part in range(1, n + 1)]
    missing = [part.name for part in parts if not part.is_file()]
    if missing:
        raise ModelFileError(
            f"{len(missing)} of {n} parts are missing: {missing[0]}.", "Put all parts into one folder."
        )
    return parts


def read_whole(path: Path) -> GgufHeader:
    """Read the header of a model with the tensors of all its parts.

    Raises:
        ModelError: a part is missing, or is not a sound and complete GGUF.
    """
    first = read_header(path)
    return joined(first, [read_header(part) for part in part_paths(path, first)[1:]])


def joined(first: GgufHeader, others: Sequence[GgufHeader]) -> GgufHeader:
    """Return what the first part says, with the tensors and the length of all.

    Raises:
        ModelFileError: they are not the parts of one model.
    """
    if not others:
        return first
    for number, part in enumerate(others, 2):
        if part.split != (number - 1, first.split[1]):
            raise ModelFileError(
                f"{part.file_name} is not part {number} of {first.split[1]} of this model.",
                "Download the model again, all parts from one place.",
            )
    tensors = (*first.tensors, *(tensor for part in others for tensor in part.tensors))
    told = first.integer("split.tensors.count")
    if told is not None and told != len(tensors):
        raise ModelFileError(
            f"{first.file_name} promises {told} tensors; its parts hold {len(tensors)}.",
            "Download the model again, all parts from one place.",
        )
    n_bytes = first.n_file_bytes + sum(part.n_file_bytes for part in others)
    return replace(first, tensors=tensors, n_file_bytes=n_bytes)
