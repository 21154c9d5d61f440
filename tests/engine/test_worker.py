"""The engine process from the outside: lines in, lines out, and what ends it."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from app.engine import leash
from app.errors import EngineError
from app.protocol import (
    Cancel,
    ChatMessage,
    Chunk,
    Command,
    Done,
    Event,
    Failed,
    Generate,
    Hello,
    Load,
    Loaded,
    Render,
    Rendered,
    Sampling,
    Started,
    Tokenise,
    Tokenised,
    Unload,
    Unloaded,
    decode_event,
    encode,
)
from tests.engine.scripted_worker import ARGV
from tests.fair_time import FairWatch

SAMPLING = Sampling(seed=1)


class Process:
    """An engine process and both ends of its pipes."""

    def __init__(self, log) -> None:
        self._log = log
        self._child = leash.spawn(ARGV, stderr=log)
        self.process = self._child.process
        assert isinstance(self.read(), Hello)

    def write(self, *lines: bytes | Command) -> None:
        for line in lines:
            self.process.stdin.write(line if isinstance(line, bytes) else encode(line))
        self.process.stdin.flush()

    def read(self) -> Event:
        line = self.process.stdout.readline()
        assert line, "the process has ended"
        return decode_event(line)

    def read_until(self, kind) -> list[Event]:
        events = [self.read()]
        while not isinstance(events[-1], kind):
            events.append(self.read())
        return events

    def log(self) -> str:
        self._log.seek(0)
        return self._log.read().decode()

    def close(self) -> int:
        return self._child.reap(5)


@pytest.fixture
def engine(tmp_path):
    with (tmp_path / "log").open("w+b") as log:
        process = Process(log)
        yield process
        process.close()


def generate(command_id: int, prompt: str) -> Generate:
    return Generate(command_id, SAMPLING, prompt=prompt)


# --- commands -----------------------------------------------------------------------------------------


def test_a_load_and_an_answer(engine):
    engine.write(Load(1, "fine"), generate(2, "count 5"))
    assert engine.read_until(Loaded)[-1].target.path == "fine"
    events = engine.read_until(Done)
    assert isinstance(events[0], Started)
    assert [event.text for event in events if isinstance(event, Chunk)] == ["0 ", "1 ", "2 ", "3 ", "4 "]
    engine.write(Unload(3))
    assert engine.read() == Unloaded(3)


def test_times_count_from_the_arrival_of_the_request_also_when_it_had_to_wait(engine):
    engine.write(generate(1, "endless"), generate(2, "count 1"), Tokenise(3, "a"))
    engine.read_until(Tokenised)  # so both requests have arrived
    time.sleep(0.5)
    engine.write(Cancel(1))
    engine.read_until(Done)
    chunk = engine.read_until(Chunk)[-1]
    assert chunk.id == 2
    assert chunk.step.t_s > 0.45


def test_a_command_ends_what_is_done_in_a_pause(engine):
    engine.write(Load(id=1, target="restless"))
    while not isinstance(engine.read(), Loaded):
        pass
    for command_id in range(2, 5):
        time.sleep(1.2)  # longer than SETTLED_S: it rests now, until a command comes
        engine.write(Unload(id=command_id), Load(id=10 * command_id, target="restless"))
        assert engine.read() == Unloaded(command_id)
        while not isinstance(engine.read(), Loaded):
            pass


def test_cancel_jumps_the_queue(engine):
    engine.write(generate(1, "endless"))
    engine.read_until(Chunk)
    engine.write(generate(2, "count 2"), Load(3, "slow"), Cancel(1))
    assert engine.read_until(Done)[-1] == Done(1, "cancelled", "", 0.1, 0.0)
    assert engine.read_until(Done)[-1].id == 2
    engine.read()
    engine.write(Cancel(3))
    failed = engine.read_until(Failed)[-1]
    assert (failed.id, failed.error.code) == (3, "load")


def test_a_command_that_is_cancelled_while_it_waits_is_answered_and_not_begun(engine):
    engine.write(generate(1, "endless"), generate(2, "count 5"), Load(3, "fine"), Cancel(2), Cancel(3))
    engine.read_until(Chunk)
    engine.write(Cancel(1))
    assert engine.read_until(Done)[-1].id == 1
    assert engine.read() == Done(2, "cancelled", "", 0.0, 0.0)
    assert engine.read().error.code == "load"


def test_cancelling_what_is_over_or_unknown_changes_nothing(engine):
    engine.write(generate(1, "count 1"))
    engine.read_until(Done)
    engine.write(Cancel(1), Cancel(99), generate(1, "count 3"))
    assert engine.read_until(Done)[-1].stop_reason == "length"


def test_tokenise_and_render_are_answered_during_an_answer(engine):
    engine.write(generate(1, "endless"))
    engine.read_until(Chunk)
    engine.write(Tokenise(2, "hé"), Render(3, (ChatMessage("user", "a"), ChatMessage("user", "b"))))
    assert engine.read_until(Tokenised)[-1] == Tokenised(2, (104, 195, 169))
    assert engine.read_until(Rendered)[-1] == Rendered(3, "a|b")
    engine.write(Cancel(1))
    engine.read_until(Done)


def test_a_slow_template_delays_no_cancel(engine):
    engine.write(generate(1, "endless"))
    engine.read_until(Chunk)
    watch = FairWatch()
    engine.write(Render(2, (ChatMessage("user", "slow"),)), Cancel(1))
    engine.read_until(Done)
    assert watch.took_s < 0.5
    assert engine.read().id == 2


# --- faults -------------------------------------------------------------------------------------------


def test_a_known_fault_crosses_as_itself(engine):
    engine.write(generate(1, "known"), Load(2, "broken"))
    failed = engine.read_until(Failed)[-1]
    assert (failed.id, failed.error.code, failed.error.hint) == (1, "prompt_too_long", "Shorten it.")
    assert engine.read_until(Failed)[-1].error.code == "model_file"


def test_an_unexpected_fault_is_answered_and_logged_and_not_fatal(engine):
    engine.write(generate(1, "raise"), Tokenise(2, "raise"), generate(3, "count 1"))
    failed = {event.id: event for event in engine.read_until(Done) if isinstance(event, Failed)}
    assert failed[1].error.code == failed[2].error.code == EngineError.code
    assert "ValueError: the script says so" in failed[1].error.message
    assert failed[1].error.hint
    assert "Traceback" in engine.log()


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"not json\n",
        b"{}\n",
        b'{"type":"fly","id":"x"}\n',
        b'{"type":"generate"}\n',
        b"\xff\xfe\x00\n",
        b"[" * 100_000 + b"\n",
        b'"' + b"x" * 1_000_000 + b'"\n',
    ],
)
def test_a_malformed_line_is_skipped_and_logged(engine, line):
    engine.write(line, Tokenise(1, "a"))
    assert engine.read() == Tokenised(1, (97,))
    assert "not a command" in engine.log()


@pytest.mark.parametrize("line", [b'{"type":"fly","id":7}\n', b'{"type":"load","id":7,"target":5}\n'])
def test_a_malformed_line_that_says_whose_it_is_is_answered(engine, line):
    engine.write(line)
    failed = engine.read()
    assert (failed.id, failed.error.code) == (7, "usage")


def test_a_line_without_end_is_skipped(engine):
    for _ in range(65):
        engine.write(b"x" * 1024 * 1024)
    engine.write(b"\n", Tokenise(1, "a"))
    assert engine.read() == Tokenised(1, (97,))
    assert "skipping a line" in engine.log()


def test_what_native_code_prints_goes_to_the_log_and_not_between_the_events(engine):
    engine.write(generate(1, "shout"))
    for _ in range(4):  # it shouts before the fourth
        engine.read_until(Chunk)
    engine.write(Cancel(1))
    engine.read_until(Done)
    log = engine.log()
    assert "native code prints" in log
    assert "and on its descriptor" in log
    assert "a child of ours too" in log


@pytest.mark.linux
def test_one_event_is_one_write(tmp_path):
    """A socket that keeps the boundaries of writes shows them."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, (tmp_path / "log").open("wb") as log:
        here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        process = subprocess.Popen(ARGV, stdin=subprocess.PIPE, stdout=theirs, stderr=log, env=here)
        theirs.close()
        process.stdin.write(encode(generate(1, "count 200")))
        process.stdin.flush()
        packets = [ours.recv(1 << 16)]
        while not isinstance(decode_event(packets[-1]), Done):
            packets.append(ours.recv(1 << 16))
        process.stdin.close()
        process.wait(60)
    assert len(packets) == 1 + 2 + 200 + 1
    assert all(packet.count(b"\n") == 1 and packet.endswith(b"\n") for packet in packets)


# --- the end ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", [None, "endless", "deaf"])
def test_the_end_of_the_command_pipe_ends_it_at_once(engine, prompt):
    """Idle, between two tokens, or in the middle of a native call."""
    if prompt:
        engine.write(generate(1, prompt))
        for _ in range(3):
            engine.read_until(Chunk)
    watch = FairWatch()
    engine.process.stdin.close()
    assert engine.process.wait(60) == 0
    assert watch.took_s < 1


def test_it_ends_when_nobody_reads_its_events(engine):
    engine.write(generate(1, "endless"))
    engine.read_until(Chunk)
    engine.process.stdout.close()
    assert engine.process.wait(60) == 0


def test_a_window_that_goes_away_during_a_slow_start_takes_it_along(tmp_path):
    with (tmp_path / "log").open("w+b") as log:
        child = leash.spawn([*ARGV, "slow-start"], stderr=log)
        time.sleep(0.5)
        assert child.process.poll() is None
        assert child.reap(5) == 0


def test_a_session_that_cannot_be_made_ends_it_with_the_reason_in_the_log(tmp_path):
    with (tmp_path / "log").open("w+b") as log:
        child = leash.spawn([*ARGV, "no-start"], stderr=log)
        assert child.process.wait(10) == 1
        child.reap(0)
        log.seek(0)
        assert b"ImportError: libllama.so" in log.read()


@pytest.mark.linux
def test_no_child_of_its_inherits_the_protocol(engine):
    """Else a child that lives on keeps the pipes open, and the end of one is never seen on the other side."""
    engine.write(generate(1, "endless"))
    engine.read_until(Chunk)
    own = Path(f"/proc/{engine.process.pid}")
    pipes = [fd for fd in (own / "fd").iterdir() if int(fd.name) > 2 and str(fd.readlink()).startswith("pipe:")]
    flags = [(own / "fdinfo" / fd.name).read_text().split("flags:")[1].split()[0] for fd in pipes]
    assert len(flags) >= 2
    assert all(int(octal, 8) & os.O_CLOEXEC for octal in flags)
