"""What must be known of a grammar (GBNF) before llama.cpp may read it.

llama.cpp reports most mistakes, but some end the process or never end: a repetition such as ``{5,2}``, deep nesting,
a rule that begins with itself behind something that can be empty by way of another rule, tokens (``<…>``) that a match
ends within, rules that can begin in more ways than can be gone through. Those are refused here; whatever else is wrong
is left to llama.cpp.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from app.errors import UsageError

MAX_BYTES = 64 * 1024
"""A longer grammar is refused: llama.cpp follows chains of rules by recursion."""

MAX_DEPTH = 100
"""Parentheses that may be open at once; llama.cpp reads them by recursion."""

MAX_WAYS = 20_000
"""Ways in which a rule, or what is left of one, may begin: llama.cpp goes through each of them, alike or not, and ten
references to a rule of ten references to a rule of ten … are more than any time is enough for."""

_ADDED_WAYS = 100
"""So many more may be added by rules that are not their author's: a mark of a thought each."""

_MAX_SHOWN = 60
"""Characters that are shown of the place where a grammar cannot be read."""

_WORD = re.compile(
    r'(?P<comment>#[^\n]*)|(?P<text>"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|\.)|(?P<rule>[\w-]+)\s*::=|(?P<ref>[\w-]+)'
    r"|(?P<times>[*+?]|\{[^}]*\})|(?P<sign>[()|<])",
    re.DOTALL,
)
_COMMENT = re.compile(r"#[^\n]*")
_EMPTY = frozenset(('""', "[]", "[^]"))


@dataclass(slots=True)
class _Item:
    """A text, a reference or a group; ``can_be_empty`` by itself, whatever a reference refers to.

    ``times`` is how often it is written one after the other at most, as far as that is a number.
    """

    can_be_empty: bool = False
    ref: str = ""
    times: int = 1
    group: list[list[_Item]] = field(default_factory=list)


_Choices = list[list[_Item]]


def without_comments(text: str) -> str:
    """Return a grammar without its comments; a ``#`` in a text is none."""
    return _WORD.sub(lambda word: "" if word.lastgroup == "comment" else word[0], text)


def check(text: str, n_added_bytes: int = 0) -> None:
    """Refuse what would end the process or never end; ``n_added_bytes`` of it are not its author's.

    What is added by such rules makes none too long, nor too many ways to begin.

    Raises:
        UsageError: says what it is.
    """
    if len(text.encode("utf-8", "replace")) - n_added_bytes > MAX_BYTES or "\0" in text:
        raise UsageError(f"The grammar is longer than {MAX_BYTES} bytes, or holds a zero byte.", "Make it simpler.")
    rules = _read(text)
    empty = _that_can_be_empty(rules)
    starts = {name: {ref for ref in _starts(choices, empty) if ref in rules} for name, choices in rules.items()}
    try:
        TopologicalSorter(starts).prepare()
    except CycleError as fault:
        raise UsageError(
            f"The grammar has left recursion in line {_line_of_rule(text, fault.args[1][0])}: "
            f"{' begins with '.join(reversed(fault.args[1]))}.",
            "Let the rule begin with something that is never empty.",
        ) from None
    _check_ways(text, rules, TopologicalSorter(starts), MAX_WAYS + (_ADDED_WAYS if n_added_bytes else 0))


def place_of(told: str, text: str) -> tuple[str, int]:
    """Return what llama.cpp has against a grammar without the rest of the text behind it, and the line (0: unknown).

    It ends its words with "at" and all that comes from there on.
    """
    for found in re.finditer(r" at ", told):
        rest = told[found.end() :]
        if text.endswith(rest):
            seen = rest.strip().partition("\n")[0][:_MAX_SHOWN]
            return f"{told[: found.start()]} at {seen or 'its end'}", _line(text, len(text) - len(rest) if seen else -1)
    if name := re.search(r"identifier '([\w-]+)'", told):
        used = re.search(rf"(?<![\w-]){re.escape(name[1])}(?![\w-])", _COMMENT.sub(_blank, text))
        return told, _line(text, used.start()) if used else 0
    return told, _line(text, -1) if told.startswith("unexpected end") else 0


def _line(text: str, at: int) -> int:
    """Return the number of the line, from 1, that holds a position; -1 is the last that is not blank."""
    return text.count("\n", 0, at if at >= 0 else len(text.rstrip())) + 1


def _line_of_rule(text: str, name: str) -> int:
    found = re.search(rf"(?<![\w-]){re.escape(name)}\s*::=", _COMMENT.sub(_blank, text))
    return _line(text, found.start()) if found else 1


def _blank(comment: re.Match[str]) -> str:
    return " " * len(comment[0])


def _read(text: str) -> dict[str, _Choices]:
    """Return the rules by name. What is not a grammar at all gives some of them."""
    rules: dict[str, _Choices] = {}
    open_groups: list[_Choices] = [[[]]]
    for match in _WORD.finditer(text):
        word = match[match.lastgroup] if match.lastgroup else ""
        items = open_groups[-1][-1]
        match match.lastgroup, word:
            case "rule", _:
                open_groups = [rules.setdefault(word, [])]
                open_groups[-1].append([])
            case "text", _:
                items.append(_Item(can_be_empty=word in _EMPTY))
            case "ref", _:
                items.append(_Item(ref=word))
            case "times", _:
                if items:
                    items[-1].can_be_empty |= _may_be_none(word, _line(text, match.start()))
                    items[-1].times *= max(1, *map(_bounded, re.findall(r"\d+", word)), 1)
            case "sign", "(":
                group = _Item(group=[[]])
                items.append(group)
                open_groups.append(group.group)
                if len(open_groups) > MAX_DEPTH:
                    where = _line(text, match.start())
                    raise UsageError(
                        f"Line {where} of the grammar nests parentheses over {MAX_DEPTH} deep.", "Use more rules."
                    )
            case "sign", ")" if len(open_groups) > 1:
                open_groups.pop()
            case "sign", "|":
                open_groups[-1].append([])
            case "sign", "<":
                # llama.cpp allows a token that a match ends within, and then throws on accepting it.
                raise UsageError(
                    f"Line {_line(text, match.start())} of the grammar names tokens (<…>), which can end the engine.",
                    "Spell them in quotes.",
                )
    return rules


def _bounded(digits: str) -> int:
    return int(digits) if len(digits) < 6 else _TOO_MANY


def _may_be_none(times: str, line: int) -> bool:
    """Tell whether a repetition may be none at all.

    Raises:
        UsageError: llama.cpp would never be done with it.
    """
    counts = re.findall(r"\d+", _COMMENT.sub("", times))
    if len(counts) == 2 and int(counts[0]) > int(counts[1]):
        raise UsageError(
            f"Line {line} of the grammar repeats something {{{counts[0]},{counts[1]}}} times.",
            "The smaller number comes first.",
        )
    return times in "*?" or (bool(counts) and int(counts[0]) == 0)


def _that_can_be_empty(rules: dict[str, _Choices]) -> set[str]:
    """Return the rules that can be empty, also by way of others."""
    users = defaultdict(set)
    for name, choices in rules.items():
        for ref in _refs(choices):
            users[ref].add(name)
    empty: set[str] = set()
    waiting = list(rules)
    while waiting:
        name = waiting.pop()
        if name not in empty and name in rules and _can_be_empty(rules[name], empty):
            empty.add(name)
            waiting.extend(users[name])
    return empty


def _refs(choices: _Choices) -> Iterator[str]:
    for item in (item for items in choices for item in items):
        yield from _refs(item.group)
        if item.ref:
            yield item.ref


def _can_be_empty(choices: _Choices, empty: set[str]) -> bool:
    return any(all(_is_skipped(item, empty) for item in items) for items in choices)


def _is_skipped(item: _Item, empty: set[str]) -> bool:
    return item.can_be_empty or item.ref in empty or (bool(item.group) and _can_be_empty(item.group, empty))


def _starts(choices: _Choices, empty: set[str]) -> Iterator[str]:
    """Yield the references that a rule can begin with."""
    for items in choices:
        for item in items:
            yield from _starts(item.group, empty)
            if item.ref:
                yield item.ref
            if not _is_skipped(item, empty):
                break


# --- ways to begin --------------------------------------------------------------------------------------


_TOO_MANY = MAX_WAYS + _ADDED_WAYS + 1
_Ways = tuple[int, int]
"""In how many ways something can begin with a character, and in how many it can be empty; past a bound, the bound."""


def _check_ways(text: str, rules: dict[str, _Choices], order: TopologicalSorter[str], n_most: int) -> None:
    """Refuse rules that can begin in too many ways, in an order in which those that a rule begins with come first.

    Raises:
        UsageError: there is one.
    """
    known: dict[str, _Ways] = {}
    for name in order.static_order():
        known[name] = _ways_of(rules[name], known)
    for name, choices in rules.items():
        if max(_most_ways(choices, known)) > n_most:
            raise UsageError(
                f"The rule in line {_line_of_rule(text, name)} of the grammar, {name}, can begin in more than "
                f"{MAX_WAYS} ways.",
                "Write alternatives that are alike only once.",
            )


def _ways_of(choices: _Choices, known: dict[str, _Ways]) -> _Ways:
    ways = [_ways_of_row(items, known) for items in choices]
    return _cut(sum(begins for begins, _ in ways)), _cut(sum(empty for _, empty in ways))


def _ways_of_row(items: list[_Item], known: dict[str, _Ways]) -> _Ways:
    begins, empty = 0, 1
    for item in items:
        item_begins, item_empty = _ways_of_item(item, known)
        begins, empty = _cut(begins + empty * item_begins), _cut(empty * item_empty)
        if not empty:
            break
    return begins, empty


def _ways_of_item(item: _Item, known: dict[str, _Ways]) -> _Ways:
    if item.group:
        begins, empty = _ways_of(item.group, known)
    else:
        begins, empty = known.get(item.ref, (1, 0)) if item.ref else (1, 0)
    if empty and item.times > 1:  # written out one after the other, each of them may be passed over
        once, row = (begins, empty), (0, 1)
        for _ in range(item.times):
            row = _cut(row[0] + row[1] * once[0]), _cut(row[1] * once[1])
            if max(row) == _TOO_MANY:
                break
        begins, empty = row
    return begins, _cut(empty + item.can_be_empty)


def _most_ways(choices: _Choices, known: dict[str, _Ways]) -> Iterator[int]:
    """Yield the ways of choices, and of what is left of each behind every item of it."""
    yield from _ways_of(choices, known)
    for items in choices:
        begins, empty = 0, 1
        for item in reversed(items):
            item_begins, item_empty = _ways_of_item(item, known)
            begins, empty = _cut(item_begins + item_empty * begins), _cut(item_empty * empty)
            yield from (begins, empty)
            if item.group:
                yield from _most_ways(item.group, known)


def _cut(number: int) -> int:
    return min(number, _TOO_MANY)
