"""One answer of another server on its way into the transcript. No run is recorded of it: nothing was measured."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from app.chat.conversation import AnswerStats
from app.chat.going_on import USUAL_CLOSING, USUAL_OPENING
from app.errors import RemoteError
from app.host.background import beside
from app.host.remote import RemoteServer, RemoteTurn
from app.host.remote_servers import ServerKeys, asked_of
from app.host.remote_wire import RemoteEnd, RemoteText, ServerModel
from app.ui.tr import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.chat.chat_settings import Constraint
    from app.host import ChatRequest
    from app.protocol import StopReason
    from app.ui.growing import GrowingAnswer

_ENDS: dict[str, StopReason] = {"stop": "eos", "length": "length"}


class RemoteAnswers:
    """Has servers answer, one question at a time."""

    def __init__(self, keys: ServerKeys) -> None:
        self._keys = keys
        self._turn: RemoteTurn | None = None
        self._is_stopped = False

    @property
    def is_running(self) -> bool:
        """Whether a server is answering."""
        return self._turn is not None

    def stop(self) -> None:
        """End the answer that is coming; what has come stays."""
        self._is_stopped = True
        if self._turn is not None:
            self._turn.stop()

    async def answer(
        self,
        remote: ServerModel,
        request: ChatRequest,
        constraint: Constraint | None,
        growing: GrowingAnswer,
        on_text: Callable[[str], None],
    ) -> tuple[AnswerStats, tuple[str, ...]]:
        """Have a server answer; return what it reports, and what it wants a person to know.

        Args:
            remote: who is asked.
            request: what is asked.
            constraint: what the answer has to keep to.
            growing: the answer, which says what is waited for.
            on_text: takes the text as it comes, thoughts between their marks.

        Raises:
            SlipstreamError: it cannot be reached, refuses, or breaks off.
        """
        self._is_stopped = False
        server = RemoteServer(remote.url, await beside(lambda: self._keys.find(remote.url), "keyring"))
        growing.show_status(tr("Waiting for {place}…").format(place=server.address.words))
        self._turn = server.begin(asked_of(request, remote.model, {}, constraint))
        thinking = _Thinking()
        end: RemoteEnd | None = None
        try:
            async with aclosing(self._turn.events()) as events:
                async for event in events:
                    match event:
                        case RemoteText():
                            on_text(thinking.text_of(event))
                        case RemoteEnd():
                            end = event
        except RemoteError:
            if not self._is_stopped:
                raise
        finally:
            self._turn = None
            on_text(thinking.rest())
        if end is not None and not growing.text.strip():
            raise RemoteError(tr("The server's answer is empty."), tr("Ask again, or choose another model."))
        seed = request.sampling.seed if request.sampling is not None else None
        place = server.address.words
        if end is None:
            return AnswerStats(server=place, stop_reason="cancelled", seed=seed), ()
        stop = _ENDS.get(end.finish_reason, "stop")
        return AnswerStats(server=place, reported=end.reported, stop_reason=stop, seed=seed), end.notices


class _Thinking:
    """Puts thoughts, which the API sends apart, between the marks that answers are kept with."""

    def __init__(self) -> None:
        self._is_in = False

    def text_of(self, event: RemoteText) -> str:
        text = ""
        if event.reasoning:
            text = event.reasoning if self._is_in else USUAL_OPENING + event.reasoning
            self._is_in = True
        if event.text:
            text += (USUAL_CLOSING if self._is_in else "") + event.text
            self._is_in = False
        return text

    def rest(self) -> str:
        return USUAL_CLOSING if self._is_in else ""
