"""Formulas kept as they were written: Markdown would take the backslashes and underscores out of them."""

from __future__ import annotations

import re

_SPAN = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`)[^`].{0,2000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<formula>\$\$[^$]{1,2000}\$\$|\\\[.{1,2000}?\\\]|\\\(.{1,500}?\\\)"
    r"|(?<![\\\w$])\$(?=[^\s$])[^$\n]{1,300}(?<=[^\s\\])\$(?![\w$]))",
    re.DOTALL,
)
_MARK = re.compile(r"([!-/:-@\[-`{-~])")


def protect_formulas(markdown: str) -> str:
    """Return Markdown that shows the source of its formulas, line by line."""
    if "$" not in markdown and "\\(" not in markdown and "\\[" not in markdown:
        return markdown
    return _SPAN.sub(_escape, markdown)


def _escape(found: re.Match[str]) -> str:
    formula = found["formula"]
    if formula is None or "\n\n" in formula:
        return found[0]
    return _MARK.sub(r"\\\1", formula).replace("\n", "\\\n")
