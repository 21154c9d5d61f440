"""Texts with words that have no end, as Base64 or packed code: broken anywhere, or the field stands still.

Qt looks for the place to break a word from its beginning, again for each line: a word of a million characters takes
half a minute to put in, and a quarter for every key after that.
"""

from __future__ import annotations

from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit

LONG_WORD_CHARS = 10_000


def has_long_word(text: str) -> bool:
    """Tell whether a text holds a word that takes long to break."""
    return len(text) >= LONG_WORD_CHARS and any(len(word) >= LONG_WORD_CHARS for word in text.split())


def put_text(edit: QPlainTextEdit, text: str) -> None:
    """Put a text into a field, with its lines broken between words if that can be done in time."""
    mode = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
    edit.setPlainText("")  # what is there is not broken once more in another way
    edit.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere if has_long_word(text) else mode)
    edit.setPlainText(text)
