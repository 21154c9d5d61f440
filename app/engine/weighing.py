"""Lays a pair out without its weights and adds up what llama.cpp says each part takes; runs in the probe process.

The models, contexts and heads are made by the code that makes them for an answer, so the layout is the same. llama.cpp
tells sizes in its log alone (``memory_breakdown`` is a C++ map), to two digits of a MiB.
"""

from __future__ import annotations

import re
from pathlib import Path

from app.engine.drafters.draft_model import check_vocabularies
from app.engine.heads import are_heads, check_can_answer, has_embedded_heads, why_not_for
from app.engine.layout import draft_n_ctx, n_snapshots, target_n_ctx
from app.engine.llama import Context, Model, MtpContext, Shape
from app.engine.llama.backend import listening
from app.engine.parts import read_whole
from app.engine.probe import Sizes, Weighed
from app.engine.review import MOST_REVIEWED
from app.errors import PairError, SlipstreamError
from app.protocol import Load

_PARTS = (
    ("kv_bytes", re.compile(r"llama_kv_cache[^:]*: size = +([\d.]+) MiB")),
    ("state_bytes", re.compile(r"llama_memory_recurrent[^:]*: size = +([\d.]+) MiB")),
    ("compute_bytes", re.compile(r"(?:output|compute) buffer size = +([\d.]+) MiB")),
)


class _Scale:
    """Adds up what the native log says while contexts are made."""

    def __init__(self) -> None:
        self.n_bytes = dict.fromkeys((name for name, _ in _PARTS), 0)
        self._line = ""

    def listen(self, text: str) -> None:
        self._line += text
        if not text.endswith("\n"):
            return
        for name, pattern in _PARTS:
            if (match := pattern.search(self._line)) is not None:
                self.n_bytes[name] += round(float(match[1]) * 2**20)
        self._line = ""


def weigh(command: Load) -> Weighed:
    """Return what the pair of a load command would take.

    Raises:
        ModelFileError: llama.cpp refuses the target.
        LoadError: no context can be made of it.
    """
    header = read_whole(Path(command.target))
    check_can_answer(header)
    model = Model(command.target, with_mtp=has_embedded_heads(header), is_dry=True)
    n_ctx = target_n_ctx(command, model.n_ctx_train)
    shape = Shape(
        n_ctx=n_ctx,
        n_threads=1,
        n_rows_max=command.draft_max + 1,
        n_snapshots=n_snapshots(command, has_state=model.has_memory_of_states),
        memory=command.memory,
    )
    scale = _Scale()
    with listening(scale.listen):
        context = Context(model, shape)
    target = Sizes(model.n_bytes, **scale.n_bytes)
    try:
        draft = _weigh_draft(command, model, context)
    except SlipstreamError as fault:
        return Weighed(n_ctx, target, why_no_draft=fault.message)
    return Weighed(n_ctx, target, draft)


def _weigh_draft(command: Load, target: Model, context: Context) -> Sizes | None:
    """Return what drafts beside the target takes; weights of embedded heads are the target's own.

    Raises:
        SlipstreamError: it does not fit, or cannot be laid out.
    """
    scale = _Scale()
    if command.draft is None:
        if not target.n_heads_mtp:
            return None
        with listening(scale.listen):
            MtpContext(target, context, n_threads=1, memory=command.draft_memory)
        return Sizes(0, **scale.n_bytes)
    header = read_whole(Path(command.draft))
    if not are_heads(header):
        model = Model(command.draft, is_dry=True)
        check_vocabularies(target, model)
        n_ctx = draft_n_ctx(command, context.n_ctx, model.n_ctx_train)
        with listening(scale.listen):
            n_rows = MOST_REVIEWED + 1
            Context(model, Shape(n_ctx=n_ctx, n_threads=1, n_rows_max=n_rows, memory=command.draft_memory))
        return Sizes(model.n_bytes, **scale.n_bytes)
    if (reason := why_not_for(read_whole(Path(command.target)), header)) is not None:
        raise PairError(reason)
    model = Model(command.draft, with_mtp=True, is_dry=True)
    check_vocabularies(target, model)
    with listening(scale.listen):
        heads = MtpContext(model, context, n_threads=1, memory=command.draft_memory)
    if heads.shares_memory:  # llama.cpp tells the size of the target's, which is there already
        scale.n_bytes["kv_bytes"] = 0
    return Sizes(model.n_bytes, **scale.n_bytes)
