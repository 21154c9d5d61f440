import time
from time import monotonic

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication

from app.chat.conversation import AnswerStats, Message, now
from app.ui.chats import finish_stored
from app.ui.code_block import CodeView
from app.ui.message import AnswerView, QuestionView
from app.ui.prose import ProseView
from app.ui.transcript import FRAME_MS, SLOWEST_FRAME_MS, Transcript
from app.ui.welcome import EXAMPLES


@pytest.fixture
def transcript(put):
    return put(Transcript())


def messages(n):
    at = now()
    return [
        Message(id=i, role="user" if i % 2 else "assistant", text=f"Message {i}. " + "word " * 40, created_at=at)
        for i in range(1, n + 1)
    ]


def bar(transcript):
    return transcript._area.verticalScrollBar()


def wheel(transcript, qapp, steps):
    viewport = transcript._area.viewport()
    at = QPointF(viewport.rect().center())
    event = QWheelEvent(
        at,
        viewport.mapToGlobal(at),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport, event)
    qapp.processEvents()


def stream(view, text, qtbot, pieces=40):
    size = max(1, len(text) // pieces)
    for at in range(0, len(text), size):
        view.add_text(text[at : at + size])
        qtbot.wait(1)


def test_an_answer_becomes_prose_and_code(transcript, qtbot):
    view = transcript.begin_answer()
    stream(view, "Look:\n\n```python\nprint(1)\n```\n\nAnd so on.\n\nEnd.", qtbot)
    transcript.end_answer(view)
    assert [type(part) for part in view._parts] == [ProseView, CodeView, ProseView]
    assert view._parts[1].text == "print(1)"
    assert view._parts[2].toPlainText() == "And so on.\nEnd."


def test_streamed_and_stored_answers_look_alike(transcript, qtbot):
    text = "# A\n\nText *b*.\n\n1. x\n\n    ```sh\n    ls\n    ```\n\n2. y\n\n| a |\n|---|\n| 1 |\n\nEnd"
    grown = transcript.begin_answer()
    stream(grown, text, qtbot)
    transcript.end_answer(grown)
    stored = AnswerView()
    qtbot.addWidget(stored)
    stored.lay_out(700)
    stored.add_text(text)
    stored.close_text()
    assert [(type(p), p.toPlainText() if isinstance(p, ProseView) else p.text) for p in grown._parts] == [
        (type(p), p.toPlainText() if isinstance(p, ProseView) else p.text) for p in stored._parts
    ]


def test_many_chunks_are_shown_in_few_frames(transcript, qtbot):
    view = transcript.begin_answer()
    frames = []
    transcript._frame.timeout.connect(lambda: frames.append(1))
    began = time.monotonic()
    for _ in range(2000):
        view.add_text("x ")
        if time.monotonic() - began > 5:
            pytest.fail("adding text is slow")
    qtbot.waitUntil(lambda: not view.needs_flush)
    assert view.text == "x " * 2000
    assert len(frames) < 20


def test_it_follows_the_end_until_the_person_scrolls_up(transcript, qtbot, qapp):
    view = transcript.begin_answer()
    stream(view, "Paragraph of some words.\n\n" * 40, qtbot)
    qtbot.waitUntil(lambda: bar(transcript).maximum() > 300)
    assert bar(transcript).value() == bar(transcript).maximum()
    wheel(transcript, qapp, 3)
    assert not transcript.is_following
    assert transcript._to_end.isVisible()
    place = bar(transcript).value()
    stream(view, "More and more.\n\n" * 40, qtbot)
    qtbot.wait(50)
    assert bar(transcript).value() == place, "the text jumped while somebody was reading"
    transcript._to_end.click()
    assert transcript.is_following
    stream(view, "The end.\n\n" * 10, qtbot)
    qtbot.waitUntil(lambda: bar(transcript).value() == bar(transcript).maximum())


def test_scrolling_back_to_the_end_follows_again(transcript, qtbot, qapp):
    transcript.show_messages(messages(20), finish_stored)
    qtbot.waitUntil(lambda: bar(transcript).maximum() > 300)
    wheel(transcript, qapp, 2)
    assert not transcript.is_following
    wheel(transcript, qapp, -50)
    assert transcript.is_following
    assert not transcript._to_end.isVisible()


def scroll_to(transcript, value, qapp):
    transcript._area.on_action()
    bar(transcript).setValue(value)
    qapp.processEvents()


def on_screen(transcript):
    """Text and place of every message on the screen."""
    height = transcript._page.height()
    places = {view.text: view.y() for view in transcript.views}
    return {text: y for text, y in places.items() if -100 < y < height}


def test_only_messages_near_the_screen_are_built(transcript, qtbot, qapp):
    transcript.show_messages(messages(2000), finish_stored)
    assert transcript.views[-1].text.startswith("Message 2000.")
    for place in (0.9, 0.5, 0.1, 0.0):
        scroll_to(transcript, round(bar(transcript).maximum() * place), qapp)
        assert on_screen(transcript), "nothing where the person looks"
        assert len(transcript.views) < 40
    assert transcript.views[0].text.startswith("Message 1.")
    # AND what was passed on the way is taken down again
    for value in range(0, 24_000, 400):
        scroll_to(transcript, value, qapp)
        assert len(transcript.views) < 40


def test_nothing_jumps_when_heights_that_were_guessed_are_put_right(transcript, qtbot, qapp):
    transcript.show_messages(messages(300), finish_stored)
    steps = []
    for _ in range(40):
        before = on_screen(transcript)
        value = bar(transcript).value()
        wheel(transcript, qapp, 2)
        after = on_screen(transcript)
        moved = {after[text] - before[text] for text in before.keys() & after.keys()}
        assert len(moved) == 1, f"what is read moved apart: {moved}"
        steps.append(moved.pop())
        assert value != bar(transcript).value()
    assert len(set(steps)) == 1, f"some turns of the wheel went further than others: {steps}"


def test_messages_stay_where_they_are_read_while_the_width_changes(transcript, qtbot, qapp):
    transcript.show_messages(messages(200), finish_stored)
    scroll_to(transcript, bar(transcript).maximum() // 2, qapp)
    text, y = min(on_screen(transcript).items(), key=lambda pair: abs(pair[1]))
    transcript.resize(420, 400)
    qapp.processEvents()
    assert abs(on_screen(transcript)[text] - y) < 200


def test_a_message_that_was_taken_down_comes_back_as_it_was(transcript, qtbot, qapp):
    view = transcript.begin_answer()
    view.add_text("Said *just* now.")
    transcript.end_answer(view)
    view.show_status("12 tok/s")
    view.show_mark("broke off")
    for n in range(60):
        transcript.add_question(f"Question {n}\n" * 8)
    qapp.processEvents()
    assert transcript.last_answer is None, "it should be out of sight"
    scroll_to(transcript, 0, qapp)
    again = transcript.last_answer
    assert again is not view
    assert (again.text, again.status, again.mark) == ("Said *just* now.", "12 tok/s", "broke off")


def test_stored_answers_have_their_figures_and_marks(transcript):
    stats = AnswerStats(n_tokens=75, decode_tps=23.44, ttft_s=0.314, n_proposed=75, n_accepted=14, stop_reason="length")
    at = now()
    transcript.show_messages(
        [
            Message(id=1, role="user", text="q", created_at=at),
            Message(id=2, role="assistant", text="a", created_at=at, stats=stats),
            Message(id=3, role="user", text="q", created_at=at),
            Message(id=4, role="assistant", text="half", state="interrupted", created_at=at),
        ],
        finish_stored,
    )
    whole, half = transcript.views[1], transcript.views[3]
    assert whole.status == (
        "23.4 tok/s · first token 0.31 s · 75 tokens · draft accepted 14/75 (18.7%) · speculation off"
        " · stopped at the length limit"
    )
    assert whole.mark == ""
    assert "interrupted" in half.mark
    assert not half.offers_restart


def test_an_empty_conversation_invites(transcript, qtbot):
    transcript.clear()
    assert transcript.welcome.isVisible()
    with qtbot.waitSignal(transcript.example_chosen) as chosen:
        transcript.welcome.findChildren(type(transcript.welcome._example("x")))[0].click()
    assert chosen.args == [EXAMPLES[0]]


def test_copy_of_an_answer_is_its_markdown(transcript):
    view = transcript.begin_answer()
    view.add_text("# A\n\n*b*")
    transcript.end_answer(view)
    view.foot.button("copy").click()
    assert QGuiApplication.clipboard().text() == "# A\n\n*b*"


def test_links_reach_the_transcript(transcript, qtbot):
    view = transcript.begin_answer()
    view.add_text("[x](https://example.org)")
    transcript.end_answer(view)
    with qtbot.waitSignal(transcript.link_clicked) as clicked:
        view._parts[0].anchorClicked.emit(QUrl("https://example.org"))
    assert clicked.args == [QUrl("https://example.org")]


def test_questions_keep_their_shape(transcript):
    view = transcript.add_question("a  b\n\n# no heading <b>x</b>")
    assert isinstance(view, QuestionView)
    assert view.shown == "a  b\n\n# no heading <b>x</b>"


def test_the_page_never_scrolls_sideways(transcript, qtbot, qapp):
    view = transcript.begin_answer()
    view.add_text("x" * 3000 + "\n\n```\n" + "y" * 3000 + "\n```\n")
    transcript.end_answer(view)
    qtbot.wait(30)
    assert transcript._page.width() == transcript._area.viewport().width()
    assert view.width() <= transcript._page.width()
    assert all(part.width() <= view.width() for part in view._parts)


def test_removed_messages_bring_the_welcome_back(transcript, qapp):
    view = transcript.begin_answer()
    transcript.remove(view)
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert transcript.welcome.isVisible()
    assert len(transcript.views) == 0


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_of_a_message_of_megabytes_only_what_is_near_the_screen_is_built(transcript, qapp, role):
    text = "word word word word\n" * 200_000
    at = now()
    huge = Message(id=1, role=role, text=text, created_at=at)
    began_s = time.thread_time()
    transcript.show_messages([huge, Message(id=2, role="assistant", text="Short.", created_at=at)], finish_stored)
    for value in (bar(transcript).maximum(), bar(transcript).maximum() - 3000, 5000, 0):
        scroll_to(transcript, value, qapp)
        assert len(transcript.findChildren(ProseView)) < 60
    assert time.thread_time() - began_s < 1.2, "more was built than can be seen"


def test_text_comes_less_often_where_the_engine_has_every_core(transcript):
    transcript.pace.leave_cores(1_000)
    view = transcript.begin_answer()
    for n in range(40):
        view.add_text(f"A paragraph with **number** {n} in it.\n\n" * 40)
        transcript.on_frame()
    assert FRAME_MS < transcript.frame_ms <= SLOWEST_FRAME_MS
    transcript._frame.stop()
    view.add_text("more")
    assert 0 < transcript._frame.remainingTime() <= 1.1 * transcript.frame_ms  # a coarse timer rounds by a twentieth
    transcript.pace.leave_cores(0)
    for _ in range(40):
        view.add_text("a")
        transcript.on_frame()
    assert transcript.frame_ms == FRAME_MS


def test_a_frame_comes_a_little_early_with_the_text_and_much_early_never(transcript):
    view = transcript.begin_answer()
    view.add_text("The first word")
    transcript.on_frame()
    for due_in_s, is_now in ((10, False), (0.02, True)):
        transcript._frame.stop()
        transcript.frame_ms, transcript._next_s = 240, monotonic() + due_in_s
        view.add_text(", and another")
        assert (transcript._frame.remainingTime() <= 1) == is_now
    transcript._frame.stop()


def test_text_that_was_waited_for_shows_at_once(transcript, qtbot):
    view = transcript.begin_answer()
    view.add_text("The first word")
    assert transcript._frame.remainingTime() <= 1
    transcript._frame.stop()
    transcript.on_frame()
    qtbot.wait(2 * FRAME_MS)
    view.add_text(", and another")
    assert transcript._frame.remainingTime() <= 1
