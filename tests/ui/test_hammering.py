"""Somebody clicks faster than anything can be done: nothing is lost, nothing raises, and it all works afterwards."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import closing

import pytest
from PySide6.QtGui import QTextOption

from app.chat.chat_settings import ConversationSettings
from app.chat.store import ChatStore
from tests.doubles import Answer
from tests.ui.conftest import shows_dialog

pytestmark = shows_dialog

N_CLICKS = 500
HOSTILE = "\u202e\u2066\u200b\u200d\ufeff\u0301\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 word " * 40_000


def message_ids() -> set[int]:
    """Return every message that says something, with those of deleted conversations."""
    with closing(ChatStore()) as store:
        assert store.integrity() == "ok"
        heads = [*store.heads(limit=-1), *store.deleted()]
        return {message.id for head in heads for message in store.all_messages(head.id) if message.text}


@pytest.mark.parametrize("seed", [1])
def test_five_hundred_quick_clicks_lose_nothing(program, seed):
    program.answers = tuple(Answer(f"Answer {n}.") for n in range(40))
    draw = random.Random(seed)

    async def story():
        window, chats = program.window, program.controller.chats
        for n in range(3):
            await program.ask(f"question {n}")
        seen = message_ids()
        for _ in range(N_CLICKS):
            click(window, chats, draw)
            if draw.random() < 0.1:
                await asyncio.sleep(draw.choice([0, 0, 0.01]))
            if draw.random() < 0.02:
                now = message_ids()
                assert seen <= now, "a message is gone"
                seen = now
        await program.until(lambda: not program.controller.answering.is_busy)
        assert seen <= message_ids()
        chats.new()
        await program.ask("and after all that?")
        assert program.said.startswith("Answer")

    program.run(story)


def click(window, chats, draw):
    """Do one thing that a person can do, whatever else is going on."""
    n = len(window.transcript.texts())
    at = draw.randrange(n) if n else 0
    ids = chats.refresh() or [0]
    some = draw.choice(ids)
    match draw.randrange(12):
        case 0 | 1 | 2:
            window.transcript.asked.emit(at, draw.choice(["regenerate", "edit", "earlier", "later", "go_on"]))
        case 3:
            window.composer.edited.emit(at, f"edited {draw.random()}")
        case 4:
            window.sidebar.delete_requested.emit(some)
        case 5:
            if window.notice.has_action:
                window.notice.on_action()
        case 6:
            window.sidebar.duplicate_requested.emit(some)
        case 7:
            window.sidebar.conversation_chosen.emit(some)
        case 8:
            window.composer.stopped.emit()
        case 9:
            window.composer.set_text(f"question {draw.random()}")
            window.composer.on_submit()
        case 10:
            chats.new()
        case 11:
            window.sidebar.pin_requested.emit(some, draw.random() < 0.5)


@pytest.mark.parametrize("text", [HOSTILE, "x" * 1_000_000, "word " * 200_000], ids=["scripts", "a word", "words"])
def test_a_megabyte_goes_into_the_field_is_sent_and_edited_without_a_freeze(program, text):
    async def story():
        composer = program.window.composer
        assert took_s(lambda: composer.set_text(text)) < 3
        assert took_s(lambda: composer.editor.insertPlainText("y")) < 2
        await program.ask(text)
        assert program.window.transcript.texts()[0] == text.strip()
        assert took_s(lambda: program.window.transcript.asked.emit(0, "edit")) < 3
        assert composer.is_editing
        assert took_s(composer.end_edit) < 1
        composer.set_text("short words again")
        assert composer.editor.wordWrapMode() == QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
        composer.set_text("")

    program.run(story)


def test_a_message_that_would_hold_the_window_up_is_not_edited_and_that_is_said(program):
    program.answers = (Answer("x" * 1_000_001),)

    async def story():
        await program.ask("go")
        program.window.transcript.asked.emit(1, "edit")
        assert "too long" in program.window.notice.words
        assert not program.window.composer.is_editing

    program.run(story)


def test_settings_with_a_word_without_end_are_shown_without_a_freeze(program):
    async def story():
        chats = program.controller.chats
        chats.change_settings(ConversationSettings(system_prompt="x" * 1_000_000, stop=("y" * 1_000_000,)))
        assert took_s(program.controller.conversation.open) < 4
        program.controller.conversation.dialog.reject()

    program.run(story)


def took_s(work) -> float:
    """Do something; return the processor time that it took."""
    began_s = time.process_time()
    work()
    return time.process_time() - began_s
