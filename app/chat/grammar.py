"""What an answer has to keep to, as a grammar (GBNF): any JSON, or JSON of a schema.

Of JSON Schema it takes what can be said by a grammar; a keyword that cannot be kept is refused by its name, so that
nobody relies on it. Properties come in the order of the schema, and none comes that the schema does not name unless it
says ``"additionalProperties"``. Keywords that only describe (``title``, ``default``, …) are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

import msgspec

from app.chat.chat_settings import Constraint
from app.chat.grammar_syntax import check_syntax
from app.engine.gbnf import check
from app.errors import UsageError

_MOST_REPETITIONS = 1000
"""llama.cpp unrolls repetitions."""
_MOST_RULES = 1500

# A model that may write blanks for ever does: a line end and indentation are enough.
_BASE = r"""
ws ::= | " " | "\n" [ \t]{0,20}
char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
string ::= "\"" char* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,18})
number ::= integer ("." [0-9]{1,18})? ([eE] [-+]? [0-9]{1,3})?
boolean ::= "true" | "false"
null ::= "null"
array ::= "[" ws (value (ws "," ws value)*)? ws "]"
object ::= "{" ws (member (ws "," ws member)*)? ws "}"
member ::= string ws ":" ws value
value ::= object | array | string | number | boolean | null
"""
_TIME = r'[0-2] [0-9] ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,6})? ("Z" | [-+] [0-2] [0-9] ":" [0-5] [0-9])'
_FORMATS = {
    "date": r'"\"" [0-9]{4} "-" [0-1] [0-9] "-" [0-3] [0-9] "\""',
    "time": rf'"\"" {_TIME} "\""',
    "date-time": rf'"\"" [0-9]{{4}} "-" [0-1] [0-9] "-" [0-3] [0-9] "T" {_TIME} "\""',
    "uuid": r'"\"" [0-9a-f]{8} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{4} "-" [0-9a-f]{12} "\""',
}
_DESCRIBING = {
    "title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "$schema", "$id",
    "$comment", "$defs", "definitions", "strict", "name",
}  # fmt: skip
_KNOWN = {
    "type", "properties", "required", "additionalProperties", "items", "prefixItems", "minItems", "maxItems",
    "minLength", "maxLength", "enum", "const", "anyOf", "oneOf", "$ref", "format",
}  # fmt: skip
_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")


_FIRST_OF_MARKS = str.maketrans({char: f"\\u{ord(char):04X}" for char in "<[◁"})
"""What marks of a thought begin with. In a value they are text: a grammar that names such a mark rules out thoughts."""


def grammar_of(constraint: Constraint | None) -> str:
    """Return the grammar of a constraint, "" for none.

    Raises:
        UsageError: it is not a schema or a grammar, or asks for what cannot be kept.
    """
    match constraint:
        case None | Constraint(kind="none"):
            return ""
        case Constraint(kind="json"):
            return f"root ::= object | array\n{_BASE}"
        case Constraint(kind="json_schema", text=text):
            return _of_schema(text)
    check(constraint.text)
    check_syntax(constraint.text)
    return constraint.text


def _of_schema(text: str) -> str:
    try:
        schema = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as fault:
        raise UsageError(f"The JSON schema is not JSON: {fault}.", "Check its brackets, commas and quotes.") from fault
    if isinstance(schema, dict) and isinstance(schema.get("schema"), dict) and "type" not in schema:
        schema = schema["schema"]  # as it stands in a chat-completions request
    try:
        grammar = _Rules(schema).grammar()
    except RecursionError as fault:
        raise UsageError("The JSON schema is nested too deep.", "Make it simpler.") from fault
    check(grammar)
    return grammar


class _Rules:
    """Makes a rule of each part of a schema."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._rules: dict[str, str] = {}
        self._references: dict[str, str] = {}

    def grammar(self) -> str:
        """Return the whole grammar."""
        start = self._of(self._root, "schema")
        rules = "".join(f"{name} ::= {body}\n" for name, body in self._rules.items())
        return f"root ::= {start}\n{rules}{_BASE}"

    def _add(self, name: str, body: str) -> str:
        """Keep a rule under a name that no other has; return the name."""
        name = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60] or "part"
        free, number = f"s-{name}", 1
        while free in self._rules:
            number += 1
            free = f"s-{name}-{number}"
        if len(self._rules) >= _MOST_RULES:
            raise UsageError("The JSON schema has too many parts.", "Make it simpler.")
        self._rules[free] = body
        return free

    def _of(self, schema: object, name: str) -> str:
        """Return the name of a rule for a schema."""
        if schema is True or schema == {}:
            return "value"
        if not isinstance(schema, dict):
            _refuse(f"{name} is {msgspec.json.encode(schema).decode()[:40]}, not a schema")
        if unknown := sorted(set(schema) - _KNOWN - _DESCRIBING):
            _refuse(f"“{unknown[0]}” in {name} cannot be kept")
        if "$ref" in schema:
            return self._referred(schema["$ref"], name)
        if "const" in schema:
            return self._add(name, _literal(schema["const"]))
        if "enum" in schema:
            return self._add(name, " | ".join(map(_literal, _list(schema["enum"], f"enum in {name}"))))
        for key in ("anyOf", "oneOf"):
            if key in schema:
                options = _list(schema[key], f"{key} in {name}")
                return self._add(name, " | ".join(self._of(option, f"{name}-{n}") for n, option in enumerate(options)))
        kinds = schema.get("type", "object" if "properties" in schema else "array" if "items" in schema else None)
        if kinds is None:
            return "value"
        names = [self._of_type(schema, kind, name) for kind in (kinds if isinstance(kinds, list) else [kinds])]
        return names[0] if len(names) == 1 else self._add(name, " | ".join(names))

    def _referred(self, reference: object, name: str) -> str:
        """Return the rule of what a ``$ref`` within the schema points to; it may point to what it is in."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            _refuse(f"“$ref” in {name} leads out of the schema")
        if reference not in self._references:
            target: object = self._root
            for part in reference.removeprefix("#").split("/")[1:]:
                key = part.replace("~1", "/").replace("~0", "~")
                target = target.get(key) if isinstance(target, dict) else None
            if target is None:
                _refuse(f"“{reference}” in {name} leads nowhere")
            own = self._references[reference] = self._add(reference.rpartition("/")[2] or "root", "")
            self._rules[own] = self._of(target, own.removeprefix("s-"))
        return self._references[reference]

    def _of_type(self, schema: Mapping[str, object], kind: object, name: str) -> str:
        if kind in ("number", "integer", "boolean", "null"):
            return str(kind)
        makers = {"object": self._object, "array": self._array, "string": self._string}
        if not isinstance(kind, str) or kind not in makers:
            _refuse(f"{name} has the type {str(kind)[:40]!r}, which is none of {', '.join(_TYPES)}")
        return makers[kind](schema, name)

    def _string(self, schema: Mapping[str, object], name: str) -> str:
        if (form := schema.get("format")) in _FORMATS:
            return self._add(name, _FORMATS[str(form)])
        least, most = _limits(schema, "minLength", "maxLength", name)
        if least == 0 and most is None:
            return "string"
        return self._add(name, f'"\\"" char{_times(least, most)} "\\""')

    def _array(self, schema: Mapping[str, object], name: str) -> str:
        first = [self._of(item, f"{name}-{n}") for n, item in enumerate(_list(schema.get("prefixItems", []), name))]
        least, most = _limits(schema, "minItems", "maxItems", name)
        if first:
            return self._add(name, '"[" ws ' + ' ws "," ws '.join(first) + ' ws "]"')
        item = self._of(schema.get("items", True), f"{name}-item")
        if most == 0:
            return self._add(name, '"[" ws "]"')
        more = f'{item} (ws "," ws {item}){_times(max(0, least - 1), None if most is None else most - 1)}'
        return self._add(name, f'"[" ws {more} ws "]"' if least else f'"[" ws ({more})? ws "]"')

    def _object(self, schema: Mapping[str, object], name: str) -> str:
        properties = schema.get("properties", {})
        if not isinstance(properties, dict):
            _refuse(f"“properties” of {name} are not an object")
        required = {key for key in _list(schema.get("required", []), name) if isinstance(key, str)}
        if missing := sorted(required - set(properties)):
            _refuse(f"{name} requires “{missing[0]}” and does not say what it is")
        more = schema.get("additionalProperties", not properties)
        extra = "" if more is False else self._extra(more, name)
        if not properties:
            return self._add(name, f'"{{" ws ({extra} (ws "," ws {extra})*)? ws "}}"' if extra else '"{" ws "}"')
        pairs = [
            (
                self._add(f"{name}-{key}-kv", f'{_literal(key)} ws ":" ws {self._of(value, f"{name}-{key}")}'),
                key in required,
            )
            for key, value in properties.items()
        ]
        body, is_optional = self._members(pairs, extra, name)
        return self._add(name, f'"{{" ws ({body})? ws "}}"' if is_optional else f'"{{" ws ({body}) ws "}}"')

    def _extra(self, schema: object, name: str) -> str:
        return "member" if schema is True else self._add(f"{name}-more", f'string ws ":" ws {self._of(schema, name)}')

    def _members(self, pairs: list[tuple[str, bool]], extra: str, name: str) -> tuple[str, bool]:
        """Return the members in their order, and whether all may be missing.

        Whoever comes first has no comma before it: one choice for each that may be the first, and behind it the rest.
        """
        rest = f'(ws "," ws {extra})*' if extra else ""
        choices = [f"{extra} {rest}"] if extra else []
        for pair, is_required in reversed(pairs):
            choices = [f"{pair} {rest}"] if is_required else [f"{pair} {rest}", *choices]
            member = f'ws "," ws {pair}' if is_required else f'(ws "," ws {pair})?'
            rest = self._add(f"{name}-rest", f"{member} {rest}")
        return " | ".join(choices), not any(is_required for _, is_required in pairs)


def _literal(value: object) -> str:
    """Return a value's JSON as a text of a grammar."""
    written = msgspec.json.encode(value).decode()
    return '"' + written.replace("\\", "\\\\").replace('"', '\\"').translate(_FIRST_OF_MARKS) + '"'


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        _refuse(f"{what} is not a list")
    return value


def _limits(schema: Mapping[str, object], least: str, most: str, name: str) -> tuple[int, int | None]:
    found: list[int | None] = []
    for key in (least, most):
        value = schema.get(key)
        if value is not None and (not isinstance(value, int) or not 0 <= value <= _MOST_REPETITIONS):
            _refuse(f"“{key}” of {name} is not a number from 0 to {_MOST_REPETITIONS}")
        found.append(value)
    low = found[0] or 0
    if found[1] is not None and found[1] < low:
        _refuse(f"“{most}” of {name} is less than “{least}”")
    return low, found[1]


def _times(least: int, most: int | None) -> str:
    return f"{{{least},{'' if most is None else most}}}"


def _refuse(what: str) -> NoReturn:
    raise UsageError(f"The JSON schema cannot be used: {what}.", "Leave that out, or write a grammar (GBNF) instead.")
