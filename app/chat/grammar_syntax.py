"""Whether a text is a grammar (GBNF) at all, said with the line, before any model is asked.

It reads a grammar as llama.cpp's own parser does, which says no more than "at" and the rest of the text.
"""

from __future__ import annotations

import re
from typing import NoReturn

from app.errors import UsageError

_SPACE = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_SPACE_AND_LINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_LINE_END = re.compile(r"\r\n|\r|\n|\Z")
_CHARACTER = re.compile(
    r'\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[tnr\\"\[\]])|(?P<bad>\\.?)|[^\\]', re.DOTALL
)
_TIMES = re.compile(r"\{\s*(\d+)\s*(?:,\s*(\d*)\s*)?\}")
_MOST_TIMES = 2000
_SHOWN = 30
_HINT = 'The grammar\'s language is GBNF: rules such as: root ::= "yes" | "no"'


def check_syntax(text: str) -> None:
    """Refuse what is no grammar.

    Raises:
        UsageError: says in which line, and what is wrong there.
    """
    if not _SPACE_AND_LINES.sub("", text):
        raise UsageError("The grammar is empty.", _HINT)
    _Reader(text).read()


class _Reader:
    """Reads a grammar from its beginning; parentheses are few enough, which was checked before."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._rules: dict[str, dict[str, int]] = {}  # what each refers to, and where; the last of a name counts
        self._refs: dict[str, int] = {}

    def read(self) -> None:
        """Read all rules, and look whether each that is named is there."""
        self._skip(with_lines=True)
        while self._at < len(self._text):
            self._rule()
        if "root" not in self._rules:
            raise UsageError("The grammar has no rule “root”, with which an answer begins.", _HINT)
        for refs in self._rules.values():
            for name, at in refs.items():
                if name not in self._rules:
                    self._refuse(f"there is no rule “{name}”", at)

    def _rule(self) -> None:
        name = self._name()
        if not name:
            self._refuse("a rule's name is missing")
        self._skip()
        if not self._text.startswith("::=", self._at):
            self._refuse("“::=” is missing behind a rule's name")
        self._at += 3
        self._skip(with_lines=True)
        self._refs = self._rules[name] = {}
        self._choices(is_inner=False)
        end = _LINE_END.match(self._text, self._at)
        if end is None:
            self._refuse("this does not belong there")
        self._at = end.end()
        self._skip(with_lines=True)

    def _choices(self, *, is_inner: bool) -> None:
        self._sequence(is_inner=is_inner)
        while self._peek() == "|":
            self._at += 1
            self._skip(with_lines=True)
            self._sequence(is_inner=is_inner)

    def _sequence(self, *, is_inner: bool) -> None:
        can_repeat = False
        while (sign := self._peek()) and (sign in '"[(.*+?{' or _NAME.match(sign)):
            if sign in "*+?{":
                if not can_repeat:
                    self._refuse(f"“{sign}” has nothing before it that could be repeated")
                self._times(sign)
            elif sign == '"':
                self._characters('"', "a closing quote")
            elif sign == "[":
                self._characters("]", "“]”")
            elif sign == "(":
                self._group()
            elif sign == ".":
                self._at += 1
            else:
                began = self._at
                self._refs.setdefault(self._name(), began)
            can_repeat = True
            self._skip(with_lines=is_inner)

    def _group(self) -> None:
        began = self._at
        self._at += 1
        self._skip(with_lines=True)
        self._choices(is_inner=True)
        if self._peek() != ")":
            self._refuse("“)” is missing to this “(”", began)
        self._at += 1

    def _characters(self, close: str, what: str) -> None:
        began = self._at
        self._at += 1
        while self._peek() != close:
            character = _CHARACTER.match(self._text, self._at)
            if character is None:
                self._refuse(f"{what} is missing", began)
            if character["bad"]:
                self._refuse(f'“{character[0]}” is no character (known are \\n, \\t, \\r, \\\\, \\", \\x41, \\u0041)')
            self._at = character.end()
        self._at += 1

    def _times(self, sign: str) -> None:
        if sign != "{":
            self._at += 1
            return
        times = _TIMES.match(self._text, self._at)
        if times is None:
            self._refuse("a repetition is written {3}, {3,} or {3,5}")
        if max(int(number) for number in times.groups(default="0") if number) > _MOST_TIMES:
            self._refuse(f"something is repeated more than {_MOST_TIMES} times")
        self._at = times.end()

    def _name(self) -> str:
        name = _NAME.match(self._text, self._at)
        if name is None:
            return ""
        self._at = name.end()
        return name[0]

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, *, with_lines: bool = False) -> None:
        space = (_SPACE_AND_LINES if with_lines else _SPACE).match(self._text, self._at)
        self._at = space.end() if space is not None else self._at

    def _refuse(self, what: str, at: int | None = None) -> NoReturn:
        at = self._at if at is None else at
        line = self._text.count("\n", 0, at) + 1
        seen = self._text[at:].strip().partition("\n")[0][:_SHOWN] or "the end"
        raise UsageError(f"Line {line} of the grammar: {what}, at: {seen}", _HINT)
