"""Lets a model think before its answer keeps to a grammar.

A grammar (GBNF) says how an answer begins, which a model that thinks first does not do. So rules are put behind it
under which any text may stand between the marks of a thought, and the given grammar follows. The marks are those that
the chat template knows (:mod:`app.engine.thinking`).
"""

from __future__ import annotations

from typing import NamedTuple

from app.engine.gbnf import without_comments
from app.engine.thinking import ANSWER_MARKS, PAIRS, begun_mark, closing_mark

ROOT = "root"
_NAME = "thought"
_BLANK_LINES = "[\\n]{0,2}"
"""What models write behind a thought."""


_ALONE = "</think>"
"""Templates that leave out earlier thoughts may name this mark and no other."""


class Start(NamedTuple):
    """A grammar, the rule that it begins with, and how much of it its author did not write."""

    text: str
    rule: str = ROOT
    n_added_bytes: int = 0


def with_thought(grammar: str, prompt_end: str, template: str, *, may_begin: bool = True) -> Start:
    """Return a grammar that lets the model think before what the given one wants; that itself where it does not.

    Args:
        grammar: what the answer keeps to, from its rule ``root`` on. One that names the marks itself, otherwise than
            in a comment, stays as it is; one that is made of a schema spells them so that it does not.
        prompt_end: the end of the prompt, in which the template may have begun the thought, or ended it.
        template: the text of the chat template.
        may_begin: the model may begin a thought of itself.
    """
    begun = begun_mark(prompt_end)
    if begun:
        pairs: tuple[tuple[str, str], ...] = ((begun, closing_mark(begun)),)
    else:
        pairs = _pairs_in(template) if may_begin and not _has_ended(prompt_end) else ()
    told = without_comments(grammar)
    answers = [mark for mark in ANSWER_MARKS if mark in template]
    if not (pairs or answers) or any(close in told for _, close in pairs):
        return Start(grammar)
    name = _NAME
    while name in grammar:
        name += "-"
    said, rules = f"{name}-said", []
    for number, (_, close) in enumerate(pairs):
        rules.append(watching(f"{name}-{number}", close, f"{_BLANK_LINES} {said}", may_end=False))
    starts = [f"{'' if begun else quoted(mark)} {name}-{number}-0" for number, (mark, _) in enumerate(pairs)]
    if not begun:
        starts.append(said)
    marks = f"({' | '.join(map(quoted, answers))})? " if answers else ""
    # Behind the given rules, so that what is wrong in those is in the line that their author knows.
    added = f"\n{name} ::= {' | '.join(starts)}\n{said} ::= {marks}{ROOT}\n{''.join(rules)}"
    return Start(grammar + added, name, len(added.encode()))


def _has_ended(prompt_end: str) -> bool:
    """Tell whether the end of a prompt has ended a thought, as templates write it for an answer without one."""
    bare = prompt_end.rstrip()
    return any(bare.endswith(close) for _, close in PAIRS)


def _pairs_in(template: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of marks of which a chat template knows: how its model may think."""
    return tuple((mark, close) for mark, close in PAIRS if close in template and (mark in template or close == _ALONE))


def watching(name: str, mark: str, then: str, *, may_end: bool) -> str:
    """Return the rules of any text up to a mark, and of what follows it: one for each part of the mark that was seen.

    The first character of the mark occurs in it once, so a part that goes on otherwise begins anew.
    """
    first, rules = mark[0], []
    for seen, char in enumerate(mark):
        follow = then if seen == len(mark) - 1 else f"{name}-{seen + 1}"
        choices = [f"{quoted(char)} {follow}"]
        if seen:
            choices.append(f"{quoted(first)} {name}-1")
        others = first if char == first else first + char
        choices.append(f"[^{_escaped(others, ']')}] {name}-0")
        if may_end:
            choices.append('""')
        rules.append(f"{name}-{seen} ::= {' | '.join(choices)}\n")
    return "".join(rules)


def quoted(text: str) -> str:
    """Return a text as a grammar has it."""
    return f'"{_escaped(text, chr(34))}"'


def _escaped(text: str, sign: str) -> str:
    return text.replace("\\", "\\\\").replace(sign, f"\\{sign}")
