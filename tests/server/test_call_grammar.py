"""Grammars for calls, on llama.cpp's own reading of them."""

from __future__ import annotations

import numpy as np
import pytest

from app.engine.llama import Grammar, Model
from app.engine.llama.grammar import NothingAllowedError
from app.errors import UsageError
from app.models.library import Library
from app.server.call_grammar import calls_grammar, json_grammar
from app.server.wire import FunctionTool

F = FunctionTool(name="f", parameters={"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]})
G = FunctionTool(name="g")
CALL_F = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
CALL_G = '<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'


@pytest.fixture(scope="module")
def model():
    made = Model(str(Library().resolve("starter").path), is_dry=True)
    yield made
    made.close()


def is_whole(model, grammar: str, text: str) -> bool:
    """Tell whether a text keeps to a grammar from its beginning to its end."""
    state = Grammar(model, grammar)
    try:
        for token in model.tokenise(text):
            state.accept(token)
        ends = [token for token in range(32) if model.is_end(token)]
        return bool(len(state.allowed(np.array(ends, dtype=np.int32))))
    except NothingAllowedError:
        return False
    finally:
        state.close()


@pytest.mark.parametrize(
    ("text", "forced", "optional"),
    [
        (CALL_F, True, True),
        (CALL_G, True, True),
        (f"{CALL_F}\n{CALL_G}", False, False),
        ("Just words.", False, True),
        ("", False, True),
        ("a < b <tool <tool_call no", False, True),
        ("<<<tool_cal", False, True),
        (f"Words first. {CALL_F}", False, True),
        ('<tool_call>\n{"name": "h", "arguments": {}}\n</tool_call>', False, False),
        ('<tool_call>\n{"name": "f", "arguments": {"x": "1"}}\n</tool_call>', False, False),
        ("<tool_call>never", False, False),
        (f"{CALL_F} and more", False, False),
    ],
)
def test_one_call(model, text, forced, optional):
    grammars = [calls_grammar([F, G], is_forced=is_forced, may_repeat=False) for is_forced in (True, False)]
    assert [is_whole(model, grammar, text) for grammar in grammars] == [forced, optional]


def test_several_calls(model):
    for is_forced in (True, False):
        assert is_whole(model, calls_grammar([F, G], is_forced=is_forced, may_repeat=True), f"{CALL_F}\n{CALL_G}")


def test_references_within_a_tools_schema_are_found(model):
    parameters = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/point"}},
        "required": ["a"],
        "$defs": {"point": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
    }
    grammar = calls_grammar([G, FunctionTool(name="p", parameters=parameters)], is_forced=True, may_repeat=False)
    assert is_whole(model, grammar, '<tool_call>\n{"name": "p", "arguments": {"a": {"x": 1}}}\n</tool_call>')
    assert not is_whole(model, grammar, '<tool_call>\n{"name": "p", "arguments": {"a": 1}}\n</tool_call>')


def test_what_no_grammar_can_keep_is_left_out_unless_it_is_strict():
    schema = {"type": "object", "properties": {"pattern": {"type": "string", "pattern": "^a"}}}
    assert calls_grammar([FunctionTool(name="f", parameters=schema)], is_forced=True, may_repeat=False)
    assert json_grammar(schema, is_strict=False)
    with pytest.raises(UsageError, match="pattern"):
        calls_grammar([FunctionTool(name="f", parameters=schema, strict=True)], is_forced=True, may_repeat=False)
    with pytest.raises(UsageError, match="pattern"):
        json_grammar(schema, is_strict=True)
