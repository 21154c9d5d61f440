"""Formulas in an answer: drawn in place when they are finished, their source in everything that reads the text."""

from __future__ import annotations

import sys
import threading
import time

import psutil
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QColor, QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTextEdit

from app.ui.blocks import BlockStream, blocks_of
from app.ui.column import BlockColumn
from app.ui.formula_layout import FORMULA, MOST_TEXT_BYTES, PICTURE, selected_text
from app.ui.formula_pictures import MOST_PICTURE_BYTES, FormulaPictures, Key, formula_pictures
from app.ui.formulas import DISPLAY, END, INLINE, protect_formulas
from app.ui.marking import FOUND
from app.ui.plain_text import plain_of
from app.ui.prose import ProseView
from app.ui.scroll_view import ScrollView
from app.ui.seen import seen_of
from app.ui.theme import DARK, LIGHT
from app.ui.transcript import Transcript
from tests.chat.test_formula_drawing import NESTED, processes
from tests.doubles import Answer
from tests.fair_time import FairWatch

ANSWER = """The roots of \\(ax^2 + bx + c = 0\\) cost $5 or $10:

\\[
x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}
\\]

1. Of $\\Delta = 0$:
   $$x_{1,2} = -\\frac{b}{2a}$$
   a double root.
"""


@pytest.fixture
def pictures():
    """What draws formulas, at work."""
    kept = formula_pictures()
    kept.choose(is_on=True)
    yield kept
    kept.choose(is_on=False)
    kept.close()()


def written(view):
    """The text without the pictures in it."""
    return view.toPlainText().replace(PICTURE, "")


class Text:
    """A text that asks for pictures."""

    def draw(self):
        pass


def n_drawn(view):
    return view.toPlainText().count(PICTURE)


def shown(put, qtbot, markdown, n_formulas):
    """Return a view of Markdown in which so many formulas are drawn."""
    view = put(ProseView(), 600, 300)
    view.append(markdown)
    qtbot.waitUntil(lambda: n_drawn(view) == n_formulas)
    return view


def picture_places(view):
    text, places = view.toPlainText(), []
    while (at := text.find(PICTURE, places[-1] + 1 if places else 0)) >= 0:
        places.append(at)
    return places


# --- what is one ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "it costs $5 or $6",
        "between $5 and 10$ maybe",
        "$5 (was 7$)",
        "spent $1,000; got 500 back$",
        "from $10 million to 20 million$",
        "$HOME is set, see also PATH$",
        "US$5 or CA$6, ($5–$10)",
        "`$a_b$` and ``\\(x\\)`` are code",
        "\\$x\\$",
        "cp ${PREFIX}/${NAME} there",
        "PATH=$PATH:$(pwd)",
        "$('a')+$('b')",
        "^$|^x$",
        "pay $10/$",
        "$5 (A$)",
        "($5-10$)",
        "from $5 – 10$",
        "this \\[citation needed\\] is",
        "as in \\[1\\] and \\[2, 3\\]",
        "\\(see below for more\\)",
        "> $$\n> x\n> $$",
    ],
)
def test_money_words_and_code_are_never_drawn(text):
    marked = protect_formulas(text, is_marked=True)
    assert not set(marked) & {INLINE, DISPLAY, END}


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("so $x$ is", INLINE),
        ("so $\\text{the speed of light}$ is", INLINE),
        ("so \\(x\\) is", INLINE),
        ("so \\( 1 \\) is", INLINE),
        ("so $1$ is", INLINE),
        ("so $1/2$ is", INLINE),
        ("so $[0, 1)$ is", INLINE),
        ("so $|x|$ is", INLINE),
        ("so \\(\\text{the speed of light}\\) is", INLINE),
        ("so $$x$$ is", INLINE),
        ("so \\[x\\] is", INLINE),
        ("$$\nx\n$$", DISPLAY),
        ("that is\n\\[x\\].\nwhere", DISPLAY),
        ("1. $$x$$", DISPLAY),
    ],
)
def test_a_formula_on_lines_of_its_own_is_told_from_one_in_a_line(text, mark):
    marked = protect_formulas(text, is_marked=True)
    assert [letter for letter in marked if letter in (INLINE, DISPLAY)] == [mark]


@pytest.mark.parametrize(
    "address",
    [
        "[a](https://en.wikipedia.org/wiki/Python_\\(language\\))",
        "[a](https://example.org/$a$)",
        "[a](<https://example.org/$a$>)",
        "<https://example.org/$a$>",
        "https://example.org/$a$ and www.example.org/$a$",
        "[a][b]\n\n[b]: https://example.org/$a$",
    ],
)
def test_addresses_have_no_formulas(address):
    assert protect_formulas(address, is_marked=True) == address
    marked = protect_formulas(f"[$x$](https://example.org/$a$) and $y$, {address}, $z$", is_marked=True)
    assert [letter for letter in marked if letter == INLINE] == [INLINE] * 3


# --- drawn ------------------------------------------------------------------------------------------------


def test_formulas_are_drawn_in_place_of_their_source(put, qtbot, pictures):
    view = put(ProseView(), 600, 300)
    view.append(ANSWER)
    before = view.height_for(600)
    assert n_drawn(view) == 0
    assert "b^2 - 4ac" in written(view)
    qtbot.waitUntil(lambda: n_drawn(view) == 4)
    assert written(view) == (
        "The roots of \\(ax^2 + bx + c = 0\\) cost $5 or $10:\n\\[\nx = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}\n\\]\n"
        "Of $\\Delta = 0$:\n$$x_{1,2} = -\\frac{b}{2a}$$\na double root."
    )
    assert view.height_for(600) != before
    cursor = QTextCursor(view.document())
    cursor.setPosition(picture_places(view)[0])
    line = cursor.block().layout().lineAt(0)
    text_end = line.cursorToX(len("The roots of "))[0]
    source_end = line.cursorToX(picture_places(view)[0])[0]
    assert source_end - text_end < 1.0  # the source is in the line, and takes no room there


def test_a_picture_stands_on_the_base_line(put, qtbot, pictures):
    view = shown(put, qtbot, "Deep is $\\frac{a}{b}$ and high is $x^2$ here.\n", 2)
    line = view.document().firstBlock().layout().lineAt(0)
    deep, high = (_format(view, place) for place in picture_places(view))
    assert line.descent() > 1.5 * view.fontMetrics().descent()  # the fraction's lower part is below it
    assert deep.height() > high.height()
    picture = pictures.picture(Key("\\frac{a}{b}", False, *_size(view)))
    assert abs(line.descent() - picture.descent) < 1.0


def _format(view, place):
    cursor = QTextCursor(view.document())
    cursor.setPosition(place + 1)
    assert cursor.charFormat().intProperty(FORMULA)
    return cursor.charFormat().toImageFormat()


def _size(view):
    pt = view.document().defaultFont().pointSizeF()
    return round(pt * view.logicalDpiY() / 72 * 1.12, 2), view.devicePixelRatioF()


def test_a_picture_has_the_colour_of_the_text_around_it(put, qtbot, pictures, theme):
    view = shown(put, qtbot, "$\\rule{3em}{3em}\\blacksquare\\blacksquare\\blacksquare$\n\n> $\\blacksquare$\n", 2)
    for scheme in (LIGHT, DARK):
        theme.choose("dark" if scheme.is_dark else "light", "normal")
        assert n_drawn(view) == 2  # at once: another colour takes no drawing
        image = view.grab().toImage()
        found = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
        assert QColor(scheme.text).name() in found
        assert QColor(scheme.muted).name() in found
    theme.choose("light", "high")
    assert n_drawn(view) == 2


def test_a_picture_is_as_sharp_as_the_screen(pictures, qtbot):
    asker, plain, sharp = Text(), Key("x^2", False, 20.0, 1.0), Key("x^2", False, 20.0, 2.0)
    pictures.ask(asker, (plain, sharp))
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    small, large = pictures.picture(plain), pictures.picture(sharp)
    assert abs(large.image.width() - 2 * small.image.width()) <= 2
    assert abs(large.width - small.width) <= 1
    assert any(small.image.pixelColor(x, y).alpha() > 128 for x in range(8) for y in range(small.image.height()))


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 3.0])
def test_a_picture_is_whole_pixels_of_both_kinds(pictures, qtbot, ratio):
    keys = [Key(tex, is_display, 20.0, ratio) for tex in ("x^2", "\\frac{a}{b}", "abc") for is_display in (False, True)]
    pictures.ask(Text(), keys)
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    for key in keys:
        picture = pictures.picture(key)
        assert picture.width == round(picture.width)
        assert picture.height == round(picture.height)
        assert (picture.image.width(), picture.image.height()) == (picture.width * ratio, picture.height * ratio)


def test_one_that_cannot_be_drawn_stays_as_it_was_written(put, qtbot, pictures):
    view = put(ProseView(), 600, 300)
    view.append(f"$\\foo{{x}}$ and\n$$\n{NESTED}\n$$\nand $y$.\n")
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    assert n_drawn(view) == 1
    assert written(view) == f"$\\foo{{x}}$ and\n$$\n{NESTED}\n$$\nand $y$."
    view.on_colours_changed()
    assert pictures.n_waiting == 0  # what cannot be drawn is not asked for again
    assert n_drawn(view) == 1


def test_hostile_text_is_shown(put, qtbot, pictures):
    bomb = "\\def\\a{\\a\\a}\\a"
    view = put(ProseView(), 600, 300)
    text = (
        f"$${'{' * 1900}$$ ![x](formula:1) $\\input{{/etc/passwd}}$ $\\href{{http://127.0.0.1:9/}}{{y}}$\n\n"
        f"${'{' * 290}$ \\[{bomb * 50}\\] [$x$](https://example.org) **$z$**\n"
    )
    view.append(text)
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    assert n_drawn(view) == 3
    assert "[image: x formula:1]" in written(view)


def test_indented_code_has_no_formulas(put, qtbot, pictures):
    view = shown(put, qtbot, "- It is $y$:\n\n      echo $x$ and $z$\n", 1)
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    assert n_drawn(view) == 1
    assert not set(view.toPlainText()) & {INLINE, DISPLAY, END}


def test_entities_make_no_marks(put, qtbot, pictures):
    view = put(ProseView(), 600, 300)
    view.append("&#x2061;Pay 100 now&#x2062; and $y$ &#x202e;&#27;&#0;\n")
    qtbot.waitUntil(lambda: n_drawn(view) == 1)
    assert written(view) == "⟨U+2061⟩Pay 100 now⟨U+2062⟩ and $y$ ⟨U+202E⟩⟨ESC⟩⟨NUL⟩"
    assert seen_of(blocks_of("&#x202e;a&#x2061;b\n")[0]) == "⟨U+202E⟩a⟨U+2061⟩b"


# --- streaming --------------------------------------------------------------------------------------------


def test_a_growing_answer_draws_what_is_finished(put, qtbot, pictures):
    stream, view = BlockStream(), put(ProseView(), 600, 300)

    def feed(text):
        stream.feed(text)
        view.show_block(stream.blocks[0])

    feed("First $a$ and\n\n")
    feed("then $b$ and $c$ in the tail, which")
    qtbot.waitUntil(lambda: n_drawn(view) == 1)
    for word in (" grows", " and", " grows."):
        feed(word)
    assert written(view) == "First $a$ and\nthen $b$ and $c$ in the tail, which grows and grows."
    feed("\n\nEnd")
    qtbot.waitUntil(lambda: n_drawn(view) == 3)
    stream.close()
    view.show_block(stream.blocks[0])
    assert written(view) == "First $a$ and\nthen $b$ and $c$ in the tail, which grows and grows.\nEnd"
    assert n_drawn(view) == 3


# --- what reads the text ----------------------------------------------------------------------------------


@pytest.fixture
def column(put, qtbot, pictures):
    column = put(BlockColumn("Answer"), 600, 400)
    column.lay_out(600)
    column.show_blocks(blocks_of(ANSWER))
    qtbot.waitUntil(lambda: n_drawn(column.parts[0]) == 4)
    return column


def test_copying_a_part_of_a_formula_copies_its_source(column, qtbot):
    view = column.parts[0]
    cursor = QTextCursor(view.document())
    first, second = picture_places(view)[:2]
    viewport, selection = view.viewport(), column.selection
    cursor.setPosition(len("The "))
    start = view.cursorRect(cursor).center()
    cursor.setPosition(first + 1)
    middle = view.cursorRect(cursor).center() - QPoint(20, 0)
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    cursor.setPosition(len("The "))
    cursor.setPosition(first, QTextCursor.MoveMode.KeepAnchor)  # as far as the left half of the picture
    view.setTextCursor(cursor)
    assert selection.text == "roots of \\(ax^2 + bx + c = 0\\)"
    cursor.setPosition(first)
    cursor.setPosition(first + 1, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    assert selection.text == "\\(ax^2 + bx + c = 0\\)"
    assert view.createMimeDataFromSelection().text() == selection.text
    cursor.setPosition(second - 3)
    cursor.setPosition(second + 1, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    assert selection.text == "\\[\nx = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}\n\\]"
    cursor.setPosition(first + 1)
    cursor.setPosition(first + 6, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    assert selection.text == " cost"
    assert view.cursorForPosition(middle).position() <= first + 1
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=start)


def test_a_part_of_a_source_that_is_shown_is_copied_as_a_part(put, qtbot, pictures):
    view = put(ProseView(), 600, 300)
    view.append("So $\\foo{x}$ and $y$.\n")
    qtbot.waitUntil(lambda: n_drawn(view) == 1)
    cursor = QTextCursor(view.document())
    cursor.setPosition(view.toPlainText().index("foo"))
    cursor.movePosition(QTextCursor.MoveOperation.EndOfWord, QTextCursor.MoveMode.KeepAnchor)
    assert selected_text(cursor) == "foo"


def test_copying_all_copies_the_source(column):
    column.selection.select_all()
    assert "\\[\nx = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}\n\\]" in column.selection.text
    assert PICTURE not in column.selection.text
    assert column.selection.text == plain_of(column.blocks)


def test_what_is_found_in_a_formula_is_marked_on_its_picture(column):
    view = column.parts[0]
    column.show_found("sqrt")
    (mark,) = QTextEdit.extraSelections(view)
    second = picture_places(view)[1]
    assert (mark.cursor.selectionStart(), mark.cursor.selectionEnd()) == (second, second + 1)
    assert sum("sqrt" in seen_of(block) for block in column.blocks) == 1
    assert column.place_found(0, 0) > 0


@pytest.mark.parametrize("is_dark", [False, True])
def test_a_picture_that_is_marked_or_selected_can_be_read(column, theme, is_dark):
    theme.choose("dark" if is_dark else "light", "normal")
    view = column.parts[0]
    before = _colours_in(view)
    column.show_found("sqrt")
    view.repaint()
    for ground, text in (FOUND[is_dark],):
        assert {ground, text} - before <= _colours_in(view)
    column.show_found("")
    view.selectAll()
    palette = view.palette()
    assert {palette.highlight().color().name(), palette.highlightedText().color().name()} <= _colours_in(view)
    spot = _spot_of(view, picture_places(view)[1])
    inside = view.grab(spot).toImage()
    found = {inside.pixelColor(x, y).name() for x in range(inside.width()) for y in range(inside.height())}
    assert palette.highlight().color().name() in found
    assert palette.highlightedText().color().name() in found


def test_marked_pictures_are_painted_where_they_are_seen_alone(put, qtbot, pictures):
    view = shown(put, qtbot, "$\\rule{60em}{60em}$ " * 200, 200)
    view.selectAll()
    watch = FairWatch()
    view.viewport().grab(QRect(0, 0, 100, 100))
    assert watch.took_s < 0.1


def _colours_in(view):
    image = view.grab().toImage()
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


def _spot_of(view, place):
    """Where a picture is in a view."""
    cursor = QTextCursor(view.document())
    cursor.setPosition(place)
    shape = _format(view, place)
    line = view.cursorRect(cursor)
    return QRect(line.left(), line.top(), round(shape.width()), min(line.height(), round(shape.height())))


def test_what_is_found_stays_marked_where_sources_are_shown_instead(column):
    view = column.parts[0]
    column.show_found("x")
    n_found = len(QTextEdit.extraSelections(view))
    column.place_found(0, 1)
    for is_on in (True, False):
        column.show_sources(is_on=is_on)
        marks = QTextEdit.extraSelections(view)
        assert len(marks) == n_found > 1
        assert all(mark.cursor.hasSelection() for mark in marks)
        assert marks[0].format.background() != marks[1].format.background()
    assert view.highlights.find("") == 0
    column.show_sources(is_on=True)
    assert not QTextEdit.extraSelections(view)


def test_what_is_found_before_it_is_drawn_is_marked_on_its_picture_then(put, qtbot, pictures):
    view = put(ProseView(), 600, 300)
    view.append("So $\\sqrt{x}$ is.\n")
    view.highlights.find("sqrt")
    qtbot.waitUntil(lambda: n_drawn(view) == 1)
    (mark,) = QTextEdit.extraSelections(view)
    assert mark.cursor.selectionEnd() == picture_places(view)[0] + 1


def test_a_screen_reader_reads_the_source(column):
    text = QAccessible.queryAccessibleInterface(column.parts[0]).textInterface()
    said = text.text(0, text.characterCount())
    assert "\\(ax^2 + bx + c = 0\\)" in said
    assert "x_{1,2} = -\\frac{b}{2a}" in said


def test_where_tokens_are_marked_the_source_stays(put, qtbot, pictures):
    column = put(BlockColumn("Answer"), 600, 400)
    column.lay_out(600)
    column.show_blocks(blocks_of("So $x$ is.\n"))
    qtbot.waitUntil(lambda: n_drawn(column.parts[0]) == 1)
    column.show_sources(is_on=True)
    assert column.parts[0].toPlainText() == "So $x$ is."
    column.show_sources(is_on=False)
    assert n_drawn(column.parts[0]) == 1


# --- bounds -----------------------------------------------------------------------------------------------


def test_only_what_is_near_the_screen_is_asked_for(put, qtbot, pictures):
    transcript = put(Transcript(), 800, 400)
    answer = "".join(
        f"Line {n} of $x_{{{n}}} = {n}$ and\n\n$$y_{{{n}}} = \\frac{{1}}{{{n}}}$$\n\n" for n in range(2000)
    )
    view = transcript.begin_answer()
    view.add_text(answer)
    transcript.end_answer(view)
    qtbot.waitUntil(lambda: view.text and any(n_drawn(part) for part in view.column.parts))
    n_here = sum(part.toPlainText().count("$") for part in view.column.parts)
    assert pictures.n_waiting < 200 < 6000
    assert n_here < 1200
    transcript.go_to_message(0)
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    assert pictures.n_bytes < MOST_PICTURE_BYTES


def test_one_picture_serves_all_formulas_that_are_alike(put, qtbot, pictures):
    before = psutil.Process().memory_info().rss
    view = shown(put, qtbot, "$\\rule{67em}{67em}$ " * 40, 40)
    assert len({_format(view, place).name() for place in picture_places(view)}) == 1
    assert psutil.Process().memory_info().rss - before < 100e6


def test_the_pictures_of_a_text_are_bounded_in_bytes(put, qtbot, pictures):
    view = put(ProseView(), 600, 300)
    text = "".join(f"$\\rule{{67em}}{{{67 - n / 100}em}}$ " for n in range(40))
    view.append(text)
    qtbot.waitUntil(lambda: pictures.n_waiting == 0 and n_drawn(view) > 0)
    shapes = [_format(view, place) for place in picture_places(view)]
    assert 2 <= len(shapes) < 20
    assert sum(4 * shape.width() * shape.height() for shape in shapes) <= MOST_TEXT_BYTES
    assert written(view) == text.strip()
    view.on_colours_changed()
    assert n_drawn(view) > 0


def test_what_nobody_sees_any_more_is_not_waited_for(put, qtbot, pictures):
    view = put(ProseView(), 600, 300)
    view.append("$$\nc\n$$\n\n$a$ and $b$\n")
    assert pictures.n_waiting == 3
    view.hide()
    assert pictures.n_waiting == 0
    view.show()
    qtbot.waitUntil(lambda: n_drawn(view) == 3)


def test_one_that_was_not_drawn_because_the_process_ended_is_drawn_later(qtbot, pictures):
    text, slow, plain = Text(), Key(NESTED, False, 20.0, 1.0), Key("x^2", False, 20.0, 1.0)
    pictures.ask(text, [plain])
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    ends = threading.Event()

    def end_children():
        while not ends.wait(0.05):
            for child in processes():
                child.kill()

    killer = threading.Thread(target=end_children)
    killer.start()
    later = Key("y^2", False, 20.0, 1.0)
    pictures.ask(text, [slow, later])
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    ends.set()
    killer.join()
    assert pictures.picture(later) is None
    pictures.ask(text, [later])
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    assert pictures.picture(later) is not None


def test_after_three_that_take_too_long_no_more_of_a_text_are_drawn(qtbot, pictures):
    text, other = Text(), Text()
    nested = [Key(f"{n}{NESTED}", False, 20.0, 1.0) for n in range(6)]
    after = Key("x^2", False, 20.0, 1.0)
    pictures.ask(text, [*nested, after])
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    assert pictures.picture(after) is None
    pictures.ask(text, [after])
    assert pictures.n_waiting == 0
    pictures.ask(other, [after])
    qtbot.waitUntil(lambda: pictures.n_waiting == 0)
    assert pictures.picture(after) is not None


@pytest.mark.skipif(sys.platform == "win32", reason="stops a process as POSIX can")
def test_asking_does_not_wait_for_a_process_that_leaves(qtbot):
    kept = FormulaPictures(idle_s=0.4)
    kept.choose(is_on=True)
    assert any(_asks_while_one_leaves(kept, qtbot, tex) for tex in "abc")  # a busy machine may wake us too late
    kept.close()()


def _asks_while_one_leaves(kept, qtbot, tex):
    kept.ask(Text(), [Key(tex, False, 20.0, 1.0)])
    qtbot.waitUntil(lambda: kept.n_waiting == 0)
    (child,) = processes()
    child.suspend()  # so that it takes the second that it is given
    time.sleep(0.7)
    kept.ask(Text(), [Key(f"{tex}^2", False, 20.0, 1.0)])
    is_there = child.is_running() and child.status() == psutil.STATUS_STOPPED
    qtbot.waitUntil(lambda: kept.n_waiting == 0)
    return is_there


def test_nothing_is_drawn_where_sources_are_wanted(put, qtbot, pictures):
    pictures.choose(is_on=False)
    view = put(ProseView(), 600, 300)
    view.append(ANSWER)
    assert pictures.n_waiting == 0
    assert n_drawn(view) == 0
    pictures.choose(is_on=True)
    view.on_colours_changed()
    qtbot.waitUntil(lambda: n_drawn(view) == 4)


def test_what_is_read_stays_where_it_is_while_formulas_above_are_drawn(put, qtbot, pictures, theme):
    transcript = put(Transcript(), 800, 400)
    view = transcript.begin_answer()
    view.add_text("Of $$\\frac{\\frac{a}{b}}{c}$$ this.\n\n" * 12 + "Read this line.\n\n" + "Another.\n\n" * 30)
    transcript.end_answer(view)
    transcript.go_to_message(0)
    bar, part = transcript.findChild(ScrollView).verticalScrollBar(), view.column.parts[0]
    bar.setValue(_place_of(view, "Read this"))
    before = _place_of(view, "Read this"), bar.value()
    assert n_drawn(part) == 0
    qtbot.waitUntil(lambda: n_drawn(part) == 12)
    after = _place_of(view, "Read this"), bar.value()
    assert after[0] > before[0] + 100
    assert abs((after[0] - after[1]) - (before[0] - before[1])) <= 2
    theme.choose("dark", "normal")
    assert (_place_of(view, "Read this"), bar.value()) == after


@pytest.mark.parametrize("row", ["| $\\frac{\\frac{a}{b}}{c}$ | b |", "| a | $\\frac{\\frac{a}{b}}{c}$ |"])
def test_what_is_below_a_row_is_moved_by_formulas_in_any_column(put, qtbot, pictures, row):
    view, moved = put(ProseView(), 600, 300), []
    view.lines_moved.connect(moved.append)
    view.append(f"| a | b |\n|---|---|\n{row}\n{row}\n\nBelow.\n")
    layout, last = view.document().documentLayout(), view.document().lastBlock()
    before = layout.blockBoundingRect(last).top()
    qtbot.waitUntil(lambda: n_drawn(view) == 2)
    (shifts,) = moved
    after = layout.blockBoundingRect(last).top()
    assert after > before + 10
    assert shifts[-1][0] <= before
    assert shifts[-1][1] - shifts[-1][0] == pytest.approx(after - before)
    assert shifts[0][1] - shifts[0][0] == pytest.approx((after - before) / 2)


def test_a_place_is_found_again_after_lines_were_moved_more_than_once(column):
    part, anchor = column.parts[0], column.anchor_at(60)
    part.lines_moved.emit(((20.0, 20.0), (80.0, 80.0)))  # formulas in a line, that leave it as tall as it was
    part.lines_moved.emit(((20.0, 70.0),))
    assert column.place_of(anchor) == 110
    part.lines_moved.emit(((90.0, 100.0), (120.0, 140.0)))
    assert column.place_of(anchor) == 120
    assert column.place_of(column.anchor_at(60)) == 60
    for _ in range(60):
        part.lines_moved.emit(((20.0, 20.0),))
    assert column.place_of(column.anchor_at(60)) == 60


def test_the_setting_shows_sources_or_pictures_at_once(program):
    program.answers = (Answer(text="So $x^2$ is. "),)

    async def story():
        await program.ask("Why?")
        change = program.controller.choices.change
        await program.until(lambda: n_drawn(program.last_answer.column.parts[0]) == 1)
        change(formula_sources=True)
        assert n_drawn(program.last_answer.column.parts[0]) == 0
        change(formula_sources=False)
        assert n_drawn(program.last_answer.column.parts[0]) == 1
        program.controller.actions.toggle_tokens()
        await program.ask("And now?")
        assert n_drawn(program.last_answer.column.parts[0]) == 0  # the marks of its tokens lie over what was written
        program.controller.actions.toggle_tokens()
        assert n_drawn(program.last_answer.column.parts[0]) == 1
        program.last_answer.on_asked("copy")
        assert QGuiApplication.clipboard().text() == "So $x^2$ is. "

    program.run(story)
    assert not formula_pictures().is_on


def _place_of(view, words):
    """How far down words are in a message, in pixels."""
    part = view.column.parts[0]
    cursor = part.document().find(words)
    cursor.setPosition(cursor.selectionStart())
    return part.cursorRect(cursor).top() + part.y() + view.column.y()
