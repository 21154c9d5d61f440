"""The text of a Word document (.docx): paragraphs, a row of a table a line, no pictures, notes or fields' codes.

The file is somebody else's: how much is unpacked is bounded, and a document with a DTD, which Word never writes and
which could grow without end, is refused.
"""

from __future__ import annotations

import zipfile
from io import BytesIO
from xml.etree import ElementTree

from app.chat.zip_faults import BROKEN

MOST_XML_BYTES = 32 << 20
_PART = "word/document.xml"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TEXT, _PARAGRAPH, _TABLE, _ROW, _CELL = (f"{_W}{name}" for name in ("t", "p", "tbl", "tr", "tc"))
_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def text_of_word(data: bytes) -> str:
    """Return the text of a Word document.

    Raises:
        ValueError: it is none, is damaged, locked with a password, or too large.
    """
    xml = _unpacked(data)
    if len(xml) > MOST_XML_BYTES:
        raise ValueError("it is too large")
    if b"<!DOCTYPE" in xml:
        raise ValueError("it is no document of Word's")
    target = _Lines()
    parser = ElementTree.XMLParser(target=target)  # noqa: S314 - no DTD, bounded, and no tree is built
    try:
        parser.feed(xml)
        parser.close()
    except ElementTree.ParseError as fault:
        raise ValueError(f"it is damaged: {fault}") from fault
    return "\n".join(target.lines).strip("\n") + "\n"


def _unpacked(data: bytes) -> bytes:
    """Return the part with the text, or as much of it as is too much."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive, archive.open(_PART) as file:
            return file.read(MOST_XML_BYTES + 1)
    except BROKEN as fault:
        raise ValueError("it is damaged, locked or no document of Word's") from fault


class _Lines:
    """Takes a document in one pass, however deep it is; text boxes stand within their paragraph, tables in a cell too.

    What was deleted with changes tracked, and the codes of fields, are in elements of another name.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._words: list[str] = []  # of the paragraph
        self._cells: list[list[str]] = []  # of the row of the outermost table
        self._n_tables = 0
        self._is_text = False

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        """Take the beginning of an element."""
        if tag == _TEXT:
            self._is_text = True
        elif tag == _TABLE:
            self._n_tables += 1
        elif tag == _CELL and self._n_tables == 1:
            self._cells.append([])
        elif tag in _BREAKS:
            self._words.append(_BREAKS[tag])

    def data(self, text: str) -> None:
        """Take text."""
        if self._is_text:
            self._words.append(text)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if tag == _TEXT:
            self._is_text = False
        elif tag == _PARAGRAPH:
            line, self._words = "".join(self._words), []
            (self._cells[-1] if self._cells else self.lines).append(line)
        elif tag == _ROW and self._n_tables == 1:
            self.lines.append(" | ".join(" ".join(cell) for cell in self._cells))
            self._cells = []
        elif tag == _TABLE:
            self._n_tables -= 1

    def close(self) -> None:
        """Take the end of the document."""
