"""Where a pair's bytes go when devices share its layers: weights, memory of the text, and what evaluating needs.

llama.cpp puts so many of the last layers on the devices, by turns of their free memory; the output counts as one more
layer, the embedding of the input stays with the processor (``load_tensors`` in ``src/llama-model.cpp``). A layer's
memory lies where the layer does. Each device has buffers of its own for evaluating.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from app.engine.anatomy import Anatomy, anatomy_of
from app.engine.architectures import has_state
from app.engine.gguf import GgufHeader
from app.engine.heads import are_heads, has_embedded_heads, is_assistant
from app.engine.layout import draft_n_ctx, n_snapshots
from app.engine.review import MOST_REVIEWED
from app.models.memory import N_BATCH, PADDED_TO, PairMemory, Part, Room, Share, with_length
from app.protocol import Load, MemoryTypes

_LAYER = re.compile(r"^blk\.(\d+)\.")
_INPUT = ("token_embd.", "per_layer_token_embd.", "position_embd.", "token_types.")
_OUTPUT = "output.weight"


@dataclass(frozen=True, slots=True)
class Spread:
    """Which devices share the layers of a pair's models; none: the processor alone has them.

    ``n_layers`` is how many of the target's last ones they get, -1 all; ``kind`` which kind of device decides what
    types of weights suit it: ``cpu``, ``gpu`` or ``npu``.
    """

    target: tuple[Room, ...] = ()
    draft: tuple[Room, ...] = ()
    n_layers: int = -1
    kind: str = "cpu"


ON_PROCESSOR = Spread()


def spread_over(
    memory: PairMemory, target: GgufHeader, draft: GgufHeader | None, how: Load, spread: Spread
) -> PairMemory:
    """Return what a pair takes with what each device takes of it, and the longest context that fits on all of them."""
    if not spread.target and not spread.draft:
        return memory
    pair = _Pair(target, draft, memory.room, spread)
    here = pair.shares(with_length(how, memory.n_ctx))
    far = memory.n_ctx + 16 * PADDED_TO
    there = {share.room.device: share.n_bytes for share in pair.shares(with_length(how, far))}
    longest = [anatomy_of(target).n_ctx_train or memory.n_ctx]
    for share in here:
        if share.room.is_known:
            per_position = (there[share.room.device] - share.n_bytes) / (far - memory.n_ctx)
            spare = share.room.usable_bytes - share.n_bytes
            if per_position > 0:
                longest.append(int(memory.n_ctx + spare / per_position) // PADDED_TO * PADDED_TO)
            elif spare < 0:
                longest.append(0)
    return replace(memory, shares=here, n_ctx_max=max(0, min(longest)))


@dataclass(frozen=True, slots=True)
class _Pair:
    """A pair and the memories that it is to lie in."""

    target: GgufHeader
    draft: GgufHeader | None
    processor: Room
    spread: Spread

    def shares(self, how: Load) -> tuple[Share, ...]:
        """Return what each device takes; what lies in a shared memory counts for this computer's own, too."""
        n_bytes = self._target_bytes(how) + self._draft_bytes(how)
        rooms = {room.device: room for room in (*self.spread.target, *self.spread.draft)}
        own = n_bytes[self.processor.device] + sum(n_bytes[name] for name, room in rooms.items() if room.is_shared)
        return (
            Share(self.processor, own),
            *(Share(room, n_bytes[name]) for name, room in rooms.items() if name != self.processor.device),
        )

    def _target_bytes(self, how: Load) -> Counter[str]:
        anatomy = anatomy_of(self.target)
        layers = _Layers(anatomy, self.spread.target, self.spread.n_layers, self.processor.device)
        with_heads = has_embedded_heads(self.target)
        context = _Context(how.memory, how.n_ctx, n_snapshots(how, has_state=has_state(self.target.architecture)))
        found = layers.weights(self.target, with_heads=with_heads) + layers.memory(context, nextn=False)
        if self.draft is None and with_heads:
            found += layers.memory(replace(context, memory=how.draft_memory, n_kept=0), nextn=True)
        return found + layers.compute(Part(anatomy, how.memory, how.n_ctx, how.draft_max + 1).compute_bytes())

    def _draft_bytes(self, how: Load) -> Counter[str]:
        if self.draft is None:
            return Counter()
        anatomy, heads = anatomy_of(self.draft), are_heads(self.draft)
        rooms = self.spread.target if heads else self.spread.draft
        layers = _Layers(anatomy, rooms, -1, self.processor.device)
        found = layers.weights(self.draft, with_heads=heads)
        if heads:
            context = _Context(how.memory if is_assistant(self.draft) else how.draft_memory, how.n_ctx, 0)
        else:
            context = _Context(how.draft_memory, draft_n_ctx(how, how.n_ctx, 0), 0)
        found += layers.memory(context, nextn=heads)
        n_rows = 1 if heads else MOST_REVIEWED + 1
        return found + layers.compute(Part(anatomy, context.memory, context.n_ctx, n_rows).compute_bytes())


@dataclass(frozen=True, slots=True)
class _Context:
    memory: MemoryTypes
    n_ctx: int
    n_kept: int


@dataclass(frozen=True, slots=True)
class _Layers:
    """Which device has which layer of a model."""

    anatomy: Anatomy
    rooms: tuple[Room, ...]
    n_offloaded: int
    processor: str

    def device_of(self, index: int) -> str:
        """Return where a layer lies; the output is the one after the last."""
        n = len(self.anatomy.layers) + 1
        n_there = n if self.n_offloaded < 0 else min(self.n_offloaded, n)
        first = n - n_there
        if not self.rooms or index < first or not n_there:
            return self.processor
        sums = list(accumulate(_weights_of_split(self.rooms)))
        at = bisect_right(sums, (index - first) / n_there * sums[-1])
        return self.rooms[min(at, len(self.rooms) - 1)].device

    def weights(self, header: GgufHeader, *, with_heads: bool) -> Counter[str]:
        """Return the bytes of the weights by device; an output that is the embedding again lies there once more."""
        found = Counter[str]()
        output = self.device_of(len(self.anatomy.layers))
        has_output = False
        for tensor in header.tensors:
            layer = _LAYER.match(tensor.name)
            if layer is not None:
                index = int(layer[1])
                is_nextn = index < len(self.anatomy.layers) and self.anatomy.layers[index].is_nextn
                if with_heads or not is_nextn:
                    found[self.device_of(index)] += tensor.n_bytes
            elif tensor.name.startswith(_INPUT):
                found[self.processor] += tensor.n_bytes
            else:
                found[output] += tensor.n_bytes
                has_output = has_output or tensor.name == _OUTPUT
        if not has_output and output != self.processor:
            found[output] += sum(tensor.n_bytes for tensor in header.tensors if tensor.name == "token_embd.weight")
        return found

    def memory(self, context: _Context, *, nextn: bool) -> Counter[str]:
        """Return the bytes of the text's memory and of running states by device."""
        found = Counter[str]()
        for index, layer in enumerate(self.anatomy.layers):
            part = Part(replace(self.anatomy, layers=(layer,)), context.memory, context.n_ctx, 1)
            found[self.device_of(index)] += part.kv_bytes(nextn=nextn) + part.state_bytes(context.n_kept) * (not nextn)
        return found

    def compute(self, n_bytes: int) -> Counter[str]:
        """Return the bytes of the buffers by device: each has its own; the processor's are small without layers."""
        used = {self.device_of(index) for index in range(len(self.anatomy.layers) + 1)}
        found = Counter(dict.fromkeys(used, n_bytes))
        if self.processor not in used:
            found[self.processor] = 2 * 4 * N_BATCH * self.anatomy.n_embd
        return found


def _weights_of_split(rooms: Sequence[Room]) -> list[float]:
    """Return how much of the layers each device gets: by free memory, as llama.cpp does."""
    return [float(max(room.free_bytes, 1)) for room in rooms]
