"""The OpenAI API's two kinds of answers, in chunks and whole."""

from __future__ import annotations

import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from app.metrics.values import Run
from app.protocol import Engagement, NoticeInfo, StopReason
from app.server.figures import notices_of, timings_of, usage_of
from app.server.pieces import Piece, Pieces
from app.token_details import TokenLogprob

_FINISH = {"eos": "stop", "stop": "stop", "length": "length", "cancelled": "length", "failed": "length"}


@dataclass(frozen=True, slots=True)
class End:
    """How an answer ended."""

    stop_reason: StopReason
    run: Run | None
    engagement: Engagement | None
    notices: tuple[NoticeInfo, ...]

    def figures(self, *, with_usage: bool = True) -> dict[str, Any]:
        """Return the fields that tell what it cost."""
        found: dict[str, Any] = {}
        if self.run is not None:
            found = {"usage": usage_of(self.run)} if with_usage else {}
            found["timings"] = timings_of(self.run, self.engagement)
        if self.notices:
            found["notices"] = notices_of(self.notices)
        return found


class Shape(ABC):
    """One answer in the form that a client wants; fed from its beginning to its end."""

    def __init__(self, model: str, *, include_usage: bool) -> None:
        self._model, self._include_usage = model, include_usage
        self._created = int(time.time())
        self._id = secrets.token_hex(12)

    @abstractmethod
    def begin(self, prompt_end: str) -> list[dict[str, Any]]:
        """Return what is streamed before the first token."""

    @abstractmethod
    def feed(self, text: str, logprobs: Sequence[TokenLogprob]) -> list[dict[str, Any]]:
        """Take a step's text; return what is streamed of it."""

    @abstractmethod
    def end(self, end: End) -> list[dict[str, Any]]:
        """Return the last that is streamed."""

    @abstractmethod
    def whole(self, end: End) -> dict[str, Any]:
        """Return the whole answer."""

    def _base(self, prefix: str, kind: str) -> dict[str, Any]:
        return {"id": f"{prefix}-{self._id}", "object": kind, "created": self._created, "model": self._model}

    def _last(self, base: dict[str, Any], choice: dict[str, Any], end: End) -> list[dict[str, Any]]:
        chunks = [{**base, "choices": [choice], **end.figures(with_usage=False)}]
        if self._include_usage and end.run is not None:
            chunks.append({**base, "choices": [], "usage": usage_of(end.run)})
        return chunks


class ChatShape(Shape):
    """``chat.completion`` and its chunks."""

    def __init__(self, model: str, pieces: Pieces, *, include_usage: bool, has_logprobs: bool) -> None:
        super().__init__(model, include_usage=include_usage)
        self._pieces = pieces
        self._has_logprobs = has_logprobs
        self._said: list[str] = []
        self._thought: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._logprobs: list[dict[str, Any]] = []

    def begin(self, prompt_end: str) -> list[dict[str, Any]]:
        """Return the chunk that names the role."""
        self._pieces.begin(prompt_end)
        return [self._chunk({"role": "assistant", "content": ""})]

    def feed(self, text: str, logprobs: Sequence[TokenLogprob]) -> list[dict[str, Any]]:
        """Take a step's text; return a chunk for each part of it that is decided."""
        deltas = self._take(self._pieces.feed(text))
        entries = [chat_logprob(one) for one in logprobs if one.piece] if self._has_logprobs else []
        self._logprobs += entries
        if entries and not deltas:
            deltas = [{"content": ""}]
        chunks = [self._chunk(delta) for delta in deltas]
        if entries:
            chunks[0]["choices"][0]["logprobs"] = {"content": entries, "refusal": None}
        return chunks

    def end(self, end: End) -> list[dict[str, Any]]:
        """Return what was held back, why it ended, and the figures."""
        rest = [self._chunk(delta) for delta in self._take(self._pieces.close())]
        choice = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": self._finish(end)}
        return [*rest, *self._last(self._chunk_base(), choice, end)]

    def whole(self, end: End) -> dict[str, Any]:
        """Return the whole answer."""
        self._take(self._pieces.close())
        said, thought = "".join(self._said), "".join(self._thought)
        message: dict[str, Any] = {
            "role": "assistant",
            "content": said or (None if self._calls else ""),
            "refusal": None,
        }
        if thought:
            message["reasoning_content"] = thought
        if self._calls:
            message["tool_calls"] = [{key: call[key] for key in ("id", "type", "function")} for call in self._calls]
        logprobs = {"content": self._logprobs, "refusal": None} if self._has_logprobs else None
        choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": self._finish(end)}
        return {**self._base("chatcmpl", "chat.completion"), "choices": [choice], **end.figures()}

    def _finish(self, end: End) -> str:
        reason = _FINISH[end.stop_reason]
        return "tool_calls" if self._calls and reason == "stop" else reason

    def _take(self, pieces: Iterable[Piece]) -> list[dict[str, Any]]:
        """Keep pieces for the whole answer; return them as deltas."""
        deltas: list[dict[str, Any]] = []
        for piece in pieces:
            match piece.kind:
                case "said":
                    self._said.append(piece.text)
                    deltas.append({"content": piece.text})
                case "thought":
                    self._thought.append(piece.text)
                    deltas.append({"reasoning_content": piece.text})
                case "reset":  # what was streamed as said before cannot be taken back
                    self._said, self._thought = [], [piece.text]
                case "call" if piece.call is not None:
                    function = {"name": piece.call.name, "arguments": piece.call.arguments}
                    call = {"index": len(self._calls), "id": piece.call.id, "type": "function", "function": function}
                    self._calls.append(call)
                    deltas.append({"tool_calls": [call]})
        return deltas

    def _chunk_base(self) -> dict[str, Any]:
        return self._base("chatcmpl", "chat.completion.chunk")

    def _chunk(self, delta: dict[str, Any]) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        return {**self._chunk_base(), "choices": [choice]}


class CompletionShape(Shape):
    """``text_completion`` and its chunks."""

    def __init__(self, model: str, *, include_usage: bool, has_logprobs: bool) -> None:
        super().__init__(model, include_usage=include_usage)
        self._has_logprobs = has_logprobs
        self._said: list[str] = []
        self._logprobs: list[TokenLogprob] = []

    def begin(self, prompt_end: str) -> list[dict[str, Any]]:  # noqa: ARG002 - a raw prompt has no template
        """Return nothing: a completion has no beginning of its own."""
        return []

    def feed(self, text: str, logprobs: Sequence[TokenLogprob]) -> list[dict[str, Any]]:
        """Take a step's text; return its chunk."""
        told = [one for one in logprobs if one.piece] if self._has_logprobs else []
        before = len(b"".join(one.piece for one in self._logprobs).decode("utf-8", "replace"))
        self._said.append(text)
        self._logprobs += told
        if not text and not told:
            return []
        return [self._chunk(text, completion_logprobs(told, before) if told else None, None)]

    def end(self, end: End) -> list[dict[str, Any]]:
        """Return why it ended, and the figures."""
        base = self._base("cmpl", "text_completion")
        choice = {"text": "", "index": 0, "logprobs": None, "finish_reason": _FINISH[end.stop_reason]}
        return self._last(base, choice, end)

    def whole(self, end: End) -> dict[str, Any]:
        """Return the whole answer."""
        logprobs = completion_logprobs(self._logprobs, 0) if self._has_logprobs else None
        answer = self._chunk("".join(self._said), logprobs, _FINISH[end.stop_reason])
        return {**answer, **end.figures()}

    def _chunk(self, text: str, logprobs: dict[str, Any] | None, finish: str | None) -> dict[str, Any]:
        choice = {"text": text, "index": 0, "logprobs": logprobs, "finish_reason": finish}
        return {**self._base("cmpl", "text_completion"), "choices": [choice]}


def _words(piece: bytes) -> str:
    return piece.decode("utf-8", "replace")


def _one(piece: bytes, logprob: float) -> dict[str, Any]:
    return {"token": _words(piece), "logprob": max(logprob, -9999.0), "bytes": list(piece)}


def chat_logprob(told: TokenLogprob) -> dict[str, Any]:
    """Return a token as chat answers have it; one that cannot be has -9999, as the API says it."""
    return {**_one(told.piece, told.logprob), "top_logprobs": [_one(piece, value) for piece, value in told.top]}


def completion_logprobs(told: Sequence[TokenLogprob], offset: int) -> dict[str, Any]:
    """Return tokens as completions have them; ``offset`` is how many characters came before."""
    offsets = []
    for one in told:
        offsets.append(offset)
        offset += len(_words(one.piece))
    return {
        "tokens": [_words(one.piece) for one in told],
        "token_logprobs": [max(one.logprob, -9999.0) for one in told],
        "top_logprobs": [{_words(piece): max(value, -9999.0) for piece, value in one.top} for one in told],
        "text_offset": offsets,
    }
