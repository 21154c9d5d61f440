"""How Markdown looks: what Qt's importer made of it gets our line height, headings, code, links and tables.

An image becomes its description before the layout sees it. (Qt's image handler opens local files by itself, whatever
``loadResource`` says; on Windows a UNC path would hand out the person's credentials.)
"""

from __future__ import annotations

from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)

from app.ui.formula_layout import FORMULA
from app.ui.theme import code_font, colours
from app.ui.tr import tr

INDENT_PX = 24

_LINE_HEIGHT_PERCENT = 125.0
_HEADING_STEP = (0, 2, 1, 1, 0, 0, 0)  # Qt's FontSizeAdjustment by level: 2 is half as large again, 1 a fifth


def dress(document: QTextDocument, start: int) -> None:
    """Give what Qt's Markdown importer made since ``start`` our line height, headings and code."""
    block = document.findBlock(start)
    while block.isValid():
        _dress_block(block, start)
        block = block.next()


def _dress_block(block: QTextBlock, start: int) -> None:
    if block.position() >= start:
        shape = block.blockFormat()
        shape.setLineHeight(_LINE_HEIGHT_PERCENT, 1)
        if block.textList() is None:
            shape.setMarker(QTextBlockFormat.MarkerType.NoMarker)  # Qt lets that of a task leak into what follows
        if level := shape.headingLevel():
            shape.setTopMargin(10)
            shape.setBottomMargin(4)
            heading = QTextCharFormat()
            heading.setProperty(QTextFormat.Property.FontSizeAdjustment, _HEADING_STEP[level])
            heading.setFontWeight(QFont.Weight.DemiBold)
            _merge(block, heading)
        if depth := shape.intProperty(QTextFormat.Property.BlockQuoteLevel):
            shape.setLeftMargin(INDENT_PX * depth)
            quoted = QTextCharFormat()
            quoted.setForeground(QBrush(QColor(colours().muted)))
            _merge(block, quoted)
        QTextCursor(block).setBlockFormat(shape)
    _dress_fragments(block)


def _dress_fragments(block: QTextBlock) -> None:
    scheme = colours()
    found: list[tuple[int, int, QTextCharFormat]] = []
    walk = block.begin()
    while not walk.atEnd():
        piece = walk.fragment()
        if piece.isValid() and not piece.charFormat().hasProperty(FORMULA):
            found.append((piece.position(), piece.length(), piece.charFormat()))
        walk += 1
    for position, length, shape in reversed(found):
        cursor = QTextCursor(block)
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        if shape.isImageFormat():
            cursor.insertText(describe_image(shape), QTextCharFormat())
        elif shape.fontFixedPitch():
            code = QTextCharFormat()
            code.setFontFamilies([code_font().family()])
            code.setBackground(QBrush(QColor(scheme.raised)))
            cursor.mergeCharFormat(code)
        elif shape.isAnchor():
            link = QTextCharFormat()
            link.setForeground(QBrush(QColor(scheme.accent)))
            cursor.mergeCharFormat(link)


def dress_table(table: QTextTable) -> None:
    """Give a table our lines, as wide as what is in it."""
    shape = table.format().toTableFormat()
    shape.setCellPadding(5)
    shape.setCellSpacing(0)
    shape.setBorder(1)
    shape.setBorderCollapse(True)
    shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    shape.setBorderBrush(QBrush(QColor(colours().border)))
    shape.setTopMargin(6)
    shape.setBottomMargin(6)
    shape.setWidth(QTextLength())
    table.setFormat(shape)


def _merge(block: QTextBlock, shape: QTextCharFormat) -> None:
    cursor = QTextCursor(block)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    cursor.mergeCharFormat(shape)


def describe_image(shape: QTextCharFormat) -> str:
    """Say what stands in the place of an image, which is never loaded."""
    name = shape.toImageFormat().name()
    words = shape.property(QTextFormat.Property.ImageAltText) or ""
    return (
        tr("[image: {words} {name}]").format(words=words, name=name)
        if words
        else tr("[image: {name}]").format(name=name)
    )
