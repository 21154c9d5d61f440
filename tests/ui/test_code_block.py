import pytest
from PySide6.QtGui import QGuiApplication

from app.ui.code_block import CodeView, spans_by_line
from app.ui.theme import DARK, LIGHT

CODE = 'def f(x):\n    """Doc\n    string."""\n    return x + 1  # why\n'


def plain(view):
    return view.findChildren(type(view._edit))[0].toPlainText()


@pytest.fixture
def view(put):
    return put(CodeView("python"))


def coloured(view):
    """The pieces of the text that have a colour of their own, by colour."""
    found, block = {}, view._edit.document().begin()
    while block.isValid():
        for piece in block.layout().formats():
            name = piece.format.foreground().color().name()
            found.setdefault(name, []).append(block.text()[piece.start : piece.start + piece.length])
        block = block.next()
    return found


def test_code_typed_in_pieces_is_the_code(view):
    for end in range(0, len(CODE) + 1, 5):
        view.show_text(CODE[:end], is_finished=False)
    view.show_text(CODE, is_finished=True)
    assert plain(view) == CODE.rstrip("\n")
    assert view.text == CODE.rstrip("\n")


def test_it_is_as_tall_as_its_lines(view):
    view.show_text("a\n", is_finished=False)
    short = view._edit.height()
    view.show_text("a\n" * 10, is_finished=False)
    line = view._edit.fontMetrics().lineSpacing()
    assert view._edit.height() == short + 9 * line


def test_finished_code_is_coloured_also_over_several_lines(view):
    view.show_text(CODE, is_finished=True)
    colours = coloured(view)
    assert "def" in colours[LIGHT.code_keyword]
    assert "# why" in colours[LIGHT.code_comment]
    assert '    string."""' in colours[LIGHT.code_string]


def test_growing_code_is_coloured_now_and_then(view, qtbot):
    view.show_text("def f(", is_finished=False)
    qtbot.waitUntil(lambda: LIGHT.code_keyword in coloured(view))


def test_colours_follow_the_theme(view, theme):
    view.show_text(CODE, is_finished=True)
    theme.choose("dark")
    assert "def" in coloured(view)[DARK.code_keyword]


def test_an_unknown_language_stays_plain(put):
    view = put(CodeView("no-such-language"))
    view.show_text(CODE, is_finished=True)
    assert coloured(view) == {}
    assert plain(view) == CODE.rstrip("\n")


def test_copy_puts_the_code_on_the_clipboard_and_says_so(view, qtbot):
    view.show_text(CODE, is_finished=True)
    view._copy.click()
    assert QGuiApplication.clipboard().text() == CODE.rstrip("\n")
    assert view._copy.accessibleName() == "Copied"
    qtbot.waitUntil(lambda: view._copy.accessibleName() == "Copy code", timeout=3000)


@pytest.mark.parametrize("text", ["", "\n", "x", "x\n\n\ny", "\n\nx"])
def test_spans_have_one_entry_a_line(text):
    assert len(list(spans_by_line(text, "python", LIGHT))) == text.count("\n") + 1
