"""Has a tiny model answer on a device, and holds its tokens against the right ones.

A device that is listed need not work: its driver may refuse the first model, end the process, or compute rubbish. The
model is so small that its answer takes a moment; what came before decides its tokens, not the last one alone, and each
wins by a margin that no rounding bridges. Row by row and several rows at once: devices have kernels for either.

Runs in the probe process.
"""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import numpy as np

from app.engine.llama import Context, Model, Shape
from app.engine.probe import Proof
from app.engine.threads import default_threads
from app.errors import DecodeError
from app.paths import resource
from app.placement import Placement

N_ROWS = (2, 3, 4, 5, 8)
"""Rows at once that are tried: where kernels for few rows end, on Adreno and on Hexagon."""


class Right(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the tiny model says: the prompt, and the tokens that follow it."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]


def model_path() -> Path:
    """Return the tiny model."""
    return resource("proof.gguf")


def right() -> Right:
    """Return what it must say."""
    return msgspec.json.decode(resource("proof.json").read_bytes(), type=Right)


def prove(device: str) -> Proof:
    """Load the tiny model onto the device, all of it, and compare; a device that fails to decode is at fault, too.

    Raises:
        LoadError: the device is not there, or has no room.
        ModelFileError: the model does not load there.
    """
    started_s = time.perf_counter()
    placement = Placement((device,), maps_file=False) if device != "CPU" else Placement()
    model = Model(str(model_path()), placement=placement)
    context = Context(model, Shape(n_ctx=256, n_threads=default_threads(), n_rows_max=max(N_ROWS)))
    loaded_s = time.perf_counter()
    try:
        fault = _compare(context, right())
    except DecodeError as failure:
        fault = failure.message
    ended_s = time.perf_counter()
    context.close()
    model.close()
    return Proof(fault, loaded_s - started_s, ended_s - loaded_s)


def _compare(context: Context, said: Right) -> str:
    """Return what is wrong, or ""."""
    context.decode(said.prompt, 1)
    for index, token in enumerate(said.answer):
        row = context.row(0)
        if not np.isfinite(row).all():
            return f"it computed numbers that are none, at token {index + 1} of {len(said.answer)}"
        if (found := int(row.argmax())) != token:
            return f"it chose token {found} instead of {token}, as number {index + 1} of {len(said.answer)}"
        context.decode([token], 1)
    for n_rows in N_ROWS:
        context.rewind(len(said.prompt))
        context.decode(said.answer[:n_rows], n_rows)
        chosen = tuple(int(context.row(index).argmax()) for index in range(n_rows))
        if chosen != said.answer[1 : n_rows + 1]:
            return f"its tokens are wrong when it evaluates {n_rows} at once"
    return ""
