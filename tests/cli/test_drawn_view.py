"""An answer drawn while it comes ends up as if it had been drawn once, whatever the terminal."""

from __future__ import annotations

import io
import random

import pyte
import pytest
from rich.console import Console

from app.cli.drawn_view import Drawn, LiveTail
from app.cli.heard import Heard

ANSWER = """# Trains

A **slow** one, and a *fast* one:

- first
- second, with `code` and a line that is so long that it has to be broken somewhere on any terminal

```python
def ride(train):
    return train.go()
```

| a | b |
|---|---|
| 1 | 2 |

The end: [a link](http://example.com/page).
"""


class Terminal:
    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=2000, ratio=0.5)
        self.screen.set_mode(pyte.modes.LNM)  # as a terminal driver turns a line feed into both
        self.written = io.StringIO()
        self._stream = pyte.Stream(self.screen)
        self.console = Console(
            file=self.written, force_terminal=True, width=columns, height=rows, color_system="standard", highlight=False
        )

    def text(self) -> str:
        self._stream.feed(self.written.getvalue())
        self.written.seek(0)
        self.written.truncate()
        above = ["".join(line[x].data for x in sorted(line)).rstrip() for line in self.screen.history.top]
        return "\n".join([*above, *(line.rstrip() for line in self.screen.display)]).rstrip()


def drawn(text: str, pieces, columns: int = 60, rows: int = 20, *, eager: bool = True) -> str:
    terminal, heard = Terminal(columns, rows), Heard()
    view = Drawn(terminal.console)
    for piece in pieces:
        if eager:
            view._next_s = 0.0
        view.show(piece, heard.feed(piece))
        terminal.text()
    view.show("", heard.close())
    view.end()
    return terminal.text()


@pytest.mark.parametrize(("columns", "rows"), [(60, 20), (20, 5), (100, 3), (10, 2)])
def test_it_looks_the_same_however_it_came(columns, rows):
    chance = random.Random(7)
    at_once = drawn(ANSWER, [ANSWER], columns, rows)
    for _ in range(3):
        cuts = sorted(chance.sample(range(len(ANSWER)), 40))
        pieces = [ANSWER[a:b] for a, b in zip([0, *cuts], [*cuts, len(ANSWER)], strict=True)]
        assert drawn(ANSWER, pieces, columns, rows) == at_once
    if columns >= 60:
        for words in ("Trains", "A slow one, and a fast one", "return train.go()", "example.com/page"):
            assert words in at_once


def test_a_block_that_is_longer_than_the_screen_is_whole_in_the_end():
    text = "```\n" + "".join(f"line {n}\n" for n in range(50)) + "```\n"
    shown = drawn(text, [text[n : n + 7] for n in range(0, len(text), 7)], 40, 8)
    assert [line.strip() for line in shown.splitlines() if line.strip()] == [f"line {n}" for n in range(50)]


def test_a_thought_is_folded_to_its_time():
    text = "<think>Many words that nobody has to read.</think>\n\nThe answer."
    shown = drawn(text, [text[n : n + 3] for n in range(0, len(text), 3)])
    assert "Thought for" in shown
    assert "nobody has to read" not in shown
    assert shown.endswith("The answer.")


def test_a_thought_that_is_known_by_its_end_alone_is_named():
    shown = drawn("", ["Some words.\n", "</think>\n\nThe answer."])
    assert "What is above was thinking." in shown
    assert shown.endswith("The answer.")


HOSTILE = "a\x1b]0;mine\x07 b\x1b[2J\x1b[1;1H c\u202ed\x9b31m [x](http://e.example/\x1b]8;;\x07)\n\n```\x1b[31m\n\x1b[2Jcode\r\x1b[A\n```\n"


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_what_a_model_writes_moves_no_cursor_and_sets_no_title(size):
    terminal, heard = Terminal(60, 20), Heard()
    terminal.console.print("before")
    view = Drawn(terminal.console)
    for n in range(0, len(HOSTILE), size):
        view._next_s = 0.0
        view.show("", heard.feed(HOSTILE[n : n + size]))
    view.show("", heard.close())
    view.end()
    written = terminal.written.getvalue()
    assert "]0;mine\x07" not in written
    assert "\x1b[1;1H" not in written
    assert "\u202e" not in written
    assert "\x9b" not in written
    shown = terminal.text()
    assert shown.startswith("before")
    assert "⟨ESC⟩" in shown
    assert terminal.screen.title == ""


def test_a_megabyte_in_one_paragraph_is_printed_in_a_moment():
    text = "word " * 200_000
    shown = drawn(text, [text], 80, 24)
    assert shown.count("word") >= 2000


def test_what_was_drawn_is_wiped_whole():
    terminal = Terminal(40, 6)
    tail = LiveTail(terminal.console)
    terminal.console.print("stays")
    for n in (1, 9, 3, 5):
        tail.draw("\n".join(f"row {k}" for k in range(n)))
        assert terminal.text().startswith("stays") or n == 9
    tail.clear()
    assert terminal.text().splitlines()[0] == "stays"
    assert "row" not in terminal.text()
