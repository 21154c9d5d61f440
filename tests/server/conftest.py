"""A server on a free port of this machine, over a host with the real engine or the scripted one."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

from app.host import Host, PairChoice
from app.models.library import Library
from app.protocol import Sampling
from app.server.options import Defaults, Limits, ServerOptions
from app.server.serving import Server
from tests.doubles import Answer, ScriptedEngine

ASK = {"messages": [{"role": "user", "content": "Say something."}]}
LIMIT_S = 60.0


class Running:
    """A server that answers; its host lives on a thread of its own, as the window's does."""

    def __init__(self, make_engine, options: ServerOptions) -> None:
        self.loop = asyncio.new_event_loop()
        pool = ThreadPoolExecutor(2, thread_name_prefix="loop of the test")
        both = threading.Barrier(2)
        list(
            pool.map(lambda _: both.wait(), range(2))
        )  # its threads are there before a test looks what it leaves behind
        self.loop.set_default_executor(pool)
        self.engines: list[ScriptedEngine] = []
        self._make_engine, self._options = make_engine, options
        self._thread = threading.Thread(target=self._run, name="host of the test")
        self._thread.start()
        self.host, self.server = self.do(self._start())

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    async def _start(self) -> tuple[Host, Server]:
        host = Host(make_engine=self._engine) if self._make_engine else Host()
        if not self._make_engine:
            await host.load(self._options.defaults().pair)
        server = Server(host, Library(), self._options)
        await server.start()
        return host, server

    def _engine(self):
        self.engines.append(self._make_engine())
        return self.engines[-1]

    def do(self, work):
        """Run a coroutine where the host lives."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(LIMIT_S)

    def close(self) -> None:
        self.do(self.server.stop())
        self.do(self.host.close())
        self.do(self.loop.shutdown_default_executor())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def engine(self) -> ScriptedEngine:
        return self.engines[-1]

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)

    def post(self, body, path="/v1/chat/completions", **headers) -> tuple[int, dict]:
        """Send a body, JSON unless it is bytes; return status and what was answered."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask("POST", path, data, **{"content_type": "application/json"} | headers)

    def get(self, path, **headers) -> tuple[int, dict]:
        return self.ask("GET", path, None, **headers)

    def ask(self, method, path, data, **headers) -> tuple[int, dict]:
        connection = self.connection()
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, data, named)
            response = connection.getresponse()
            text = response.read()
            is_json = (response.getheader("content-type") or "").startswith("application/json")
            return response.status, json.loads(text) if is_json else text
        finally:
            connection.close()

    def raw(self, data: bytes, *, wait_s: float = 20.0) -> bytes:
        """Send bytes; return all that comes until the server hangs up or is silent for so long."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait_s) as connection:
            connection.sendall(data)
            return read_all(connection)


def read_all(connection: socket.socket) -> bytes:
    """Return all that comes until the other side hangs up or is silent."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except (TimeoutError, ConnectionError):
        pass
    return b"".join(parts)


def options(pair: PairChoice | None = None, **how) -> ServerOptions:
    """Return options for a test: a free port, and greedy answers."""
    defaults = Defaults(pair or PairChoice("starter"), sampling=Sampling(seed=0, temperature=0.0), max_tokens=64)
    made = ServerOptions(lambda: defaults, port=0)
    return replace(made, **how)


@contextmanager
def serving(answers=None, pair=None, limits=None, **how) -> Iterator[Running]:
    """Serve with the scripted engine, or with the real one if there are no answers."""
    make = None if answers is None else lambda: ScriptedEngine(answers)
    running = Running(make, options(pair, **({"limits": limits} if limits else {}), **how))
    try:
        yield running
    finally:
        running.close()


@pytest.fixture(scope="package")
def starter():
    """A server with the starter, for all tests of this folder; on one thread, which waits for nobody else's tests."""
    with serving(pair=PairChoice("starter", n_threads=1)) as running:
        yield running


@pytest.fixture
def scripted():
    """A server with the scripted engine."""
    with serving([Answer()]) as running:
        yield running


@pytest.fixture
def slow():
    """A server whose answers take some seconds."""
    with serving([Answer(text="word " * 400, pace_s=0.1)], limits=Limits(n_waiting=3)) as running:
        yield running
