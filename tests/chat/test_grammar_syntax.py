"""Whether a text is a grammar is judged before any model is asked, and as llama.cpp judges it."""

from __future__ import annotations

import random
import re

import pytest

from app.chat.grammar_syntax import check_syntax
from app.engine.gbnf import check
from app.engine.llama import Grammar, Model
from app.errors import UsageError
from app.models.library import Library

GOOD = (
    'root ::= "a"',
    'root ::= ("a" | b)* # why\nb ::= [^"\\]\\n]{2,} .\n',
    'root ::=\n  "a" |\n  "b"\n\n# the end',
    'root ::= ( "a"\n | "b" )+ "\\x41\\u00e9\\U0001F600"',
    'root ::= x{3} x{1,2}\r\nx ::= "x"',
    'root ::= "a" |',
)
BAD = (
    ("", "is empty"),
    ("  # only words\n", "is empty"),
    ('other ::= "a"', "no rule “root”"),
    ('root ::= "a" other', "Line 1 of the grammar: there is no rule “other”"),
    ('root ::= "a"\nroot2 = "b"', "Line 2 of the grammar: “::=” is missing"),
    ('root ::= "a', "closing quote is missing"),
    ("root ::= [a-z", "“]” is missing"),
    ('root ::= ("a" | "b"', "“)” is missing"),
    ('root ::= "a")', "does not belong there"),
    ('root ::= "a"\n | "b"', "Line 2 of the grammar: a rule's name is missing"),
    ("root ::= *", "nothing before it"),
    ('root ::= "a"{x}', "a repetition is written"),
    ('root ::= "a"{9999}', "more than 2000 times"),
    ('root ::= "\\q"', "is no character"),
    ('root ::= "a" %', "does not belong there"),
    ("not a grammar at all", "“::=” is missing"),
)


@pytest.mark.parametrize("text", GOOD)
def test_grammars_are_let_through(text):
    check_syntax(text)


@pytest.mark.parametrize(("text", "words"), BAD)
def test_what_is_wrong_is_said_with_its_line(text, words):
    with pytest.raises(UsageError) as caught:
        check_syntax(text)
    assert words in caught.value.message
    assert caught.value.hint


@pytest.fixture(scope="module")
def model():
    model = Model(str(Library().resolve("starter").path), is_dry=True)
    yield model
    model.close()


def soups(n):
    """Make texts out of a grammar's words, most of them nearly grammars."""
    chance = random.Random(7)
    words = (
        'root ::= ', "\nroot ::= ", "\nx ::= ", "root", "x", '"a"', "[a-z]", "[^\\]]", "(", ")", "|", "*", "+", "?",
        "{2}", "{1,3}", "{,2}", "{2,}", " ", "\n", "#c\n",
        ".", '"', "[", "\\n", "::=", "=", "-", '"\\x41"', '"\\q"', "\t", "\r\n",
    )  # fmt: skip
    for _ in range(n):
        yield 'root ::= "b" ' + "".join(chance.choice(words) for _ in range(chance.randint(1, 7)))


def refusal(judge, text):
    try:
        judge(text)
    except UsageError as fault:
        return fault.message
    return ""


def test_it_judges_as_llama_cpp_does(model):
    others, n_good = [], 0
    for text in (*GOOD, *(bad for bad, _ in BAD if bad.strip()), *soups(1500)):
        try:
            check(text)
        except UsageError:
            continue  # refused before either reads it
        if len(names := re.findall(r"(\w+)\s*::=", text)) != len(set(names)):
            continue  # of a rule that is there twice llama.cpp keeps what it has seen of both
        told = [refusal(judge, text) for judge in (check_syntax, lambda text: Grammar(model, text).close())]
        n_good += not told[1]
        if bool(told[0]) != bool(told[1]) and "left recursion" not in told[1]:  # that is no matter of syntax
            others.append((text, told))
    assert others == []
    assert n_good > 100
