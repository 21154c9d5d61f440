"""What stands before every request: who may ask, how much, and in what time.

A browser lets any web page send requests to this machine, and a page's own host name can be made to point here. So the
Host header must name this machine, a page may ask only if its origin was allowed, and bodies are JSON by name.
Nothing of a body or a key is ever logged.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import logging
import re
import socket
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from app.server.faults import Fault
from app.server.options import ServerOptions, is_own_name

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_OPEN_PATHS = frozenset({"/health"})
_CLOSE = {"connection": "close"}
_PORT = re.compile(r":\d{1,5}$")
_SECURITY = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
)

logger = logging.getLogger(__name__)


class Guard:
    """Refuses, or hands on a request whose body has been received; an ASGI application around another."""

    def __init__(self, app: App, options: ServerOptions) -> None:
        self._app, self._options, self._limits = app, options, options.limits
        self._names = {name.lower() for name in (*options.allowed_hosts, *_names(options))}
        self._origins = {origin.lower() for origin in options.cors_origins}
        self._key = _digest(options.key.encode()) if options.key else b""
        self._n_bytes_coming = self._n_bytes_held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        reply = _Reply(send, self._limits.send_s, self._readable_by(headers))
        abort: Callable[[], None] = scope.get("state", {}).get("abort", _nothing)
        try:
            self._check(scope, headers)
            body = _Replay(await self._body(headers, receive), receive, self._let_go)
            try:
                with self._held(body.n_bytes):
                    await self._app(scope, body, reply.send)
            finally:
                body.let_go()
        except Fault as fault:
            await reply.refuse(fault)
        except (TimeoutError, ConnectionError):
            abort()  # it does not read, or is gone
        except Exception as fault:
            where = "".join(traceback.format_tb(fault.__traceback__))
            logger.error("a request met an unexpected fault (%s):\n%s", type(fault).__name__, where)  # noqa: TRY400
            await reply.refuse(Fault(500, "Something unexpected went wrong; the log has the place.", "server_error"))
        if not reply.is_over:
            abort()

    def _readable_by(self, headers: dict[bytes, list[bytes]]) -> tuple[tuple[bytes, bytes], ...]:
        """Return what lets a page that may ask read why it is refused; what comes from the application has it."""
        origins = headers.get(b"origin", [])
        if len(origins) != 1 or origins[0].decode("latin-1").strip().lower() not in self._origins:
            return ()
        return (b"access-control-allow-origin", origins[0].strip()), (b"vary", b"Origin")

    # --- who ------------------------------------------------------------------------------------------

    def _check(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> None:
        host = _one(headers, b"host")
        if not self._is_ours(host):
            raise Fault(403, "This server is not called that: the Host header names another machine.", code="host")
        origin = _one(headers, b"origin").lower()
        if origin and origin not in self._origins and origin != f"http://{host}".lower():
            raise Fault(403, "Web pages of that origin may not ask this server.", code="origin")
        site, mode = _one(headers, b"sec-fetch-site"), _one(headers, b"sec-fetch-mode")
        if site in ("cross-site", "same-site") and mode != "navigate" and origin not in self._origins:
            raise Fault(403, "Other web pages may not ask this server.", code="origin")
        if self._key and scope["path"] not in _OPEN_PATHS and scope["method"] != "OPTIONS":
            self._check_key(_one(headers, b"authorization"))
        if scope["method"] in ("POST", "PUT", "PATCH"):
            kind = _one(headers, b"content-type").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise Fault(415, "The body has to be JSON: send Content-Type: application/json.", code="content_type")

    def _is_ours(self, host: str) -> bool:
        """Tell whether a Host header names this machine; a number is no name that somebody could point here."""
        name = _PORT.sub("", host).lower().strip("[]").removesuffix(".")
        if name in self._names or is_own_name(name):
            return True
        if self._options.is_local:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _check_key(self, given: str) -> None:
        word, _, key = given.partition(" ")
        digest = _digest(key.strip().encode("utf-8", "surrogateescape"))
        if not hmac.compare_digest(digest, self._key) or word.lower() != "bearer":
            raise Fault(
                401,
                "The key is missing or wrong. Send it as: Authorization: Bearer KEY",
                "authentication_error",
                "invalid_api_key",
                headers={"www-authenticate": "Bearer"},
            )

    # --- how much, and in what time ---------------------------------------------------------------------

    async def _body(self, headers: dict[bytes, list[bytes]], receive: Receive) -> bytes:
        """Receive a body. What all bodies together hold is counted until they have been read."""
        told = _one(headers, b"content-length")
        if told.isdecimal() and (len(told) > 15 or int(told) > self._limits.n_body_bytes):
            raise self._too_large()
        parts: list[bytes] = []
        n_bytes = 0  # counted as they come: tens of thousands of parts may be a byte each
        try:
            async with asyncio.timeout(self._limits.body_s):
                async for part in _parts(receive):
                    n_bytes += len(part)
                    self._n_bytes_coming += len(part)
                    parts.append(part)
                    self._check_size(n_bytes)
        except TimeoutError:
            self._n_bytes_coming -= n_bytes
            words = f"The body did not come within {self._limits.body_s:.0f} seconds."
            raise Fault(408, words, code="timeout", headers=_CLOSE) from None
        except BaseException:
            self._n_bytes_coming -= n_bytes
            raise
        return b"".join(parts)

    def _let_go(self, n_bytes: int) -> None:
        self._n_bytes_coming -= n_bytes

    @contextmanager
    def _held(self, n_bytes: int) -> Iterator[None]:
        """Count what a request has sent, and what was made of that, until it is answered."""
        if self._n_bytes_held + n_bytes > self._limits.n_held_bytes:
            words = f"The requests that wait hold {self._n_bytes_held} bytes already. Try again in a moment."
            raise Fault(429, words, "rate_limit_error", "bodies", headers={"retry-after": "1"})
        self._n_bytes_held += n_bytes
        try:
            yield
        finally:
            self._n_bytes_held -= n_bytes

    def _check_size(self, n_bytes: int) -> None:
        if n_bytes > self._limits.n_body_bytes:
            raise self._too_large()
        if self._n_bytes_coming > self._limits.n_all_body_bytes:
            raise Fault(429, "Too much is being sent at once.", "rate_limit_error", "bodies", headers=_CLOSE)

    def _too_large(self) -> Fault:
        return Fault(
            413,
            f"The body is larger than {self._limits.n_body_bytes} bytes.",
            code="too_large",
            headers=_CLOSE,
        )


class _GoneError(ConnectionError):
    """The client is not there any more: there is nobody to tell."""


def _nothing() -> None:
    """In place of an abort where there is no connection."""


async def _parts(receive: Receive) -> AsyncIterator[bytes]:
    """Yield the parts of a body.

    Raises:
        _GoneError: the client left in the middle of it.
    """
    is_more = True
    while is_more:
        message = await receive()
        if message["type"] != "http.request":
            raise _GoneError
        is_more = message.get("more_body", False)
        yield message.get("body", b"")


class _Replay:
    """Hands out a received body, and then what the client does next, which is leaving.

    ``on_read`` is told once how many bytes it holds no more.
    """

    def __init__(self, body: bytes, receive: Receive, on_read: Callable[[int], None]) -> None:
        self._body: bytes | None = body
        self.n_bytes = len(body)
        self._receive, self._on_read = receive, on_read

    async def __call__(self) -> Message:
        if (body := self.let_go()) is not None:
            return {"type": "http.request", "body": body, "more_body": False}
        return await self._receive()

    def let_go(self) -> bytes | None:
        """Return the body, unless that has been done."""
        body, self._body = self._body, None
        if body is not None:
            self._on_read(len(body))
        return body


class _Reply:
    """Sends an answer with the headers that all have; a client that does not read is given up.

    ``of_refusals`` are those of refusals alone.
    """

    def __init__(self, send: Send, limit_s: float, of_refusals: tuple[tuple[bytes, bytes], ...]) -> None:
        self._send, self._limit_s, self._of_refusals = send, limit_s, of_refusals
        self._has_begun = False
        self.is_over = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._has_begun = True
            message = {**message, "headers": [*message.get("headers", ()), *_SECURITY]}
        async with asyncio.timeout(self._limit_s):
            await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.is_over = True

    async def refuse(self, fault: Fault) -> None:
        """Tell why there is no answer, unless one has begun."""
        if self._has_begun:
            return
        body = fault.body()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *((name.encode(), value.encode()) for name, value in fault.headers.items()),
            *self._of_refusals,
        ]
        await self.send({"type": "http.response.start", "status": fault.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()  # equal lengths, so that comparing tells nothing about the key's


def _headers(scope: Scope) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.lower(), []).append(value)
    return found


def _one(headers: dict[bytes, list[bytes]], name: bytes) -> str:
    """Return a header's value, "" without; two of one kind are a trick."""
    values = headers.get(name, [])
    if len(values) > 1:
        raise Fault(400, f"There are {len(values)} {name.decode()} headers.", code="headers")
    return values[0].decode("latin-1").strip() if values else ""


def _names(options: ServerOptions) -> tuple[str, ...]:
    """Return this machine's names where others may reach it."""
    if options.is_local:
        return ()
    name = socket.gethostname()
    return (name, f"{name}.local", options.address)
