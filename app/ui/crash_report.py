"""What a report about a fault says: where it happened in our own code, without anything that a person wrote.

The words of a fault may quote a text or a name, so they are left out unless the person wants them in. Of paths only
what is inside the program, or the last part, is left.
"""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.metrics.redaction import without_paths

_ROOT = Path(__file__).resolve().parents[2]
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
_MOST_FRAMES = 40
_MOST_CAUSES = 5


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that went wrong: when, what it is called, where in the program, and its own words.

    ``lines`` say where and quote nobody; ``words`` may.
    """

    at: datetime
    title: str
    lines: tuple[str, ...]
    words: str


def fault_of(raised: BaseException, at: datetime) -> Fault:
    """Take in an exception that nobody caught, with its causes."""
    lines: list[str] = []
    words: list[str] = []
    link: BaseException | None = raised
    for _ in range(_MOST_CAUSES):
        if link is None:
            break
        lines.append(f"{type(link).__name__}, raised at")
        frames = traceback.extract_tb(link.__traceback__)[-_MOST_FRAMES:]
        lines += [f"  {_place(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames]
        words.append(f"{type(link).__name__}: {_private(str(link))}")
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return Fault(at, f"Unexpected {type(raised).__name__}", tuple(lines), "\n".join(words))


def death_of(message: str, at: datetime) -> Fault:
    """Take in how the engine died; these are the program's own words, and the last line of its log."""
    return Fault(at, "The engine died", (), _private(message))


def report(faults: list[Fault], page: str, *, with_words: bool) -> str:
    """Return the whole report: what would be copied, letter for letter."""
    parts = ["# Slipstream report", ""]
    for fault in faults:
        parts += [f"## {fault.title}, {fault.at:%Y-%m-%d %H:%M:%S} UTC", ""]
        parts += ["```", *fault.lines, "```", ""] if fault.lines else []
        parts += [fault.words if with_words else "(its words are left out: they may quote what you wrote)", ""]
    if not faults:
        parts += ["No fault has been noted since the program was started.", ""]
    return "\n".join([*parts, page.strip()]).strip() + "\n"


def _place(file: str) -> str:
    """Return a source file's place in the program, or in a library by its last parts."""
    path = Path(file)
    if path.is_relative_to(_ROOT):
        return path.relative_to(_ROOT).as_posix()
    parts = path.parts
    if "site-packages" in parts:
        return "/".join(parts[parts.index("site-packages") + 1 :])
    return path.name


def _private(text: str) -> str:
    return _ADDRESS.sub("(address)", without_paths(text))
