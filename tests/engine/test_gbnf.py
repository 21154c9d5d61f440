"""Grammars that llama.cpp must not be given, and those that it may."""

import pytest

from app.engine.gbnf import check
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
