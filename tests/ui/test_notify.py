"""A message of the desktop when a long answer has ended behind other windows; never what the answer says."""

from __future__ import annotations

import pytest

from app.ui.notify_control import LONG_S
from tests.doubles import Answer

ANSWER = "The answer is a secret of forty-two words."


async def ask(program, *, seconds, is_seen=False):
    """Let an answer take so long, with somebody looking or not; return what the desktop was told."""
    told, now_s = [], [0.0]
    notify = program.controller.notify
    notify.clock_s, notify.is_seen = (lambda: now_s[0]), (lambda: is_seen)
    notify.show = lambda words, title: told.append((words, title))
    program.controller.answering.stepped.connect(lambda _step: now_s.__setitem__(0, seconds))
    program.send("How much is it?")
    await program.until(lambda: not program.controller.answering.is_busy)
    return told


@pytest.mark.parametrize(("seconds", "is_seen", "n"), [(LONG_S + 1, False, 1), (LONG_S - 1, False, 0), (60, True, 0)])
def test_only_a_long_answer_in_the_background_is_told(program, seconds, is_seen, n):
    program.answers = (Answer(text=ANSWER),)

    async def story():
        told = await ask(program, seconds=seconds, is_seen=is_seen)
        assert len(told) == n

    program.run(story)


def test_it_names_the_conversation_and_not_the_answer(program):
    program.answers = (Answer(text=ANSWER),)

    async def story():
        ((words, title),) = await ask(program, seconds=60)
        assert words == "An answer has ended"
        assert title == program.controller.chats.current.title
        assert "secret" not in words + title

    program.run(story)


def test_it_can_be_switched_off(program):
    async def story():
        program.controller.choices.change(notify=False)
        assert await ask(program, seconds=60) == []

    program.run(story)


def test_an_answer_that_broke_off_is_told_too_and_a_desktop_without_messages_is_no_fault(program):
    program.answers = (Answer(text=ANSWER, die_at=1),)

    async def story():
        notify = program.controller.notify
        now_s = [0.0]
        notify.clock_s, notify.is_seen = (lambda: now_s[0]), (lambda: False)
        program.controller.answering.stepped.connect(lambda _step: now_s.__setitem__(0, 60.0))
        program.send("How much is it?")
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)
