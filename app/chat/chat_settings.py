"""What a conversation may set for itself, and named presets of it.

Every field may be ``None``: then the program's own setting holds. :func:`app.chat.sampling.sampling_for` puts both
together.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from app.errors import ExportError
from app.protocol import ReasoningEffort

ConstraintKind = Literal["none", "json", "json_schema", "gbnf"]

PRESETS_SCHEMA = "slipstream.presets/1"
PRESET_NAME_LENGTH = 80


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer has to keep to: any JSON, a JSON schema (``text``), or a GBNF grammar (``text``)."""

    kind: ConstraintKind = "none"
    text: str = ""


class ConversationSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings of one conversation; ``None`` is what the program is set to.

    ``reasoning`` asks a template that knows ``enable_thinking`` for reasoning or for none, ``reasoning_effort`` one
    that knows that for more or less of it; ``template`` is a Jinja chat template in place of the model's own. The
    ranges are the engine's.
    """

    system_prompt: str | None = None
    temperature: Annotated[float, Meta(ge=0, le=100)] | None = None
    top_k: Annotated[int, Meta(ge=0, le=1 << 30)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    min_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    repeat_penalty: Annotated[float, Meta(ge=0.01, le=100)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-100, le=100)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-100, le=100)] | None = None
    penalty_last_n: Annotated[int, Meta(ge=0, le=1 << 20)] | None = None
    seed: Annotated[int, Meta(ge=0, le=(1 << 32) - 1)] | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=1 << 30)] | None = None
    stop: tuple[str, ...] | None = None
    constraint: Constraint | None = None
    reasoning: bool | None = None
    reasoning_effort: ReasoningEffort | None = None
    n_ctx: Annotated[int, Meta(ge=0, le=1 << 30)] | None = None
    template: str | None = None


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """Settings under a name; ``id`` is 0 until the store has given it one."""

    id: int = 0
    name: str
    settings: ConversationSettings


class _PresetFile(msgspec.Struct, frozen=True, kw_only=True):
    schema: str = PRESETS_SCHEMA
    presets: tuple[Preset, ...]


def changed_fields(settings: ConversationSettings) -> tuple[str, ...]:
    """Name the settings that differ from the program's, for a badge or a reset."""
    return tuple(name for name in settings.__struct_fields__ if getattr(settings, name) is not None)


def presets_json(presets: tuple[Preset, ...]) -> bytes:
    """Return presets as a file to share (schema ``slipstream.presets/1``)."""
    shared = tuple(msgspec.structs.replace(preset, id=0) for preset in presets)
    return msgspec.json.format(msgspec.json.encode(_PresetFile(presets=shared)), indent=2) + b"\n"


def presets_from_json(data: bytes) -> tuple[Preset, ...]:
    """Read a file of presets.

    Raises:
        ExportError: it is none, or holds a value out of its range.
    """
    try:
        read = msgspec.json.decode(data, type=_PresetFile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise ExportError(f"This is not a file of presets: {fault}.", "Choose one that Slipstream exported.") from fault
    if read.schema != PRESETS_SCHEMA:
        raise ExportError(
            f"This file has the format {read.schema!r}; presets have {PRESETS_SCHEMA!r}.",
            "Choose a file of presets that Slipstream exported, or start a newer version.",
        )
    return tuple(preset for preset in read.presets if preset.name.strip())
