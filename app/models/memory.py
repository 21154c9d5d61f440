"""How much memory a pair takes, how much there is, and how long a context fits.

Files on this machine are weighed exactly, by a dry load in a throw-away process (:func:`app.engine.probe.weigh`).
What is not here yet is reckoned from its header: weights and memories exactly, what an evaluation needs by a rule that
was fitted to llama.cpp's own figures (within 25 % of the whole, ``tests/models/test_memory.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import psutil

from app.engine.anatomy import Anatomy, anatomy_of
from app.engine.architectures import has_state
from app.engine.gguf import GgufHeader
from app.engine.gguf_types import TENSOR_TYPES
from app.engine.heads import are_heads, has_embedded_heads, is_assistant
from app.engine.layout import draft_n_ctx, n_snapshots, target_n_ctx
from app.engine.probe import Sizes, weigh
from app.engine.review import MOST_REVIEWED
from app.protocol import Load, MemoryTypes

N_BATCH = 512
"""Tokens that are evaluated at once, as the engine does it."""

PADDED_TO = 256
"""llama.cpp rounds a context up to a multiple of this."""

RESERVE_SHARE = 0.1
"""Part of what is free that the window, the engine's own code and the rest of the machine want."""

_BYTES_PER = {kind.name.lower(): kind.n_bytes / kind.n_block for kind in TENSOR_TYPES.values()}


@dataclass(frozen=True, slots=True)
class Room:
    """The memory of a device, now; of some nobody knows it, and both numbers are 0.

    ``is_shared`` tells that it is part of this computer's own memory, as that of a GPU or NPU in the processor is.
    """

    device: str
    free_bytes: int
    total_bytes: int
    is_shared: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the device tells how much it has."""
        return self.total_bytes > 0

    @property
    def usable_bytes(self) -> int:
        """What a pair may take of it."""
        return int(self.free_bytes * (1 - RESERVE_SHARE))


@dataclass(frozen=True, slots=True)
class Share:
    """What a pair takes of one device's memory; where nobody knows how much there is, it counts as fitting."""

    room: Room
    n_bytes: int

    @property
    def fits(self) -> bool:
        """Whether it fits into what is free now."""
        return not self.room.is_known or self.n_bytes <= self.room.usable_bytes

    @property
    def can_ever_fit(self) -> bool:
        """Whether it would fit with nothing else there."""
        return not self.room.is_known or self.n_bytes <= self.room.total_bytes * (1 - RESERVE_SHARE)


@dataclass(frozen=True, slots=True)
class PairMemory:
    """What a pair takes, and what there is.

    ``draft`` is what drafting adds: a second model, or the memory of heads. ``n_ctx_max`` is the longest context that
    fits into what is free, 0 if none does; ``is_exact`` tells a dry load from a reckoning. ``shares`` says what each
    device takes of it, this computer's own memory first; they are reckoned, and there are none for a pair on the
    processor alone, which takes all from ``room``.
    """

    n_ctx: int
    target: Sizes
    draft: Sizes | None
    room: Room
    n_ctx_max: int
    is_exact: bool
    shares: tuple[Share, ...] = ()

    @property
    def n_bytes(self) -> int:
        """All that the pair takes."""
        return self.target.n_bytes + (self.draft.n_bytes if self.draft is not None else 0)

    @property
    def fits(self) -> bool:
        """Whether it fits into what is free now."""
        return all(share.fits for share in self.by_device)

    @property
    def can_ever_fit(self) -> bool:
        """Whether it would fit with nothing else running."""
        return all(share.can_ever_fit for share in self.by_device)

    @property
    def by_device(self) -> tuple[Share, ...]:
        """What each device takes."""
        return self.shares or (Share(self.room, self.n_bytes),)


def room_now() -> Room:
    """Return what the processor's memory has free."""
    memory = psutil.virtual_memory()
    return Room("CPU", memory.available, memory.total)


def reckon(target: GgufHeader, draft: GgufHeader | None, how: Load, room: Room) -> PairMemory:
    """Return what a pair takes, from its headers alone."""
    sizes = _reckon_both(target, draft, how)
    n_ctx = target_n_ctx(how, anatomy_of(target).n_ctx_train)
    memory = PairMemory(n_ctx, *sizes, room, 0, is_exact=False)
    return replace(memory, n_ctx_max=_longest(memory, target, draft, how))


def weigh_pair(target: GgufHeader, draft: GgufHeader | None, how: Load, room: Room) -> PairMemory:
    """Return what a pair of files takes, exactly; blocks for about half a second.

    Raises:
        SlipstreamError: llama.cpp cannot lay the target out.
    """
    weighed = weigh(how)
    memory = PairMemory(weighed.n_ctx, weighed.target, weighed.draft, room, 0, is_exact=True)
    return replace(memory, n_ctx_max=_longest(memory, target, draft, how))


def _longest(memory: PairMemory, target: GgufHeader, draft: GgufHeader | None, how: Load) -> int:
    """Return the longest context that fits: what a position costs is reckoned, from what is known at one length."""
    n_train = anatomy_of(target).n_ctx_train or memory.n_ctx
    spare = memory.room.usable_bytes - memory.n_bytes
    if spare >= 0 and memory.n_ctx >= n_train:
        return n_train
    far = memory.n_ctx + 16 * PADDED_TO
    here, there = (
        sum(size.n_bytes for size in _reckon_both(target, draft, with_length(how, n), is_bounded=False) if size)
        for n in (memory.n_ctx, far)
    )
    per_position = max(1.0, (there - here) / (far - memory.n_ctx))
    longest = memory.n_ctx + int(spare / per_position)
    return max(0, min(n_train, longest // PADDED_TO * PADDED_TO))


def with_length(how: Load, n_ctx: int) -> Load:
    """Return the command with another context length; what does not matter for the memory is left out."""
    return Load(
        id=how.id,
        target=how.target,
        draft=how.draft,
        n_ctx=n_ctx,
        draft_max=how.draft_max,
        memory=how.memory,
        draft_memory=how.draft_memory,
        draft_n_ctx=how.draft_n_ctx,
    )


def _reckon_both(
    target: GgufHeader, draft: GgufHeader | None, how: Load, *, is_bounded: bool = True
) -> tuple[Sizes, Sizes | None]:
    anatomy = anatomy_of(target)
    n_ctx = target_n_ctx(how, anatomy.n_ctx_train if is_bounded else 0)
    with_heads = has_embedded_heads(target)
    trunk = Part(anatomy, how.memory, n_ctx, how.draft_max + 1)
    ours = Sizes(
        _weights(target, with_heads=with_heads),
        trunk.kv_bytes(nextn=False),
        trunk.state_bytes(n_snapshots(how, has_state=has_state(target.architecture))),
        trunk.compute_bytes(),
    )
    if draft is None:
        heads = Part(anatomy, how.draft_memory, n_ctx, 1)
        return ours, Sizes(0, heads.kv_bytes(nextn=True), 0, heads.compute_bytes()) if with_heads else None
    theirs = anatomy_of(draft)
    if are_heads(draft):
        part = Part(theirs, how.memory if is_assistant(draft) else how.draft_memory, n_ctx, 1)
        return ours, Sizes(_weights(draft, with_heads=True), part.kv_bytes(nextn=True), 0, part.compute_bytes())
    draft_ctx = draft_n_ctx(how, n_ctx, theirs.n_ctx_train if is_bounded else 0)
    part = Part(theirs, how.draft_memory, draft_ctx, MOST_REVIEWED + 1)
    return ours, Sizes(_weights(draft, with_heads=False), part.kv_bytes(nextn=False), 0, part.compute_bytes())


def _weights(header: GgufHeader, *, with_heads: bool) -> int:
    if with_heads or not has_embedded_heads(header):
        return sum(tensor.n_bytes for tensor in header.tensors)
    nextn = tuple(f"blk.{i}." for i, layer in enumerate(anatomy_of(header).layers) if layer.is_nextn)
    return sum(tensor.n_bytes for tensor in header.tensors if not tensor.name.startswith(nextn))


@dataclass(frozen=True, slots=True)
class Part:
    """One context of one model."""

    anatomy: Anatomy
    memory: MemoryTypes
    n_ctx: int
    n_rows: int

    def kv_bytes(self, *, nextn: bool) -> int:
        """Return the memory of the attention layers: the heads', or those below."""
        per_k, per_v = _BYTES_PER[self.memory.type_k], _BYTES_PER[self.memory.type_v]
        layers = [layer for layer in self.anatomy.layers if layer.is_nextn == nextn]
        per_position = sum(layer.n_k * per_k + layer.n_v * per_v for layer in layers)
        return int(per_position * self.n_padded)

    def state_bytes(self, n_kept: int) -> int:
        """Return the memory of the recurrent layers, of 32-bit numbers, with what is kept for rewinding."""
        return 4 * (1 + n_kept) * sum(layer.n_state for layer in self.anatomy.layers)

    @property
    def n_padded(self) -> int:
        """Positions that the memory has room for."""
        return -(-self.n_ctx // PADDED_TO) * PADDED_TO

    def compute_bytes(self) -> int:
        """Return what an evaluation needs: the widest rows of a layer for a batch, the mask, or the rows of logits."""
        a = self.anatomy
        layer = 4 * N_BATCH * (3 * a.n_ff + 4 * a.n_embd)
        masks = 2 if a.is_sliding else 1
        attention = 2 * N_BATCH * self.n_padded * masks
        if self.memory.flash_attention is False:
            attention += 4 * N_BATCH * self.n_padded * a.n_head
        logits = 4 * self.n_rows * a.n_vocab
        return attention + max(layer, logits) + 4 * a.n_vocab  # one row stays out of the graph
