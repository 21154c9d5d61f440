"""Many clients: in order, no more than may wait, and nothing computed for one that has left."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest

from app.host import ChatRequest, PairChoice
from app.protocol import Done, Generate, Load, Unload
from app.server.answering import AnswerResponse, Ready, Way
from app.server.desk import Desk
from app.server.options import Limits
from app.server.request_log import RequestLog
from tests.doubles import Answer
from tests.fair_time import FairWatch
from tests.server.conftest import ASK, read_all, serving

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def send(running, *, is_kept=False, **fields) -> socket.socket:
    """Send a request and leave the answer to be read."""
    body = json.dumps({**ASK, **fields}).encode()
    connection = socket.create_connection(("127.0.0.1", running.port), timeout=20)
    end = b"" if is_kept else b"Connection: close\r\n"
    connection.sendall(HEAD + end + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    return connection


def until(condition, limit_s=40.0):
    end_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end_s, "it did not come to that"
        time.sleep(0.005)


def queue(running) -> int:
    return running.get("/health")[1]["requests"]


@pytest.mark.parametrize("is_stream", [True, False])
def test_one_who_leaves_ends_the_answer_at_once(slow, is_stream):
    connection = send(slow, stream=is_stream)
    until(lambda: slow.host.state.phase == "answering")
    time.sleep(0.2)
    connection.close()
    watch = FairWatch()
    until(lambda: slow.host.state.phase == "idle")
    assert watch.took_s < 0.5
    run = slow.host.session.runs[-1]
    assert run.stop_reason == "cancelled"
    assert run.tokens < 40
    until(lambda: slow.server.log.entries()[-1].fault == "left")  # the server's thread writes it, not the host's


def noted(answer, send, on_gone, raised=()) -> str:
    """Return what is noted of an answer of a bridge that answers so, over a connection that takes it so."""
    log = RequestLog()

    class Quick:
        async def answer(self, _request, _leaving):
            yield answer()

    class Form:
        def feed(self, _text, _logprobs):
            return []

        def whole(self, _end):
            return {}

    async def make_ready():
        return Ready(ChatRequest(()), Form(), log.begin("/v1/chat/completions", "starter"))

    async def nothing_yet():
        await asyncio.sleep(60)

    response = AnswerResponse(Way(Quick(), Desk(1), log), make_ready, is_stream=False)
    with pytest.raises(raised) if raised else nullcontext():
        asyncio.run(response({"state": {"on_gone": on_gone}}, nothing_yet, send))
    return log.entries()[-1].fault


@pytest.mark.parametrize(
    ("stop_reason", "goes", "fault"), [("cancelled", True, "left"), ("eos", True, ""), ("cancelled", False, "")]
)
def test_one_who_leaves_is_noted_though_the_answer_is_over_before_the_leaving_is_heard_of(stop_reason, goes, fault):
    """The connection tells the engine at once, and what is told of the connection may come later than its answer."""
    on_gone, sent = set(), []

    def answer():
        for tell in tuple(on_gone) if goes else ():
            tell()
        return [Done(1, stop_reason, "", 0.0, 0.0)]

    async def send(event):
        sent.append(event["type"])

    assert noted(answer, send, on_gone) == fault
    assert sent == ["http.response.start", "http.response.body"]
    assert not on_gone


@pytest.mark.parametrize(
    ("fault", "word"), [(TimeoutError, "left"), (ConnectionResetError, "left"), (KeyError, "internal")]
)
def test_an_answer_that_is_not_taken_is_noted_as_left_and_a_fault_of_ours_as_that(fault, word):
    async def send(_event):
        raise fault("nobody reads")

    assert noted(lambda: [Done(1, "eos", "", 0.0, 0.0)], send, set(), fault) == word


def test_no_more_than_a_step_is_computed_for_one_who_has_left():
    for n_read in (1, 4, 9):
        # GIVEN an engine that is in the next step, and stays in it until it hears that nobody wants it
        with serving([Answer(text="word " * 400, burst=n_read, pace_s=60)]) as running:
            connection = send(running, stream=True)
            with connection.makefile("rb") as reader:
                n = 0
                while n < n_read:
                    n += b'word"' in reader.readline()
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()
            until(lambda: running.host.state.phase == "idle")
            run = running.host.session.runs[-1]
            assert run.stop_reason == "cancelled"
            assert n_read <= run.tokens <= n_read + 1


@pytest.mark.parametrize("is_pipelined", [False, True])
@pytest.mark.parametrize("is_stream", [True, False])
def test_the_engine_hears_of_one_who_leaves_while_the_hosts_loop_is_busy(is_stream, is_pipelined):
    """The loop is the window's, and a gap in it is longer than many steps; a request that waits hides no end either."""
    with serving([Answer(text="word " * 400, burst=5, pace_s=60)]) as running:
        connection = send(running, stream=is_stream, is_kept=is_pipelined)
        until(lambda: running.host.state.phase == "answering")
        if is_pipelined:
            time.sleep(0.1)
            connection.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}")
            time.sleep(0.1)
        held = threading.Event()
        running.loop.call_soon_threadsafe(held.wait, 40)
        try:
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()
            until(lambda: running.engine.cancelled, limit_s=20)
        finally:
            held.set()
        until(lambda: running.host.state.phase == "idle")
        assert running.host.session.runs[-1].stop_reason == "cancelled"


def test_one_who_leaves_the_queue_is_never_asked_for(slow):
    first = send(slow, stream=True)
    until(lambda: slow.host.state.phase == "answering")
    second = send(slow)
    until(lambda: queue(slow) == 2)
    second.close()
    until(lambda: queue(slow) == 1)
    first.close()
    until(lambda: slow.host.state.phase == "idle" and queue(slow) == 0)
    assert sum(isinstance(command, Generate) for command in slow.engine.commands) == 1


def test_more_than_may_wait_are_told_to_come_back(slow):
    held = [send(slow) for _ in range(4)]
    until(lambda: queue(slow) == 4)
    connection = slow.connection()
    connection.request("POST", "/v1/chat/completions", json.dumps(ASK), {"Content-Type": "application/json"})
    response = connection.getresponse()
    assert response.status == 429
    assert response.getheader("retry-after") == "1"
    assert json.loads(response.read())["error"]["code"] == "queue_full"
    connection.close()
    for one in held:
        one.close()
    until(lambda: queue(slow) == 0)


def test_bodies_of_those_who_wait_leave_room_for_others():
    limits = Limits(n_body_bytes=8_000, n_all_body_bytes=10_000)
    with serving([Answer(text="word " * 400, pace_s=0.1)], limits=limits) as running:
        held = []
        for n in range(3):
            held.append(send(running, user="x" * 6_000))
            until(lambda n=n: queue(running) == n + 1)
        for one in held:
            one.close()
        until(lambda: queue(running) == 0)


def test_what_all_who_wait_have_sent_is_bounded():
    limits = Limits(n_body_bytes=8_000, n_held_bytes=15_000)
    with serving([Answer(text="word " * 400, pace_s=0.1)], limits=limits) as running:
        held = []
        for n in range(2):
            held.append(send(running, user="x" * 6_000))
            until(lambda n=n: queue(running) == n + 1)
        status, answer = running.post({**ASK, "user": "x" * 6_000})
        assert (status, answer["error"]["code"]) == (429, "bodies")
        assert "wait hold 12" in answer["error"]["message"]
        held.append(send(running))  # a short one has room
        until(lambda: queue(running) == 3)
        for one in held:
            one.close()
        until(lambda: queue(running) == 0)
        last = send(running, user="x" * 7_000)
        until(lambda: queue(running) == 1)
        last.close()
        until(lambda: queue(running) == 0)


def test_requests_are_answered_in_order():
    with serving([Answer(text=f"number {n}", pace_s=0.01) for n in range(6)]) as running:
        held = []
        for n in range(6):
            held.append(send(running))
            until(lambda n=n: len(running.server.log.entries()) > n)
        bodies = [json.loads(_body(one)) for one in held]
        assert [body["choices"][0]["message"]["content"] for body in bodies] == [f"number {n}" for n in range(6)]


def _body(connection: socket.socket) -> bytes:
    with connection:
        return read_all(connection).partition(b"\r\n\r\n")[2]


def test_a_client_that_does_not_read_is_given_up_and_holds_nobody_up():
    many = Answer(text="word " * 30_000)
    with serving([many], limits=Limits(send_s=0.3)) as running:
        connection = send(running, stream=True, max_tokens=30_000)
        until(lambda: queue(running) == 1)
        until(lambda: queue(running) == 0)
        connection.close()
        assert running.get("/health")[0] == 200


def test_a_hundred_clients_half_of_which_leave():
    """Every one that stays is answered, none hangs, and the host's own loop is never held up."""
    longest_s = [longest_gap_of_a_hundred_s()]
    while longest_s[-1] >= 0.25 and len(longest_s) < 3:  # the clients' threads are of this process, and so is its heap
        longest_s.append(longest_gap_of_a_hundred_s())
    assert min(longest_s) < 0.25


def longest_gap_of_a_hundred_s():
    n, chance = 100, random.Random(8)
    gc.collect()  # of all that earlier tests have left: it would be the host's loop that waits for it
    with serving([Answer(text="word " * 12, pace_s=0.001)]) as running:
        gaps = []
        watching = threading.Event()

        async def watch():
            while not watching.is_set():
                watch = FairWatch()
                await asyncio.sleep(0.01)
                gaps.append(watch.took_s - 0.01)

        watch_over = asyncio.run_coroutine_threadsafe(watch(), running.loop)

        def client(number):
            connection = send(running, stream=bool(number % 3))
            if number % 2:
                time.sleep(chance.random() * 0.5)
                connection.close()
                return None
            with connection:
                return read_all(connection)[:15]

        with ThreadPoolExecutor(n) as pool:
            answers = list(pool.map(client, range(n)))
        until(lambda: queue(running) == 0)
        watching.set()
        watch_over.result(40)
        assert [one for one in answers if one is not None] == [b"HTTP/1.1 200 OK"] * (n // 2)
        cancelled = [run for run in running.host.session.runs if run.stop_reason == "cancelled"]
        assert len(running.host.session.runs) - len(cancelled) >= n // 2
        return max(gaps)


def test_the_real_engine_takes_no_more_than_a_step_for_one_who_has_left():
    drafts = {"spec_type": "draft-simple", "spec_n_max": 8}  # by the model itself: steps that are long
    endless = "root ::= [a-z ] root"
    with serving(pair=PairChoice("starter", "starter", n_threads=1)) as running:
        for n_read in (1, 3, 6):
            ask = [{"role": "user", "content": f"Count from {n_read} to 900."}]
            connection = send(running, stream=True, max_tokens=2000, messages=ask, grammar=endless, **drafts)
            with connection.makefile("rb") as reader:
                n = 0
                while n < n_read:
                    n += b'"content":' in (line := reader.readline()) and b'"content":""' not in line
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()
            watch, left_s = FairWatch(), time.monotonic()
            until(lambda: running.host.state.phase == "idle")
            waited_s = time.monotonic() - left_s - watch.took_s
            until(lambda: running.server.log.entries()[-1].ended_s is not None)
            run, entry = running.host.session.runs[-1], running.server.log.entries()[-1]
            assert (run.stop_reason, entry.fault, run.engaged) == ("cancelled", "left", True)
            later_s = entry.first_s - run.steps[0].t_s  # of the engine's clock: no less than it is
            late = [step.t_s for step in run.steps if step.t_s + later_s > left_s + waited_s]
            assert len(late) <= 1, (n_read, waited_s, left_s - later_s, [step.t_s for step in run.steps])


def test_the_models_are_freed_when_nobody_asks_and_come_back():
    with serving([Answer()], keep_alive_s=0.3) as running:
        assert running.post(ASK)[0] == 200
        until(lambda: running.get("/health")[1]["model"] is None)
        assert any(isinstance(command, Unload) for command in running.engine.commands)
        assert running.post(ASK)[0] == 200
        assert sum(isinstance(command, Load) for command in running.engine.commands) == 2


def test_an_engine_that_dies_is_told_and_the_next_request_starts_another(expect_log):
    with serving([Answer(die_at=3)]) as running:
        status, answer = running.post(ASK)
        assert (status, answer["error"]["code"]) == (503, "engine_died")
        assert answer["error"]["message"].endswith(" The next request starts it again.")
        running._make_engine = lambda: _fresh()
        assert running.post(ASK)[0] == 200


def _fresh():
    from tests.doubles import ScriptedEngine

    return ScriptedEngine([Answer()])


def test_an_engine_that_dies_in_mid_stream_ends_the_stream_with_an_error():
    with serving([Answer(die_at=3, pace_s=0.05)]) as running:
        connection = running.connection()
        connection.request(
            "POST", "/v1/chat/completions", json.dumps({**ASK, "stream": True}), {"Content-Type": "application/json"}
        )
        response = connection.getresponse()
        lines = [line for line in response.read().split(b"\n\n") if line]
        connection.close()
    assert response.status == 200
    assert json.loads(lines[-1].removeprefix(b"data: "))["error"]["code"] == "engine_died"


# --- nonsense -----------------------------------------------------------------------------------------


def nonsense(chance: random.Random) -> bytes:
    """Return a request that no client would send."""
    good = json.dumps({**ASK, "max_tokens": 4}).encode()
    body = bytearray(good)
    kind = chance.randrange(6)
    if kind == 0:
        for _ in range(chance.randrange(1, 8)):
            body[chance.randrange(len(body))] = chance.randrange(256)
    elif kind == 1:
        body = bytearray(b"[" * chance.randrange(1, 50_000))
    elif kind == 2:
        body = bytearray(chance.randbytes(chance.randrange(200)))
    elif kind == 3:
        values = [None, -1, 1e400, "x", [], {}, True, "\ud800", 10**400, [[[]]], {"a": {"b": []}}]
        fields = [
            "messages",
            "model",
            "temperature",
            "stop",
            "tools",
            "seed",
            "n",
            "spec_type",
            "response_format",
            "stream",
        ]
        made = {**ASK, "max_tokens": 4, chance.choice(fields): chance.choice(values)}
        body = bytearray(json.dumps(made).encode())
    elif kind == 4:
        return chance.randbytes(chance.randrange(1, 400)) + b"\r\n\r\n"
    else:
        return HEAD.replace(b"Host", chance.choice([b"Ho st", b"\x00", b"Host\xff"])) + b"\r\n"
    length = len(body) + chance.choice([0, 0, 0, -3])
    return HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % max(0, length) + bytes(body)


@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.full)])
def test_malformed_requests_leave_the_server_alive_and_its_memory_flat(n, request):
    psutil = pytest.importorskip("psutil")
    chance = random.Random(81)
    with serving([Answer(text="a b c")], limits=Limits(header_s=1, body_s=1)) as running:

        def send_one(data):
            with socket.create_connection(("127.0.0.1", running.port), timeout=5) as connection:
                try:
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    return connection.recv(64)
                except (ConnectionError, TimeoutError):
                    return b""

        process = psutil.Process(os.getpid())
        sizes = []
        with ThreadPoolExecutor(8) as pool:
            for _ in range(10):
                answers = list(pool.map(send_one, [nonsense(chance) for _ in range(n // 10)]))
                assert not [answer for answer in answers if b" 500 " in answer]
                sizes.append(process.memory_info().rss)
        assert running.post(ASK)[0] == 200
        until(lambda: queue(running) == 0)
        print(f"memory after each tenth, MiB: {[round(size / 2**20, 1) for size in sizes]}")
        assert sizes[-1] - sizes[3] < 24 * 2**20
