"""One list of actions: the menu, the palette and the list of shortcuts read it, and no key does two things."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.ui.actions import WindowAction
from app.ui.finder import Found, found
from app.ui.fuzzy import fit
from app.ui.local_keys import MODELS_WINDOW
from app.ui.palette import keys_of, rows_of

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints", "does not support raise")


def palette(program):
    program.window.action_list.run("palette.open")
    return program.controller.palette.dialog.finder


def test_every_key_of_the_window_is_an_action_and_no_two_have_the_same(program):
    async def story():
        actions = program.window.action_list
        heard = [s.key().toString() for s in program.window.findChildren(QShortcut) if s.parent() is program.window]
        listed = [QKeySequence(key).toString() for action in actions.all() for key in action.keys]
        assert sorted(heard) == sorted(listed)
        assert len(set(listed)) == len(listed)

    program.run(story)


def test_a_key_or_a_name_that_is_taken_is_refused(window):
    def action(name, *keys):
        return WindowAction(name, "Words", list, "View", keys)

    window.action_list.add(action("a", "Ctrl+1"))
    for name, keys in (("b", "Ctrl+1"), ("a", "Ctrl+2"), ("c", "")):
        with pytest.raises(ValueError, match="already"):
            window.action_list.add(action(name, keys))
    window.action_list.note_keys("List", [("Ctrl+1", "Something else, while the list has the keyboard")])
    with pytest.raises(ValueError, match="already"):
        window.action_list.note_keys("List", [("Ctrl+1", "Twice")])


def test_keys_in_tooltips_are_those_of_the_actions(program):
    async def story():
        known = {QKeySequence(key).toString() for a in program.window.action_list.all() for key in a.keys}
        local = {"Enter", "Shift+Enter", "Esc"}
        said = {
            key
            for widget in program.window.findChildren(QWidget)
            for text in (widget.toolTip(), getattr(widget, "placeholderText", str)())
            for key in re.findall(r"\(((?:Ctrl|Alt|Shift)\+[^)]+|F\d+)\)", text)
        }
        assert {"Ctrl+N", "Ctrl+B", "Ctrl+J"} <= said
        assert said - local <= known

    program.run(story)


def test_what_is_listed_can_be_done_and_is_done(program):
    async def story():
        finder = palette(program)
        assert {"chat.new", "view.panel", "speed.length.auto", "view.theme.dark"} <= set(finder.shown)
        QTest.keyClicks(finder.field, "spd pnl")
        assert finder.shown[0] == "view.panel"
        QTest.keyClick(finder.field, Qt.Key.Key_Return)
        await program.until(lambda: program.window.panel.isHidden())
        assert program.controller.palette.dialog is None

    program.run(story)


def test_what_was_picked_lately_comes_first_also_in_the_next_window(program):
    async def story():
        program.window.action_list.pick("view.tokens")
        program.window.action_list.pick("view.panel")
        assert [row.name for row in rows_of(program.window.action_list)][:2] == ["view.panel", "view.tokens"]
        assert palette(program).shown[:2] == ["view.panel", "view.tokens"]

    program.run(story)

    async def again():
        assert palette(program).shown[:2] == ["view.panel", "view.tokens"]

    program.run(again)


def test_what_makes_no_sense_now_is_not_offered_and_not_done(program):
    async def story():
        actions = program.window.action_list
        assert "chat.rename" not in palette(program).shown
        assert not actions.run("chat.rename")
        await program.ask("A question")
        assert "chat.rename" in palette(program).shown
        assert "chat.export.md" in palette(program).shown

    program.run(story)


def test_arrows_move_escape_leaves_and_a_screen_reader_hears_the_rows(program):
    async def story():
        finder = palette(program)
        first = finder.list.currentItem()
        QTest.keyClick(finder.field, Qt.Key.Key_Down)
        assert finder.list.currentItem() is not first
        spoken = finder.list.topLevelItem(0).data(0, Qt.ItemDataRole.AccessibleTextRole)
        assert "New conversation" in spoken
        assert "Ctrl+N" in spoken
        QTest.keyClicks(finder.field, "zzqx")
        assert finder.list.isHidden()
        assert "zzqx" in finder.nothing.text()
        QTest.keyClick(program.controller.palette.dialog, Qt.Key.Key_Escape)
        assert program.controller.palette.dialog is None

    program.run(story)


def test_the_list_of_shortcuts_holds_every_key_and_can_be_searched(program):
    async def story():
        actions = program.window.action_list
        rows = keys_of(actions)
        assert {row.name for row in rows if row.name} == {a.name for a in actions.all() if a.keys}
        assert {"Message", "List of conversations", "Find bar"} <= {row.place for row in rows}
        actions.run("shortcuts.open")
        finder = program.controller.palette.dialog.finder
        assert len(finder.shown) == len(rows)
        QTest.keyClicks(finder.field, "Ctrl+J")
        assert finder.shown[0] == "view.panel"

    program.run(story)


def test_the_menu_reads_the_same_list(program):
    async def story():
        actions = {a.choice or a.words: a for a in program.window.action_list.all() if a.in_menu}
        menu = program.controller.menu.make()
        entries = [entry for entry in menu.findChildren(QAction) if entry.text() and not entry.menu()]
        assert {entry.text() for entry in entries} == {w for w, action in actions.items() if action.is_offered()}
        for entry in entries:
            keys = actions[entry.text()].keys
            assert entry.shortcut().toString() == (QKeySequence(keys[0]).toString() if keys else "")
        menu.deleteLater()

    program.run(story)


def test_the_models_window_hears_the_keys_that_are_listed_for_it(program):
    async def story():
        program.controller.models.open()
        heard = {s.key().toString() for s in program.controller.models.manager.findChildren(QShortcut)}
        assert {QKeySequence(key).toString() for key, _words in MODELS_WINDOW} <= heard

    program.run(story)


def test_pin_delete_and_undo_by_names(program):
    async def story():
        run = program.window.action_list.run
        await program.ask("A question")
        number = program.controller.chats.current.id
        assert run("chat.pin")
        assert program.window.sidebar.is_pinned(number)
        assert run("chat.pin")
        assert not program.window.sidebar.is_pinned(number)
        assert run("chat.delete")
        assert program.controller.chats.current is None
        assert run("notice.press")
        assert program.controller.chats.current.id == number
        assert not run("notice.press")

    program.run(story)


# --- finding ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "best"),
    [
        ("new", "New conversation"),
        ("nc", "New conversation"),
        ("conv new", "New conversation"),
        ("panel", "Speed panel"),
        ("SPEED", "Speed panel"),
        ("spdpnl", "Speed panel"),
        ("expo", "Export session metrics…"),
        ("resume", "Résumé of it"),
    ],
)
def test_the_best_fit_comes_first(typed, best):
    phrases = ["Renew the licence", "New conversation", "Speed panel", "Export session metrics…", "Résumé of it"]
    rows = found([Found(phrase, phrase, "", "") for phrase in phrases], typed)
    assert rows[0].words == best


@given(st.text(max_size=40), st.text(max_size=12))
def test_letters_that_are_found_are_there(phrase, typed):
    result = fit(typed, phrase)
    if result is not None:
        assert all(0 <= place < len(phrase) for place in result.places)
        assert len(result.places) <= len(typed)


@given(st.text(alphabet="abcdefg ", min_size=1, max_size=20))
def test_a_phrase_fits_itself(phrase):
    assert fit(phrase, phrase) is not None
