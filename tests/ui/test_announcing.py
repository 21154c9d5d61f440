"""What a screen reader is told, which model answered, how long it thought, and links without a mouse."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from app.errors import UsageError
from tests.doubles import Answer


def heard(program):
    words = []
    program.controller.announcer.announced.connect(lambda said, is_urgent: words.append((said, is_urgent)))
    return words


def test_answers_are_announced_as_they_begin_and_end(program):
    program.answers = (Answer("Yes."), Answer(pace_s=0.05))

    async def story():
        words = heard(program)
        await program.ask("go")
        assert words == [("The model is answering.", False), ("The answer is complete.", False)]
        program.send("on")
        await program.until(lambda: program.said)
        program.controller.answering.stop()
        await program.until(lambda: not program.controller.answering.is_busy)
        assert words[-1] == ("The answer broke off.", False)

    program.run(story)


def test_faults_are_announced_at_once(program):
    program.answers = (Answer(fault=UsageError("It cannot be said.", "Ask otherwise."), fault_at=1),)

    async def story():
        words = heard(program)
        await program.ask("go")
        assert ("Error: It cannot be said. Ask otherwise.", True) in words
        program.window.notice.say("info", "Saved.")
        assert words[-1] == ("Saved.", False)

    program.run(story)


def test_the_model_of_an_answer_is_kept_and_shown(program):
    async def story():
        view = await program.ask("go")
        name = program.controller.chats.shown[1].model
        assert name == "starter" != program.host.state.loaded.target.name, "the picker's name, not the one in the file"
        assert view.status.endswith(f" · {name}")

    program.run(story)

    async def again():
        message = program.controller.chats.shown[1]
        assert message.model
        assert program.last_answer.status.endswith(f" · {message.model}")

    program.run(again)


def test_how_long_it_thought_is_seen_also_later_and_where_nobody_looked(program):
    program.answers = (Answer("<think> one two three four </think> Yes.", pace_s=0.05),)

    async def story():
        program.send("go")
        await program.until(lambda: "one" in program.said)
        program.controller.chats.new()  # nobody looks any more
        await program.until(lambda: not program.controller.answering.is_busy)

    program.run(story)

    async def again():
        (only,) = program.controller.chats.refresh()
        program.controller.chats.open(only)
        message = program.controller.chats.shown[1]
        assert message.reasoning_s is not None
        assert message.reasoning_s > 0.01
        assert program.last_answer.column.thought_words == f"Thought for {message.reasoning_s:.1f} s"

    program.run(again)


@pytest.mark.qt_log_ignore("does not support (raise|grabbing)")
def test_links_are_reached_by_keys(program, qtbot):
    program.answers = (Answer("See [the *long* page](https://example.org/a?b&c) and https://example.com now."),)

    async def story():
        view = await program.ask("go")
        asked = []
        program.window.transcript.link_clicked.connect(lambda url: asked.append(url.toString()))
        assert [words for words, _ in view.column.links()] == ["the long page", "https://example.com"]
        view.setFocus()
        qtbot.keyClick(view, Qt.Key.Key_L)
        menu = next(menu for menu in view.findChildren(QMenu) if menu.isVisible())
        assert menu.actions()[0].text() == "the long page  ·  https://example.org/a?b&&c"
        qtbot.keyClick(menu, Qt.Key.Key_Down)
        qtbot.keyClick(menu, Qt.Key.Key_Return)
        assert asked == ["https://example.org/a?b&c"]
        assert "Open https://example.org" in program.window.notice.words
        await asyncio.sleep(0)

    program.run(story)


def test_a_message_without_links_has_no_menu_of_them(program, qtbot):
    async def story():
        view = await program.ask("go")
        view.setFocus()
        qtbot.keyClick(view, Qt.Key.Key_L)
        assert not any(menu.isVisible() for menu in view.findChildren(QMenu))
        assert not any(action.text() == "Links" for action in view.make_menu().actions())

    program.run(story)
