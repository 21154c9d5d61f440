"""Who answers: the engine of this machine, or a server. Both are asked alike; their figures are told apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

import msgspec

from app.chat.reported import RemoteFigures
from app.cli.answer_lines import brief_line, profile_lines, remote_brief, remote_lines
from app.cli.answer_view import AnswerView
from app.cli.heard import Heard
from app.cli.hosting import load
from app.cli.terminal import StatusLine, note, note_notices
from app.errors import RemoteError
from app.host import ChatRequest, Host, PairChoice
from app.host.remote import RemoteServer
from app.host.remote_servers import asked_of
from app.host.remote_wire import RemoteEnd, RemoteText
from app.metrics.values import Answer
from app.protocol import Chunk, Done, NoticeInfo, Prefill, Speculation, Started

_LONG_PROMPT = 256
"""Reading so many tokens takes long enough to say how far it is."""


class RemoteAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """``infer --server --json``: an answer of a server, with what it reports. Nothing of that was measured here."""

    text: str
    reasoning: str
    model: str
    server: str
    stop_reason: str
    reported_by_server: RemoteFigures


@dataclass(frozen=True, slots=True)
class Cost:
    """How an answer ended and what it cost: as lines, as one line, and as the document of ``--json``."""

    lines: tuple[str, ...]
    brief: str
    document: Answer | RemoteAnswer


class Voice(Protocol):
    """Something that answers."""

    @property
    def name(self) -> str:
        """What answers, for a person."""

    async def answer(self, request: ChatRequest, heard: Heard, view: AnswerView) -> Cost:
        """Answer; ``heard`` and ``view`` get it as it comes.

        Raises:
            SlipstreamError: it could not, or not to the end.
        """

    async def stop(self) -> None:
        """End the answer that is coming; what has come stays."""


class LocalVoice:
    """The engine of this machine."""

    def __init__(self, owner: Host) -> None:
        self._owner = owner
        self._asked: ChatRequest | None = None
        self._noted: tuple[NoticeInfo, ...] = ()

    @property
    def name(self) -> str:
        """The target, and what drafts for it."""
        loaded = self._owner.state.loaded
        if loaded is None:
            return "nothing"
        return loaded.target.name + (f" with {loaded.draft.name}" if loaded.draft else "")

    @property
    def owner(self) -> Host:
        """Whoever owns the engine."""
        return self._owner

    async def load(self, pair: PairChoice) -> None:
        """Load a pair and say what a person should know about it.

        Raises:
            SlipstreamError: it cannot be loaded.
        """
        await load(self._owner, pair)

    async def stop(self) -> None:
        """End the answer that is coming, or the load if none is asked for."""
        await self._owner.cancel(self._asked)

    async def answer(self, request: ChatRequest, heard: Heard, view: AnswerView) -> Cost:
        """Answer with the loaded pair.

        Raises:
            SlipstreamError: it could not, or not to the end.
        """
        token_ids: list[int] = []
        notices: tuple[NoticeInfo, ...] = ()
        status = StatusLine()

        def say(text: str) -> None:
            if text:
                status.clear()
                view.show(text, heard.feed(text))

        self._asked = request
        try:
            async with aclosing(self._owner.answer(request)) as events:
                async for event in events:
                    view.on_event(event)
                    match event:
                        case Started():
                            heard.begin(event.prompt_end)
                            note_notices(tuple(one for one in event.notices if one not in self._noted))
                            self._noted = event.notices  # what holds for every answer is said once
                        case Prefill():
                            if event.total >= _LONG_PROMPT and not event.left_out:  # else it would be within a line
                                status.show(f"reading the prompt: {event.done / event.total:.0%}")
                        case Chunk():
                            token_ids += event.token_ids
                            say(event.text)
                        case Done():
                            say(event.text)
                            notices = event.notices
        finally:
            self._asked = None
            status.clear()
            view.show("", heard.close())
            view.end()
        note_notices(notices)
        run = self._owner.session.runs[-1]
        document = Answer(**msgspec.structs.asdict(run), text=heard.raw, token_ids=tuple(token_ids))
        return Cost(tuple(profile_lines(run)), brief_line(run), document)


class RemoteVoice:
    """A server; ``fields`` are what is asked of it besides the messages, ``said`` which settings somebody chose."""

    def __init__(
        self, server: RemoteServer, model: str, fields: Mapping[str, object], said: Collection[str] = ()
    ) -> None:
        self._server, self.model, self._said = server, model, said
        self.fields = dict(fields)
        self._stop: Callable[[], None] | None = None

    @property
    def name(self) -> str:
        """The model, and where it is."""
        return f"{self.model} at {self._server.address.words}"

    async def models(self) -> tuple[str, ...]:
        """Return the names of its models."""
        return await self._server.models()

    async def stop(self) -> None:
        """End the answer that is coming."""
        if self._stop is not None:
            self._stop()

    async def answer(self, request: ChatRequest, heard: Heard, view: AnswerView) -> Cost:
        """Have the server answer.

        Raises:
            RemoteError: it could not, or not to the end.
        """
        asked = asked_of(request, self.model, self.fields, said=self._said)
        end: RemoteEnd | None = None
        is_stopped = False

        def stop() -> None:
            nonlocal is_stopped
            is_stopped = True
            turn.stop()

        turn = self._server.begin(asked)
        self._stop = stop
        try:
            async with aclosing(turn.events()) as events:
                async for event in events:
                    view.on_event(event)
                    if isinstance(event, RemoteText):
                        _show(event, heard, view)
                    else:
                        end = event
        except RemoteError:
            if not is_stopped:
                raise
        finally:
            self._stop = None
            view.show("", heard.close())
            view.end()
        end = end or RemoteEnd("cancelled", self.model, RemoteFigures())
        for notice in end.notices:
            note(f"notice: {notice}")
        document = RemoteAnswer(
            text=heard.said,
            reasoning=heard.thought,
            model=end.model or self.model,
            server=self._server.address.words,
            stop_reason=end.finish_reason,
            reported_by_server=end.reported,
        )
        return Cost(tuple(remote_lines(end)), remote_brief(end), document)


def _show(event: RemoteText, heard: Heard, view: AnswerView) -> None:
    if event.reasoning:
        view.show("", heard.feed_thought(event.reasoning))
    if event.text:
        view.show(event.text, heard.feed(event.text))


def speculation_fields(speculation: Speculation, draft_model: str | None, *, is_said: bool) -> dict[str, object]:
    """Return how to draft as our server and GenieX's take it; nothing where nobody said anything about it."""
    if not is_said:
        return {}
    if not speculation.types:
        return {"spec_type": "none"}
    fields: dict[str, object] = {
        "spec_type": ",".join(speculation.types),
        "spec_n_max": speculation.draft_tokens,
        "spec_n_min": speculation.draft_min,
        "spec_p_min": speculation.p_min,
    }
    return fields | ({"spec_draft_model": draft_model} if draft_model else {})
