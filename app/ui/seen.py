"""What of a message is seen on the screen, block by block, without a widget: the marks of Markdown are not."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence

from PySide6.QtGui import QTextDocument

from app.chat.visible import visible, visible_markdown
from app.ui.blocks import Block, BlockStream, is_tame, plain_blocks
from app.ui.code_block import in_rows
from app.ui.dressing import describe_image
from app.ui.formulas import protect_formulas
from app.ui.prose import FEATURES, leans_on_others

_SLICE_CHARS = 20_000
_IMAGE = "\ufffc"


def rendered(markdown: str) -> QTextDocument:
    """Return a piece of Markdown as a document without a layout, which is what would open the files of images."""
    document = QTextDocument()
    document.setUndoRedoEnabled(False)
    document.setMarkdown(protect_formulas(visible_markdown(markdown)), FEATURES)
    return document


def rendered_pieces(block: Block) -> list[str] | None:
    """Return the Markdown of a block as it is rendered, by the piece or as a whole; ``None``: it is not."""
    text = block.text
    pieces = [text] if leans_on_others(text) else [*block.pieces, block.tail]
    return pieces if block.kind == "prose" and all(map(is_tame, pieces)) else None


def seen_of(block: Block) -> str:
    """Return what is seen of a block; of a thought's head nothing that the model wrote."""
    if block.kind == "thought":
        return ""
    if block.kind == "code":
        return in_rows(visible(block.text))
    pieces = rendered_pieces(block)
    if pieces is None:
        return visible(block.text)
    return "\n".join(_text_of(rendered(piece)) for piece in pieces if piece)


def seen_in(text: str, role: str, blocks: Sequence[Block] | None = None) -> Generator[None, None, tuple[str, ...]]:
    """Return what is seen of each block of a message, in small letters; pause now and then, as messages may be long.

    Args:
        text: the message.
        role: who said it: a question is shown as it was typed.
        blocks: its blocks, if they are known.
    """
    if blocks is None:
        blocks = plain_blocks(text) if role == "user" else (yield from _cut(text))
    found = []
    for block in blocks:
        found.append(seen_of(block).lower())
        yield
    return tuple(found)


def _cut(text: str) -> Generator[None, None, list[Block]]:
    stream = BlockStream()
    for at in range(0, len(text), _SLICE_CHARS):
        stream.feed(text[at : at + _SLICE_CHARS])
        yield
    stream.close()
    return stream.blocks


def _text_of(document: QTextDocument) -> str:
    text = str(document.toPlainText())
    if _IMAGE not in text:
        return text
    images = _images(document)
    return re.sub(f"{_IMAGE}+", lambda found: next(images, found[0]), text)


def _images(document: QTextDocument) -> Iterator[str]:
    block = document.begin()
    while block.isValid():
        walk = block.begin()
        while not walk.atEnd():
            shape = walk.fragment().charFormat()
            if shape.isImageFormat():
                yield describe_image(shape)
            walk += 1
        block = block.next()
