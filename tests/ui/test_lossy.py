"""Lenient acceptance is called lossy on everything that shows how an answer was drafted, or how fast it came."""

from __future__ import annotations

import asyncio
import re

import pytest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QListWidget,
    QTableWidget,
    QTreeWidget,
    QWidget,
)

from app.chat.export import KINDS, export
from app.settings import Settings, save_settings
from app.ui.sessions import CompareDialog
from tests.doubles import POEM, Answer
from tests.ui.pseudo_window import LEFT_OUT, items_of, texts_of
from tests.ui.test_serving import ASK, ask, free_port

pytestmark = pytest.mark.qt_log_ignore("does not support (raise|grabbing|propagateSizeHints)")

SHOWS = re.compile(r"n-?gram|\d tok/s|\d tokens/s")
"""What names who drafted, or says how fast an answer was."""

OTHERS = ("Drafter", "Let n-gram draft first", "Prefill")
"""Where n-gram is what can be chosen, and not what drafted; and the speed of reading, in which nothing is drafted."""


def rows_of(widget: QWidget) -> list[str]:
    """Return what a table or a list says in each row, all of it together: a label may stand in another column."""
    match widget:
        case QTreeWidget():
            items = items_of(widget.invisibleRootItem())
            return [" ".join(item.text(n) for n in range(widget.columnCount())) for item in items]
        case QTableWidget():
            cells = [[widget.item(row, n) for n in range(widget.columnCount())] for row in range(widget.rowCount())]
            return [" ".join(cell.text() for cell in row if cell is not None) for row in cells]
        case QListWidget():
            return [widget.item(n).text() for n in range(widget.count())]
    return texts_of(widget)


def seen(place: str) -> dict[str, str]:
    """Return what shows something of an answer and can be seen, pointed at or heard now, by where that is."""
    widgets = [w for top in QApplication.topLevelWidgets() for w in [top, *top.findChildren(QWidget)] if w.isVisible()]
    return {
        f"{place}: {type(widget.window()).__name__}, {type(widget).__name__} {widget.accessibleName()}: {text}": text
        for widget in widgets
        for text in rows_of(widget)
        if SHOWS.search(text) and not any(other in widget.accessibleName() for other in OTHERS)
    }


def unlabelled(found: dict[str, str]) -> list[str]:
    """Return where something is shown without the label."""
    return [where for where, text in found.items() if "lossy" not in text]


def close_dialogs(window: QWidget) -> set[str]:
    """Close what has opened; return what it was."""
    others = [top for top in QApplication.topLevelWidgets() if top is not window and top.isVisible()]
    for other in others:
        other.reject() if isinstance(other, QDialog) else other.close()
    return {type(other).__name__ for other in others}


def test_whatever_shows_an_answer_says_it(program):
    save_settings(Settings(lenient=0.1, token_colours=True))
    program.answers = (Answer(text=f"{POEM} {POEM}"),)

    async def story():
        window = program.window
        window.panel.show()
        found, opened = seen("before"), set()
        await program.ask("go")
        await program.ask("go on")
        charts = window.panel.charts
        for page in range(4):
            if charts is not None:
                charts.show_page(page)
                charts.redraw()
            found |= seen(f"page {page}")
        for action in window.action_list.offered():
            if action.name not in LEFT_OUT:
                window.action_list.run(action.name)
                await asyncio.sleep(0.1)
                found |= seen(action.name)
                opened |= close_dialogs(window)
                await asyncio.sleep(0.02)
        assert not (wrong := unlabelled(found)), wrong
        assert len(found) > 10
        assert {"ProfileDialog", "ServingDialog", "SettingsDialog"} <= opened, opened
        assert "lossy" in program.host.session.runs[-1].spec_type

    program.run(story)


def test_two_sessions_side_by_side_say_it(program):
    save_settings(Settings(lenient=0.1))

    async def story():
        await program.ask("go")
        program.window.panel.foot.compare_requested.emit()
        (dialog,) = program.window.findChildren(CompareDialog)
        await program.until(dialog.texts)
        found = seen("compare")
        assert any("CompareDialog" in where for where in found)
        assert not (wrong := unlabelled(found)), wrong
        dialog.reject()

    program.run(story)


def test_the_page_of_the_server_says_it(program):
    save_settings(Settings(lenient=0.1))

    async def story():
        control = program.controller.serving
        program.controller.choices.change(server_port=free_port())
        control.open()
        control.dialog.switch.click()
        await program.until(lambda: control.url and not control.is_busy)
        await ask(f"{control.url}/v1/chat/completions", ASK)
        await program.until(lambda: control.dialog.log.topLevelItemCount() == 1)
        await program.until(lambda: any("tok/s" in row for row in rows_of(control.dialog.log)))
        found = seen("server")
        assert any("ServingDialog" in where for where in found)
        assert not (wrong := unlabelled(found)), wrong
        control.dialog.switch.click()
        await program.until(lambda: not control.url and not control.is_busy)

    program.run(story)


def test_every_export_of_a_conversation_that_shows_it_says_it(program):
    save_settings(Settings(lenient=0.1))
    told = {}

    async def story():
        await program.ask("go")
        chats = program.controller.chats
        for kind in KINDS:
            told[kind] = export(chats.store, [chats.current.id], kind).decode()

    program.run(story)
    shown = {kind for kind, text in told.items() if SHOWS.search(text)}
    assert {"html", "json"} <= shown
    assert all("lossy" in told[kind] for kind in shown)
