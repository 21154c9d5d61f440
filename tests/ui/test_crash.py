"""The report about a fault: shown letter for letter, without what is the person's own, and never sent."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication

from app.chat.conversation import now
from app.errors import EngineError
from app.host.doctor_page import DoctorPage
from app.ui.controller import report as report_fault
from app.ui.crash_report import death_of, fault_of, report
from tests.doubles import Answer
from tests.ui.conftest import shows_dialog

SECRET = "my diagnosis is private"


class Page:
    """A page that is there at once."""

    def make(self):
        return "# Slipstream doctor\n\n- program 0"

    def stop(self):
        """Nothing to stop."""


def raised():
    try:
        try:
            {}[SECRET]
        except KeyError as fault:
            raise ValueError(f"cannot take {SECRET!r} from {Path.home()}/notes/diary.txt at 192.168.1.7") from fault
    except ValueError as fault:
        return fault


def test_the_report_says_where_and_quotes_nothing():
    text = report([fault_of(raised(), now())], "page", with_words=False)
    assert "Unexpected ValueError" in text
    assert "tests/ui/test_crash.py:" in text
    assert " in raised" in text
    assert "KeyError" in text
    for private in (SECRET, str(Path.home()), "diary", "192.168"):
        assert private not in text


def test_with_its_words_folders_and_addresses_are_still_left_out():
    text = report([fault_of(raised(), now())], "page", with_words=True)
    assert SECRET in text
    assert "diary.txt" in text
    for private in (str(Path.home()), "192.168", "notes/"):
        assert private not in text


@pytest.mark.parametrize("path", ["/home/anna/x.gguf", r"C:\Users\Anna Müller\x.gguf", "/Users/anna/Library/x"])
def test_how_the_engine_died_names_no_person(path):
    text = report([death_of(f"The engine died: it crashed at {path}", now())], "", with_words=True)
    assert "anna" not in text.lower()
    assert "The engine died" in text


@shows_dialog
def test_an_unexpected_fault_offers_a_report_and_the_button_copies_what_is_shown(program, expect_log):
    expect_log("it broke")

    async def story():
        crash = program.controller.crash
        crash.make_page = Page
        report_fault(program.window, {"message": "it broke", "exception": raised()})
        program.window.notice.on_action()
        await program.until(lambda: "Slipstream doctor" in crash.dialog.text.toPlainText())
        assert SECRET not in crash.dialog.text.toPlainText()
        crash.dialog.with_words.click()
        assert SECRET in crash.dialog.text.toPlainText()
        crash.dialog.with_words.click()
        QGuiApplication.clipboard().setText("before")
        crash.dialog.copy.click()
        assert QGuiApplication.clipboard().text() == crash.dialog.text.toPlainText()
        assert SECRET not in QGuiApplication.clipboard().text()
        assert "Nothing was sent" in crash.dialog.state.text()
        crash.dialog.reject()
        assert crash.dialog is None

    program.run(story)


@shows_dialog
def test_the_death_of_an_engine_is_in_the_report(program):
    program.answers = (Answer(die_at=0),)

    async def story():
        crash = program.controller.crash
        crash.make_page = Page
        program.send("Tell me")
        await program.until(lambda: crash.faults and not program.controller.answering.is_busy)
        assert len(crash.faults) == 1
        program.window.notice.on_more()
        assert "The engine died" in crash.dialog.text.toPlainText()
        assert "Tell me" not in crash.dialog.text.toPlainText()
        assert program.window.notice.words, "the way to start it again is still there"

    program.run(story)


@shows_dialog
def test_without_a_fault_the_report_is_about_the_machine(program):
    async def story():
        program.controller.crash.make_page = Page
        assert program.window.action_list.run("program.report")
        await program.until(lambda: "Slipstream doctor" in program.controller.crash.dialog.text.toPlainText())
        assert "No fault has been noted" in program.controller.crash.dialog.text.toPlainText()

    program.run(story)


def test_the_page_is_that_of_the_command(home):
    page = DoctorPage().make()
    assert page.startswith("# Slipstream doctor")
    assert str(home) not in page


def test_a_process_that_fails_or_is_stopped_is_said_to():
    with pytest.raises(EngineError, match="ended with 3"):
        DoctorPage([sys.executable, "-c", "raise SystemExit(3)"]).make()
    with pytest.raises(EngineError, match="not collected"):
        DoctorPage(["/no/such/program"]).make()
    page = DoctorPage([sys.executable, "-c", "import time; time.sleep(60)"])
    page.stop()
    with pytest.raises(EngineError):
        page.make()
