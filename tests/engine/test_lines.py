"""Lines out of a real pipe, and how a link lets them gather."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time

import pytest

from app.engine.gathering import Gathering
from app.engine.lines import gathered
from app.engine.link import Link, is_written_at_once
from tests.fair_time import FairWatch

_WRITES = """
import sys, time
for i in range({n}):
    sys.stdout.write(f"{{i}}\\n")
    sys.stdout.flush()
    time.sleep({apart_s})
"""


@pytest.fixture
def pipe():
    read, write = os.pipe()
    with os.fdopen(read, "rb") as reader, os.fdopen(write, "wb", buffering=0) as writer:
        yield reader, writer


def test_lines_come_whole_and_together(pipe):
    reader, writer = pipe
    lines = gathered(reader)
    writer.write(b"one\ntwo\nthr")
    assert next(lines) == [b"one", b"two"]
    writer.write(b"ee\n\nfour\n")
    assert next(lines) == [b"three", b"", b"four"]
    writer.write(b"tail")
    writer.close()
    assert list(lines) == [[b"tail"]]


def test_a_line_without_end_comes_in_pieces(pipe):
    reader, writer = pipe
    lines = gathered(reader, longest_bytes=10)
    writer.write(b"x" * 12)
    assert next(lines) == [b"x" * 12], "and without waiting for its end"
    writer.write(b"y\nz\n")
    assert next(lines) == [b"y", b"z"]


class Notes:
    """A listener that notes when lines came and lets what follows wait."""

    def __init__(self) -> None:
        self.looks: list[tuple[float, list[bytes]]] = []
        self.over = threading.Event()

    def on_lines(self, lines) -> bool:
        self.looks.append((time.monotonic(), list(lines)))
        return True

    def on_end(self, status, log) -> None:
        self.over.set()


def listen(n: int, apart_s: float, gather_s: float) -> Notes:
    notes = Notes()
    argv = [sys.executable, "-c", _WRITES.format(n=n, apart_s=apart_s)]
    link = Link(argv, notes, logging.getLogger("test"), Gathering(gather_s))
    link.start()
    assert notes.over.wait(30)
    link.join(5)
    assert [line for _, lines in notes.looks for line in lines] == [b"%d" % i for i in range(n)]
    return notes


def test_fast_lines_gather():
    looks = listen(n=200, apart_s=0.002, gather_s=0.1).looks
    assert len(looks) <= 3 + (looks[-1][0] - looks[0][0]) / 0.1
    assert len(looks) < 100


_FILLS = """
import fcntl, os, time
fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 4096)
n_long = 0
for i in range(400):
    began_s = time.monotonic()
    os.write(1, b"%0268d\\n" % n_long)
    n_long += i > 60 and time.monotonic() - began_s > 0.1
    time.sleep(0.002)
"""


@pytest.mark.linux
def test_text_does_not_gather_until_the_pipe_is_full_and_the_engine_stands_still():
    notes = Notes()
    link = Link([sys.executable, "-c", _FILLS], notes, logging.getLogger("test"), Gathering(0.25))
    link.start()
    assert notes.over.wait(30)
    link.join(5)
    lines = [line for _, lines in notes.looks for line in lines]
    assert len(lines) == 400
    assert int(lines[-1]) <= 3  # every fifteenth would wait for what is left of the 0.25 s
    assert len(notes.looks) <= 250


def test_whoever_is_in_a_hurry_waits_for_no_gathering_until_all_are_calm_again():
    gathering, notes = Gathering(60.0), Notes()
    argv = [sys.executable, "-c", _WRITES.format(n=200, apart_s=0.002)]
    link = Link(argv, notes, logging.getLogger("test"), gathering)
    link.start()
    deadline = time.monotonic() + 10
    while not notes.looks and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not notes.over.wait(1.0)  # all is written by now, and nobody looks
    gathering.hurry()
    assert notes.over.wait(10)
    link.join(5)
    gathering.seconds = 0.2
    gathering.calm()
    began_s = time.monotonic()
    gathering.wait()
    assert time.monotonic() - began_s >= 0.19


_ECHOES = """
import sys, time
time.sleep({stands_s})
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(b"%d %s\\n" % (len(line), line[:20].split()[0]))
    sys.stdout.buffer.flush()
"""


@pytest.mark.parametrize("stands_s", [0.0, 0.3])
def test_lines_of_any_length_from_any_thread_arrive_whole_and_each_threads_in_their_order(stands_s):
    notes = Notes()
    link = Link(
        [sys.executable, "-c", _ECHOES.format(stands_s=stands_s)], notes, logging.getLogger("test"), Gathering()
    )
    link.start()
    lengths = [40, 70, 200_000, 30, 5_000, 4_096, 4_097, 25]

    def write(name: int) -> None:
        for length in lengths * 20:
            link.write((b"%d " % name).ljust(length - 1, b"x") + b"\n", is_urgent=length < 100)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(3)]
    watch = FairWatch()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert watch.took_s < 5  # nobody waited for the process to read
    link.hang_up()
    assert notes.over.wait(30)
    link.join(5)
    told = [line.split() for _, lines in notes.looks for line in lines]
    for name in range(3):
        assert [int(length) for length, whose in told if int(whose) == name] == lengths * 20


@pytest.mark.linux
def test_a_short_line_is_in_the_pipe_when_write_returns():
    read, write = os.pipe()
    with os.fdopen(read, "rb", buffering=0) as reader, os.fdopen(write, "wb") as writer:
        assert is_written_at_once(writer, b"stop\n")
        assert reader.read(100) == b"stop\n"
        assert not is_written_at_once(writer, b"x" * 100_000)  # it could be cut in two
        while is_written_at_once(writer, b"x" * 4096):
            pass
        assert not is_written_at_once(writer, b"stop\n")  # full, and nobody waits
        reader.close()
        assert not is_written_at_once(writer, b"stop\n")  # nobody reads


def test_slow_lines_are_handed_on_one_by_one():
    assert len(listen(n=4, apart_s=0.5, gather_s=0.05).looks) == 4
