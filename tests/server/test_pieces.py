"""An answer, told apart however it is cut into chunks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import DiskFullError, EngineDiedError, LoadError, UsageError
from app.server.faults import fault_of
from app.server.pieces import Pieces, read_call

CALL = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'


def told(chunks, *, has_tools=True, prompt_end=""):
    pieces = Pieces(has_tools=has_tools)
    pieces.begin(prompt_end)
    found = [piece for chunk in chunks for piece in pieces.feed(chunk)] + pieces.close()
    said = "".join(piece.text for piece in found if piece.kind == "said")
    thought = "".join(piece.text for piece in found if piece.kind == "thought")
    return said, thought, [(piece.call.name, json.loads(piece.call.arguments)) for piece in found if piece.call]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Hello.", ("Hello.", "", [])),
        (CALL, ("", "", [("f", {"x": 1})])),
        (f"Look:\n\n{CALL}\n{CALL}\n", ("Look:", "", [("f", {"x": 1})] * 2)),
        (f"<think>\nhm\n</think>\n\n{CALL}", ("", "hm\n", [("f", {"x": 1})])),
        ("<tool_call>{broken</tool_call>", ("<tool_call>{broken</tool_call>", "", [])),
        ('<tool_call>{"name": "f"', ('<tool_call>{"name": "f"', "", [])),
        ("a <tool_ca b < c", ("a <tool_ca b < c", "", [])),
        ("ends with <tool", ("ends with <tool", "", [])),
        ("<think>hm</think>\n\nYes.  \nNo.", ("Yes.  \nNo.", "hm", [])),
        ("<|channel>thought\nhm<channel|>Yes.", ("Yes.", "hm", [])),
        (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
            ("Yes.", "hm", []),
        ),
    ],
)
def test_each_kind(text, wanted):
    assert told([text]) == wanted
    assert told(text) == wanted  # a character at a time


@given(st.text("<>/tool_calthink \n{}ab", max_size=60), st.integers(1, 7))
def test_chunks_do_not_matter(text, n):
    cut = [text[at : at + n] for at in range(0, len(text), n)]
    assert told(cut) == told([text])


@given(st.text("<>/tool_cal \n{}ab", max_size=60))
def test_without_tools_every_character_is_said(text):
    assert told([text], has_tools=False)[0] == text


def test_a_thought_that_the_prompt_began():
    assert told(["hm", " so</think>\n", "\nYes."], prompt_end="<|im_start|>assistant\n<think>\n") == (
        "Yes.",
        "hm so",
        [],
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"name": "f", "parameters": {"a": 1}}', ("f", '{"a": 1}')),
        ('{"name": "f"}', ("f", "{}")),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', ("f", '{"a": 1}')),
        ('{"name": "f", "arguments": [1]}', None),
        ('{"arguments": {}}', None),
        ("[" * 5000, None),
        ("", None),
    ],
)
def test_a_call_is_read_in_the_forms_that_models_write(text, wanted):
    call = read_call(text)
    assert (call and (call.name, call.arguments)) == wanted


@pytest.mark.parametrize(
    ("fault", "headers"),
    [
        (LoadError("No context of 900000 tokens could be made.", "Choose a shorter one."), {"x-should-retry": "false"}),
        (DiskFullError("The disk is full.", "Make room."), {"x-should-retry": "false"}),
        (LoadError("The load was cancelled."), {"retry-after": "1"}),
        (EngineDiedError("The engine was stopped.", "Ask again."), {"retry-after": "1"}),
        (UsageError("That is odd.", "Ask otherwise."), {}),
    ],
)
def test_a_client_is_told_to_ask_again_only_where_that_helps(fault, headers):
    assert dict(fault_of(fault).headers) == headers
