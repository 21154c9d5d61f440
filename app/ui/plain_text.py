"""A message as it reads, without the marks of Markdown: for the clipboard, and for whoever is read to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextDocument, QTextList

from app.ui.formulas import protect_formulas

if TYPE_CHECKING:
    from app.ui.blocks import Block

_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML


def plain_of(blocks: Sequence[Block]) -> str:
    """Return the text of an answer, without its thoughts."""
    parts: list[str] = []
    is_inside_code = False
    for block in blocks:
        if block.kind == "thought" or block.in_thought:
            continue
        text = block.text
        if block.kind == "prose":
            text = _read(text)
        if is_inside_code:
            parts[-1] += text
        else:
            parts.append(text)
        is_inside_code = block.kind == "code" and not block.is_last
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _read(markdown: str) -> str:
    document = QTextDocument()
    document.setMarkdown(protect_formulas(markdown), _FEATURES)
    lines, block = [], document.begin()
    while block.isValid():
        item: QTextList | None = block.textList()
        lines.append((item.itemText(block) + " " if item else "") + block.text())
        block = block.next()
    return "\n".join(lines).replace("\u2028", "\n").replace("\ufffc", "")
