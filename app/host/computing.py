"""From the words of ``--compute`` to devices, and what suits each kind of device.

``cpu``, ``gpu``, ``npu``, ``hybrid`` (the NPU and the GPU share the layers), or a list of ggml's names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.engine.discovery import Found
from app.engine.probe import Device
from app.errors import UsageError
from app.placement import Placement
from app.protocol import MemoryTypes

WORDS = ("cpu", "gpu", "npu", "hybrid")
_NONE = "python -m app devices says what is here and why something is not."


@dataclass(frozen=True, slots=True)
class Manner:
    """What suits a kind of device. ``n_threads_most`` 0: as many as without it.

    Attributes:
        n_threads_most: threads that the rest of the work is worth: they get in the way of the device's own.
        flash_attention: ``None`` leaves it to llama.cpp.
        types: of the memory, where nobody chose; ``None`` as on the processor.
        n_batch: tokens at once; without a callback that stops them, it is also how long a cancel waits.
        n_batch_draft: the same for a draft model or heads, whose buffers are wanted beside the target's.
        n_prefill: tokens of a prompt between two looks at whether it was cancelled; see :class:`Placement`.
        keeps_window: whether layers that look back a short way keep the whole text.
        maps_file: whether the processor's share of the weights stays in the file's pages.
        fixed_shape: whether all passes that verify must have as many rows; none that is known asks for it.
    """

    n_threads_most: int = 0
    flash_attention: bool | None = None
    types: tuple[str, str] | None = None
    n_batch: int = 512
    n_batch_draft: int = 512
    n_prefill: int = 128
    keeps_window: bool = True
    maps_file: bool = True
    fixed_shape: bool = False


PROCESSOR = Manner()
BORROWED = Manner()  # nobody knows what the server computes with
GRAPHICS = Manner(types=("f16", "f16"), n_prefill=512, maps_file=False)
ADRENO = replace(GRAPHICS, n_threads_most=6, flash_attention=False)
NPU = Manner(6, True, ("f16", "f16"), 512, 128, 256, keeps_window=False, maps_file=False)
"""A session maps some 3 GiB: the memory of two models and their buffers must fit in there together."""


def manner_of(devices: Sequence[Device]) -> Manner:
    """Return what suits devices that share the layers: what suits the most particular one."""
    kinds = {_manner(device) for device in devices}
    return next((kind for kind in (NPU, ADRENO, GRAPHICS, BORROWED) if kind in kinds), PROCESSOR)


def _manner(device: Device) -> Manner:
    if device.kind == "npu":
        return NPU
    if device.kind not in ("gpu", "igpu"):
        return PROCESSOR
    if device.backend == "RPC":
        return BORROWED
    return ADRENO if device.backend == "OpenCL" else GRAPHICS


def kind_of(devices: Sequence[Device]) -> str:
    """Return the kind of device that decides which types of weights suit: ``cpu``, ``gpu`` or ``npu``."""
    kinds = {device.kind for device in devices}
    if "npu" in kinds:
        return "npu"
    return "gpu" if any(manner_of([device]) in (ADRENO, GRAPHICS) for device in devices) else "cpu"


def fitting_memory(memory: MemoryTypes, manner: Manner) -> MemoryTypes:
    """Return the memory's types: what was chosen, else what suits the device."""
    types = manner.types if (memory.type_k, memory.type_v) == (MemoryTypes().type_k, MemoryTypes().type_v) else None
    type_k, type_v = types or (memory.type_k, memory.type_v)
    fused = manner.flash_attention if memory.flash_attention is None else memory.flash_attention
    return MemoryTypes(type_k, type_v, fused)


def placement(
    devices: Sequence[Device], *, is_draft: bool = False, n_layers: int = -1, manner: Manner | None = None
) -> Placement:
    """Return how a model is laid out on devices, or so many of its last layers; on none as without any.

    ``manner`` is what suits them, where that is not known by their kind.
    """
    chosen = tuple(device.name for device in devices if device.kind != "cpu")
    if not chosen:
        return Placement()
    manner = manner or manner_of(devices)
    return Placement(
        devices=chosen,
        n_layers=n_layers,
        n_batch=manner.n_batch_draft if is_draft else manner.n_batch,
        n_batch_heads=manner.n_batch_draft,
        n_prefill=manner.n_prefill,
        keeps_window=manner.keeps_window,
        maps_file=manner.maps_file,
        fixed_shape=manner.fixed_shape,
    )


def is_processor(words: str) -> bool:
    """Whether the words ask for nothing but the processor."""
    return words.strip().lower() in ("", "cpu")


def choose(words: str, found: Found) -> tuple[Device, ...]:
    """Return the devices that the words mean; none for the processor.

    Raises:
        UsageError: there is none of that kind, or of that name.
    """
    known = {device.name.lower(): device for device in found.devices}
    match words.strip().lower():
        case "" | "cpu":
            return ()
        case "gpu":
            return _some(_graphics(found.devices), "GPU")
        case "npu":
            return _some(_npus(found.devices), "NPU")
        case "hybrid":
            both = (*_npus(found.devices), *_graphics(found.devices))
            return _some(both, "NPU or GPU")
    names = [name.strip() for name in words.split(",") if name.strip()]
    unknown = [name for name in names if name.lower() not in known]
    if unknown or not names:
        listed = ", ".join(device.name for device in found.devices)
        raise UsageError(
            f"There is no device {', '.join(unknown) or words!r}.", f"There are {listed}; or say {', '.join(WORDS)}."
        )
    return tuple(dict.fromkeys(known[name.lower()] for name in names if known[name.lower()].kind != "cpu"))


def _npus(devices: Sequence[Device]) -> tuple[Device, ...]:
    """Return the first: several sessions of one NPU were slower than one wherever somebody tried."""
    return tuple(device for device in devices if device.kind == "npu")[:1]


def _graphics(devices: Sequence[Device]) -> tuple[Device, ...]:
    """Return the discrete GPUs here, else the first of the others here, else what servers lend."""
    here = [device for device in devices if device.backend != "RPC"]
    discrete = tuple(device for device in here if device.kind == "gpu")
    shared = tuple(device for device in here if device.kind == "igpu")[:1]
    return discrete or shared or tuple(device for device in devices if device.kind == "gpu")


def _some(devices: tuple[Device, ...], kind: str) -> tuple[Device, ...]:
    if not devices:
        raise UsageError(f"No {kind} was found here.", _NONE)
    return devices
