"""PDFs that are dropped: read beside the window, with words; a person or the end of the program stops that."""

from __future__ import annotations

import asyncio
import re
import time
from typing import get_args

import pytest

from app.chat.conversation import Attachment
from app.chat.pdf_text import Fault
from app.errors import NotTextError
from app.ui.attaching import read_text_file
from app.ui.pdf_reading import FAULTS, MOST_PDF_BYTES
from app.ui.theme import IconButton
from tests.chat.pdfs import PICTURE, locked, pdf, slow, words
from tests.doubles import Answer
from tests.ui.test_unsent import kept


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("x.pdf", b"%PDF-1.7 cut", "is damaged, or no PDF"),
        ("x.pdf", b"only text", "is damaged, or no PDF"),
        ("x.pdf", pdf(PICTURE), "holds no text"),
        ("x.PDF", locked(pdf(words("x")), "secret"), "locked with a password"),
    ],
)
def test_what_has_no_text_is_refused_in_words(tmp_path, name, data, why):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(NotTextError, match=f"“{name}” .*{why}") as raised:
        read_text_file(tmp_path / name)
    assert raised.value.hint


def test_one_that_is_too_large_is_not_even_opened(tmp_path):
    with (tmp_path / "x.pdf").open("wb") as file:
        file.truncate(MOST_PDF_BYTES + 1)
    with pytest.raises(NotTextError, match=r"has 100\.0 MB; a PDF may have 100 MB"):
        read_text_file(tmp_path / "x.pdf")


def test_every_fault_has_words_and_a_hint():
    assert set(FAULTS) == set(get_args(Fault))


def stop_button(composer):
    (button,) = [one for one in composer.files.findChildren(IconButton) if one.accessibleName() == "Stop reading"]
    return button


def test_a_pdf_goes_with_the_message_as_its_text(program, tmp_path):
    program.answers = (Answer("Seen."),)
    (tmp_path / "Letter.PDF").write_bytes(pdf(words("Dear all,")))

    async def story():
        composer = program.window.composer
        composer.take_paths([tmp_path / "Letter.PDF"])
        await program.until(lambda: any("tokens" in chip.accessibleName() for chip in composer.files._chips))
        assert composer.files.files == (Attachment(name="Letter.PDF", text="Dear all,\n"),)
        program.send("Look at this")
        await program.until(lambda: not program.controller.answering.is_busy)
        asked = next(c for c in reversed(program.engines[0].commands) if hasattr(c, "messages"))
        assert asked.messages[-1].content == "Letter.PDF:\n```\nDear all,\n```\n\nLook at this"

    program.run(story)


def test_its_pages_are_told_and_it_can_be_stopped_while_the_window_goes_on(program, tmp_path):
    (tmp_path / "slow.pdf").write_bytes(slow())
    (tmp_path / "next.pdf").write_bytes(pdf(words("next")))

    async def story():
        composer, gaps_s, last_s = program.window.composer, [], time.perf_counter()
        composer.take_paths([tmp_path / "slow.pdf", tmp_path / "next.pdf"])
        while not re.search(r"page [1-9]\d* of 400", composer.files.words):
            await asyncio.sleep(0.002)
            now_s = time.perf_counter()
            gaps_s, last_s = [*gaps_s, now_s - last_s], now_s
        assert sorted(gaps_s)[len(gaps_s) // 2] < 0.05
        program.send("read this")
        assert "Still reading “slow.pdf”" in program.window.notice.words
        button = stop_button(composer)
        assert button.isVisible()
        button.click()
        await program.controller.chats.reading.settled()
        assert "“slow.pdf” was not attached: you stopped it." in program.window.notice.words
        assert [file.name for file in composer.files.files] == ["next.pdf"]
        assert (composer.files.words, button.isVisible()) == ("", False)

    program.run(story)


def test_the_end_of_the_program_waits_for_a_short_one_and_not_for_a_long_one(program, tmp_path):
    (tmp_path / "short.pdf").write_bytes(pdf(words("short")))
    (tmp_path / "slow.pdf").write_bytes(slow())
    ended = []

    async def story():
        await program.ask("one")
        program.window.composer.take_paths([tmp_path / "short.pdf", tmp_path / "slow.pdf", tmp_path / "slow.pdf"])
        ended.append((time.monotonic(), program.controller.chats.current.id))

    program.run(story)
    ((began_s, conversation_id),) = ended
    assert time.monotonic() - began_s < 20
    assert kept(conversation_id)[1] == (Attachment(name="short.pdf", text="short\n"),)
