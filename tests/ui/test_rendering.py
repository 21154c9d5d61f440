"""All of CommonMark: a streamed answer looks at its end as it does when it is read from the store."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QTextListFormat
from shiboken6 import isValid

from app.ui.blocks import BlockStream, blocks_of
from app.ui.column import BlockColumn
from app.ui.prose import ProseView
from tests.chat.test_commonmark import EXAMPLES, pieces
from tests.ui.test_prose import structure

BULLETS = (QTextListFormat.Style.ListDisc, QTextListFormat.Style.ListCircle, QTextListFormat.Style.ListSquare)
OURS = (
    "See [the page][page] and [x].\n\nMore words.\n\n[page]: https://example.org\n[x]: https://example.com 'X'\n",
    "- [ ] open\n- [x] done\n\nAfter.\n\n- [x] a\n- b\n\n# Head\n\n> quote\n",
    "[page]: https://example.org\n\nSee [page].\n\n- [x] done\n\nSee [page] again.\n",
    "| a | b |\n|---|---|\n| [page] | 2 |\n\n[page]: https://example.org\n\n1. one\n\n   two\n2. three\n",
)


def looks(column):
    """Return what a reader sees of each block of a column."""
    found = []
    for n in range(len(column.blocks)):
        part = column.build(n)
        found.append([*map(seen, structure(part.document()))] if isinstance(part, ProseView) else column.blocks[n].text)
    return found


def seen(row):
    """Take out which item of a list it is where that is not seen: two lists of bullets look like one."""
    pieces, heading, marker, quote, items, table = row
    if items is not None and items[0] in BULLETS:
        items = items[:2]
    return pieces, heading, marker, quote, items, table


@pytest.fixture
def column_of(qapp, theme):
    made = []

    def make():
        column = BlockColumn("Answer")
        column.lay_out(600)
        made.append(column)
        return column

    yield make
    delete([column for column in made if isValid(column)])


def delete(columns):
    while columns:
        columns.pop().deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def streamed(text, draw, column, *, is_patient):
    stream = BlockStream()
    for piece in pieces(text, draw):
        stream.feed(piece)
        if draw.random() < 0.5:  # a frame holds several pieces
            column.show_blocks(stream.blocks, stream.take_changes())
        if is_patient:  # as if a while had gone by
            for part in column.parts:
                if isinstance(part, ProseView):
                    part._rendered_at = float("-inf")
    stream.close()
    column.show_blocks(stream.blocks, stream.take_changes())
    return looks(column)


@pytest.mark.parametrize("is_patient", [False, True])
def test_every_example_streamed_looks_as_it_does_stored(column_of, is_patient):
    draw, other = random.Random(7 + is_patient), []
    for text in (*(example["markdown"] for example in EXAMPLES), *OURS * 5):
        stored = column_of()
        stored.show_blocks(blocks_of(text))
        growing = column_of()
        if streamed(text, draw, growing, is_patient=is_patient) != looks(stored):
            other.append(text)
        delete([stored, growing])
    assert other == []


def test_the_examples_as_one_answer(column_of):
    text = "\n\n".join(example["markdown"] for example in EXAMPLES[::3])
    stored, growing = column_of(), column_of()
    stored.show_blocks(blocks_of(text))
    assert streamed(text, random.Random(3), growing, is_patient=False) == looks(stored)


@pytest.mark.parametrize("text", OURS)
def test_links_and_task_marks_are_what_they_say(column_of, text):
    growing = column_of()
    rows = [row for part in streamed(text, random.Random(5), growing, is_patient=True) for row in part]
    linked = {words for row in rows for words, *_look, address in row[0] if address}
    assert linked <= {"the page", "x", "page"}
    assert bool(linked) == ("[page]" in text)
    assert all(row[4] is not None for row in rows if row[2].value)  # a mark of a task stands at an item of a list
    assert any(row[2].value for row in rows) == ("- [x]" in text)
