"""LaTeX formulas drawn as outlines, in a child process that can be killed.

A model may write any formula: fractions in fractions take the library time that doubles with each, and macros can be
made to grow without end. So a child draws them, with a memory cap and a time limit, and whatever a formula does to it
costs at most that limit: it is shown as its source then.

ziamath draws: it is small, all Python, brings its font, and opens nothing that a formula names. What it does not know
it would draw as words in the middle of the formula; such a formula is not drawn.
"""

from __future__ import annotations

import enum
import logging
import re
import unicodedata
import warnings
from typing import TYPE_CHECKING

import msgspec

from app.engine import leash
from app.engine.warm_child import NoAnswerError, WarmChild, serve

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from ziamath.zmath import Latex

DRAW_LIMIT_S = 2.0
MEMORY_LIMIT_BYTES = 512 * 1024 * 1024
MOST_CHARS = 2000
"""A longer formula is not drawn."""
MOST_DRAWN_CHARS = 1_000_000
EM = 100.0
"""The size of the font in a drawing's own units."""

_MOST_EMS = 200
_DIGITS = 1  # behind the point, in these units: a thousandth of the font's size
_EDGE = 0.06 * EM  # slanted letters reach out of their boxes
_TAG = re.compile(r"\\tag\*?\s*\{([^{}]*)\}")
_UNSEEN = re.compile(r"\\(?:label\s*\{[^{}]*\}|nonumber\b|notag\b|displaystyle\s*(?=\\begin\b))")
_SIGN = re.compile(
    r"(?P<words>\\(?:text\w*|mbox|hbox|operatorname\*?)\s*\{[^{}]*\})"
    r"|(?P<before>[=(,<>]|\\(?:le|ge|leq|geq|ne|neq|approx|equiv|in|to|cdot|times|implies|iff)(?![A-Za-z]))\s*"
    r"(?P<sign>[-+]|\\[pm][mp](?![A-Za-z]))"
)
_REFUSED = re.compile(r"\\(?:f?colorbox|smash)\b")  # what is drawn in one colour and cut at its box cannot show these
_NUMBERED = re.compile(r"\\(begin|end)\s*\{(align|gather|equation)\}")

logger = logging.getLogger(__name__)


class Undrawn(enum.Enum):
    """Why there is no drawing."""

    REFUSED = enum.auto()
    LATE = enum.auto()
    PASSING = enum.auto()
    """The process did not start, or ended in the middle of it: it may be drawn another time."""


class Drawing(msgspec.Struct, frozen=True):
    """The outlines of a formula as the inside of an SVG; its edges in units of :data:`EM`, the base line at 0."""

    paths: str
    left: float
    top: float
    width: float
    height: float

    @property
    def descent(self) -> float:
        """How far it reaches below the base line; less than 0 for what floats above it."""
        return self.top + self.height


class _Request(msgspec.Struct, frozen=True):
    tex: str
    is_display: bool


class _Reply(msgspec.Struct, frozen=True):
    drawing: Drawing | None = None
    fault: str = ""
    is_last: bool = False


class Drawer:
    """Draws formulas; owns the child. For one thread, but for :meth:`give_up`.

    Attributes:
        fault: why the last formula was not drawn that was not.
    """

    def __init__(self) -> None:
        self.fault = Undrawn.REFUSED
        self._child = WarmChild("formula", MEMORY_LIMIT_BYTES)

    def draw(self, tex: str, *, is_display: bool) -> Drawing | None:
        """Return a drawing of a formula without its delimiters; None where there is none, whatever the reason.

        It takes at most :data:`DRAW_LIMIT_S` (and a cold start of the child).
        """
        self.fault = Undrawn.REFUSED
        if not tex.strip() or len(tex) > MOST_CHARS:
            return None
        try:
            line = self._child.ask(msgspec.json.encode(_Request(tex, is_display)) + b"\n", DRAW_LIMIT_S)
            reply = msgspec.json.decode(line, type=_Reply)
        except NoAnswerError as fault:
            self.fault = Undrawn.LATE if fault.is_late else Undrawn.PASSING
            logger.info("a formula of %d characters is not drawn: the process is %s", len(tex), fault)
            return None
        except (msgspec.MsgspecError, UnicodeEncodeError):
            self._child.drop()
            return None
        if reply.fault:
            logger.debug("a formula is not drawn: %s", reply.fault)
        if reply.is_last:
            self._child.drop()  # after an exhausted memory nothing in there is to be trusted
        return reply.drawing

    def rest(self) -> None:
        """Let the child leave until it is needed again."""
        self._child.close()

    def give_up(self) -> None:
        """Draw nothing any more; whoever waits for a drawing gets none."""
        self._child.give_up()


# --- in the child -----------------------------------------------------------------------------------


def main() -> int:
    """Run the process that draws: one request a line in, one reply a line out, until the input ends."""
    leash.tie()
    leash.limit_memory(MEMORY_LIMIT_BYTES)
    leash.step_back()
    warnings.simplefilter("ignore")
    draw("x", is_display=True)  # the font is read before the first request, not in its time
    return serve(_answer, 2 * DRAW_LIMIT_S)


def _answer(line: bytes) -> tuple[bytes, bool]:
    request = msgspec.json.decode(line, type=_Request)
    try:
        reply = _Reply(draw(request.tex, is_display=request.is_display))
    except MemoryError:
        reply = _Reply(fault="memory", is_last=True)
    except Exception as fault:  # the libraries raise what they like, IndexError among it
        reply = _Reply(fault=f"{type(fault).__name__}: {fault}"[:200])
    return msgspec.json.encode(reply), not reply.is_last


def draw(tex: str, *, is_display: bool) -> Drawing:
    """Draw a formula in this process, without a bound for time.

    Raises:
        ValueError: it has a command that is not known, or makes too large a drawing.
        Exception: what the libraries raise for what they cannot read.
        MemoryError: there is not enough memory.
    """
    from ziamath.config import config
    from ziamath.zmath import Latex

    config.svg2 = False  # outlines in place, not symbols that are referred to
    config.precision = _DIGITS
    if refused := _REFUSED.search(tex):
        raise ValueError(f"{refused[0]} is not drawn")
    formula = Latex(_prepared(tex), size=EM, inline=not is_display, margin=_EDGE)
    if unknown := _unknown_in(formula):
        raise ValueError(f"{unknown} is not known")
    picture = formula.svgxml()
    left, top, width, height = map(float, picture.attrib["viewBox"].split())
    if not (0 < width < _MOST_EMS * EM and 0 < height < _MOST_EMS * EM):
        raise ValueError("it is too large, or empty")
    paths = _inside(picture)
    if len(paths) > MOST_DRAWN_CHARS:
        raise ValueError("it has too many outlines")
    return Drawing(paths, left, top, width, height)


def _prepared(tex: str) -> str:
    """Return a formula without what numbers it; a number that is given stands behind it.

    A sign that has nothing on its left is put in braces: between two terms it would have more room.
    """
    tex = _TAG.sub(r"\\qquad(\1)", _UNSEEN.sub("", tex))
    tex = _SIGN.sub(lambda found: found["words"] or f"{found['before']}{{{found['sign']}}}", tex)
    return _NUMBERED.sub(lambda found: "" if found[2] == "equation" else rf"\{found[1]}{{{found[2]}*}}", tex)


def _unknown_in(formula: Latex) -> str:
    """Return a command that the library does not know, or a letter that the font does not have; "" if there is none."""
    for part in formula.mathml.iter():
        text = part.text or ""
        if re.match(r"\\[A-Za-z]", text):
            return text
        for letter in text:
            if unicodedata.category(letter)[0] not in "CZ" and not formula.font.glyphindex(letter):
                return letter
    return ""


def _inside(picture: Element) -> str:
    from xml.etree import ElementTree as ET

    return "".join(ET.tostring(part, encoding="unicode") for part in picture)
