"""The OpenAI chat API as a client sees it: what is asked, and what comes back, read with suspicion.

Figures that come with an answer are the server's word: nothing here was measured. Names as OpenAI has them (``usage``)
and llama.cpp's server (``timings``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from app.chat.reported import RemoteFigures
from app.errors import RemoteError, UsageError

MAX_LINE_BYTES = 4 * 1024 * 1024
"""A longer line is no piece of an answer."""

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""More than this no model says; a server that never ends shall not fill the memory."""

MAX_ADDRESS_CHARS = 1000
_SAYS = ("message", "msg", "error", "detail")
"""Where servers put the words of an error."""
_MOST_FAULTS, _MOST_OF_A_REASON = 5, 100
"""So many faults of one request are told, and so many characters of why an answer ended."""

_FIELDS = (b"data:", b":", b"event:", b"id:", b"retry:")
"""How lines of server-sent events begin."""


class _Words(msgspec.Struct, frozen=True):
    """What is said, as text or as parts of it, and what is thought."""

    content: object = None
    reasoning_content: object = None
    reasoning: object = None

    def text(self) -> RemoteText:
        said, thought = _text_of(self.content)
        return RemoteText(said, "".join(_text_of(self.reasoning_content or self.reasoning)) + thought)


class _Choice(msgspec.Struct, frozen=True):
    delta: _Words | None = None
    message: _Words | None = None
    finish_reason: str | None = None


class _Notice(msgspec.Struct, frozen=True):
    message: str = ""
    hint: str | None = None


class _Reply(msgspec.Struct, frozen=True):
    model: str | None = None
    choices: list[_Choice] | None = None
    usage: object = None
    timings: object = None
    notices: list[_Notice] | None = None
    error: object = None
    kind: object = msgspec.field(name="object", default=None)
    message: object = None
    detail: object = None

    def fault(self) -> tuple[str, str] | None:
        """Return why the server refuses, and what it advises; None if it does not refuse.

        OpenAI has an ``error`` with a message, vLLM and SGLang an object that is an error, FastAPI a ``detail``.
        """
        if self.error is not None:
            hint = _table(self.error, "hint")
            return _sentence(self.error), hint if isinstance(hint, str) else ""
        if self.kind == "error" or (self.choices is None and isinstance(self.message, str)):
            return _sentence(self.message), ""
        return (_sentence(self.detail), "") if self.detail is not None else None


class _Named(msgspec.Struct, frozen=True):
    id: str


class _Models(msgspec.Struct, frozen=True):
    data: list[_Named]


class RemoteText(msgspec.Struct, frozen=True, tag_field="type", tag="text", omit_defaults=True):
    """A piece of an answer: what is said, and what is thought."""

    text: str = ""
    reasoning: str = ""


class RemoteEnd(msgspec.Struct, frozen=True, tag_field="type", tag="end"):
    """How an answer ended, and what the server reports of it. ``notices`` are sentences."""

    finish_reason: str
    model: str
    reported: RemoteFigures
    notices: tuple[str, ...] = ()


RemoteEvent = RemoteText | RemoteEnd


class RemoteRequest(msgspec.Struct, frozen=True):
    """What is asked. ``extra`` are fields beside the messages: sampling, speculation, as the API names them.

    A server that does not take one of the ``optional`` ones of them is asked without.
    """

    model: str
    messages: tuple[dict[str, str], ...]
    extra: dict[str, object]
    optional: tuple[str, ...] = ()

    def refused(self, status: int, words: str) -> tuple[str, ...]:
        """Return the optional fields that a server does not take, by why it refuses."""
        if status not in (400, 422):
            return ()
        return tuple(name for name in self.optional if re.search(rf"(?<![\w-]){name}(?![\w-])", words))

    def without(self, names: Collection[str]) -> RemoteRequest:
        """Return the request without some of its fields."""
        extra = {name: value for name, value in self.extra.items() if name not in names}
        return RemoteRequest(self.model, self.messages, extra, tuple(set(self.optional) - set(names)))

    def body(self) -> bytes:
        """Return it as it is sent."""
        fields = {"model": self.model, "messages": self.messages, **self.extra}
        return msgspec.json.encode({**fields, "stream": True, "stream_options": {"include_usage": True}})


class Address(msgspec.Struct, frozen=True):
    """Where a server is. ``root`` is what its paths begin with, up to and including ``/v1``."""

    is_tls: bool
    host: str
    port: int | None
    root: str

    @property
    def words(self) -> str:
        """Write it for a person."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.is_tls else 'http'}://{host}" + (f":{self.port}" if self.port else "")

    @property
    def place(self) -> str:
        """Its host and port alone, as they stand behind a model's name."""
        return self.words.partition("://")[2]

    @property
    def url(self) -> str:
        """The whole of it, alike however it was written."""
        return self.words + self.root

    @property
    def is_here(self) -> bool:
        """Whether it is this very computer."""
        return self.host in ("localhost", "127.0.0.1", "::1")

    @property
    def is_open_to_others(self) -> bool:
        """Whether what is sent there goes over a network unencrypted."""
        return not self.is_tls and not self.is_here


def read_address(url: str) -> Address:
    """Read the address of a server, with ``/v1`` at its end or without, with ``http://`` or without.

    Raises:
        UsageError: it is none.
    """
    text = url.strip()
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if "@" in parts.netloc or parts.query:  # it is not repeated: what stands there may be a secret
        raise UsageError("The address of a server holds no name, password or query.", "Its key has a place of its own.")
    is_sound = parts.scheme in ("http", "https") and parts.hostname and len(text) <= MAX_ADDRESS_CHARS
    if not is_sound or not parts.hostname or not text.isascii() or not text.isprintable() or " " in text:
        raise UsageError(
            f"{url[:MAX_ADDRESS_CHARS]!r} is not the address of a server.", "Write it as in http://127.0.0.1:18181."
        )
    path = parts.path.rstrip("/")
    return Address(parts.scheme == "https", parts.hostname, port, path if path.endswith("/v1") else f"{path}/v1")


class ServerModel(NamedTuple):
    """A model of a server."""

    url: str
    model: str

    @property
    def words(self) -> str:
        """Its name with where it is, as ``model@host:port``."""
        return f"{self.model}@{read_address(self.url).place}"


def read_models(data: bytes) -> tuple[str, ...]:
    """Return the names of the models that a server has.

    Raises:
        RemoteError: it answered with something else.
    """
    try:
        return tuple(model.id for model in msgspec.json.decode(data, type=_Models).data)
    except (msgspec.MsgspecError, RecursionError) as fault:
        raise strange() from fault


class RefusedError(RemoteError):
    """A server refuses a request."""

    def __init__(self, status: int, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.status = status


def read_fault(status: int, data: bytes, where: str) -> RefusedError:
    """Say why a server refuses, in its own words where it has some, however long."""
    try:
        said = msgspec.json.decode(data, type=_Reply).fault()
    except (msgspec.MsgspecError, RecursionError):
        said = None
    words, hint = said or ("", "")
    why = words.rstrip(".")
    bare = f"The server at {where} refuses ({status})."
    sentence = f"The server at {where} refuses ({status}): {why}." if why else bare
    return RefusedError(status, sentence, hint or _HINTS.get(status, ""))


_HINTS = {
    401: "Give its key: with its address in the window, or in SLIPSTREAM_API_KEY.",
    403: "Give a key that it admits: with its address in the window, or in SLIPSTREAM_API_KEY.",
    404: "Check the model's name, and that the address is that of an OpenAI-compatible server.",
    429: "It is busy; ask again in a while.",
    503: "It is busy or still loads; ask again in a while.",
}


def read_stream(lines: Iterable[bytes]) -> Iterator[RemoteEvent]:
    """Read server-sent events, each with a chunk of an answer.

    Raises:
        RemoteError: they hold something else, or end before the answer does.
    """
    reader = _Reader()
    is_stream = is_other = False
    for line in (raw.removeprefix(b"\xef\xbb\xbf") for raw in lines):
        is_stream = is_stream or line.startswith(_FIELDS)
        is_other = is_other or bool(line.strip())
        if not line.startswith(b"data:"):
            continue  # a comment that keeps the line open, or a field that the API does not use
        data = line[len(b"data:") :].strip()
        if data == b"[DONE]":
            yield reader.end()
            return
        yield from reader.read(data)
    if is_other and not is_stream:
        raise strange()
    if not reader.is_finished:
        raise RemoteError("The server broke off in mid-answer.", "What came is kept; ask again.")
    yield reader.end()


def read_whole(data: bytes) -> Iterator[RemoteEvent]:
    """Read an answer of a server that does not stream.

    Raises:
        RemoteError: it is something else.
    """
    reader = _Reader()
    yield from reader.read(data)
    if not reader.is_finished:
        raise strange()
    yield reader.end()


class _Reader:
    """Puts the figures of a stream together, wherever in it they come."""

    def __init__(self) -> None:
        self._finish, self._model = "", ""
        self._usage: object = None
        self._timings: object = None
        self._notices: list[str] = []

    @property
    def is_finished(self) -> bool:
        """Whether the answer has come to its end."""
        return bool(self._finish)

    def read(self, data: bytes) -> Iterator[RemoteText]:
        """Read one chunk; yield its text."""
        try:
            reply = msgspec.json.decode(data, type=_Reply)
        except (msgspec.MsgspecError, RecursionError) as fault:
            raise strange() from fault
        if (said := reply.fault()) is not None:
            why, hint = said
            raise RemoteError(f"The server could not go on: {why or 'it does not say why'}", hint)
        self._model = reply.model or self._model
        self._usage, self._timings = reply.usage or self._usage, reply.timings or self._timings
        for notice in reply.notices or ():
            self._notices.append(" ".join(f"{notice.message} {notice.hint or ''}".split()))
        for choice in (reply.choices or ())[:1]:
            self._finish = " ".join((choice.finish_reason or self._finish).split())[:_MOST_OF_A_REASON]
            words = choice.delta or choice.message
            if words is not None and (piece := words.text()) != RemoteText():
                yield piece

    def end(self) -> RemoteEnd:
        """Return how it ended."""
        return RemoteEnd(
            self._finish or "stop", self._model, _figures(self._usage, self._timings), tuple(self._notices)
        )


def _figures(usage: object, timings: object) -> RemoteFigures:
    """Read the figures that are figures; a strange one shall not cost the answer."""
    drafts = _table(usage, "completion_tokens_details")
    proposed, accepted = _count(timings, "draft_n"), _count(timings, "draft_n_accepted")
    if proposed is None and (accepted := _count(drafts, "accepted_prediction_tokens")) is not None:
        proposed = accepted + (_count(drafts, "rejected_prediction_tokens") or 0)
    is_sound = proposed is not None and accepted is not None and accepted <= proposed
    ttft_ms = _figure(timings, "ttft_ms")
    return RemoteFigures(
        prompt_tokens=_count(usage, "prompt_tokens"),
        cached_tokens=_count(_table(usage, "prompt_tokens_details"), "cached_tokens"),
        tokens=_count(usage, "completion_tokens"),
        ttft_s=None if ttft_ms is None else ttft_ms / 1e3,
        prefill_tps=_figure(timings, "prompt_per_second"),
        decode_tps=_figure(timings, "predicted_per_second"),
        proposed=proposed if is_sound else None,
        accepted=accepted if is_sound else None,
        tokens_per_step=_figure(timings, "tokens_per_step"),
        drafter=_words(timings, "drafter"),
        not_engaged=_words(timings, "not_engaged"),
    )


def _text_of(content: object) -> tuple[str, str]:
    """Return what is said and what is thought of a text, or of parts of one; others than text are passed over."""
    if isinstance(content, str):
        return content, ""
    said, thought = "", ""
    for part in content if isinstance(content, list) else ():
        if isinstance(inner := _table(part, "thinking"), str | list):
            thought += "".join(_text_of(inner))
        elif isinstance(text := _table(part, "text"), str):
            said += text
    return said, thought


def _sentence(said: object) -> str:
    """Return the words of an error: of a text, of a message in an object, of a list of faults with their places."""
    if isinstance(said, list):
        return "; ".join(filter(None, map(_sentence, said[:_MOST_FAULTS])))
    if isinstance(said, dict):
        words = next((found for name in _SAYS if (found := _sentence(said.get(name)))), "")
        place = said.get("loc")
        parts = [str(part) for part in place if part != "body"] if isinstance(place, list) else []
        return f"{'.'.join(parts)}: {words}" if parts and words else words
    return " ".join(said.split()) if isinstance(said, str) else ""


def _table(within: object, name: str) -> object:
    return within.get(name) if isinstance(within, dict) else None


def _count(within: object, name: str) -> int | None:
    value = _table(within, name)
    return value if type(value) is int and 0 <= value < 2**53 else None


def _figure(within: object, name: str) -> float | None:
    value = _table(within, name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 2**53 else None


def _words(within: object, name: str) -> str:
    value = _table(within, name)
    return " ".join(value.split())[:1000] if isinstance(value, str) else ""


def strange() -> RemoteError:
    """Return what is said of an answer that is none."""
    return RemoteError(
        "The server answers with something that is not OpenAI's API.", "Check the address; it may need /v1 at its end."
    )
