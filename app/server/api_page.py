"""The page that explains the API: made of its own description, without a script and without the network."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

_STYLE = """
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.45 ui-monospace,monospace}pre{padding:1rem;overflow:auto;border:1px solid;border-radius:8px}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.3rem .6rem;border-top:1px solid}
h2{margin-top:2.5rem}summary{cursor:pointer}
"""


def page(document: dict[str, Any], address: str) -> str:
    """Return the page.

    Args:
        document: the OpenAPI description.
        address: where the server is, without a slash at the end.
    """
    info = document["info"]
    parts = [
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])}</p>",
        f"<p>Base address for OpenAI clients: <code>{escape(address)}/v1</code></p>{_examples(address)}",
        *(_operation(document, path, *one) for path, methods in document["paths"].items() for one in methods.items()),
        '<p><a href="/openapi.json">openapi.json</a></p>',
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Slipstream API</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>{"".join(parts)}'
        "</body></html>"
    )


def _examples(address: str) -> str:
    body = '{"model": "starter", "messages": [{"role": "user", "content": "Hello"}], "spec_type": "ngram"}'
    curl = f"curl {address}/v1/chat/completions -H 'Content-Type: application/json' -d '{body}'"
    python = (
        "from openai import OpenAI\n\n"
        f'client = OpenAI(base_url="{address}/v1", api_key="the key, or anything")\n'
        'answer = client.chat.completions.create(model="starter", messages=[{"role": "user", "content": "Hello"}])\n'
        "print(answer.choices[0].message.content)"
    )
    return f"<pre>{escape(curl)}</pre><pre>{escape(python)}</pre>"


def _operation(document: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> str:
    head = f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation.get('summary', ''))}</p>"
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    rows = "".join(_rows(document, content["schema"])) if content else ""
    fields = f"<table><tr><th>Field<th>Type<th>Limits</tr>{rows}</table>" if rows else ""
    answers = ", ".join(f"{status} {escape(one['description'])}" for status, one in operation["responses"].items())
    return f"{head}{fields}<details><summary>Answers</summary><p>{answers}</p></details>"


def _rows(document: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    schema = _resolved(document, schema)
    required = set(schema.get("required", ()))
    for name, field in schema.get("properties", {}).items():
        mark = " (needed)" if name in required else ""
        yield f"<tr><td><code>{escape(name)}</code>{mark}<td>{escape(_type(document, field))}<td>{_limits(field)}</tr>"


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def _type(document: dict[str, Any], field: dict[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2])
    if "anyOf" in field:
        return " or ".join(_type(document, one) for one in field["anyOf"] if one.get("type") != "null")
    if "enum" in field or "const" in field:
        return ", ".join(str(one) for one in field.get("enum", [field.get("const")]))
    if field.get("type") == "array":
        return f"list of {_type(document, field.get('items', {}))}"
    return str(field.get("type", "anything"))


def _limits(field: dict[str, Any]) -> str:
    """Return what a number may be."""
    options = [field, *field.get("anyOf", ())]
    return "; ".join(
        f"{one.get('minimum', '…')} to {one.get('maximum', '…')}"
        for one in options
        if {"minimum", "maximum"} & set(one)
    )
