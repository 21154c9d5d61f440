"""Commands of a conversation with words that nobody meant, and an engine that is slow to come back."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import asynccontextmanager
from itertools import product

import pytest

from app.cli.answer_view import Nowhere
from app.cli.infer import _revive as revive
from app.cli.infer import _take as take
from app.cli.infer_options import InferOptions
from app.cli.slash import ALIASES, COMMANDS, Desk
from app.cli.talk import Talk
from app.cli.terminal import as_text, kept_by_interrupts
from app.cli.voices import LocalVoice, RemoteVoice
from app.errors import SlipstreamError
from app.host import Host, PairChoice
from app.host.remote import RemoteServer
from app.protocol import Speculation
from tests.chat_server import ChatServer
from tests.doubles import Answer, ScriptedEngine

ODD = (
    *(
        "",
        " ",
        "none",
        "off",
        "on",
        "on off",
        "auto",
        "..",
        ".",
        "/",
        "-",
        "~",
        "~nobody-of-that-name/x.md",
        "x" * 5000,
    ),
    *(
        "a\0b",
        "\x1b[31m",
        "äöü",
        "two words",
        "draft-simple",
        "draft-simple 99999999999999999999",
        "ngram ²",
        "ngram ٣",
    ),
    *("ngram,,tree", ",", "draft-eagle3", "tree rolling", "\u202e", "two\nlines", "/nowhere/x.json", "/dev/null/x"),
)


@asynccontextmanager
async def desk_of(*engines):
    waiting = list(engines) or [ScriptedEngine()]
    owner = Host(make_engine=lambda: waiting.pop(0) if waiting else ScriptedEngine())
    chosen = InferOptions(model="starter", prompts=None)
    try:
        local = LocalVoice(owner)
        await local.load(PairChoice("starter"))
        yield Desk(Talk(local, chosen, Nowhere, Speculation()), PairChoice("starter"))
    finally:
        await owner.close()


@pytest.mark.parametrize("name", [*COMMANDS, *ALIASES, "/", "/fly", "/" + "y" * 5000])
def test_odd_words_behind_a_command_are_an_error_in_words_or_mean_something(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def fault_of(desk, line):
        try:
            await desk.obey(line)
        except SlipstreamError as fault:
            return fault.message
        return ""

    async def story():
        with ChatServer() as server:
            async with desk_of() as desk:
                here, there = desk.talk.voice, RemoteVoice(RemoteServer(server.url), "speaks", {})
                for blank, words in product(" \t\n", ODD):
                    desk.talk.voice, desk.pair = here, PairChoice("starter")
                    said = [await fault_of(desk, name + blank + words)]
                    desk.talk.voice, desk.pair = there, None
                    said.append(await fault_of(desk, name + blank + words))
                    assert name in COMMANDS | ALIASES or all(0 < len(one) < 200 for one in said)

    asyncio.run(story())


@pytest.mark.parametrize("fault", [ZeroDivisionError, TimeoutError, ConnectionResetError])
def test_what_nobody_foresaw_in_a_line_is_said_and_the_conversation_goes_on(fault, capsys, expect_log):
    expect_log("a line of a conversation failed")

    class Broken(LocalVoice):
        async def answer(self, request, heard, view):
            raise fault("of a view")

    async def story():
        async with desk_of() as desk:
            whole, desk.talk.voice = desk.talk.voice, Broken(desk.local().owner)
            await take(desk, "Hi")
            desk.talk.voice = whole
            await take(desk, "Hi again")
            assert [turn.question for turn in desk.talk.turns] == ["Hi again"]

    asyncio.run(story())
    assert f"internal error: {fault.__name__}: of a view\nhint: Please report it" in capsys.readouterr().err


def test_what_cannot_be_written_ends_a_conversation():
    class Full(LocalVoice):
        async def answer(self, request, heard, view):
            raise BrokenPipeError

    async def story():
        async with desk_of() as desk:
            desk.talk.voice = Full(desk.local().owner)
            with pytest.raises(BrokenPipeError):
                await take(desk, "Hi")

    asyncio.run(story())


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot press Ctrl-C for itself there")
def test_ctrl_c_gives_up_the_engine_that_is_started_again(capsys):
    slow = ScriptedEngine(load_s=300.0)

    async def story():
        async with desk_of(ScriptedEngine([Answer(die_at=1)]), slow) as desk:
            with kept_by_interrupts():
                taking = asyncio.ensure_future(take(desk, "Hi"))
                while desk.local().owner.state.phase != "loading":
                    await asyncio.sleep(0.005)
                signal.raise_signal(signal.SIGINT)
                await asyncio.wait_for(taking, 20)

    asyncio.run(story())
    said = capsys.readouterr().err
    assert "hint: Start the engine again" not in said
    assert "Starting the engine again…" in said
    assert "The engine did not start again." in said


def test_ctrl_c_where_nothing_comes_back_any_more_does_no_harm(capsys):
    async def story():
        async with desk_of(ScriptedEngine([Answer(die_at=1)]), ScriptedEngine()) as desk:
            await take(desk, "Hi")
            await revive(desk)

    asyncio.run(story())
    assert capsys.readouterr().err.count("The engine was started again; what was said is kept.") == 2


@pytest.mark.parametrize(
    ("typed", "text"), [("a\udcffb", "a\ufffdb"), ("\ud83d\ude00", "😀"), ("\ud83d", "\ufffd"), ("plain ä", "plain ä")]
)
def test_what_is_typed_holds_no_half_characters(typed, text):
    assert as_text(typed) == text
