"""Pins, folders, copies, titles, and the way from a search to what was found; in a whole window."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.chat.conversation import now
from app.chat.store import ChatStore
from app.ui.conversation_list import period_of
from app.ui.listing import MOST_FOUND, PAGE
from tests.doubles import POEM, Answer
from tests.ui.test_branching import idle, no_room_for, press


def listed(program):
    """What the list says; midnight may pass in any test."""
    said = [row.words for row in program.window.sidebar._list().rows.rows]
    return ["Today" if words == "Yesterday" else words for words in said]


def index_of(program, words):
    rows = program.window.sidebar._list().rows
    return rows.index(next(n for n, row in enumerate(rows.rows) if row.words == words and (row.head or row.folder)))


def choose(program, words, entry):
    """Take an entry of the menu of a row."""
    index = index_of(program, words)
    row = program.window.sidebar._row(index)
    menu = program.window.sidebar.menu_for(index, row.head.id)
    actions = [*menu.actions(), *(a for m in menu.findChildren(type(menu)) for a in m.actions())]
    next(action for action in actions if action.text() == entry).trigger()
    menu.close()


async def two(program):
    await program.ask("About trains")
    program.controller.chats.new()
    await program.ask("About boats")


@pytest.mark.parametrize(
    ("last_key", "title"), [(Qt.Key.Key_Return, "About ships"), (Qt.Key.Key_Escape, "About boats")]
)
def test_a_name_that_is_being_typed_outlives_the_end_of_an_answer(program, last_key, title):
    program.answers = (Answer(), Answer(), Answer("First part. " * 20, pace_s=0.01))

    async def story():
        await two(program)
        program.send("Go on")
        await program.until(lambda: program.said.startswith("First"))
        number = program.controller.chats.current.id
        program.window.sidebar.edit_title(number)
        view = program.window.sidebar._list()
        (editor,) = view.viewport().findChildren(QLineEdit)
        editor.setText("About sh")
        await program.until(lambda: not program.controller.answering.is_busy)
        assert view.is_naming
        QTest.keyClicks(editor, "ips")
        QTest.keyClick(editor, last_key)
        await program.until(lambda: title in program.window.sidebar.titles())
        await program.until(lambda: view.rows.rows[index_of(program, title).row()].head.n_messages == 4)

    program.run(story)


def test_pinned_conversations_come_first(program):
    async def story():
        await two(program)
        choose(program, "About trains", "Pin")
        assert listed(program) == ["Pinned", "About trains", "Today", "About boats"]
        choose(program, "About trains", "Unpin")
        assert listed(program) == ["Today", "About boats", "About trains"]

    program.run(story)


def test_folders_hold_fold_and_let_go(program, qtbot):
    async def story():
        sidebar, keeping = program.window.sidebar, program.controller.keeping
        await two(program)
        choose(program, "About trains", "New folder…")
        (folder,) = program.controller.store.folders.all()
        (editor,) = sidebar._list().viewport().findChildren(QLineEdit)
        QTest.keyClick(editor, Qt.Key.Key_Escape)
        keeping.rename_folder(folder.id, "Rails")
        assert listed(program) == ["Rails", "About trains", "Today", "About boats"]
        sidebar.on_chosen(index_of(program, "Rails"))
        assert listed(program) == ["Rails", "Today", "About boats"]
        sidebar.on_chosen(index_of(program, "Rails"))
        choose(program, "About boats", "Rails")
        assert set(listed(program)) == {"Rails", "About trains", "About boats"}
        choose(program, "About boats", "Out of its folder")
        # AND deleting a folder deletes no conversation, and can be taken back
        sidebar._list().setCurrentIndex(index_of(program, "Rails"))
        sidebar.on_delete()
        assert set(listed(program)) == {"Today", "About trains", "About boats"}
        assert "conversations stay" in program.window.notice.words
        program.window.notice.on_action()
        assert listed(program) == ["Rails", "About trains", "Today", "About boats"]

    program.run(story)


def test_a_copy_has_all_branches(program):
    program.answers = (Answer("First."), Answer("Second."))

    async def story():
        await program.ask("About trains")
        program.controller.branching.answer_again(1)
        await program.until(lambda: not program.controller.answering.is_busy)
        choose(program, "About trains", "Duplicate")
        assert program.controller.chats.current.title == "About trains (copy)"
        assert [view.text for view in program.window.transcript.views] == ["About trains", "Second."]
        assert program.window.transcript.views[1].foot.alternatives == "2/2"

    program.run(story)


def test_a_conversation_is_titled_from_its_first_exchange_until_a_person_does(program):
    async def story():
        await program.ask("Hi there, could you please tell me about the weather on Mars?")
        assert program.window.windowTitle().startswith("The weather on Mars")
        program.controller.chats.rename(program.controller.chats.current.id, "Mine")
        program.controller.keeping.on_answer_ended()
        assert "Mine" in listed(program)

    program.run(story)


def test_a_search_leads_into_a_conversation_that_is_being_answered_and_the_answer_goes_on(program):
    program.answers = (Answer("A needle is here."), Answer("Nothing."), Answer(POEM, pace_s=0.05))

    async def story():
        await program.ask("About trains")
        program.controller.branching.answer_again(1)
        await program.until(lambda: not program.controller.answering.is_busy)
        program.send("And then?")
        await program.until(lambda: program.said)
        hits = program.controller.chats.store.search("needle")
        current = program.controller.chats.current
        shown = program.controller.chats.shown
        for number, message_id in ((0, shown[0].id), (None, hits[0].message_id)):
            program.controller.keeping.go_to_hit(current.id, message_id)
            notice = program.window.notice
            assert ("on another branch" in notice.words) == (number is None)
            assert program.controller.answering.is_busy
        await program.until(lambda: not program.controller.answering.is_busy)
        assert program.last_answer.text == POEM
        assert program.controller.chats.store.load(current.id).messages[-1].text == POEM

    program.run(story)


def test_a_search_leads_to_the_message_also_on_another_branch(program):
    program.answers = (Answer("A needle is here."), Answer("Nothing."), Answer("Boats."), Answer("A needle again."))

    async def story():
        await program.ask("About trains")
        program.controller.branching.answer_again(1)
        await program.until(lambda: not program.controller.answering.is_busy)
        program.controller.chats.new()
        await program.ask("About boats")
        program.window.sidebar._search.setText("needle")
        await program.until(lambda: listed(program)[-1:] == ["About trains"] and len(listed(program)) == 2)
        program.window.sidebar.on_chosen(index_of(program, "About trains"))
        views = program.window.transcript.views
        assert [view.text for view in views] == ["About trains", "A needle is here."]
        found = [s.cursor.selectedText() for part in views[1].column.parts for s in part.highlights._found]
        assert found == ["needle"]
        # AND another conversation with that word has no marks left of the search
        program.controller.chats.new()
        await program.ask("More")
        number = program.controller.chats.current.id
        program.controller.chats.new()
        program.controller.chats.open(number)
        assert program.last_answer.text == "A needle again."
        marks = [s for part in program.last_answer.column.parts for s in part.highlights._found]
        assert marks == []

    program.run(story)


def test_many_hits_are_listed_page_by_page_and_what_is_marked_stays(program):
    with closing(ChatStore()) as store, store.transaction():
        for n in range(130):
            store.append(store.create(f"c{n}").id, "user", f"the same word {n}")

    async def story():
        sidebar, listing = program.window.sidebar, program.controller.chats.listing
        sidebar._search.setText("same")
        await program.until(lambda: len(sidebar.titles()) == PAGE)
        assert listing.rest.isActive()
        view = sidebar._list()
        view.setCurrentIndex(view.rows.index(3))
        await program.until(lambda: len(sidebar.titles()) == 130)
        assert view.currentIndex().row() == 3
        assert not listing.rest.isActive()
        sidebar._search.setText("the same word 7")
        await program.until(lambda: len(sidebar.titles()) == 22)

    program.run(story)


def test_more_hits_come_under_the_headings_that_are_there_and_move_nothing_that_is_marked(program):
    with closing(ChatStore()) as store:
        with store.transaction():
            for n in range(130):
                chat = store.create("same" if n % 2 else f"c{n}")
                store.append(chat.id, "user", f"the same word {n}")
        store.pin(store.heads(limit=-1)[-1].id, is_pinned=True)  # of the last page
        db = store.branches._database.connection
        db.execute("UPDATE conversation SET updated_at = '2026-01-01T00:00:00+00:00' WHERE id % 3 = 0")

    async def story():
        sidebar = program.window.sidebar
        sidebar._search.setText("same")
        await program.until(lambda: len(sidebar.titles()) == PAGE)
        view = sidebar._list()
        resets = []
        view.rows.modelReset.connect(lambda: resets.append(1))
        chosen = view.rows.rows[20].head.id
        view.setCurrentIndex(view.rows.index(20))
        view.scrollTo(view.rows.index(20), view.ScrollHint.PositionAtTop)
        await program.until(lambda: len(sidebar.titles()) == 130)
        rows = view.rows.rows
        headings = [row.words for row in rows if row.head is None]
        assert len(headings) == len(set(headings)) == 3
        assert headings[0] == "Pinned"
        assert not resets
        assert rows[view.currentIndex().row()].head.id == chosen
        assert abs(view.visualRect(view.currentIndex()).top()) <= 1

    program.run(story)


def test_the_rest_of_a_search_is_not_mixed_with_what_is_typed_meanwhile(program):
    with closing(ChatStore()) as store, store.transaction():
        for n in range(60):
            store.append(store.create(f"other {n}").id, "user", "something else")
        for n in range(130):
            store.append(store.create(f"c{n}").id, "user", f"the same word {n}")

    async def story():
        sidebar, listing = program.window.sidebar, program.controller.chats.listing
        sidebar._search.setText("same")
        await program.until(lambda: len(sidebar.titles()) == PAGE)
        sidebar._search.setText("else")
        listing.on_rest()
        assert not any(title.startswith("other") for title in sidebar.titles())
        await program.until(lambda: len(sidebar.titles()) == 60)
        assert all(title.startswith("other") for title in sidebar.titles())

    program.run(story)


def test_of_very_many_conversations_the_rest_is_offered_in_words_and_comes_with_scrolling(program):
    n = 2 * MOST_FOUND + 100
    with closing(ChatStore()) as store, store.transaction():
        store.pin(store.create("the oldest").id, is_pinned=True)
        folder = store.folders.create("Rails")
        store.move([store.create("About trains").id], folder.id)
        for number in range(2, n):
            store.create(f"c{number}")

    async def story():
        sidebar = program.window.sidebar
        program.window.resize(1280, 800)
        sidebar.show()
        titles, view = sidebar.titles(), sidebar._list()
        assert len(titles) == MOST_FOUND
        assert "About trains" not in titles
        assert not sidebar._more.isHidden()
        assert sidebar._more.text() == "Show more\n(500 listed)"
        sidebar._more.click()
        assert len(sidebar.titles()) == 2 * MOST_FOUND
        await program.ask("go")  # lists anew, and as many
        assert len(sidebar.titles()) == 2 * MOST_FOUND
        view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
        assert len(sidebar.titles()) == n
        assert "About trains" in sidebar.titles()
        assert sidebar._more.isHidden()

    program.run(story)


def test_of_very_many_hits_the_rest_is_offered_too(program):
    with closing(ChatStore()) as store, store.transaction():
        for number in range(MOST_FOUND + 20):
            store.append(store.create(f"c{number}").id, "user", "the same word")

    async def story():
        sidebar = program.window.sidebar
        sidebar._search.setText("same")
        await program.until(lambda: len(sidebar.titles()) == MOST_FOUND)
        await program.until(lambda: not sidebar._more.isHidden())
        sidebar._more.click()
        await program.until(lambda: len(sidebar.titles()) == MOST_FOUND + 20)
        assert sidebar._more.isHidden()

    program.run(story)


def test_at_midnight_today_becomes_yesterday(program):
    async def story():
        listing = program.controller.chats.listing
        await two(program)
        assert program.window.sidebar._list().rows.rows[0].words == "Today"
        listing.clock = lambda: now() + timedelta(days=1)
        listing.on_look_at_day()
        assert program.window.sidebar._list().rows.rows[0].words == "Yesterday"
        listing.clock = lambda: now() - timedelta(days=1)  # the clock is set back
        listing.on_look_at_day()
        assert program.window.sidebar._list().rows.rows[0].words == "Today"

    program.run(story)


def test_what_is_older_than_a_month_is_headed_by_its_own():
    later = datetime(2027, 6, 1, 12, tzinfo=UTC)
    months = [period_of(datetime(2026, month, 15, 12, tzinfo=UTC), later) for month in range(1, 13)]
    assert months[0] == "January 2026"
    assert months[11] == "December 2026"
    assert len(set(months)) == 12


def test_a_hit_elsewhere_changes_no_branch_where_the_open_conversation_is_not_saved(program):
    program.answers = tuple(Answer(f"{n}.") for n in range(6))

    async def story():
        chats, window = program.controller.chats, program.window
        chats.retry.setInterval(100_000)
        await program.ask("go")
        there, first_id = chats.current.id, chats.shown[1].id
        press(program, 1, "regenerate")
        await idle(program)
        chats.new()
        await program.ask("here")
        with no_room_for("a large one"):
            await program.ask("a large one")
            window.sidebar.hit_chosen.emit(there, first_id)
            assert chats.shown[2].text == "a large one"
            assert "is not saved yet." in window.notice.words
            assert [m.text for m in chats.store.load(there).messages] == ["go", "1."]
        window.sidebar.hit_chosen.emit(there, first_id)
        assert (chats.current.id, [m.text for m in chats.shown]) == (there, ["go", "0."])

    program.run(story)
