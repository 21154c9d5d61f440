"""A connection that cannot be kept open with half a request: uvicorn's, with a deadline for the head."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.server.faults import Fault
from app.server.options import Limits

_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"
_MALFORMED = (
    b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
)
_END_S = 5.0
"""How long a connection that is being closed may take to take in the rest."""

OnGone = set[Callable[[], None]]
"""Who is told at once when a client hangs up: in the loop's very turn that sees it."""


class Connection(H11Protocol):
    """One connection; :func:`connection_class` gives it its limits.

    A client that sends no more is taken for one that has left, as most clients mean it.
    """

    limits = Limits()
    _deadline: asyncio.TimerHandle | None = None
    _last: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - uvicorn's signature
        """Take a connection, or tell that there are too many."""
        super().connection_made(transport)
        self._on_gone: OnGone = set()
        self.app_state = {**self.app_state, "abort": transport.abort, "on_gone": self._on_gone}
        if len(self.connections) > self.limits.n_connections:
            transport.write(_FULL)
            self._end()
            return
        self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._tell_gone()
        self._disarm()
        if self._last is not None:
            self._last.cancel()
        super().connection_lost(exc)

    def eof_received(self) -> None:
        """Take note that the client sends no more."""
        self._tell_gone()

    def _tell_gone(self) -> None:
        for tell in tuple(self._on_gone):
            tell()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the clock runs while a head is not complete."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.flow.read_paused and self._is_next_request_short():
            self.flow.resume_reading()  # it waits for its turn, but a client that hangs up meanwhile is to be seen
        if self.conn.their_state is not h11.IDLE:
            self._disarm()
        elif self._deadline is None and self.conn.trailing_data[0]:
            self._arm()  # the next request has begun on a connection that was kept

    def _is_next_request_short(self) -> bool:
        """Tell whether a request is complete, and little of the next has been sent behind it."""
        return self.conn.their_state is h11.DONE and len(self.conn.trailing_data[0]) < self.limits.n_header_bytes

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, in the form of all errors; where an answer is on its way, only hang up."""
        if self.conn.our_state in (h11.IDLE, h11.DONE):
            body = Fault(400, msg, code="http").body()
            self.transport.write(_MALFORMED % (len(body), body))
        self._end()

    def timeout_keep_alive_handler(self) -> None:
        """Close a kept connection."""
        super().timeout_keep_alive_handler()
        self._end()

    def _arm(self) -> None:
        self._deadline = self.loop.call_later(self.limits.header_s, self._late)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.write(_LATE)
        self._end()

    def _end(self) -> None:
        self.transport.close()
        if self._last is None:
            self._last = self.loop.call_later(_END_S, self.transport.abort)


def connection_class(limits: Limits) -> type[asyncio.Protocol]:
    """Return the class of a server's connections."""
    return type("LimitedConnection", (Connection,), {"limits": limits})
