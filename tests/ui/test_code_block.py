import pytest
from PySide6.QtGui import QGuiApplication

from app.ui.blocks import Block, Code
from app.ui.code_block import CodeLook, CodeView
from app.ui.colouring import STRETCH_CHARS, Colouring
from app.ui.theme import DARK, LIGHT

CODE = 'def f(x):\n    """Doc\n    string."""\n    return x + 1  # why\n'


def plain(view):
    return view.findChildren(type(view._edit))[0].toPlainText()


class Shown(CodeView):
    """A view of a whole block, told of it as it grows."""

    def __init__(self, language):
        self._code, self._block = Code(language), Block("code")
        self._block.code = self._code
        look = CodeLook(self._code)
        super().__init__(look, self._block)
        look.setParent(self)

    def show_text(self, text, *, is_finished):
        self._code.tail = self._block.tail = text
        self._code.is_finished = is_finished
        self.show_block(self._block)
        self.resize(self.width(), self.height_for(self.width()))


@pytest.fixture
def view(put):
    return put(Shown("python"))


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


def test_finished_code_is_coloured_also_over_several_lines(view, qtbot):
    view.show_text(CODE, is_finished=True)
    qtbot.waitUntil(lambda: bool(coloured(view)))
    colours = coloured(view)
    assert "def" in colours[LIGHT.code_keyword]
    assert "# why" in colours[LIGHT.code_comment]
    assert '    string."""' in colours[LIGHT.code_string]


def test_growing_code_is_coloured_now_and_then(view, qtbot):
    view.show_text("def f(", is_finished=False)
    qtbot.waitUntil(lambda: LIGHT.code_keyword in coloured(view))


def test_colours_follow_the_theme(view, theme, qtbot):
    view.show_text(CODE, is_finished=True)
    qtbot.waitUntil(lambda: bool(coloured(view)))
    theme.choose("dark")
    assert "def" in coloured(view)[DARK.code_keyword]


def test_an_unknown_language_stays_plain(put, qtbot):
    view = put(Shown("no-such-language"))
    view.show_text(CODE, is_finished=True)
    qtbot.waitUntil(lambda: not view._look.colouring.is_behind)
    assert coloured(view) == {}
    assert plain(view) == CODE.rstrip("\n")


def test_copy_puts_the_code_on_the_clipboard_and_says_so(view, qtbot):
    view.show_text(CODE, is_finished=True)
    view._copy.click()
    assert QGuiApplication.clipboard().text() == CODE.rstrip("\n")
    assert view._copy.accessibleName() == "Copied"
    qtbot.waitUntil(lambda: view._copy.accessibleName() == "Copy code", timeout=20_000)


def whole(text, language="python"):
    colouring = Colouring(language)
    colouring.feed(text)
    while colouring.is_behind:
        colouring.step()
    return colouring.lines


@pytest.mark.parametrize("text", ["\n", "x", "x\n\n\ny", "\n\nx"])
def test_there_is_one_entry_a_line(text):
    assert len(whole(text)) == text.count("\n") + 1


LONG = "".join(
    f'def f{n}(x):\n    """Says\n\n    {n}."""\n    for i in range({n}):\n        x += i  # if\n    return "x"\n\n'
    for n in range(200)
)


@pytest.mark.parametrize("size", [89, 1000, 100_000])
def test_colouring_in_stretches_is_as_colouring_at_once(size):
    from pygments.lexers import get_lexer_by_name

    colouring = Colouring("python")
    for at in range(0, len(LONG), size):
        colouring.feed(LONG[at : at + size])
        colouring.step()
    while colouring.is_behind:
        colouring.step()
    n_strings = sum(role == "code_string" for line in colouring.lines for _, _, role in line)
    lexer = get_lexer_by_name("python", stripnl=False, ensurenl=False)
    tokens = [(str(kind), value) for kind, value in lexer.get_tokens(LONG)]
    pieces = [p for kind, value in tokens if "Literal.String" in kind for p in value.split("\n") if p]
    assert n_strings == len(pieces)
    assert len(colouring.lines) == LONG.count("\n") + 1
    keyword = [
        text[s : s + n]
        for text, line in zip(LONG.split("\n"), colouring.lines, strict=True)
        for s, n, role in line
        if role == "code_keyword"
    ]
    assert keyword.count("def") == keyword.count("for") == keyword.count("return") == 200
    assert "if" not in keyword


def test_a_step_looks_at_a_bounded_stretch_however_long_the_block():
    colouring, sizes = Colouring("python"), []
    for n in range(0, len(LONG), 200):
        colouring.feed(LONG[n : n + 200])
        colouring.step()
        sizes.append(len(colouring._rest))
    assert max(sizes) <= 2 * STRETCH_CHARS


def test_wrapping_makes_room_for_long_lines(view):
    view.show_text("x = " + "word " * 200, is_finished=True)
    low = view.height_for(400)
    view._wrap.click()
    assert view.height_for(400) > low + 5 * view._edit.fontMetrics().lineSpacing()
    view._wrap.click()
    assert view.height_for(400) == low
