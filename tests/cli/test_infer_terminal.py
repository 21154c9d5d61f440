"""``infer`` as a person at a terminal sees it: real processes in terminals of their own."""

from __future__ import annotations

import json
import os
import signal
import sys
import time

import psutil
import pytest

from app.chat.importing import read_path
from tests.chat_server import ChatServer
from tests.cli.commands import run, wait_until_heard

if sys.platform != "linux":
    pytest.skip("needs Linux", allow_module_level=True)

from tests.cli.screens import Screen

pytestmark = pytest.mark.linux
SHORT = ("--max-tokens", 8, "--seed", 1)


@pytest.fixture(scope="module")
def server():
    with ChatServer() as running:
        yield running


def test_a_conversation_and_its_commands(tiny_pair, tmp_path, home):
    with Screen("infer", tiny_pair.target, *SHORT, columns=100) as screen:
        screen.wait_for("/help lists the commands")
        screen.type("abc\r")
        screen.wait_for("tokens: 8")
        screen.type("/help\r")
        screen.wait_for("/speculation [on|off")
        screen.type(f"/draft {tiny_pair.draft}\r")
        screen.wait_for("Speculation is on: ngram, draft-simple, length auto.")
        screen.type("/speculation draft-simple 4\r")
        screen.wait_for("draft-simple, up to 4 tokens.")
        screen.type("abc\r")
        screen.wait_for("draft accept: ")
        screen.type("/speculation off\r")
        screen.wait_for("Speculation is off.")
        screen.type("/stats\r")
        screen.wait_for("prefill speed")
        screen.type("/system Be brief.\r")
        screen.wait_for("System: Be brief.")
        screen.type("/fly\r")
        screen.wait_for("There is no command /fly")
        screen.type("/model no-such-model\r")
        screen.wait_for("No model is called 'no-such-model'")
        screen.type("/save /nowhere/x.md\r")
        screen.wait_for("Cannot write /nowhere/x.md")
        screen.type(f"/save {tmp_path}/talk.json\r")
        screen.wait_for("Saved to")
        screen.type(f"/save {tmp_path}/talk.json\r")
        screen.wait_for("is there already")
        screen.type("/clear\r")
        screen.wait_for("What was said is forgotten.")
        screen.type("/exit\r")
        assert screen.end() == 0
    messages = json.loads((tmp_path / "talk.json").read_text())["messages"]
    assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * 2]
    assert len(read_path(tmp_path / "talk.json").records) == 1
    typed = home / "data" / "typed.jsonl"
    assert typed.stat().st_mode & 0o077 == 0
    assert json.loads(typed.read_text().splitlines()[0]) == "abc"


def test_several_lines_history_and_completion(server):
    with Screen("infer", "speaks", "--server", server.url) as screen:
        screen.wait_for_prompt()
        screen.type("one\x1b\rtwo\r")
        screen.wait_for("draft accept: 14/75 (18.7%)")
        screen.wait_for_next_prompt()
        screen.type('"""three\rfour"""\r')
        screen.wait_for_next_prompt()
        screen.type("\x1b[200~five\nsix\x1b[201~\r")
        screen.wait_for_next_prompt()
        asked = [body["messages"][-1]["content"] for body in server.asked[-3:]]
        assert asked == ["one\ntwo", "three\nfour", "five\nsix"]
        screen.type("/he\t")
        screen.wait_for("> /help")
        screen.type("\r")
        screen.wait_for("/thought")
        screen.wait_for_next_prompt()
        n_before = len(server.asked)
        screen.type("\x1b[A\x1b[A\r")
        screen.wait_for_next_prompt()
        assert len(server.asked) == n_before + 1
        assert server.asked[-1]["messages"][-1]["content"] == "five\nsix"
        screen.type("\x04")
        assert screen.end() == 0


def test_ctrl_c_stops_an_answer_keeps_it_and_twice_leaves(server):
    with Screen("infer", "endless", "--server", server.url) as screen:
        screen.wait_for_prompt()
        screen.type("go\r")
        screen.wait_for("word word")
        assert not screen.echoes
        screen.type("\x03")
        screen.wait_for("stop reason: cancelled")
        screen.wait_for_next_prompt()
        screen.type("half a line\x03")
        screen.wait_for_next_prompt()
        screen.type("\x03")
        screen.wait_for("Press Ctrl-C again to leave")
        screen.wait_for_next_prompt()
        screen.type("\x03")
        assert screen.end() == 0
        assert screen.is_as_found
    assert server.gone.wait(40)
    assert "word word" in screen.text


def ask_and_wait_for_words(screen):
    screen.wait_for_prompt()
    n_before, deadline = len(screen.text.strip()), time.monotonic() + 60
    screen.type("abc\r")
    while len(screen.text.strip()) < n_before + 30 and time.monotonic() < deadline:
        screen._take(0.1)


def test_ctrl_c_twice_in_an_answer_of_an_engine_that_hangs_leaves_a_sound_terminal(tiny_pair):
    with Screen("infer", tiny_pair.target, "--max-tokens", 4000, "--temperature", 0) as screen:
        ask_and_wait_for_words(screen)
        for child in psutil.Process(screen.process.pid).children(recursive=True):
            child.suspend()
        screen.type("\x03")
        time.sleep(0.5)
        wait_until_heard(screen.process.pid)
        assert screen.process.poll() is None
        screen.type("\x03")
        assert screen.end() == 130
        assert screen.is_as_found


def test_keys_typed_before_the_prompt_wait_for_it(server, tiny_pair):
    with Screen("infer", "endless", "--server", server.url) as screen:
        screen.wait_for_prompt()
        screen.type("go\r")
        screen.wait_for("word word")
        screen.type("\x03forgotten\x15/system Be brief.\x1b\r\x7f\r\x04")
        assert screen.end() == 0
        assert "System: Be brief." in screen.text
        assert screen.is_as_found
    with Screen("infer", tiny_pair.target) as screen:
        screen.wait_until(lambda: not screen.echoes)
        screen.type("\x04")
        assert screen.end() == 0
        assert screen.is_as_found


def test_an_engine_that_dies_in_mid_answer_is_started_again_and_nothing_is_lost(tiny_pair):
    with Screen("infer", tiny_pair.target, "--max-tokens", 3000, "--temperature", 0) as screen:
        ask_and_wait_for_words(screen)
        worker = max(psutil.Process(screen.process.pid).children(), key=lambda child: child.memory_info().rss)
        worker.kill()
        screen.wait_for("The engine was started again; what was said is kept.")
        screen.type("/speculation off\r")
        screen.wait_for("Speculation is off.")
        screen.type("\x04")
        assert screen.end() == 0


@pytest.mark.parametrize(("columns", "term"), [(20, "xterm"), (80, "dumb"), (80, "")])
def test_small_and_simple_terminals(server, columns, term):
    with Screen("infer", "speaks", "--server", server.url, columns=columns, TERM=term) as screen:
        screen.wait_for("leaves")
        screen.type("Hi\n" if term != "xterm" else "Hi\r")
        screen.wait_for("draft")
        if term != "xterm":
            assert b"\x1b" not in screen.raw
        screen.resize(30, 10)
        os.kill(screen.process.pid, signal.SIGWINCH)
        screen.type("/exit\n" if term != "xterm" else "/exit\r")
        assert screen.end() == 0


def test_no_color_means_none(server):
    with Screen("infer", "speaks", "--server", server.url, "-p", "Hi", NO_COLOR="1") as screen:
        assert screen.end() == 0
    assert not [code for code in (b"\x1b[3", b"\x1b[9", b"\x1b[38") if code in screen.raw.replace(b"\x1b[3m", b"")]
    assert "leaves" in screen.text


def test_hostile_words_do_not_reach_the_terminal(server):
    for more in ((), ("--plain",)):
        with Screen("infer", "hostile", "--server", server.url, "-p", "Hi", *more) as screen:
            assert screen.end() == 0
        assert b"]0;mine\x07" not in screen.raw
        assert b"\x1b[31m)" not in screen.raw
        assert "\u202e".encode() not in screen.raw
        assert "⟨ESC⟩" in screen.text


def test_thoughts_are_folded_and_can_be_read(server):
    with Screen("infer", "thinks", "--server", server.url) as screen:
        screen.wait_for_prompt()
        screen.type("Hi\r")
        screen.wait_for("Thought for")
        screen.wait_for("not engaged, because: The vocabularies differ.")
        assert "A train, then." not in screen.text
        screen.type("/thought\r")
        screen.wait_for("A train, then.")


def test_a_huge_paste_is_taken_whole(server):
    text = "many words " * 20_000
    with Screen("infer", "speaks", "--server", server.url) as screen:
        screen.wait_for_prompt()
        screen.type(f"\x1b[200~{text}\x1b[201~\r")
        deadline = time.monotonic() + 60
        n_before = len(server.asked)
        while len(server.asked) == n_before and time.monotonic() < deadline:
            screen._take(0.1)
        assert server.asked[-1]["messages"][-1]["content"] == text
        screen.wait_for("draft accept")


def test_a_terminal_that_goes_away_leaves_no_process(tiny_pair):
    with Screen("infer", tiny_pair.target) as screen:
        screen.wait_for_prompt()
        children = psutil.Process(screen.process.pid).children(recursive=True)
        os.kill(screen.process.pid, signal.SIGHUP)
        screen.end()
    _gone, alive = psutil.wait_procs(children, timeout=40)
    assert not alive


def test_a_missing_model_is_pulled_after_asking(hub, tiny_pair, home):
    hub.add("org/tiny-GGUF", "tiny-Q8_0.gguf", tiny_pair.target)
    with Screen("infer", "org/tiny-GGUF:Q8_0", "-p", "abc", *SHORT) as screen:
        screen.wait_for("org/tiny-GGUF:Q8_0 is not on this machine. Get it (")
        screen.type("n\n")
        assert screen.end() == 1
        assert "hint: The command list shows what is." in screen.text
    with Screen("infer", "org/tiny-GGUF:Q8_0", "-p", "abc", *SHORT) as screen:
        screen.wait_for("[Y/n]")
        screen.type("\n")
        screen.wait_for("tokens: 8")
        assert screen.end() == 0
    assert run("infer", "org/tiny-GGUF:Q8_0", "-p", "abc", *SHORT).returncode == 0
