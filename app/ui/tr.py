"""Texts in the language of the person: ``tr("…")`` around every literal that people see.

Qt Linguist's tools read the calls from the source, so the text is one literal with named places, filled in afterwards:
``tr("Saved {name}.").format(name=…)``. Texts at module level are translated at import: :mod:`app.ui.language` comes
before them, and another language needs a new start. What runs for every token keeps its texts instead of asking anew.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QCoreApplication

_PLURAL = re.compile(r"\(([\w ]*)\|([\w ]*)\)|\(s\)")


def tr(text: str, comment: str | None = None, n: int = -1) -> str:
    """Return a text in the language that was chosen, in English without one.

    Args:
        text: English; with ``n`` it says ``%n token(s)`` or ``%n entr(y|ies)``.
        comment: what a translator has to know, or what tells two equal texts apart.
        n: how many; languages have their own plural forms, and English takes one of the two in the brackets.
    """
    words = str(QCoreApplication.translate("", text, comment, n))
    return words if n < 0 else _PLURAL.sub(lambda found: _form(found, n), words)


def _form(found: re.Match[str], n: int) -> str:
    one, many = (found[1], found[2]) if found[1] is not None else ("", "s")
    return one if n == 1 else many
