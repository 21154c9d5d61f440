"""Formulas kept as they were written: Markdown would take the backslashes and underscores out of them.

Marks that nobody sees can be set around those that may be drawn, so that they are found again in what Markdown has made
of the text; they are none of the signs that :func:`app.chat.visible.visible` lets through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

INLINE, DISPLAY, LINE, END = "\u2061", "\u2064", "\u206f", "\u2062"
"""The marks: before a formula in a line, before one on lines of its own, where a line of it ends, and behind it."""

MOST_MARKED = 250
"""Of a piece of text so many formulas are drawn, the others are shown as their source."""

_SPAN = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`)[^`].{0,2000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<address>\]\((?:<[^<>\n]{0,2000}>|(?:\\.|\((?:\\.|[^\s()\\]){0,500}\)|[^\s()\\]){0,2000})"
    r"|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]{0,2000}>|(?:\bhttps?://|\bwww\.)[^\s<>]{0,2000})"
    r"|(?P<formula>\$\$[^$]{1,2000}\$\$|\\\[.{1,2000}?\\\]|\\\(.{1,500}?\\\)"
    r"|(?<![\\\w$^])\$(?=[^\s$])[^$\n]{1,300}(?<=[^\s\\])\$(?![\w${(^]))",
    re.DOTALL,
)
_MARK = re.compile(r"([!-/:-@\[-`{-~])")
_LINE_BEFORE = re.compile(r"[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)*")
_REST_OF_LINE = re.compile(r"[ \t]*[.,;:]?[ \t]*(?:\n|\Z)")
_QUOTED = re.compile(r"\n[ \t]*>")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\s*\{[^{}]*\})?")
_SIGN = re.compile(r"[\\^_=]")
_MATHS = re.compile(r"[\\^_={}<>+*/|]")
_TWO_WORDS = re.compile(r"[^\W\d_]{3,}[,;:]?\s+[^\W\d_]{2,}|[^\W\d_]{2,}[,;:]?\s+[^\W\d_]{3,}")
_NOTE = re.compile(r"[\d\s.,;:–-]+")  # what stands in an escaped bracket that is no formula
_PRICE = re.compile(r"\d[\d.,]*(?:\s*[-–—]\s*\d[\d.,]*|\s*[-–—/,;:])|\d[^()\\^_=]*\([^()\\^_=]*")
_NUMBER_AND_WORD = re.compile(r"\d.*(?:[^\W\d_]{2,}|[-–—]\s*$)", re.DOTALL)


def protect_formulas(markdown: str, *, is_marked: bool = False) -> str:
    """Return Markdown that shows the source of its formulas, line by line; with marks about those that may be drawn."""
    if "$" not in markdown and "\\(" not in markdown and "\\[" not in markdown:
        return markdown
    left = iter(range(MOST_MARKED))
    return _SPAN.sub(lambda found: _mark(found, left) if is_marked else _escape(found), markdown)


def tex_of(source: str) -> str:
    """Return a formula without its delimiters."""
    n = 1 if source.startswith("$") and not source.startswith("$$") else 2
    return source[n:-n].strip()


def _escape(found: re.Match[str]) -> str:
    formula = found["formula"]
    if formula is None or "\n\n" in formula or _is_aside(found):
        return found[0]
    return _escaped(formula).replace("\n", "\\\n")


def _escaped(formula: str) -> str:
    return _MARK.sub(r"\\\1", formula)


def _mark(found: re.Match[str], left: Iterator[int]) -> str:
    escaped, formula = _escape(found), found["formula"]
    if escaped == found[0] or _QUOTED.search(formula) or (formula[1] not in "$[(" and not _is_maths(formula[1:-1])):
        return escaped
    if next(left, None) is None:
        return escaped
    lines = LINE.join(line.strip() for line in _escaped(formula).split("\n"))
    return f"{DISPLAY if _is_alone(found) else INLINE}{lines}{END}"


def _is_alone(found: re.Match[str]) -> bool:
    """Whether a formula stands on lines of its own and is written as one that does."""
    text = found.string
    begin = text.rfind("\n", 0, found.start()) + 1
    return (
        found["formula"].startswith(("$$", "\\["))
        and _LINE_BEFORE.fullmatch(text, begin, found.start()) is not None
        and _REST_OF_LINE.match(text, found.end()) is not None
    )


def _is_aside(found: re.Match[str]) -> bool:
    """Whether brackets with backslashes in a line are none of a formula, but escaped as Markdown has it."""
    formula = found["formula"]
    if not formula.startswith(("\\[", "\\(")) or _is_alone(found):
        return False
    is_note = formula[1] == "[" and _NOTE.fullmatch(formula[2:-2]) is not None
    return is_note or _TWO_WORDS.search(_COMMAND.sub(" ", formula[2:-2])) is not None


def _is_maths(between: str) -> bool:
    """Whether what stands between two single dollar signs is a formula: sums of money and sentences are none."""
    bare = _COMMAND.sub(" ", between)
    if _PRICE.fullmatch(between):
        return False
    if _TWO_WORDS.search(bare) or (_NUMBER_AND_WORD.match(bare) and not _SIGN.search(between)):
        return False
    return len(between) <= 40 or _MATHS.search(between) is not None
