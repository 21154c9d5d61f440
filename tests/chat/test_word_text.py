"""The text of Word documents, ours and hostile ones."""

import time
import zipfile
from io import BytesIO

import pytest

from app.chat.word_text import MOST_XML_BYTES, text_of_word

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def word(body, *, part="word/document.xml", head=""):
    held = BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        xml = f'<?xml version="1.0"?>{head}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
        archive.writestr(part, xml)
    return held.getvalue()


def spoilt(data):
    """Break what is packed, and leave all headers as they are."""
    at = data.index(b"document.xml") + len(b"document.xml")
    return data[:at] + b"\xff" * 8 + data[at + 8 :]


def p(*texts):
    return "<w:p>" + "".join(f"<w:r><w:t>{text}</w:t></w:r>" for text in texts) + "</w:p>"


def test_paragraphs_tables_breaks_and_contents_become_lines():
    cells = "".join(f"<w:tc>{p(text)}</w:tc>" for text in ("a", "b"))
    body = (
        p("Grüße, ", "Welt &amp; alle")
        + "<w:p><w:r><w:t>one</w:t><w:br/><w:t>two</w:t><w:tab/><w:t>three</w:t></w:r></w:p>"
        + f"<w:tbl><w:tr>{cells}</w:tr><w:tr>{cells}</w:tr></w:tbl>"
        + f"<w:sdt><w:sdtContent>{p('inside')}</w:sdtContent></w:sdt>"
        + "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
        + p("end")
    )
    assert text_of_word(word(body)) == "Grüße, Welt & alle\none\ntwo\tthree\na | b\na | b\ninside\n\nend\n"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04 cut",
        b"not a zip",
        word(p("x"), part="xl/workbook.xml"),
        word(p("x"))[:-40],
        spoilt(word(p("x" * 1000))),
        word("<w:p>"),
        word(p("&lol;"), head='<!DOCTYPE x [<!ENTITY lol "lollol">]>'),
        word("x" * (MOST_XML_BYTES + 1)),
    ],
    ids=["empty", "cut", "text", "a sheet", "no end", "spoilt", "no XML", "entities", "huge"],
)
def test_what_is_no_document_is_refused(data):
    with pytest.raises(ValueError, match="it is "):
        text_of_word(data)


def test_a_long_document_takes_no_time():
    began_s = time.process_time()
    assert text_of_word(word(p("word " * 20) * 20_000)).count("\n") == 20_000
    assert time.process_time() - began_s < 3


def test_tables_in_tables_without_end_take_no_time():
    deep = "<w:tbl><w:tr><w:tc>" * 100_000 + p("x") + "</w:tc></w:tr></w:tbl>" * 100_000
    began_s = time.process_time()
    assert text_of_word(word(deep + p("end"))) == "x\nend\n"
    assert time.process_time() - began_s < 3


def test_a_text_box_stands_within_its_paragraph():
    box = f"<w:p><w:r><w:t>before </w:t></w:r><w:txbxContent>{p('boxed')}</w:txbxContent></w:p>"
    assert text_of_word(word(box + p("after"))) == "before boxed\n\nafter\n"
