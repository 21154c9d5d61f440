"""Selecting across the parts of a message, copying, finding, thoughts that fold: by mouse and keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QApplication

from app.chat.conversation import Message, now
from app.ui.chats import finish_stored
from app.ui.marking import CURRENT
from app.ui.thought import ThoughtHead
from app.ui.transcript import Transcript

TEXT = "First *part* of it.\n\n```python\nx = 1\ny = 2\n```\n\nLast part, with a [link](https://example.org).\n"


@pytest.fixture
def transcript(put):
    return put(Transcript())


@pytest.fixture
def answer(transcript, qapp):
    transcript.show_messages([Message(id=1, role="assistant", text=TEXT, created_at=now())], finish_stored)
    qapp.processEvents()
    return transcript.last_answer


def drag(start, start_at, spot):
    """Press in one text and move to a point of the screen."""
    viewport = start.viewport()

    def send(kind, at, button, buttons):
        event = QMouseEvent(
            kind, QPointF(viewport.mapFromGlobal(at)), QPointF(at), button, buttons, Qt.KeyboardModifier.NoModifier
        )
        QApplication.sendEvent(viewport, event)

    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    send(QEvent.Type.MouseButtonPress, viewport.mapToGlobal(start_at), left, left)
    send(QEvent.Type.MouseMove, spot, none, left)
    send(QEvent.Type.MouseButtonRelease, spot, left, none)


def middle_of(edit, words):
    cursor = edit.document().find(words)
    cursor.setPosition(cursor.selectionStart())
    return edit.cursorRect(cursor).center()


def test_dragging_selects_across_prose_and_code(answer, qtbot):
    first, _, last = (part.edit for part in answer.column.parts)
    drag(first, middle_of(first, "of it"), last.viewport().mapToGlobal(middle_of(last, ", with")))
    assert answer.column.selection.text == "of it.\nx = 1\ny = 2\nLast part"
    qtbot.keyClick(first, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "of it.\nx = 1\ny = 2\nLast part"
    # AND a click elsewhere takes it away
    drag(last, middle_of(last, "link"), last.viewport().mapToGlobal(middle_of(last, "link")))
    assert answer.column.selection.text == ""


def test_dragging_upwards_and_back_selects_what_is_between(answer):
    first, code, last = (part.edit for part in answer.column.parts)
    start = middle_of(last, ", with")
    drag(last, start, first.viewport().mapToGlobal(middle_of(first, "of it")))
    assert answer.column.selection.text == "of it.\nx = 1\ny = 2\nLast part"
    drag(last, start, code.viewport().mapToGlobal(middle_of(code, "y")))
    assert answer.column.selection.text == "y = 2\nLast part"
    assert not first.textCursor().hasSelection()


def test_select_all_and_copy_are_for_the_whole_message(answer, qtbot):
    first = answer.column.parts[0].edit
    qtbot.keyClick(first, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(first, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    words = QGuiApplication.clipboard().text()
    assert words == "First part of it.\n\nx = 1\ny = 2\n\nLast part, with a link.\n"


def test_copies_are_without_thoughts_as_markdown_and_as_plain_text(transcript, qapp):
    text = "<think>Hm.</think>\n\n- *one*\n- two\n"
    transcript.show_messages([Message(id=1, role="assistant", text=text, created_at=now())], finish_stored)
    transcript.last_answer.on_asked("copy")
    assert QGuiApplication.clipboard().text() == "- *one*\n- two\n"
    transcript.last_answer.on_asked("copy_plain")
    assert [line.split()[-1] for line in QGuiApplication.clipboard().text().split("\n") if line] == ["one", "two"]


def heads(view):
    return view.column.findChildren(ThoughtHead)


def test_thoughts_are_folded_with_their_time_and_unfold_by_key(transcript, qapp, qtbot):
    text = "<think>Let me see.\n\nYes.</think>\n\nThe answer."
    message = Message(id=1, role="assistant", text=text, reasoning_s=3.4, created_at=now())
    transcript.show_messages([message], finish_stored)
    view = transcript.last_answer
    (head,) = heads(view)
    assert head.text() == "Thought for 3.4 s"
    assert "folded" in head.accessibleName()
    assert [part.toPlainText() for part in view.column.parts] == ["The answer."]
    low = view.height()
    qtbot.keyClick(head, Qt.Key.Key_Space)
    assert [part.toPlainText() for part in view.column.parts] == ["Let me see.\nYes.", "The answer."]
    assert view.height() > low
    qtbot.keyClick(head, Qt.Key.Key_Space)
    assert view.height() == low


def test_growing_thoughts_say_that_they_grow_and_how_long_they_took(transcript, qtbot):
    view = transcript.begin_answer()
    view.add_text("<think>Hm, ")
    view.flush()
    assert heads(view)[0].text() == "Thinking…"
    qtbot.wait(120)
    view.add_text("well.</think>So.")
    view.flush()
    assert heads(view)[0].text() == f"Thought for {view.thought_s:.1f} s"
    assert 0.1 <= view.thought_s < 50
    transcript.end_answer(view)
    assert [part.toPlainText() for part in view.column.parts] == ["So."]


# --- finding ------------------------------------------------------------------------------------------


def found(view):
    return [s.cursor.selectedText() for part in view.column.parts for s in part.highlights._found]


def conversation(n):
    words = {3: "needle at the start", 150: "```\ncode with a Needle\n```\n", 290: "a needle and a NEEDLE"}
    role = ("assistant", "user")
    return [
        Message(id=i, role=role[i % 2], text=words.get(i, f"Message {i}. " + "hay " * 80), created_at=now())
        for i in range(1, n + 1)
    ]


def test_finding_counts_all_and_goes_from_place_to_place(transcript, qapp, qtbot):
    transcript.show_messages(conversation(300), finish_stored)
    bar = transcript.find_bar
    bar.open()
    qtbot.keyClicks(bar.field, "needle")
    qtbot.waitUntil(lambda: bar.count.text() == "4 of 4")
    seen = []
    for _ in range(5):
        number, _hit = bar.here
        view = transcript._list.items[number].view
        height = transcript._page.height()
        assert view is not None
        assert -view.height() < view.y() < height, "it is not on the screen"
        assert found(view)
        seen.append((number, bar.count.text()))
        qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert [number for number, _ in seen] == [289, 2, 149, 289, 289]
    assert [words for _, words in seen] == ["4 of 4", "1 of 4", "2 of 4", "3 of 4", "4 of 4"]
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bar.count.text() == "4 of 4"
    bar.leave()
    assert bar.isHidden()
    assert all(not found(view) for view in transcript.views)


MARKED = """
# A *need*le

**Bold needle** and nee**dle**, `needle`, [needle](https://needle.example "needle"), ![a needle](needle.png)

| needle | b |
|---|---|
| x | needle |

1. needle \\*needle\\*

```needle
needle = "**needle**"
```

$a_needle$ <b>needle</b>
"""


def test_finding_counts_what_is_seen_not_the_marks(transcript, qtbot):
    messages = [
        Message(id=1, role="user", text="**needle** as it was typed", created_at=now()),
        Message(id=2, role="assistant", text=MARKED, created_at=now()),
        Message(id=3, role="assistant", text="<think>\na needle\n</think>\nSo.", created_at=now()),
    ]
    transcript.show_messages(messages, finish_stored)
    bar = transcript.find_bar
    for query in (
        "**",
        "needle",
        "```",
        "bold needle and needle",
        "needle.example",
        "<think>",
        "[image: a needle",
        ".",
    ):
        bar.open(query)
        assert bar._scan is None
        shown = 0
        for number in range(3):
            column = transcript._list.view_of(number).column
            column.unfold_all()
            column.show_range(float("-inf"), float("inf"))
            shown += sum(part.edit.toPlainText().lower().count(query) for part in column.parts)
        assert len(bar._places) == shown, query
        for _ in range(shown):
            bar.step(1)
            view = transcript._list.items[bar.here[0]].view
            assert any(
                s.format.background().color().name() == CURRENT[False][0] and s.cursor.selectedText().lower() == query
                for part in view.column.parts
                for s in part.highlights._found
            ), query


def test_a_long_conversation_is_looked_through_in_pauses_the_newest_first(transcript, qtbot):
    n = 1500
    transcript.show_messages(conversation(n), finish_stored)
    bar = transcript.find_bar
    bar.open("hay")
    assert bar.count.text().endswith(" so far…")
    first = bar.here
    assert first is not None
    assert first[0] == n - 1
    bar.step(-1)
    bar.step(1)
    qtbot.waitUntil(lambda: not bar.count.text().endswith("…"))
    assert bar.here == first
    assert bar._places == sorted(bar._places)
    n_places = (n - 3) * 80
    assert bar.count.text() == f"{n_places} of {n_places}"
    transcript.cut(n - 10)
    qtbot.waitUntil(lambda: bar.count.text() == f"{n_places - 800} of {n_places - 800}")
    bar.leave()


def test_what_is_not_there_is_said(transcript, qtbot):
    transcript.show_messages(conversation(5), finish_stored)
    transcript.find_bar.open("zebra")
    assert transcript.find_bar.count.text() == "not found"
    qtbot.keyClick(transcript.find_bar.field, Qt.Key.Key_Return)
    assert transcript.find_bar.here is None


def test_the_keyboard_goes_from_message_to_message(transcript, qapp):
    transcript.show_messages(conversation(100), finish_stored)
    for _ in range(3):
        transcript.focus_message(-1)
        qapp.processEvents()
    assert sum(view.hasFocus() for view in transcript.views) <= 1
    number = next(n for n, item in enumerate(transcript._list.items) if item.view is not None and item.view.hasFocus())
    transcript.focus_message(-1)
    assert transcript._list.items[number - 1].view.hasFocus()


def test_a_drag_to_nowhere_ends_at_the_last_part(answer):
    first = answer.column.parts[0].edit
    spot = answer.mapToGlobal(QPoint(300, answer.height() + 200))
    drag(first, middle_of(first, "of it"), spot)
    assert answer.column.selection.text.startswith("of it.\nx = 1")


def test_letters_do_what_the_buttons_of_a_message_do(answer, transcript, qtbot):
    asked = []
    transcript.asked.connect(lambda number, action: asked.append((number, action)))
    answer.setFocus()
    for key in (Qt.Key.Key_C, Qt.Key.Key_P, Qt.Key.Key_E, Qt.Key.Key_R, Qt.Key.Key_Right):
        qtbot.keyClick(answer, key)
    assert asked == [(0, "edit"), (0, "regenerate")], "there is no alternative to go to"
    transcript.show_alternatives(0, 1, 2)
    qtbot.keyClick(answer, Qt.Key.Key_Right)
    qtbot.keyClick(answer, Qt.Key.Key_Left)
    assert asked[2:] == [(0, "later")]
    assert QGuiApplication.clipboard().text().startswith("First part of it.")


def test_the_menu_copies_what_is_selected_and_offers_the_rest(answer, qtbot):
    first, code, _ = (part.edit for part in answer.column.parts)
    assert answer.make_menu().actions()[0].text() == "Select all of this message"
    drag(first, middle_of(first, "of it"), code.viewport().mapToGlobal(middle_of(code, "y")))
    menu = answer.make_menu()
    words = [action.text() for action in menu.actions()]
    assert words[0] == "Copy what is selected"
    assert {"Copy as Markdown", "Copy as plain text", "Edit", "Answer again"} <= set(words)
    menu.actions()[0].trigger()
    assert QGuiApplication.clipboard().text() == "of it.\nx = 1\n"


@pytest.mark.parametrize("n_columns", [12, 60])
def test_nothing_of_a_wide_table_is_out_of_reach(transcript, qapp, n_columns):
    names = [f"column_with_a_long_name_{n}" for n in range(n_columns)]
    table = f"| {' | '.join(names)} |\n|{'---|' * n_columns}\n| {' | '.join('x' * 20 for _ in names)} |\n"
    transcript.show_messages([Message(id=1, role="assistant", text=table, created_at=now())], finish_stored)
    qapp.processEvents()
    (part,) = transcript.last_answer.column.parts
    bar = part.horizontalScrollBar()
    is_wider = part.document().size().width() > part.width()
    assert (bar.maximum() > 0) == is_wider
    assert is_wider == (n_columns == 60), "the test should have one of each"
    assert part.height() >= part.document().size().height() + (bar.sizeHint().height() if is_wider else 0)
