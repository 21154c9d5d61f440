"""Files, sizes and the gauge of the composer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl

from app.chat.conversation import Attachment
from app.chat.store import ChatStore
from app.errors import NotTextError
from app.ui.attaching import MOST_BYTES, read_text_file
from app.ui.composer import Composer
from app.ui.context_gauge import ContextUse, gauge_words
from app.ui.token_counts import TURN_TOKENS
from tests.chat.test_word_text import p, word
from tests.doubles import Answer


@pytest.fixture
def composer(put):
    return put(Composer(), 700, 200)


def drop(composer, *paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    assert composer.editor.canInsertFromMimeData(data)
    composer.editor.insertFromMimeData(data)


def chips(composer):
    return [chip.accessibleName() for chip in composer.files._chips]


def test_dropped_files_go_with_the_message_and_can_be_taken_out(composer, tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.txt").write_bytes("Grüße\r\n".encode())
    drop(composer, tmp_path / "a.py", tmp_path / "b.txt")
    assert composer.files.files == (Attachment(name="a.py", text="x = 1\n"), Attachment(name="b.txt", text="Grüße\n"))
    assert composer.files.isVisible()
    composer.files.show_sizes({composer.files.files[0]: 1234})
    assert chips(composer)[0] == "Attached file a.py, 1,234 tokens"
    composer.files._chips[0].removed.emit()
    assert [file.name for file in composer.files.files] == ["b.txt"]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("x.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00", "is not text"),
        ("x.bin", bytes(range(256)) * 10, "is not text"),
        ("x.txt", b"x" * (MOST_BYTES + 1), "MB of text are the most"),
        ("x.docx", b"PK\x03\x04 cut", "no document of Word's"),
    ],
)
def test_what_is_no_text_is_refused_in_words(composer, tmp_path, qtbot, name, data, words):
    (tmp_path / name).write_bytes(data)
    with qtbot.waitSignal(composer.refused) as refused:
        drop(composer, tmp_path / name)
    assert name in refused.args[0]
    assert words in refused.args[0]
    assert refused.args[1], "what to do next"
    assert not composer.files.files


def test_a_folder_and_a_file_that_has_gone_are_refused(tmp_path):
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "gone.txt", "cannot be read")):
        with pytest.raises(NotTextError, match=words):
            read_text_file(path)


@pytest.mark.linux
@pytest.mark.parametrize("name", ["pipe.txt", "pipe.pdf", "pipe.docx"])
def test_a_pipe_is_refused_at_once_and_a_file_that_says_no_size_is_read_only_so_far(tmp_path, name):
    os.mkfifo(tmp_path / name)
    for path in (tmp_path / name, Path("/dev/zero")):
        with pytest.raises(NotTextError, match="a pipe or a device, not a file") as caught:
            read_text_file(path)
        assert "as a file" in caught.value.hint
    assert read_text_file(Path("/proc/self/status")).text.startswith("Name:")


def test_a_word_document_goes_with_the_message_as_its_text(composer, tmp_path):
    (tmp_path / "Letter.DOCX").write_bytes(word(p("Dear ", "all,")))
    drop(composer, tmp_path / "Letter.DOCX")
    assert composer.files.files == (Attachment(name="Letter.DOCX", text="Dear all,\n"),)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_of_any_usual_encoding_is_read(tmp_path, encoding):
    (tmp_path / "x.txt").write_bytes("Grüße, \n“zitiert”".encode(encoding))
    assert read_text_file(tmp_path / "x.txt").text == "Grüße, \n“zitiert”"


def test_models_are_left_to_the_window(composer, tmp_path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "model.gguf"))])
    assert not composer.editor.canInsertFromMimeData(data)


def test_many_pages_that_are_pasted_become_a_file_and_a_line_is_typed(composer):
    for text in ("a line", "many pages " * 2000):
        data = QMimeData()
        data.setText(text)
        composer.editor.insertFromMimeData(data)
    assert composer.text == "a line"
    assert composer.files.files == (Attachment(name="Pasted text", text="many pages " * 2000),)


def test_files_reach_the_model_and_the_database(program, tmp_path):
    program.answers = (Answer("Seen."),)
    (tmp_path / "a.py").write_text("x = 1\n")

    async def story():
        drop(program.window.composer, tmp_path / "a.py")
        await program.until(lambda: any("tokens" in words for words in chips(program.window.composer)))
        program.send("Look at this")
        await program.until(lambda: not program.controller.answering.is_busy)
        asked = next(c for c in reversed(program.engines[0].commands) if hasattr(c, "messages"))
        assert asked.messages[-1].content == "a.py:\n```\nx = 1\n```\n\nLook at this"
        assert not program.window.composer.files.files
        current = program.controller.chats.current
        assert program.controller.store.load(current.id).messages[0].attachments[0].name == "a.py"
        assert "a.py" in program.window.transcript.views[0].text

    program.run(story)


def test_the_gauge_counts_what_is_typed_and_what_was_said(program, qtbot):
    async def story():
        gauge = program.window.composer.gauge
        await program.until(lambda: "tokens" in gauge.words)
        before = gauge.words
        qtbot.keyClicks(program.window.composer.editor, "some more words to count")
        await program.until(lambda: "tokens typed" in gauge.words)
        assert gauge.words != before
        program.window.composer.set_text("word " * 20_000)
        await program.until(lambda: "does not fit" in gauge.words)

    program.run(story)


def test_the_gauge_counts_how_many_messages_will_be_left_out(program):
    program.answers = (Answer("word " * 900),)

    async def story():
        composer = program.window.composer
        program.controller.choices.change(slide=True)
        for _ in range(6):
            await program.ask("word " * 100)
        n_ctx = program.host.state.loaded.n_ctx
        texts = [message.text for message in program.controller.chats.shown]
        sizes = [len(await program.host.tokenise(text)) + TURN_TOKENS for text in texts]
        n_cut = next(n for n in range(len(sizes)) if sum(sizes[n:]) <= n_ctx)
        assert n_cut > 1
        await program.until(lambda: f"the oldest {n_cut} messages will be left out" in composer.gauge.words)

    program.run(story)


@pytest.mark.parametrize(
    ("use", "is_sliding", "words"),
    [
        (ContextUse(0, 100, 4096, 1024), False, "100 of 4,096 tokens"),
        (ContextUse(50, 100, 4096, 1024), False, "50 tokens typed, 150 of 4,096 tokens"),
        (ContextUse(0, 3500, 4096, 1024), False, "3,500 of 4,096 tokens: an answer can have 596 more."),
        (ContextUse(9, 4200, 4096, 1024, 3), True, "the oldest 3 messages will be left out."),
        (ContextUse(9, 4200, 4096, 1024, 1), True, "the oldest message will be left out."),
        (ContextUse(9, 4200, 4096, 1024, fits=False), False, "it does not fit. Choose a longer context"),
        (ContextUse(5000, 0, 4096, 1024, fits=False), True, "this message alone does not fit"),
    ],
)
def test_the_gauge_says_what_will_be_cut(use, is_sliding, words):
    assert words in gauge_words(use, is_sliding=is_sliding)
    assert 0 <= use.share <= 1


def test_all_lines_of_a_text_that_is_put_in_can_be_seen(composer, qapp):
    composer.set_text("a few words that go on " * 12)
    qapp.processEvents()
    editor = composer.editor
    assert editor.verticalScrollBar().value() == 0
    assert editor.document().size().height() > 2
    assert editor.cursorRect().bottom() <= editor.viewport().height()


def test_an_example_leaves_what_is_written_where_it_is(program):
    notes = Attachment(name="notes.txt", text="one")

    async def story():
        composer, chats = program.window.composer, program.controller.chats
        composer.editor.setPlainText("half a thought")
        composer.files.add(notes)
        program.window.transcript.welcome.example_chosen.emit("an example")
        assert [(m.text, m.attachments) for m in chats.shown] == [("an example", ())]
        assert (composer.text, composer.files.files) == ("half a thought", (notes,))
        await program.until(lambda: not program.controller.answering.is_busy)
        composer.flush_draft()
        kept = program.store.draft(chats.current.id), program.store.drafts.files(chats.current.id)
        assert kept == ("half a thought", (notes,))
        assert (program.store.draft(None), program.store.drafts.files(None)) == ("", ())

    program.store = ChatStore()
    program.run(story)


@pytest.mark.parametrize("typed", ["", "half a thought"])
def test_an_example_that_cannot_be_answered_now_takes_no_words(program, typed):
    async def story():
        composer = program.window.composer
        program.controller.answering.refusal = lambda: "Not now."
        composer.editor.setPlainText(typed)
        program.window.transcript.welcome.example_chosen.emit("an example")
        assert program.controller.chats.shown == ()
        assert composer.text == (typed or "an example")
        composer.editor.setPlainText("")

    program.run(story)
