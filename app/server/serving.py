"""The server as its owner sees it: it starts, says where it is, and ends."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import threading
import time
from contextlib import suppress

import psutil
import uvicorn

from app.errors import EngineError, UsageError
from app.host import Host
from app.host.background import beside
from app.models.library import Library
from app.server.answering import Way
from app.server.bridge import Bridge
from app.server.connection import connection_class
from app.server.desk import Desk
from app.server.options import ServerOptions
from app.server.request_log import RequestLog
from app.server.routes import make_app

_END_S = 5.0
_LOOK_S = 0.25
"""How often it is looked whether the models have been idle for long enough."""

logger = logging.getLogger(__name__)


class Server:
    """One server over one host; it starts once. Its verbs belong to the host's loop."""

    def __init__(self, host: Host, library: Library, options: ServerOptions) -> None:
        """Prepare it.

        Raises:
            UsageError: the options would leave the machine open.
        """
        options.check()
        self.log = RequestLog()
        self._host, self._library, self._options = host, library, options
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._server: uvicorn.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._port = options.port
        self._fault = ""

    @property
    def url(self) -> str:
        """Where it is, as a client on this machine writes it."""
        address = self._options.address
        if address in ("0.0.0.0", "::"):  # noqa: S104 - only compared with
            address = "127.0.0.1"
        return f"http://[{address}]:{self._port}" if ":" in address else f"http://{address}:{self._port}"

    @property
    def url_for_others(self) -> str:
        """Where it is for the other computers of the network, "" if they cannot reach it or this one has no address."""
        address = network_address()
        return f"http://{address}:{self._port}" if address and not self._options.is_local else ""

    async def start(self) -> None:
        """Bind, and begin to serve.

        Raises:
            UsageError: the address is taken, or is not one of this machine's.
            EngineError: it failed for another reason.
        """
        self._socket = _bound(self._options)
        self._port = self._socket.getsockname()[1]
        bridge = Bridge(self._host, asyncio.get_running_loop())
        self._thread = threading.Thread(target=self._run, args=(self._socket, bridge), name="server", daemon=True)
        self._thread.start()
        try:
            await beside(lambda: self._ready.wait(_END_S), "server start")
        except BaseException:
            await self.stop()  # nobody else would: whoever starts it keeps it only once it serves
            raise
        if self._fault:
            await self.stop()
            raise EngineError(f"The server did not start: {self._fault}.", "The log has the details.")

    async def stop(self) -> None:
        """End every request and the server; as often as you like."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._end)
        await beside(lambda: thread.join(_END_S), "server end")
        if self._socket is not None:
            self._socket.close()

    def _end(self) -> None:
        if self._server is not None:
            self._server.should_exit = self._server.force_exit = True

    # --- on the server's thread -------------------------------------------------------------------------

    def _run(self, listening: socket.socket, bridge: Bridge) -> None:
        try:
            asyncio.run(self._serve(listening, bridge))
        except Exception as fault:
            self._fault = type(fault).__name__
            logger.exception("the server failed")
        finally:
            self._ready.set()

    async def _serve(self, listening: socket.socket, bridge: Bridge) -> None:
        limits = self._options.limits
        way = Way(bridge, Desk(limits.n_waiting + 1), self.log)
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what matters of it, the guard says
        config = uvicorn.Config(
            make_app(way, self._library, self._options),
            http=connection_class(limits),
            ws="none",
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=max(1, round(limits.idle_s)),
            h11_max_incomplete_event_size=limits.n_header_bytes,
        )
        self._server, self._loop = uvicorn.Server(config), asyncio.get_running_loop()
        idle = asyncio.ensure_future(_free_when_idle(way, self._options.keep_alive_s))
        self._loop.call_soon(self._ready.set)
        try:
            await self._server.serve(sockets=[listening])
        finally:
            idle.cancel()


async def _free_when_idle(way: Way, keep_alive_s: float) -> None:
    """Free the models each time that nobody has asked for so long; the next request loads them again."""
    if keep_alive_s <= 0:
        return
    used_s, is_free = time.monotonic(), False
    while True:
        await asyncio.sleep(min(_LOOK_S, keep_alive_s))
        if way.desk.n_taken:
            used_s, is_free = time.monotonic(), False
        elif not is_free and time.monotonic() - used_s >= keep_alive_s:
            is_free = True
            try:
                await way.bridge.unload()
            except Exception as fault:  # the next request says what is wrong
                logger.info("the models were not freed: %s", fault)


def network_address() -> str:
    """Return an address (IPv4) of this machine in its network, "" if it is in none."""
    up = {name for name, facts in psutil.net_if_stats().items() if facts.isup}
    found = [one.address for name, ones in psutil.net_if_addrs().items() if name in up for one in ones]
    return next((text for text in found if _is_network_address(text)), "")


def _is_network_address(text: str) -> bool:
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_link_local)


def _bound(options: ServerOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows lets two programs share a port otherwise
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((options.address, options.port))
        listening.listen(256)
        listening.setblocking(False)
    except OSError as fault:
        listening.close()
        raise UsageError(
            f"Cannot serve on {options.address}, port {options.port}: {fault.strerror or fault}.",
            "Another program may have it: choose another port with --port.",
        ) from fault
    return listening
