"""Grammars for answers that may or must call tools.

A call stands between ``<tool_call>`` and ``</tool_call>`` (:mod:`app.engine.tool_words`). Where calls are optional, all
text is allowed that does not begin one: a finite automaton, written as rules, watches for the mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from app.chat.chat_settings import Constraint
from app.chat.grammar import grammar_of
from app.engine.thoughtful_grammar import watching
from app.engine.tool_words import CLOSE, OPEN
from app.errors import UsageError
from app.server.wire import FunctionTool

_KEPT = {
    "type", "properties", "required", "additionalProperties", "items", "prefixItems", "minItems", "maxItems",
    "minLength", "maxLength", "enum", "const", "anyOf", "oneOf", "$ref", "$defs", "definitions",
}  # fmt: skip
_BY_NAME = {"properties", "$defs", "definitions"}
_MAX_CALLS = 8


def calls_grammar(tools: Sequence[FunctionTool], *, is_forced: bool, may_repeat: bool) -> str:
    """Return the grammar of an answer that calls these tools.

    Args:
        tools: those that may be called.
        is_forced: nothing but calls; else text, with calls in it or not.
        may_repeat: more than one.

    Raises:
        UsageError: a strict tool asks for what no grammar can keep.
    """
    schemas = {f"call-{number}": _call_schema(tool, f"#/$defs/call-{number}") for number, tool in enumerate(tools)}
    whole = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in schemas], "$defs": schemas}
    rules = _renamed(grammar_of(Constraint(kind="json_schema", text=msgspec.json.encode(whole).decode())), "call")
    rest = rf'"\n"? call "\n"? "{CLOSE}"'
    again = rf'("\n" "{OPEN}" rest){{0,{_MAX_CALLS - 1}}}' if may_repeat else ""
    rules += f"rest ::= {rest}\n"
    if is_forced:
        return f'root ::= "{OPEN}" rest {again}\n{rules}'
    return f"root ::= t-0\n{watching('t', OPEN, f'rest {again}', may_end=True)}{rules}"


def json_grammar(schema: dict[str, Any] | None, *, is_strict: bool) -> str:
    """Return the grammar of any JSON, or of a schema's; one that is not strict is kept as far as can be.

    Raises:
        UsageError: it is no schema, or asks for what no grammar can keep.
    """
    if schema is None:
        return grammar_of(Constraint(kind="json"))
    wanted = schema if is_strict else _softened(schema)
    return grammar_of(Constraint(kind="json_schema", text=msgspec.json.encode(wanted).decode()))


def _call_schema(tool: FunctionTool, place: str) -> dict[str, Any]:
    parameters = tool.parameters or {"type": "object", "properties": {}}
    if not tool.strict:
        parameters = _softened(parameters)
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": _moved(parameters, f"{place}/properties/arguments")},
        "required": ["name", "arguments"],
    }


def _softened(schema: Any, *, by_name: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Return a schema without the keywords that no grammar can keep: a person who wants those says strict."""
    if isinstance(schema, list):
        return [_softened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if by_name:
        return {key: _softened(value) for key, value in schema.items()}
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "allOf" and isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            kept |= _softened(value[0])
        elif key in ("enum", "const", "required"):
            kept[key] = value
        elif key in _KEPT:
            kept[key] = _softened(value, by_name=key in _BY_NAME)
    return kept


def _moved(schema: Any, place: str) -> Any:  # noqa: ANN401 - JSON
    """Return a schema whose references find their targets after it was put into another at ``place``."""
    if isinstance(schema, list):
        return [_moved(one, place) for one in schema]
    if not isinstance(schema, dict):
        return schema
    moved = {key: _moved(value, place) for key, value in schema.items()}
    reference = moved.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        moved["$ref"] = place + reference[1:]
    return moved


def _renamed(grammar: str, name: str) -> str:
    """Return a grammar with another name for its start."""
    head, found, rest = grammar.partition("root ::=")
    if not found or head.strip():
        raise UsageError("The grammar does not begin with its rule root.", "Put the rule root first.")
    return f"{name} ::={rest}\n"
