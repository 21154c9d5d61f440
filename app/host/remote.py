"""A server with OpenAI's API, on this machine or another, as something that can be asked; for one event loop.

The connection is blocking and lives on a thread of its own; closing the iterator closes the connection, which is how
the server learns that nobody waits any more.
"""

from __future__ import annotations

import asyncio
import http.client
import logging
import socket
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress

import msgspec

from app.errors import RemoteError, SlipstreamError, UsageError
from app.host.background import beside
from app.host.remote_wire import (
    MAX_ANSWER_BYTES,
    MAX_LINE_BYTES,
    Address,
    RefusedError,
    RemoteEnd,
    RemoteEvent,
    RemoteRequest,
    read_address,
    read_fault,
    read_models,
    read_stream,
    read_whole,
    strange,
)

CONNECT_S = 10.0
SILENCE_S = 900.0
"""A server that loads a model, or reads a long prompt, is silent for minutes."""

LIST_SILENCE_S = 30.0
"""What it has, a server knows at once."""

MAX_UNREAD = 64
"""So many pieces may wait for whoever reads them; then the server has to wait, and a stop comes through at once."""

logger = logging.getLogger(__name__)

_MAX_FAULT_BYTES = 64 * 1024
_MAX_LIST_BYTES = 4 * 1024 * 1024
_MAX_WORDS = 1000


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
        self._room = threading.Semaphore(MAX_UNREAD)
        self._is_over = False

    def stop(self) -> None:
        """End it: no more events come, also while the server is still being reached."""
        self._hang_up()
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
                    self._room.acquire()
                    if self._is_over:
                        return
                    put(event)
            except SlipstreamError as fault:
                put(fault)
            except Exception:  # a server can answer with anything
                logger.info("an answer of a server was not understood", exc_info=True)
                put(strange())
            finally:
                put(None)

        threading.Thread(target=work, name="answer of a server", daemon=True).start()
        try:
            while (item := await items.get()) is not None:
                if isinstance(item, SlipstreamError):
                    raise item
                yield item
                self._room.release()
        finally:
            self._hang_up()

    def _hang_up(self) -> None:
        self._is_over = True
        self._exchange.close()
        self._room.release()  # for the thread, if that waits


def _with_notice(event: RemoteEvent, left_out: tuple[str, ...]) -> RemoteEvent:
    if not left_out or not isinstance(event, RemoteEnd):
        return event
    notice = f"The server does not take all of {', '.join(left_out)}: for those it has settings of its own."
    return msgspec.structs.replace(event, notices=(*event.notices, notice))


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
            answer = self._ask("GET", "/models", None, LIST_SILENCE_S)
            return read_models(answer.read(_MAX_LIST_BYTES))
        except RemoteError as fault:
            raise self._told(fault) from None
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as fault:
            raise self._told(self._unreachable(fault)) from None
        finally:
            self._hang_up()

    def chat(self, request: RemoteRequest) -> Iterator[RemoteEvent]:
        """Yield an answer as it comes."""
        try:
            answer, left_out = self._taken(request)
            if "json" in (answer.getheader("Content-Type") or ""):
                events = read_whole(answer.read(MAX_ANSWER_BYTES))
            else:
                events = read_stream(self._lines(answer))
            yield from (_with_notice(event, left_out) for event in events)
        except RemoteError as fault:
            raise self._told(fault) from None
        except UnicodeEncodeError as fault:
            words = f"The text is not valid: it holds half a character ({fault.object[fault.start]!a})."
            raise UsageError(words, "Remove that character.") from None
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as fault:
            raise self._told(self._unreachable(fault)) from None
        finally:
            self._hang_up()

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._is_closed = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _taken(self, request: RemoteRequest) -> tuple[http.client.HTTPResponse, tuple[str, ...]]:
        """Ask; where the server refuses fields that it can be asked without, ask once more. Return which they are."""
        try:
            return self._ask("POST", "/chat/completions", request.body(), SILENCE_S), ()
        except RefusedError as fault:
            if not request.refused(fault.status, fault.message):
                raise
        self._hang_up()
        names = request.optional  # a server that does not know one of them hardly knows the next
        return self._ask("POST", "/chat/completions", request.without(names).body(), SILENCE_S), names

    def _ask(self, verb: str, path: str, body: bytes | None, silence_s: float) -> http.client.HTTPResponse:
        self._connection.connect()
        self._socket = self._connection.sock
        self._socket.settimeout(silence_s)
        headers = {"Accept": "text/event-stream, application/json", "Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        if self._is_closed:
            raise ConnectionAbortedError
        self._connection.request(verb, self._address.root + path, body, headers)
        self._answer = answer = self._connection.getresponse()
        if answer.status != http.HTTPStatus.OK:
            raise read_fault(answer.status, answer.read(_MAX_FAULT_BYTES), self._address.words)
        return answer

    def _told(self, fault: RemoteError) -> RemoteError:
        """Take the key out of an error: some servers repeat it, and what they say is shown and may be logged.

        Only then is it cut, as half a key is one too many.
        """
        said = (fault.message, fault.hint)
        message, hint = (words.replace(self._key, "(the key)") if self._key else words for words in said)
        return RemoteError(message[:_MAX_WORDS], hint[:_MAX_WORDS])

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
