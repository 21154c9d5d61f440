import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QPixmap, QTextCursor, QTextDocument, QTextFormat
from PySide6.QtWidgets import QTextBrowser

from app.ui.prose import RENDER_EVERY_MS, ProseView

PIECES = (
    "# Title\n\n",
    "Some *text* with `code`, **bold** and a [link](https://example.org).\nSoft break.\n\n",
    "- a\n- b\n    - c\n\n  more\n\n",
    "Plain.\n\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "1. one\n2. two\n\n",
    "> quote\n\n",
    "---\n\n",
    "## Second\n\n",
    "3. three\n4. four\n\n",
    "Near the end.\n\n",
    "- [ ] open\n- [x] done\n",  # last, because Qt's importer lets the mark leak into what follows
)


def structure(document):
    """What a reader sees of each block: text, heading, list and number, table, emphasis."""
    rows, block = [], document.begin()
    while block.isValid():
        items, shape = block.textList(), block.blockFormat()
        pieces, walk = [], block.begin()
        while not walk.atEnd():
            char = walk.fragment().charFormat()
            pieces.append((walk.fragment().text(), char.fontItalic(), char.fontFixedPitch(), char.anchorHref()))
            walk += 1
        rows.append(
            (
                pieces,
                shape.headingLevel(),
                shape.marker(),
                shape.intProperty(QTextFormat.Property.BlockQuoteLevel),
                (items.format().style(), items.format().start(), items.itemNumber(block)) if items else None,
                QTextCursor(block).currentTable() is not None,
            )
        )
        block = block.next()
    return rows


@pytest.fixture
def prose(put):
    return put(ProseView(), 500, 100)


def whole(qtbot, text):
    view = ProseView()
    qtbot.addWidget(view)
    view.append(text)
    return view


def test_pieces_appended_render_as_the_whole(prose, qtbot):
    for piece in PIECES:
        prose.append(piece)
    assert structure(prose.document()) == structure(whole(qtbot, "".join(PIECES)).document())
    assert prose.shown == "".join(PIECES)


def test_a_tail_leaves_no_trace_once_its_piece_is_finished(prose, qtbot):
    for piece in PIECES:
        for end in range(1, len(piece) + 1, 3):
            prose.show_tail(piece[:end])
        prose.append(piece)
    assert structure(prose.document()) == structure(whole(qtbot, "".join(PIECES)).document())


def test_the_tail_is_typed_at_once_and_rendered_later(prose, qtbot):
    prose.show_tail("Some *te")
    prose._rendered_at = float("inf")  # as if no time had gone by, however long that was
    prose.show_tail("Some *text* and")
    prose._rendered_at = float("-inf")
    assert "*text*" in prose.toPlainText() or "text" in prose.toPlainText()
    assert prose.needs_render

    def is_rendered():  # on a busy machine a rendering is dear, and the next one waits the longer
        prose.show_tail("Some *text* and")
        return not prose.needs_render

    qtbot.waitUntil(is_rendered)
    assert prose.toPlainText() == "Some text and"


def runs(document):
    """Text and its looks, whatever fragments it is kept in; spaces at the end are not seen."""
    found = []
    for number in range(document.blockCount()):
        block = document.findBlockByNumber(number)
        walk = block.begin()
        while not walk.atEnd():
            look = walk.fragment().charFormat()
            kind = (number, look.fontItalic(), look.fontWeight() > 500, look.fontFixedPitch(), look.isAnchor())
            text = walk.fragment().text()
            if found and found[-1][0] == kind:
                text = found.pop()[1] + text
            found.append((kind, text))
            walk += 1
    return [(kind, text.rstrip(" ")) for kind, text in found if text.strip(" ")]


@pytest.mark.parametrize("size", [1, 3, 7])
def test_what_counts_as_rendered_reads_as_if_it_were(prose, qtbot, size):
    n_typed = 0
    for piece in (PIECES[1], PIECES[2], PIECES[4], "- An item that is long, with **bold** words and more behind it\n"):
        prose.append("Before.\n\n")
        prose.show_tail(piece[:1])
        for end in range(1 + size, len(piece) + 1, size):
            rendered_at = prose._rendered_at
            prose.show_tail(piece[:end])
            if prose.needs_render:
                prose._rendered_at = float("-inf")  # as if a while had gone by
            else:
                n_typed += prose._rendered_at == rendered_at
                once = whole(qtbot, prose.shown[:-end])
                once.show_tail(piece[:end])
                assert runs(prose.document()) == runs(once.document()), piece[:end]
        prose.append(piece)
    assert n_typed * size >= 10


def test_plain_words_are_typed_and_not_rendered_again(prose, qtbot):
    prose.show_tail("It was a dark and stormy")
    rendered_at = prose._rendered_at
    qtbot.wait(RENDER_EVERY_MS + 20)
    prose.show_tail("It was a dark and stormy night, as nights are.")
    assert prose._rendered_at == rendered_at
    assert prose.toPlainText() == "It was a dark and stormy night, as nights are."
    assert not prose.needs_render


def test_a_space_that_rendering_swallowed_is_typed_again(prose):
    prose.show_tail("one ")
    prose.show_tail("one two")
    assert prose.toPlainText() == "one two"


def test_the_cost_of_a_token_does_not_grow_with_what_is_finished(prose):
    prose.append("First.\n\n")
    blocks = []
    prose.document().contentsChange.connect(lambda at, _removed, _added: blocks.append(at))
    for n in range(50):
        prose.append(f"Paragraph {n}.\n\n")
    blocks.clear()
    prose.show_tail("tail")
    end = prose.document().characterCount()
    assert min(blocks) > end - 40, "a finished paragraph was touched"


def test_raw_html_is_text(prose):
    prose.append('<b>bold</b> <img src="file:///etc/passwd"> <script>x</script>\n')
    assert "<b>bold</b>" in prose.toPlainText()


@pytest.mark.parametrize("address", ["file://{}", "{}", "http://127.0.0.1:9/x.png", "//server/share/x.png"])
def test_no_image_is_ever_loaded(prose, tmp_path, address):
    picture = tmp_path / "red.png"
    red = QPixmap(60, 60)
    red.fill("red")
    red.save(str(picture))
    prose.append(f"Look: ![a red square]({address.format(picture)}) there.\n")
    image = prose.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert "#ff0000" not in colours
    assert "[image: a red square" in prose.toPlainText()


def test_an_unguarded_browser_would_have_loaded_it(put, tmp_path):
    """The check above can fail: Qt's own view does open the file."""
    picture = tmp_path / "red.png"
    red = QPixmap(60, 60)
    red.fill("red")
    red.save(str(picture))
    view = put(QTextBrowser(), 200, 200)
    address = QUrl.fromLocalFile(str(picture)).toString()
    view.document().setMarkdown(f"![x]({address})", QTextDocument.MarkdownFeature.MarkdownNoHTML)
    image = view.grab().toImage()
    assert any(image.pixelColor(x, y).name() == "#ff0000" for x in range(100) for y in range(100))


def test_it_is_as_tall_as_its_text(prose, qtbot):
    prose.append("word " * 400)
    qtbot.waitUntil(lambda: prose.height() > 200)
    tall = prose.height()
    prose.setFixedWidth(300)
    qtbot.waitUntil(lambda: prose.height() > tall)


def test_links_are_reported_and_not_followed(prose, qtbot):
    prose.append("[there](https://example.org/x)\n")
    with qtbot.waitSignal(prose.anchorClicked) as clicked:
        prose.anchorClicked.emit(QUrl("https://example.org/x"))
    assert clicked.args == [QUrl("https://example.org/x")]
    assert prose.toPlainText() == "there"


def test_new_colours_render_everything_again(prose, theme):
    for piece in PIECES[:4]:
        prose.append(piece)
    prose.show_tail("and a tail")
    before = structure(prose.document())
    theme.choose("dark")
    assert structure(prose.document()) == before
    prose.append("and a tail.\n")
    assert prose.toPlainText().endswith("and a tail.")


def select(view, start, end):
    cursor = view.textCursor()
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)


def test_a_selection_survives_what_streams_after_it(prose, qtbot):
    prose.append("First paragraph.\n\n")
    prose.show_tail("The tail")
    select(prose, 0, 5)
    for n in range(5):
        qtbot.wait(RENDER_EVERY_MS // 2)
        prose.show_tail("The tail" + " grows" * n)
    assert prose.textCursor().selectedText() == "First"


def test_a_selection_in_the_tail_is_not_taken_away(prose, qtbot):
    prose.append("First paragraph.\n\n")
    prose.show_tail("The *tail* of it")
    start = prose.toPlainText().index("The")
    select(prose, start, start + 8)
    for n in range(5):
        qtbot.wait(RENDER_EVERY_MS // 2)
        prose.show_tail("The *tail* of it" + " grows" * n)
    assert prose.textCursor().selectedText() == "The tail"
    select(prose, 0, 0)

    def is_rendered():
        prose.show_tail("The *tail* of it, **rendered**")
        return not prose.needs_render

    qtbot.waitUntil(is_rendered)
    assert prose.toPlainText().endswith("of it, rendered")
