"""Errors as the OpenAI API tells them: a status, and one JSON object with message, type, param and code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from app.errors import (
    BusyError,
    DiskFullError,
    EngineDiedError,
    EngineError,
    GrammarError,
    HubAccessError,
    HubNotFoundError,
    LoadError,
    ModelError,
    ModelNotFoundError,
    PromptTooLongError,
    SlipstreamError,
    UsageError,
)

LOAD_CANCELLED = "The load was cancelled."
_RESTART = "Start the engine again"

_STATUS: tuple[tuple[type[SlipstreamError], int, str, str | None], ...] = (
    (BusyError, 429, "rate_limit_error", "queue_full"),
    (PromptTooLongError, 400, "invalid_request_error", "context_length_exceeded"),
    (UsageError, 400, "invalid_request_error", None),
    (ModelNotFoundError, 404, "invalid_request_error", "model_not_found"),
    (HubNotFoundError, 404, "invalid_request_error", "model_not_found"),
    (HubAccessError, 403, "invalid_request_error", None),
    (ModelError, 400, "invalid_request_error", None),
    (GrammarError, 400, "invalid_request_error", None),
    (EngineError, 503, "server_error", None),
)


@dataclass(eq=False)
class Fault(Exception):  # noqa: N818 - an answer, not only an error
    """What is told instead of an answer; raised by whoever finds it out."""

    status: int
    message: str
    kind: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> bytes:
        """Return it as JSON."""
        return msgspec.json.encode(self.document())

    def document(self) -> dict[str, Any]:
        """Return it as a value; half characters, which no JSON can hold, are replaced."""
        message = self.message.encode("utf-8", "replace").decode()
        return {"error": {"message": message, "type": self.kind, "param": self.param, "code": self.code}}


def fault_of(error: SlipstreamError) -> Fault:
    """Return an error of the program as a client is told it, with what to do next."""
    message = f"{error.message} {_next_step(error)}".strip()
    for kind, status, word, code in _STATUS:
        if isinstance(error, kind):
            headers = _again(error) if status in (429, 503) else {}
            return Fault(status, message, word, code or error.code, headers=headers)
    return Fault(503, message, "server_error", error.code, headers=_again(error))


def _next_step(error: SlipstreamError) -> str:
    """Return a hint for somebody who has no window to start the engine again in: the next request does that."""
    if isinstance(error, EngineDiedError) and error.hint.startswith(_RESTART):
        return "The next request starts it again."
    return error.hint.replace(_RESTART, "Ask again", 1)


def _again(error: SlipstreamError) -> dict[str, str]:
    """Say whether to ask again: what found no room would find none, and unload the models of others each time."""
    is_in_vain = isinstance(error, LoadError) and error.message != LOAD_CANCELLED
    if is_in_vain or isinstance(error, DiskFullError):
        return {"x-should-retry": "false"}  # the OpenAI client listens to it
    return {"retry-after": "1"}
