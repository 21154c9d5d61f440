"""The one vocabulary: every command to the engine and every event from it.

The engine yields these events, the worker writes them, the window draws them, the recorder counts them. One message
is one line of JSON (:func:`encode`, :func:`decode_event`); one verification step is one :class:`Chunk` and one write.

A generation, in order::

    Generate ──▶ Started ─▶ Prefill* ─▶ Chunk* ─▶ Done          (or Failed at any point)

Times are seconds; ``t_s`` counts on the engine's monotonic clock, from when the engine received the request.
"""

from __future__ import annotations

import msgspec

from app.memory_types import MemoryTypes
from app.protocol.commands import Cancel, Command, Generate, Load, MeasureCosts, Render, Tokenise, Unload
from app.protocol.events import (
    Chunk,
    CostsMeasured,
    Done,
    Event,
    Failed,
    Hello,
    Last,
    Loaded,
    LoadProgress,
    Prefill,
    Rendered,
    Started,
    Tokenised,
    Unloaded,
)
from app.protocol.values import (
    LIKELIEST,
    LOSSY,
    MAX_DRAFT_TOKENS,
    MAX_LINE_BYTES,
    SPEC_TYPE_ALIASES,
    TREES_TRIED,
    ChatMessage,
    DraftTokens,
    Engagement,
    ErrorInfo,
    LoadStage,
    ModelInfo,
    NoticeInfo,
    Paging,
    Plan,
    ReasoningEffort,
    Role,
    Sampling,
    SpecType,
    Speculation,
    Step,
    StopReason,
    Templating,
    Tool,
    ToolCall,
    is_lossy_name,
    spec_name,
)

__all__ = [
    "LIKELIEST",
    "LOSSY",
    "MAX_DRAFT_TOKENS",
    "MAX_LINE_BYTES",
    "SPEC_TYPE_ALIASES",
    "TREES_TRIED",
    "Cancel",
    "ChatMessage",
    "Chunk",
    "Command",
    "CostsMeasured",
    "Done",
    "DraftTokens",
    "Engagement",
    "ErrorInfo",
    "Event",
    "Failed",
    "Generate",
    "Hello",
    "Last",
    "Load",
    "LoadProgress",
    "LoadStage",
    "Loaded",
    "MeasureCosts",
    "MemoryTypes",
    "ModelInfo",
    "NoticeInfo",
    "Paging",
    "Plan",
    "Prefill",
    "ReasoningEffort",
    "Render",
    "Rendered",
    "Role",
    "Sampling",
    "SpecType",
    "Speculation",
    "Started",
    "Step",
    "StopReason",
    "Templating",
    "Tokenise",
    "Tokenised",
    "Tool",
    "ToolCall",
    "Unload",
    "Unloaded",
    "decode_command",
    "decode_event",
    "encode",
    "is_lossy_name",
    "spec_name",
]

_encoder = msgspec.json.Encoder()
_commands = msgspec.json.Decoder(Command)
_events = msgspec.json.Decoder(Event)


def encode(message: Command | Event) -> bytes:
    """Return the message as one line of JSON, newline included."""
    return _encoder.encode(message) + b"\n"


def decode_command(line: bytes) -> Command:
    """Read one command.

    Raises:
        msgspec.MsgspecError: the line is not a command.
    """
    return _commands.decode(line)


def decode_event(line: bytes) -> Event:
    """Read one event.

    Raises:
        msgspec.MsgspecError: the line is not an event.
    """
    return _events.decode(line)
