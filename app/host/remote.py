"""A server with OpenAI's API, on this machine or another, as something that can be asked; for one event loop.

The connection is blocking and lives on a thread of its own; closing the iterator closes the connection, which is how
the server learns that nobody waits any more.
"""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress

from app.errors import RemoteError, SlipstreamError
from app.host.background import beside
from app.host.remote_wire import (
    MAX_ANSWER_BYTES,
    MAX_LINE_BYTES,
    Address,
    RemoteEvent,
    RemoteRequest,
    read_address,
    read_fault,
    read_models,
    read_stream,
    read_whole,
)

CONNECT_S = 10.0
SILENCE_S = 900.0
"""A server that loads a model, or reads a long prompt, is silent for minutes."""

_MAX_FAULT_BYTES = 64 * 1024
_MAX_LIST_BYTES = 4 * 1024 * 1024


class RemoteServer:
    """Asks a server; ``key`` goes to it and nowhere else, also not where it redirects to."""

    def __init__(self, url: str, key: str = "") -> None:
        self.address = read_address(url)
        if key and not (key.isascii() and key.isprintable() and " " not in key):
            raise RemoteError("The key has characters that no HTTP header can carry.", "Copy it again.")
        self._key = key

    async def models(self) -> tuple[str, ...]:
        """Return the names of its models.

        Raises:
            RemoteError: it cannot be reached, or does not say.
        """
        exchange = _Exchange(self.address, self._key)
        try:
            return await beside(exchange.models, "models of a server")
        finally:
            exchange.close()

    def begin(self, request: RemoteRequest) -> RemoteTurn:
        """Return the answering of a conversation; nothing is sent before its events are asked for."""
        return RemoteTurn(_Exchange(self.address, self._key), request)


class RemoteTurn:
    """One answer of a server on its way."""

    def __init__(self, exchange: _Exchange, request: RemoteRequest) -> None:
        self._exchange, self._request = exchange, request
        self._items: asyncio.Queue[RemoteEvent | SlipstreamError | None] = asyncio.Queue()

    def stop(self) -> None:
        """End it: no more events come, also while the server is still being reached."""
        self._exchange.close()
        self._items.put_nowait(None)

    async def events(self) -> AsyncGenerator[RemoteEvent, None]:
        """Yield the answer as it comes. Closing the iterator stops it.

        Raises:
            RemoteError: the server cannot be reached, refuses, or breaks off.
        """
        loop = asyncio.get_running_loop()
        items = self._items

        def put(item: RemoteEvent | SlipstreamError | None) -> None:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(items.put_nowait, item)

        def work() -> None:
            try:
                for event in self._exchange.chat(self._request):
                    put(event)
            except SlipstreamError as fault:
                put(fault)
            finally:
                put(None)

        threading.Thread(target=work, name="answer of a server", daemon=True).start()
        try:
            while (item := await items.get()) is not None:
                if isinstance(item, SlipstreamError):
                    raise item
                yield item
        finally:
            self._exchange.close()


class _Exchange:
    """One request and its answer, blocking; :meth:`close` ends it from another thread."""

    def __init__(self, address: Address, key: str) -> None:
        self._address, self._key = address, key
        kind = http.client.HTTPSConnection if address.is_tls else http.client.HTTPConnection
        self._connection = kind(address.host, address.port, timeout=CONNECT_S)
        self._socket: socket.socket | None = None  # the connection forgets it once the answer comes
        self._answer: http.client.HTTPResponse | None = None
        self._is_closed = False

    def models(self) -> tuple[str, ...]:
        """Return the names of the server's models."""
        try:
            answer = self._ask("GET", "/models", None)
            return read_models(answer.read(_MAX_LIST_BYTES))
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as fault:
            raise self._unreachable(fault) from fault
        finally:
            self._hang_up()

    def chat(self, request: RemoteRequest) -> Iterator[RemoteEvent]:
        """Yield an answer as it comes."""
        try:
            answer = self._ask("POST", "/chat/completions", request.body())
            if "json" in (answer.getheader("Content-Type") or ""):
                yield from read_whole(answer.read(MAX_ANSWER_BYTES))
            else:
                yield from read_stream(self._lines(answer))
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as fault:
            raise self._unreachable(fault) from fault
        finally:
            self._hang_up()

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._is_closed = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _ask(self, verb: str, path: str, body: bytes | None) -> http.client.HTTPResponse:
        self._connection.connect()
        self._socket = self._connection.sock
        self._socket.settimeout(SILENCE_S)
        headers = {"Accept": "text/event-stream, application/json", "Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        if self._is_closed:
            raise ConnectionAbortedError
        self._connection.request(verb, self._address.root + path, body, headers)
        self._answer = answer = self._connection.getresponse()
        if answer.status != http.HTTPStatus.OK:
            said = answer.read(_MAX_FAULT_BYTES)
            if self._key:  # some repeat it, and what they say is shown and may be logged
                said = said.replace(self._key.encode(), b"(the key)")
            raise read_fault(answer.status, said, self._address.words)
        return answer

    def _hang_up(self) -> None:
        if self._answer is not None:
            self._answer.close()
        self._connection.close()

    def _lines(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        n_left = MAX_ANSWER_BYTES
        while line := answer.readline(MAX_LINE_BYTES + 1):
            n_left -= len(line)
            if len(line) > MAX_LINE_BYTES or n_left < 0:
                raise RemoteError("The server sends without end.", "Check the address.")
            yield line

    def _unreachable(self, fault: Exception) -> RemoteError:
        where = self._address.words
        if isinstance(fault, TimeoutError):
            return RemoteError(f"The server at {where} does not answer.", "Is it running, and not too busy?")
        if isinstance(fault, ConnectionRefusedError | socket.gaierror):
            return RemoteError(
                f"There is no server at {where}.", "Start one with the command serve, or check the address."
            )
        if isinstance(fault, http.client.IncompleteRead | ConnectionResetError):
            return RemoteError("The server broke off in mid-answer.", "What came is kept; ask again.")
        why = str(fault).strip(".") or type(fault).__name__
        return RemoteError(f"The connection to {where} failed: {why}.", "Check the address, and whether it uses TLS.")
