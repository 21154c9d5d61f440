"""The links of a message: found wherever they stand, without widgets, and at a bounded cost."""

import time

import pytest

from app.ui.blocks import BlockStream
from app.ui.column import BlockColumn
from app.ui.written_links import MOST_LINKS, MOST_READ_CHARS

ADDRESS = "https://example.org/end"


@pytest.fixture
def column(put):
    return put(BlockColumn("Answer"))


def show(column, text, *, is_closed=True):
    stream = BlockStream()
    stream.feed(text)
    if is_closed:
        stream.close()
    column.lay_out(600)
    column.show_range(0, 400)
    column.show_blocks(stream.blocks)
    return column


def addresses(column):
    return [address for _, address in column.links()]


def test_a_link_far_below_the_screen_is_listed_and_nothing_is_built_for_it(column):
    show(column, "A paragraph of ordinary words.\n\n" * 900 + f"See [the end]({ADDRESS}).\n")
    before = column.parts
    assert column.links() == [("the end", ADDRESS)]
    assert column.parts == before


@pytest.mark.parametrize(
    "text",
    ["word] " * 170_000, "a@b " * 250_000, "[" * 1_000_000, "www. " * 200_000, "[x]: y\n" * 140_000, "](" * 500_000,
     "Ordinary words [sic], 3 < 4, and a note: x@ y.\n\n" * 20_000],
    ids=["brackets", "mails", "open", "www", "definitions", "ends", "ordinary"],
)  # fmt: skip
def test_a_megabyte_costs_little(column, text):
    show(column, text)
    took_s = []
    for _ in range(3):
        began_s = time.process_time()
        column.links()
        took_s.append(time.process_time() - began_s)
    assert min(took_s) < 0.1


def test_what_is_on_the_screen_comes_first_when_there_is_too_much(column):
    text = "\n\n".join(f"[{n}](https://example.org/{n}) {'words ' * 200}" for n in range(3 * MOST_LINKS))
    show(column, text)
    column.show_range(column.content_height - 400, column.content_height)
    found = addresses(column)
    assert len(found) == MOST_LINKS
    assert f"https://example.org/{3 * MOST_LINKS - 1}" in found
    assert found == sorted(found, key=lambda address: int(address.rsplit("/", 1)[1]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"[a]\n\n[a]: {ADDRESS}\n", [("a", ADDRESS)]),
        (f"<{ADDRESS}>\n", [(ADDRESS, ADDRESS)]),
        ("write to me@example.org now\n", [("me@example.org", "mailto:me@example.org")]),
        ("www.example.org is it\n", [("www.example.org", "http://www.example.org")]),
        ("<ftp:x> and <b> and [no] link\n", [("ftp:x", "ftp:x")]),
        (f"`{ADDRESS}` ![picture]({ADDRESS})\n", []),
        (f"```\n{ADDRESS}\n```\n", []),
        (f"[one]({ADDRESS}) and **[two]({ADDRESS}2)**", [("one", ADDRESS), ("two", f"{ADDRESS}2")]),
    ],
)
@pytest.mark.parametrize("is_closed", [True, False])
def test_they_are_the_links_that_are_shown(column, text, expected, is_closed):
    assert show(column, text, is_closed=is_closed).links() == expected


def test_a_message_full_of_what_only_looks_like_links_ends_the_search(column):
    filler = f"mail a@b {'words ' * 100}\n\n"
    show(column, filler * (2 * MOST_READ_CHARS // len(filler)) + f"[late]({ADDRESS})\n")
    assert column.links() == []
    column.show_range(column.content_height - 400, column.content_height)
    assert column.links() == [("late", ADDRESS)]


def test_a_text_that_is_shown_as_it_was_written_has_none(column):
    assert show(column, "> " * 60 + f"[a]({ADDRESS})\n").links() == []
