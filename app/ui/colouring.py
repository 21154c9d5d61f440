"""Colours of a growing piece of code, by Pygments, a stretch at a time.

Lexing all of a block again for each line that arrives is quadratic, and Pygments cannot go on where it was. So it
begins again at the last *safe line*: one in no comment and no string, not indented if there is such a one. What a step
costs is bounded, however long the block is.

Pygments is imported when the first block is coloured. Colour is an ornament: a lexer that fails leaves the text alone.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

logger = logging.getLogger(__name__)

STRETCH_CHARS = 2_500
"""So much is lexed in one step, if lines allow."""
_LONGEST_STRETCH = 10_000
"""A comment or string that is longer is given up."""
LONGEST_LINE = 4_000
"""Blocks with longer lines are not coloured."""
_KEEP_CHARS = 1_200

Span = tuple[int, int, str]
"""Start, length and role (a field of :class:`~app.ui.theme.Colours`) of a piece of a line."""

_ROLES = (
    ("Token.Keyword", "code_keyword"),
    ("Token.Literal.String", "code_string"),
    ("Token.Literal.Number", "code_number"),
    ("Token.Comment", "code_comment"),
    ("Token.Name.Function", "code_name"),
    ("Token.Name.Class", "code_name"),
    ("Token.Name.Tag", "code_name"),
    ("Token.Name.Attribute", "code_number"),
    ("Token.Name.Builtin", "code_name"),
    ("Token.Name.Decorator", "code_keyword"),
    ("Token.Operator.Word", "code_keyword"),
)


def _lexer_for(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name  # not before the first window is painted
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False) if language else None
    except ClassNotFound:
        return None


def _role_of(kind: str) -> str:
    return next((role for prefix, role in _ROLES if kind.startswith(prefix)), "")


class Colouring:
    """The coloured pieces of a text that grows at its end.

    Attributes:
        lines: the pieces of each line so far.
    """

    def __init__(self, language: str) -> None:
        self.lines: list[list[Span]] = []
        self.language = language
        self._lexer: Lexer | None = None
        self._is_ready = False
        self._rest = ""  # from the last safe line on
        self._first = 0  # number of that line
        self._n_lexed = 0  # characters of the rest that have been lexed
        self._n_fed = 0

    @property
    def n_fed(self) -> int:
        """How many characters it has been given."""
        return self._n_fed

    @property
    def is_behind(self) -> bool:
        """Whether there is text that has not been looked at."""
        return self._n_lexed < len(self._rest)

    def feed(self, text: str) -> None:
        """Append text; it is looked at in :meth:`step`."""
        self._rest += text
        self._n_fed += len(text)

    def step(self) -> tuple[int, int]:
        """Look at the next stretch; return the first line that may have changed, and the one behind the last."""
        if not self._is_ready:
            self._lexer, self._is_ready = _lexer_for(self.language), True
        end = self._end_of_stretch()
        stretch = self._rest[:end]
        if self._lexer is None or _has_long_line(stretch):
            return self._skip()
        try:
            found, safe = _lex(self._lexer, stretch)
        except Exception:  # a lexer is other people's code, and all that is at stake is colour
            logger.info("Pygments could not colour a block of %s", self.language, exc_info=True)
            self._lexer = None
            return self._skip()
        first = self._first
        del self.lines[first:]
        self.lines += found
        self._n_lexed = end
        if len(stretch) > STRETCH_CHARS // 2:
            self._move_on(stretch, safe, is_all=end == len(self._rest))
        return first, first + len(found)

    def _end_of_stretch(self) -> int:
        size = STRETCH_CHARS
        while size < len(self._rest):
            at = self._rest.rfind("\n", 0, size) + 1
            if at > self._n_lexed:
                return at
            size *= 2
        return len(self._rest)

    def _move_on(self, stretch: str, safe: list[tuple[int, bool]], *, is_all: bool) -> None:
        """Choose the safe line to begin with next time."""
        limit = len(stretch) - (_KEEP_CHARS if is_all else 0)
        places = [place for place in safe if 0 < place[0] <= limit]
        flush = [place for place in places if place[1] and place[0] > len(stretch) // 3]
        if places:
            at = (flush or places)[-1][0]
        elif len(stretch) >= _LONGEST_STRETCH:
            at = stretch.rfind("\n") + 1
        else:
            return
        self._first += stretch.count("\n", 0, at)
        self._rest = self._rest[at:]
        self._n_lexed -= at

    def _skip(self) -> tuple[int, int]:
        """Leave everything so far without colour."""
        self._lexer = None
        self._n_lexed = len(self._rest)
        return self._first, self._first


def _has_long_line(text: str) -> bool:
    return len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE


def _lex(lexer: Lexer, text: str) -> tuple[list[list[Span]], list[tuple[int, bool]]]:
    """Return the coloured pieces of each line, and the safe lines: where they begin, and whether not indented."""
    lines: list[list[Span]] = [[]]
    safe: list[tuple[int, bool]] = []
    column = place = 0
    for kind, value in lexer.get_tokens(text):
        name = str(kind)
        role = _role_of(name)
        is_closed = not name.startswith(("Token.Comment", "Token.Literal.String"))
        for n, piece in enumerate(value.split("\n")):
            if n:
                place += 1
                lines.append([])
                column = 0
                if is_closed:
                    safe.append((place, text[place : place + 1].strip() != ""))
            if piece and role:
                lines[-1].append((column, len(piece), role))
            column += len(piece)
            place += len(piece)
    return lines, safe
