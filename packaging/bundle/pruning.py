"""Leave out what the program never loads: mostly parts of Qt. What that is, is a list in ``prune.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from bundle.project import PACKAGING

LIST = PACKAGING / "prune.txt"

_LINE = re.compile(r"(?P<sign>\+|-\??) (?P<pattern>\S.*)")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of paths (``*`` also crosses slashes), whether what matches stays, and whether nothing need match."""

    pattern: str
    keeps: bool
    is_optional: bool = False


def rules(platform: str, text: str | None = None) -> list[Rule]:
    """Read the rules for ``linux`` or ``windows``; those of ``all`` come first.

    Raises:
        ValueError: a line is neither a rule, a section, a comment nor empty.
    """
    found = sections(text)
    return [*found["all"], *found[platform]]


def sections(text: str | None = None) -> dict[str, list[Rule]]:
    """Read the list; ``icu`` is about the items of ICU's data, all others about files.

    Raises:
        ValueError: a line is neither a rule, a section, a comment nor empty.
    """
    found: dict[str, list[Rule]] = {"all": [], "linux": [], "windows": [], "icu": []}
    section = "all"
    for line in (LIST.read_text(encoding="utf-8") if text is None else text).splitlines():
        words = line.split(" #")[0].strip()
        if not words or words.startswith("#"):
            continue
        if words.startswith("["):
            section = words.strip("[]")
        elif match := _LINE.fullmatch(words):
            found[section].append(Rule(match["pattern"], match["sign"] == "+", match["sign"] == "-?"))
        else:
            raise ValueError(f"not a rule: {line}")
    return found


def stays(path: str, chosen: list[Rule]) -> bool:
    """Tell whether a file stays: the last rule that matches decides."""
    return next((rule.keeps for rule in reversed(chosen) if fnmatchcase(path, rule.pattern)), True)


def prune(root: Path, chosen: list[Rule]) -> tuple[int, list[str]]:
    """Delete the files that do not stay, and folders that are empty then.

    Returns:
        The bytes that were freed, and the patterns that matched nothing: the list is out of date.
    """
    names, n_bytes = [], 0
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
            continue
        name = path.relative_to(root).as_posix()
        names.append(name)
        if not stays(name, chosen):
            n_bytes += path.lstat().st_size
            path.unlink()
    return n_bytes, unused(names, chosen)


def unused(names: Iterable[str], chosen: list[Rule]) -> list[str]:
    """Return the patterns that match none of these names, though they should."""
    left = {rule.pattern for rule in chosen if not rule.is_optional}
    for name in names:
        left -= {pattern for pattern in left if fnmatchcase(name, pattern)}
    return sorted(left)
