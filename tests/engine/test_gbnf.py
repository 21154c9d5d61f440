"""Grammars that llama.cpp must not be given, and those that it may."""

import pytest

from app.engine.gbnf import check, place_of
from app.errors import UsageError

FINE = (
    'root ::= "a" root | "b"',
    'root ::= ("a"*)*',
    'root ::= item ("," item)* \nitem ::= [a-z<]+ | "(" root ")" # root root <x> {5,2}',
    'root ::= "\\"" root? "{5,2}"',
    'root ::= a b root | "y"\na ::= ""\nb ::= "b" | a "c"',
    "root ::= " + "(" * 99 + '"a"' + ")" * 99,
    "root ::= r0\n" + "\n".join(f"r{i} ::= r{i + 1}" for i in range(3000)) + '\nr3000 ::= "x"',
    "not a grammar at all",
    "",
)

LEFT_RECURSIVE = (
    'root ::= root "x" | "y"',
    'root ::= a root "x" | "y"\na ::= b\nb ::= ""',
    'root ::= a\na ::= b? c\nb ::= "b"\nc ::= ("x" | (b*) root "y")',
    'root ::= ("a"{0,3} []) root "x" | "y"',
    'a ::= b "x"\nb ::= a\nroot ::= "y"',
)


@pytest.mark.parametrize("text", FINE)
def test_what_llama_cpp_can_read_or_refuse_is_left_to_it(text):
    check(text)


@pytest.mark.parametrize("text", LEFT_RECURSIVE)
def test_left_recursion_is_refused_also_behind_what_can_be_empty(text):
    with pytest.raises(UsageError, match="left recursion") as caught:
        check(text)
    assert " begins with " in caught.value.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('root ::= "a"{5,2}', "{5,2}"),
        ('root ::= ("a" { 5 # more\n , 2 })', "{5,2}"),
        ('root ::= "a" <think>', "tokens"),
        ('root ::= "a" !<[5]>', "tokens"),
        ("root ::= " + "(" * 101 + '"a"' + ")" * 101, "100 deep"),
        ('root ::= "' + "a" * 70000 + '"', "longer than"),
        ('root ::= "a\0b"', "zero byte"),
    ],
)
def test_what_would_end_the_engine_is_refused_in_words(text, words):
    with pytest.raises(UsageError) as caught:
        check(text)
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('root ::= "a"\n# root ::= b\n\nb ::= "b"{5,2}\n', 4),
        ('root ::= "a"\nb ::= <think>', 2),
        ('root ::= a\n\n# a ::= a\na ::= a "x"', 4),
        ('root ::= "a"\nb ::= ' + "(" * 101 + '"a"' + ")" * 101, 2),
    ],
)
def test_the_line_is_said(text, line):
    with pytest.raises(UsageError, match=rf"[Ll]ine {line}\b"):
        check(text)


@pytest.mark.parametrize(
    ("told", "text", "place"),
    [
        ("expecting ::= at = x\n\ny", 'a ::= "a"\nroot = x\n\ny', ("expecting ::= at = x", 2)),
        ("expecting ')' at ", 'root ::= "a"\nb ::= (\n\n', ("expecting ')' at its end", 2)),
        ("unexpected end of input", 'a ::= "a"\nroot ::= "x\n', ("unexpected end of input", 2)),
        (
            "Undefined rule identifier 'item'",
            "# item\nroot ::= items\nitems ::= item",
            ("Undefined rule identifier 'item'", 3),
        ),
        ("something else", "root ::= x", ("something else", 0)),
    ],
)
def test_the_place_is_read_from_what_llama_cpp_says(told, text, place):
    assert place_of(told, text) == place


TENFOLD = "".join(f"a{n} ::= {' | '.join([f'a{n + 1}'] * 10)}\n" for n in range(50)) + 'a50 ::= "x"\n'
EMPTIES = '"x"\nb ::= "" | "" | "y"\n'


@pytest.mark.parametrize(
    "grammar",
    [
        f"root ::= a0\n{TENFOLD}",
        f'root ::= "first" [a-z] a0\n{TENFOLD}',
        f"root ::= {'b ' * 40}{EMPTIES}",
        f"root ::= b{{40}} {EMPTIES}",
        f'root ::= ("z" (b b b b b b b b b b b b b b b b b b b b)) {EMPTIES}',
    ],
)
def test_more_ways_to_begin_than_can_be_gone_through_are_refused_at_once(grammar):
    with pytest.raises(UsageError, match="can begin in more than 20000 ways"):
        check(grammar)


@pytest.mark.parametrize(
    "grammar",
    [
        "root ::= " + " | ".join(map('"{}"'.format, range(6000))),
        "root ::= " + '"a"? ' * 500 + '"x"',
        "root ::= ([a-z]? [0-9]?){0,100}",
        'root ::= a a a\na ::= "x" | "x" a',
    ],
)
def test_many_ways_that_can_be_gone_through_are_not(grammar):
    check(grammar)
